package dev.muster.transport;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The first line and the headers of a request (RFC 9112).
 *
 * @param path as sent, with its query
 * @param headers by name in lower case; the first value of each
 */
record HttpHead(String method, String path, Map<String, String> headers, long contentLength) {
    private static final int HEADERS_MAX = 100;

    /** The request is not HTTP, or not the part of it that this server speaks. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;

        Malformed(int status, String sentence) {
            super(sentence, null, false, false);
            this.status = status;
        }

        int status() {
            return status;
        }
    }

    /** @param bytes of the head, up to before the empty line */
    static HttpHead parse(byte[] bytes, int length) throws Malformed {
        String[] lines = new String(bytes, 0, length, StandardCharsets.ISO_8859_1).split("\r\n", -1);
        String[] first = lines[0].split(" ", -1);
        if (first.length != 3
                || !isToken(first[0])
                || !first[1].startsWith("/")
                || !first[2].matches("HTTP/1\\.[01]")) {
            throw new Malformed(400, "not a request");
        }
        Map<String, String> headers = new HashMap<>();
        if (lines.length - 1 > HEADERS_MAX) {
            throw new Malformed(431, "too many headers");
        }
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon < 1 || !isToken(lines[i].substring(0, colon)) || hasControls(lines[i])) {
                throw new Malformed(400, "malformed header");
            }
            String name = lines[i].substring(0, colon).toLowerCase(Locale.ROOT);
            String value = lines[i].substring(colon + 1).strip();
            String before = headers.putIfAbsent(name, value);
            if (before != null
                    && (name.equals("authorization") || name.equals("content-length") && !before.equals(value))) {
                throw new Malformed(400, "two headers of one name: " + name);
            }
        }
        if (headers.containsKey("transfer-encoding")) {
            throw new Malformed(411, "Content-Length wanted");
        }
        return new HttpHead(first[0], first[1], headers, length(headers.getOrDefault("content-length", "0")));
    }

    private static long length(String text) throws Malformed {
        if (text.isEmpty() || text.length() > 18 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new Malformed(400, "malformed Content-Length");
        }
        return Long.parseLong(text);
    }

    private static boolean isToken(String text) {
        return !text.isEmpty()
                && text.chars().allMatch(c -> c > ' ' && c < 127 && "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0);
    }

    private static boolean hasControls(String text) {
        return text.chars().anyMatch(c -> c < ' ' && c != '\t' || c == 127);
    }

    String header(String name) {
        return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
    }

    boolean keepsAlive() {
        return !header("connection").equalsIgnoreCase("close");
    }
}
