package dev.muster.transport;

/**
 * Milliseconds for ages and deadlines: steps of the machine's clock, forward or back, do not move them. No date can be
 * had from them.
 */
public final class MonotonicClock {
    private MonotonicClock() {}

    public static long ms() {
        return System.nanoTime() / 1_000_000;
    }
}
