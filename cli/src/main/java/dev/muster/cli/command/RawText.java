package dev.muster.cli.command;

import dev.muster.json.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Converts bytes to text and back without loss. Arguments, environment and paths are bytes on Unix. A byte that is not
 * part of valid UTF-8 becomes the lone surrogate U+DC80…U+DCFF: options are parsed as strings, and every byte leaves as
 * it came.
 */
public final class RawText {
    private static final int ESCAPE = 0xdc00;

    private RawText() {}

    public static String decode(byte[] raw) {
        return decode(raw, 0, raw.length);
    }

    public static String decode(byte[] raw, int from, int to) {
        int i = from;
        while (i < to && raw[i] >= 0) {
            i++;
        }
        if (i == to) {
            return new String(raw, from, to - from, StandardCharsets.US_ASCII);
        }
        StringBuilder text = new StringBuilder(to - from);
        i = from;
        while (i < to) {
            int n = sequenceLength(raw, i, to);
            if (n == 0) {
                text.append((char) (ESCAPE | raw[i] & 0xff));
                i++;
            } else {
                text.append(n == 1 ? String.valueOf((char) raw[i]) : new String(raw, i, n, StandardCharsets.UTF_8));
                i += n;
            }
        }
        return text.toString();
    }

    /** Length of the valid UTF-8 sequence at i, 0 if there is none. */
    private static int sequenceLength(byte[] raw, int i, int to) {
        int c = raw[i] & 0xff;
        if (c < 0x80) {
            return 1;
        }
        int n = lengthByFirstByte(c);
        if (n == 0 || i + n > to) {
            return 0;
        }
        for (int k = 1; k < n; k++) {
            if ((raw[i + k] & 0xc0) != 0x80) {
                return 0;
            }
        }
        int second = raw[i + 1] & 0xff;
        boolean overlong = c == 0xe0 && second < 0xa0 || c == 0xf0 && second < 0x90;
        boolean outside = c == 0xed && second >= 0xa0 || c == 0xf4 && second >= 0x90;
        return overlong || outside ? 0 : n;
    }

    /** Length of a sequence of several bytes, 0 if no sequence begins with that byte. */
    private static int lengthByFirstByte(int c) {
        if (c < 0xc2 || c >= 0xf5) {
            return 0;
        }
        if (c < 0xe0) {
            return 2;
        }
        return c < 0xf0 ? 3 : 4;
    }

    public static byte[] encode(String text) {
        int plain = 0;
        while (plain < text.length() && text.charAt(plain) < 0x80) {
            plain++;
        }
        if (plain == text.length()) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(text.length() + 16);
        int i = 0;
        while (i < text.length()) {
            int end = i;
            while (end < text.length() && !isEscape(text, end)) {
                end += Character.isHighSurrogate(text.charAt(end))
                                && end + 1 < text.length()
                                && Character.isLowSurrogate(text.charAt(end + 1))
                        ? 2
                        : 1;
            }
            out.writeBytes(text.substring(i, end).getBytes(StandardCharsets.UTF_8));
            if (end < text.length()) {
                out.write(text.charAt(end) & 0xff);
                end++;
            }
            i = end;
        }
        return out.toByteArray();
    }

    private static boolean isEscape(String text, int i) {
        char c = text.charAt(i);
        return c >= ESCAPE + 0x80 && c <= ESCAPE + 0xff;
    }

    public static Bytes bytes(String text) {
        return Bytes.of(encode(text));
    }
}
