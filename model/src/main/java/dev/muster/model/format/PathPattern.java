package dev.muster.model.format;

import dev.muster.json.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Expands % codes in file names. The caller gives the meaning of each code; this class finds the codes. */
public final class PathPattern {
    private static final int WIDTH_MAX = 10;

    private PathPattern() {}

    /** The meaning of each letter. */
    @FunctionalInterface
    public interface Codes {
        /** Returns null for a letter that is no code: it stays as it is written. */
        @Nullable
        String of(char letter);
    }

    /**
     * Fills codes in. A number between % and the letter pads a numeric value with zeros, up to ten places; a backslash
     * anywhere switches all codes off and is itself left out.
     */
    public static Bytes expand(Bytes pattern, Codes codes) {
        byte[] in = pattern.toArray();
        for (byte b : in) {
            if (b == '\\') {
                return withoutBackslashes(in);
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < in.length; i++) {
            if (in[i] != '%' || i + 1 >= in.length) {
                out.write(in[i]);
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
            for (int pad = value.length(); pad < width && Digits.only(value, value.length()); pad++) {
                out.write('0');
            }
            out.writeBytes(value.getBytes(StandardCharsets.UTF_8));
            i = at;
        }
        return Bytes.of(out.toByteArray());
    }

    private static Bytes withoutBackslashes(byte[] in) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte b : in) {
            if (b != '\\') {
                out.write(b);
            }
        }
        return Bytes.of(out.toByteArray());
    }
}
