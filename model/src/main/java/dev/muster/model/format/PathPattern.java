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
        byte[] bytes = pattern.toArray();
        for (byte b : bytes) {
            if (b == '\\') {
                return withoutBackslashes(bytes);
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] != '%' || i + 1 >= bytes.length) {
                out.write(bytes[i]);
                continue;
            }
            int index = i + 1;
            int width = 0;
            while (index < bytes.length && bytes[index] >= '0' && bytes[index] <= '9') {
                width = Math.min(WIDTH_MAX, width * 10 + bytes[index++] - '0');
            }
            String value = index < bytes.length ? codes.of((char) bytes[index]) : null;
            if (value == null) {
                out.write(bytes[i]);
                continue;
            }
            for (int pad = value.length(); pad < width && Digits.only(value, value.length()); pad++) {
                out.write('0');
            }
            out.writeBytes(value.getBytes(StandardCharsets.UTF_8));
            i = index;
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
