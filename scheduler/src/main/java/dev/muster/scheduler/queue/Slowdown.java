package dev.muster.scheduler.queue;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Bounds the overtaking of {@code muster_backfill=slowdown}, which orders jobs by {@link RuntimeEstimator#price}. It
 * counts recent waits, and for each waiting job the work of later jobs that started before it. When that work exceeds a
 * share of the partition's work in the longest recent wait, the job is due: it goes in the queue's order. Work is in
 * CPU seconds, as expected while a job runs and as measured after its end.
 */
public final class Slowdown {
    /** Share of the partition's work in the longest wait that may overtake a waiting job. */
    private static final double OVERTAKEN_SHARE = 0.03;
    /**
     * Share of the longest wait after which a job is due while a wide job has a reservation that all others keep clear
     * of.
     */
    private static final double WAITED_SHARE = 0.8;
    /** A job that asks for more than one of this many of its partition's CPUs is wide: they are rarely free at once. */
    private static final int WIDE_PART = 8;
    /** The longest wait counts as no less, in seconds. */
    private static final long LEAST_S = 3600;

    private static final int DAY_S = 86_400;
    /**
     * A job that costs more than this share of the partition's work in the longest wait, times that wait, is not
     * ordered by price: its slowdown is low anyway.
     */
    private static final double DEAR_SHARE = 1e-6;
    /** Days for which the longest wait of a day is remembered. */
    private static final int DAYS = 28;

    private record Day(long day, long longestS) {}

    private record StartedJob(Ledger ledger, long submittedS, long cpuS) {}

    /** Days with waits, oldest first; of each only what a later day does not exceed. */
    private final Deque<Day> days = new ArrayDeque<>();

    private final Map<String, Ledger> ledgers = new HashMap<>();
    /** Entries of running jobs in the ledger. */
    private final Map<Integer, StartedJob> begun = new HashMap<>();

    /**
     * The work of one partition's jobs by when these were submitted: sums over what came later than some time take few
     * steps (Fenwick's tree).
     */
    private static final class Ledger {
        private static final int SPAN_S = 300;
        /** Somewhat more than {@link #DAYS}; what is older is counted with the oldest. */
        private static final int SPANS = 1 << 13;

        private long[] own = new long[SPANS];
        private final long[] tree = new long[SPANS + 1];
        private long first;
        private long total;
        private boolean used;

        private int span(long submittedS) {
            return Math.clamp(submittedS / SPAN_S - first, 0, SPANS);
        }

        private void add(long submittedS, long cpuS) {
            if (!used || span(submittedS) == SPANS) {
                advance(submittedS / SPAN_S - SPANS * 3 / 4);
                used = true;
            }
            int index = span(submittedS);
            own[index] += cpuS;
            total += cpuS;
            for (int k = index + 1; k <= SPANS; k += k & -k) {
                tree[k] += cpuS;
            }
        }

        private void advance(long to) {
            int by = (int) Math.min(SPANS, used ? to - first : 0);
            long old = Arrays.stream(own, 0, by).sum();
            long[] kept = Arrays.copyOfRange(own, by, by + SPANS);
            kept[0] += old;
            own = kept;
            first = to;
            for (int k = 1; k <= SPANS; k++) {
                tree[k] = 0;
            }
            for (int k = 1; k <= SPANS; k++) {
                tree[k] += own[k - 1];
                int up = k + (k & -k);
                if (up <= SPANS) {
                    tree[up] += tree[k];
                }
            }
        }

        private long after(long submittedS) {
            long upTo = 0;
            for (int k = Math.min(SPANS, span(submittedS) + 1); k > 0; k -= k & -k) {
                upTo += tree[k];
            }
            return total - upTo;
        }
    }

    /** Returns whether a job of this many CPUs is wide in its partition ({@link #WIDE_PART}). */
    public static boolean isWide(long cpus, long cpusOfPartition) {
        return cpus * WIDE_PART > cpusOfPartition;
    }

    /** Notes the wait of a job that waited for resources and has started. */
    public void waited(long nowS, long waitS) {
        long day = nowS / DAY_S;
        while (!days.isEmpty() && days.getLast().longestS <= waitS) {
            days.removeLast();
        }
        if (days.isEmpty() || days.getLast().day != day) {
            days.addLast(new Day(day, waitS));
        }
    }

    /**
     * Notes that a job has started.
     *
     * @param expectedS how long it will likely run
     */
    public void began(int job, String partition, long submittedS, int cpus, double expectedS) {
        Ledger ledger = ledgers.computeIfAbsent(partition, p -> new Ledger());
        StartedJob b = new StartedJob(ledger, submittedS, Math.round(expectedS) * cpus);
        begun.put(job, b);
        ledger.add(submittedS, b.cpuS);
    }

    /** Records the end of a job and its run time in seconds. */
    public void ended(int job, int cpus, long runS) {
        StartedJob b = begun.remove(job);
        if (b != null) {
            b.ledger.add(b.submittedS, runS * cpus - b.cpuS);
        }
    }

    /**
     * Returns the longest wait that counts.
     *
     * @param oldestS how long the oldest waits now
     */
    public long longestS(long nowS, long oldestS) {
        while (!days.isEmpty() && days.getFirst().day <= nowS / DAY_S - DAYS) {
            days.removeFirst();
        }
        return Math.max(LEAST_S, Math.max(oldestS, days.isEmpty() ? 0 : days.getFirst().longestS));
    }

    /**
     * Sort key, lowest first: jobs that are due, then cheap jobs by price, then the others: beside a wide job's
     * reservation the widest of them first, so that less room is lost, else in the queue's order.
     *
     * @param longestS see {@link #longestS}
     * @param price see {@link RuntimeEstimator#price}
     * @param besideWideJob whether a wide job has a reservation in the partition
     */
    public double key(
            String partition,
            long submittedS,
            long waitS,
            long longestS,
            long cpus,
            long cpusOfPartition,
            double price,
            boolean besideWideJob) {
        if (isDue(partition, submittedS, waitS, longestS, cpusOfPartition, besideWideJob)) {
            return -1;
        }
        double machine = Math.max(1, cpusOfPartition);
        double scaleS = Math.max(DAY_S, longestS);
        double share = price * cpus / machine / scaleS / scaleS;
        if (share <= DEAR_SHARE) {
            return share;
        }
        if (besideWideJob) {
            return 2 - cpus / machine;
        }
        return 2;
    }

    /**
     * Returns whether the job goes in the queue's order: too much work has overtaken it, or it has waited too long
     * beside a wide job's reservation.
     */
    private boolean isDue(
            String partition, long submittedS, long waitS, long longestS, long cpusOfPartition, boolean besideWideJob) {
        if (besideWideJob) {
            return waitS > WAITED_SHARE * longestS;
        }
        Ledger ledger = ledgers.get(partition);
        return ledger != null && ledger.after(submittedS) > OVERTAKEN_SHARE * longestS * cpusOfPartition;
    }
}
