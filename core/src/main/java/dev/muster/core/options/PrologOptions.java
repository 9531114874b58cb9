package dev.muster.core.options;

/**
 * Prologs, and what becomes of jobs that cannot be launched.
 *
 * @param holdsJobs no PrologFlags=NoHold: jobs wait for prologs, not only their steps; yes by default
 * @param defersBatch PrologFlags=DeferBatch: a batch script waits for the prologs of all its nodes; no by default
 * @param forcesRequeue PrologFlags=ForceRequeueOnFail; no by default
 * @param onController PrologSlurmctld names a program; no by default
 * @param holdsFailed no SchedulerParameters=nohold_on_prolog_fail: a job whose prolog failed is held; yes by default
 * @param batchRequeueMax MaxBatchRequeue: requeues after which a batch job is held; 5 by default
 */
public record PrologOptions(
        boolean holdsJobs,
        boolean defersBatch,
        boolean forcesRequeue,
        boolean onController,
        boolean holdsFailed,
        int batchRequeueMax) {
    /** {@code true} with PrologFlags=NoHold. */
    public static final String PROLOG_NO_HOLD = "prolog_no_hold";
    /** {@code true} with PrologFlags=DeferBatch. */
    public static final String PROLOG_DEFER_BATCH = "prolog_defer_batch";
    /** {@code true} with PrologFlags=ForceRequeueOnFail. */
    public static final String PROLOG_FORCE_REQUEUE = "prolog_force_requeue";
    /** {@code true} where PrologSlurmctld names a program. */
    public static final String PROLOG_SLURMCTLD = "prolog_slurmctld";
    /** A word of SchedulerParameters. */
    public static final String NO_HOLD_ON_PROLOG_FAIL = "nohold_on_prolog_fail";
    /** MaxBatchRequeue. */
    public static final String MAX_BATCH_REQUEUE = "max_batch_requeue";

    static PrologOptions of(OptionParser text) {
        return new PrologOptions(
                !text.has(PROLOG_NO_HOLD),
                text.has(PROLOG_DEFER_BATCH),
                text.has(PROLOG_FORCE_REQUEUE),
                text.isTrue(PROLOG_SLURMCTLD),
                !text.has(NO_HOLD_ON_PROLOG_FAIL),
                text.count(MAX_BATCH_REQUEUE, 5));
    }
}
