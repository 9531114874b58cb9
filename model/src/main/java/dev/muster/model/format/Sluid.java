package dev.muster.model.format;

import java.util.OptionalLong;

/** A job's 64-bit id that is never used again, in the form that people see: {@code s} and thirteen base-32 digits. */
public final class Sluid {
    private static final String DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    private static final int LENGTH = 13;

    /**
     * A job has a number for each of its attempts and sizes: what tells them apart stands in the upper bits, which a
     * cluster that counts up from 1 never reaches.
     */
    private static final int ATTEMPT_BIT = 36;

    private static final int SIZE_BIT = 58;
    /** Numbers below are of jobs at their first size. */
    public static final long UNSIZED_END = 1L << SIZE_BIT;
    /** More sizes than this have no number of their own. */
    public static final int SIZES_MAX = 30;

    private Sluid() {}

    /** The number of a job at its size: 0 for the one that it started with, one more for each change. */
    public static long sized(long sluid, int size) {
        return sluid | (long) Math.min(size, SIZES_MAX) << SIZE_BIT;
    }

    /** The SLUID of the size that the attempt started with. */
    public static long original(long sluid) {
        return sluid & (1L << SIZE_BIT) - 1;
    }

    /**
     * The number as people see it.
     *
     * @param sized of the size; restarts: 0 for the first attempt
     */
    public static long shown(long sized, int restarts) {
        return sized + ((long) restarts << ATTEMPT_BIT);
    }

    /** Which attempt a number that people see may be of; a number from elsewhere may say anything here. */
    public static int attempt(long shown) {
        return (int) (original(shown) >>> ATTEMPT_BIT);
    }

    /** The same without the attempt. */
    public static long first(long shown) {
        return shown - ((long) attempt(shown) << ATTEMPT_BIT);
    }

    public static String text(long sluid) {
        char[] c = new char[LENGTH + 1];
        c[0] = 's';
        long remainder = sluid;
        for (int i = LENGTH; i > 0; i--) {
            c[i] = DIGITS.charAt((int) (remainder & 31));
            remainder >>>= 5;
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
