package dev.muster.model;

import java.util.OptionalLong;

/** A job's 64-bit id that is never used again, in the form that people see: {@code s} and thirteen base-32 digits. */
public final class Sluid {
    private static final String DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    private static final int LENGTH = 13;

    private Sluid() {}

    public static String text(long sluid) {
        char[] c = new char[LENGTH + 1];
        c[0] = 's';
        long rest = sluid;
        for (int i = LENGTH; i > 0; i--) {
            c[i] = DIGITS.charAt((int) (rest & 31));
            rest >>>= 5;
        }
        return new String(c);
    }

    /** The number behind the form; empty if the text is none. */
    public static OptionalLong parse(String text) {
        if (text.length() != LENGTH + 1 || text.charAt(0) != 's' && text.charAt(0) != 'S') {
            return OptionalLong.empty();
        }
        long value = 0;
        for (int i = 1; i <= LENGTH; i++) {
            int digit = DIGITS.indexOf(Character.toUpperCase(text.charAt(i)));
            if (digit < 0) {
                return OptionalLong.empty();
            }
            value = value << 5 | digit;
        }
        return OptionalLong.of(value);
    }
}
