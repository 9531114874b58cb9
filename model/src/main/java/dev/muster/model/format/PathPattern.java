package dev.muster.model.format;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** File names with % codes. What a code stands for depends on who asks; how codes are found in a name does not. */
public final class PathPattern {
    private static final int WIDTH_MAX = 10;

    private PathPattern() {}

    /** What a letter stands for. */
    @FunctionalInterface
    public interface Codes {
        /** Returns null for a letter that is no code: it stays as it is written. */
        String of(char letter);
    }

    /**
     * Fills codes in. A number between % and the letter pads a numeric value with zeros, up to ten places; a backslash
     * anywhere switches all codes off and is itself left out.
     */
    public static Bytes expand(Bytes pattern, Codes codes) {
        byte[] in = pattern.toArray();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        boolean raw = false;
        for (byte b : in) {
            raw |= b == '\\';
        }
        for (int i = 0; i < in.length; i++) {
            if (raw || in[i] != '%' || i + 1 >= in.length) {
                if (!raw || in[i] != '\\') {
                    out.write(in[i]);
                }
                continue;
            }
            int at = i + 1;
            int width = 0;
            while (at < in.length && in[at] >= '0' && in[at] <= '9') {
                width = Math.min(WIDTH_MAX, width * 10 + in[at++] - '0');
            }
            String value = at < in.length ? codes.of((char) in[at]) : null;
            if (value == null) {
                out.write(in[i]);
                continue;
            }
            boolean numeric = !value.isEmpty() && value.chars().allMatch(c -> c >= '0' && c <= '9');
            for (int pad = value.length(); numeric && pad < width; pad++) {
                out.write('0');
            }
            out.writeBytes(value.getBytes(StandardCharsets.UTF_8));
            i = at;
        }
        return Bytes.of(out.toByteArray());
    }
}
