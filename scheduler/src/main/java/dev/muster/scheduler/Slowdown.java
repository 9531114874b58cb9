package dev.muster.scheduler;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The order of {@code muster_backfill=slowdown} among jobs that do not wait for their reservation: who has waited long for the time that he
 * will likely run goes first, and before all, in the queue's order, who has waited more than {@link #DUE_SHARE} of the longest wait there was
 * of late. The first keeps slowdowns low, the second the longest wait where the queue's own order would have it.
 */
public final class Slowdown {
    /** 1 would be the slowdown itself, by which short jobs go first; 0 the wait. */
    private static final double OF_LENGTH = 2 / 3.0;
    private static final double DUE_SHARE = 0.4;
    /** Nobody is due who has waited less, in seconds. */
    private static final long LEAST_S = 3600;
    private static final int DAY_S = 86_400;
    /** So long a wait is remembered. */
    private static final int DAYS = 28;

    private record Day(long day, long longestS) {}

    /** Days with waits, oldest first; of each only what a later day does not exceed. */
    private final Deque<Day> days = new ArrayDeque<>();

    /** Higher goes first. @param expectedS above 0, see {@link Expected} */
    public static double urgency(double waitS, double expectedS) {
        return (waitS + expectedS) / Math.pow(expectedS, OF_LENGTH);
    }

    /** A job that waited for resources has started. */
    public void waited(long nowS, long waitS) {
        long day = nowS / DAY_S;
        while (!days.isEmpty() && days.getLast().longestS <= waitS) {
            days.removeLast();
        }
        if (days.isEmpty() || days.getLast().day != day) {
            days.addLast(new Day(day, waitS));
        }
    }

    /** A job is due that has waited longer. @param oldestS how long the oldest waits now */
    public double dueAfterS(long nowS, long oldestS) {
        while (!days.isEmpty() && days.getFirst().day <= nowS / DAY_S - DAYS) {
            days.removeFirst();
        }
        long longest = Math.max(oldestS, days.isEmpty() ? 0 : days.getFirst().longestS);
        return DUE_SHARE * Math.max(LEAST_S, longest);
    }
}
