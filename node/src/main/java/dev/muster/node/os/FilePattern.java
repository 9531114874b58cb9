package dev.muster.node.os;

import dev.muster.json.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The {@code %} codes in the file names of a step, expanded where the task runs. */
public final class FilePattern {
    static final int WIDTH_MAX = 10;

    private FilePattern() {}

    /** @param values code → text; a code that is not here stays as written */
    public static Bytes expand(Bytes pattern, Map<Character, String> values) {
        byte[] in = pattern.toArray();
        ByteArrayOutputStream out = new ByteArrayOutputStream(in.length + 16);
        boolean literal = pattern.text().indexOf('\\') >= 0;
        for (int i = 0; i < in.length; i++) {
            if (literal && in[i] == '\\') {
                continue;
            }
            i = !literal && in[i] == '%' ? code(in, i, values, out) : plain(in, i, out);
        }
        return Bytes.of(out.toByteArray());
    }

    private static int plain(byte[] in, int index, ByteArrayOutputStream out) {
        out.write(in[index]);
        return index;
    }

    /** Expands the code at {@code index}; answers the index of its last byte. */
    private static int code(byte[] in, int index, Map<Character, String> values, ByteArrayOutputStream out) {
        int end = index + 1;
        int width = 0;
        while (end < in.length && in[end] >= '0' && in[end] <= '9') {
            width = Math.min(width * 10 + in[end++] - '0', WIDTH_MAX);
        }
        if (end < in.length && in[end] == '%') {
            out.write('%');
            return end;
        }
        String value = end < in.length ? values.get((char) in[end]) : null;
        if (value == null) {
            return plain(in, index, out);
        }
        boolean number = !value.isEmpty() && value.chars().allMatch(Character::isDigit);
        out.writeBytes(("0".repeat(number ? Math.max(0, width - value.length()) : 0) + value)
                .getBytes(StandardCharsets.UTF_8));
        return end;
    }
}
