package dev.muster.model.format;

/**
 * Arithmetic of counts that a user names: a result that is too large becomes the largest one instead of wrapping, so
 * that a request beyond every cluster stays beyond it. Counts are 0 or more.
 */
public final class SaturatingMath {
    private SaturatingMath() {}

    /** Returns the count as an int, at most {@link Integer#MAX_VALUE}. */
    public static int toInt(long count) {
        return (int) Math.min(Integer.MAX_VALUE, count);
    }

    /** Returns a + b, at most {@link Integer#MAX_VALUE}. */
    public static int plus(int a, int b) {
        return toInt((long) a + b);
    }

    /** Returns a · b, at most {@link Integer#MAX_VALUE}. */
    public static int times(int a, int b) {
        return toInt((long) a * b);
    }

    /** Returns a · b, at most {@link Long#MAX_VALUE}. */
    public static long times(long a, long b) {
        long high = Math.multiplyHigh(a, b);
        long low = a * b;
        return high == 0 && low >= 0 ? low : Long.MAX_VALUE;
    }

    /** Returns a / b, rounded up; b is 1 or more. */
    public static int dividedUp(int a, int b) {
        return (int) dividedUp((long) a, b);
    }

    /** Returns a / b, rounded up; b is 1 or more. */
    public static long dividedUp(long a, long b) {
        return a / b + (a % b == 0 ? 0 : 1);
    }
}
