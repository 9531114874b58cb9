package dev.muster.cli;

/** A job's 64-bit id that is never used again, in the form that people see: {@code s} and thirteen base-32 digits. */
final class Sluid {
    private static final String DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    private static final int LENGTH = 13;

    private Sluid() {}

    static String text(long sluid) {
        char[] c = new char[LENGTH + 1];
        c[0] = 's';
        long rest = sluid;
        for (int i = LENGTH; i > 0; i--) {
            c[i] = DIGITS.charAt((int) (rest & 31));
            rest >>>= 5;
        }
        return new String(c);
    }
}
