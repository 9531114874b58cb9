package dev.muster.core.options;

/**
 * Backfill: which jobs get reservations, and in which order the others are tried.
 *
 * @param mode muster_backfill; QUEUE by default
 * @param hetOrder bf_hetjob_prio; OWN by default, MIN with bf_hetjob_immediate
 * @param busyNodes bf_busy_nodes: nodes with jobs are filled before idle ones; no by default
 * @param reservePriorityMin bf_min_prio_reserve: 0 to 10¹⁸ - 1; 0 by default
 * @param reserveAgeMinS bf_min_age_reserve: seconds; 0 by default
 * @param reservePerPartitionMax bf_job_part_count_reserve: reservations of a partition; 0, the default, for any number
 * @param reserveArrays arrays reserve; yes by default, no with bf_max_job_array_resv=0
 * @param reserveOncePerJob bf_one_resv_per_job: a job reserves in one of its partitions; no by default
 */
public record BackfillOptions(
        Mode mode,
        HetOrder hetOrder,
        boolean busyNodes,
        long reservePriorityMin,
        long reserveAgeMinS,
        int reservePerPartitionMax,
        boolean reserveArrays,
        boolean reserveOncePerJob) {
    /** A word of SchedulerParameters: easy, short, expected or slowdown. */
    public static final String MUSTER_BACKFILL = "muster_backfill";

    /**
     * EASY: the first waiting job of each partition gets a reservation; the others follow in the queue's order. SHORT:
     * the others by time limit. EXPECTED: the others by expected run time. SLOWDOWN: jobs that are due, then by price;
     * where no wide job waits, the first waiting job of that order has the reservation.
     */
    public enum Mode {
        QUEUE,
        EASY,
        SHORT,
        EXPECTED,
        SLOWDOWN;

        /** Returns the mode of a word of {@link #MUSTER_BACKFILL}; QUEUE for any other. */
        private static Mode of(String word) {
            return switch (word) {
                case "easy" -> EASY;
                case "short" -> SHORT;
                case "expected" -> EXPECTED;
                case "slowdown" -> SLOWDOWN;
                default -> QUEUE;
            };
        }
    }

    /** The priority that the components of a heterogeneous job have: each its own, or the least, mean or greatest. */
    public enum HetOrder {
        /** Each stands where its own priority puts it; the whole job is tried in the first one's turn. */
        OWN,
        MIN,
        AVG,
        MAX;

        private static HetOrder of(String word) {
            return switch (word) {
                case "min" -> MIN;
                case "avg" -> AVG;
                case "max" -> MAX;
                default -> OWN;
            };
        }
    }

    static BackfillOptions of(OptionParser text) {
        return new BackfillOptions(
                text.has(SchedulingOptions.IN_ORDER) ? Mode.QUEUE : Mode.of(text.text(MUSTER_BACKFILL)),
                text.has("bf_hetjob_immediate") ? HetOrder.MIN : HetOrder.of(text.text("bf_hetjob_prio")),
                text.has("bf_busy_nodes"),
                text.digits("bf_min_prio_reserve", 18, 0),
                text.digits("bf_min_age_reserve", 18, 0),
                (int) Math.min(Integer.MAX_VALUE, text.digits("bf_job_part_count_reserve", 18, 0)),
                text.digits("bf_max_job_array_resv", 18, 1) > 0,
                text.has("bf_one_resv_per_job"));
    }

    /** Tests whether any word limits which jobs reserve. */
    public boolean limitsReservations() {
        return reservePriorityMin > 0
                || reserveAgeMinS > 0
                || reservePerPartitionMax > 0
                || !reserveArrays
                || reserveOncePerJob;
    }
}
