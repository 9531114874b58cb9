package dev.muster.model.format;

/** Checks and reads texts that are numbers. It uses no patterns, which each job would compile again. */
public final class Digits {
    private static final int NUMBER_DIGITS_MAX = 10;

    private Digits() {}

    /**
     * Returns whether the text is one to {@code maximum} decimal digits and nothing else, as
     * {@code matches("[0-9]{1,most}")} says.
     */
    public static boolean only(String text, int maximum) {
        int length = text.length();
        if (length == 0 || length > maximum) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    /**
     * Reads a whole number of at most ten digits; a trailing k or m multiplies it by 1024 or 1024². Returns -1 for any
     * other text.
     */
    public static long parseNumber(String text) {
        int end = text.length();
        long by = 1;
        if (end > 1) {
            char last = text.charAt(end - 1);
            if (last == 'k' || last == 'K') {
                by = 1024;
            } else if (last == 'm' || last == 'M') {
                by = 1024 * 1024;
            } else {
                by = 1;
            }
        }
        end -= by > 1 ? 1 : 0;
        long number = parsePlain(text.substring(0, end));
        return number < 0 ? -1 : number * by;
    }

    /** Reads a whole number of at most ten digits. Returns -1 for any other text. */
    static long parsePlain(String text) {
        if (!only(text, NUMBER_DIGITS_MAX)) {
            return -1;
        }
        long v = 0;
        for (int i = 0; i < text.length(); i++) {
            v = v * 10 + (text.charAt(i) - '0');
        }
        return v;
    }
}
