package dev.muster.model.format;

/** Texts that are numbers, without a pattern: what is asked for each job is not compiled for each job. */
public final class Digits {
    private Digits() {}

    /** Whether the text is one to so many decimal digits and nothing else, as {@code matches("[0-9]{1,most}")}. */
    public static boolean only(String text, int most) {
        int length = text.length();
        if (length == 0 || length > most) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }
}
