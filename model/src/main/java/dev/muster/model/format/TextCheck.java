package dev.muster.model.format;

import dev.muster.json.Bytes;

/**
 * Looks for control characters in the texts of a message before it is decoded. They have no place in names, comments
 * and paths: a terminal that lists them may obey them, and a NUL ends a text for the C programs on the nodes. Tab, line
 * feed and carriage return are allowed, as in Slurm. Binary values travel in base64 and are looked at where they are
 * used.
 */
public final class TextCheck {
    private TextCheck() {}

    /**
     * Whether a text of the message holds a control character, as it is or escaped.
     *
     * @param json as received
     */
    public static boolean hasControls(byte[] json) {
        for (int i = 0; i < json.length; i++) {
            int b = json[i];
            if (b == '\\') {
                i++;
                if (i < json.length && isEscapedControl(json, i)) {
                    return true;
                }
            } else if (b >= 0 && b < ' ' && b != '\t' && b != '\n' && b != '\r' || b == 0x7f) {
                return true;
            } else if (b == (byte) 0xc2 && i + 1 < json.length && (json[i + 1] & 0xff) < 0xa0) {
                // U+0080 to U+009F in UTF-8
                return true;
            }
        }
        return false;
    }

    private static boolean isEscapedControl(byte[] json, int index) {
        if (json[index] == 'b' || json[index] == 'f') {
            return true;
        }
        if (json[index] != 'u' || index + 4 >= json.length) {
            return false;
        }
        int code = 0;
        for (int i = index + 1; i <= index + 4; i++) {
            int digit = Character.digit(json[i], 16);
            if (digit < 0) {
                return false;
            }
            code = code << 4 | digit;
        }
        return code < ' ' && code != '\t' && code != '\n' && code != '\r' || code >= 0x7f && code < 0xa0;
    }

    /** Whether binary values that become C texts on a node (paths, arguments, variables) hold a NUL. */
    public static boolean hasNul(Iterable<Bytes> texts) {
        for (Bytes text : texts) {
            for (byte b : text.toArray()) {
                if (b == 0) {
                    return true;
                }
            }
        }
        return false;
    }
}
