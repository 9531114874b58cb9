package dev.muster.model.format;

/** Values of updates that a leading {@code +} adds to the present one, and a leading {@code -} takes from it. */
public final class SignedValue {
    private SignedValue() {}

    /** Tests whether the value begins with a sign. */
    public static boolean isSigned(String value) {
        return value.startsWith("+") || value.startsWith("-");
    }
}
