package dev.muster.model.format;

/** The sign of a value of an update: {@code +} adds the value to the present one, {@code -} takes it away. */
public final class UpdateSign {
    private UpdateSign() {}

    /** Returns whether the value begins with a sign. */
    public static boolean isSigned(String value) {
        return value.startsWith("+") || value.startsWith("-");
    }

    /** Returns the value without its sign, if it has one. */
    public static String unsigned(String value) {
        return isSigned(value) ? value.substring(1) : value;
    }
}
