package dev.muster.rest.http;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * One request as it came.
 *
 * @param path decoded, without the query
 * @param query decoded; of several values with the same name they are joined by commas
 * @param headers by lower-case name
 */
public record Request(
        String method,
        String path,
        Map<String, String> query,
        Map<String, String> headers,
        byte[] body,
        boolean keepAlive) {
    /** The caller, as answers name it. */
    public record User(String name, String group) {
        public static final User ANONYMOUS = new User("", "");
    }

    /** Ids of the other end of a local connection, from the kernel. */
    public record Peer(int uid, int gid) {}

    /** No header can have this name: it stands for a connection that is encrypted. */
    static final String SECURE = ":secure";

    public boolean isSecure() {
        return headers.containsKey(SECURE);
    }

    public String header(String name) {
        return headers.getOrDefault(name, "");
    }

    /** Names and values between {@code &}; empty if an escape is none. */
    public static Optional<Map<String, String>> query(String text) {
        Map<String, String> out = new LinkedHashMap<>();
        for (String item : text.split("&")) {
            int equals = item.indexOf('=');
            Optional<String> name = decoded((equals < 0 ? item : item.substring(0, equals)).replace('+', ' '));
            Optional<String> value =
                    decoded(equals < 0 ? "" : item.substring(equals + 1).replace('+', ' '));
            if (name.isEmpty() || value.isEmpty()) {
                return Optional.empty();
            }
            if (!name.get().isEmpty()) {
                out.merge(name.get(), value.get(), (a, b) -> a + "," + b);
            }
        }
        return Optional.of(out);
    }

    /** {@code %41} is A; empty if an escape is none or makes a control character. */
    static Optional<String> decoded(String text) {
        if (text.indexOf('%') < 0) {
            return Optional.of(text);
        }
        byte[] raw = text.getBytes(StandardCharsets.UTF_8);
        byte[] out = new byte[raw.length];
        int n = 0;
        for (int i = 0; i < raw.length; i++) {
            int c = raw[i];
            if (c == '%') {
                int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
                int low = i + 2 < raw.length ? Character.digit(raw[i + 2], 16) : -1;
                if (high < 0 || low < 0) {
                    return Optional.empty();
                }
                c = high << 4 | low;
                i += 2;
                if (c == 0) {
                    return Optional.empty();
                }
            }
            out[n++] = (byte) c;
        }
        return Optional.of(new String(out, 0, n, StandardCharsets.UTF_8));
    }

    /** Returns the part of a content type before its parameters. */
    public String type(String header) {
        String value = header(header);
        int semicolon = value.indexOf(';');
        return (semicolon < 0 ? value : value.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT);
    }
}
