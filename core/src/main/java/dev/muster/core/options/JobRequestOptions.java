package dev.muster.core.options;

/**
 * Options that decide what jobs may ask for.
 *
 * @param memoryUpdates what --mem-update needs is configured; no by default
 * @param expedites SlurmctldParameters=enable_expedited_requeue: --requeue=expedite; no by default
 * @param specUsage AllowSpecResourcesUsage: jobs say how many cores of their nodes they leave alone; no by default
 * @param x11 PrologFlags=X11; no by default
 * @param reboots RebootProgram: nodes are rebooted for jobs that ask for it; no by default
 * @param anyFeature ignore_constraint_validation: -C may name features of no node; no by default
 * @param anyPreference ignore_prefer_validation: --prefer may name features of no node; no by default
 * @param extraConstraints extra_constraints: --extra is a constraint; no by default
 * @param shrinks no disable_job_shrink: running jobs may give up nodes; yes by default
 * @param hetSteps no disable_hetjob_steps: a step may span components of a heterogeneous job; yes by default
 */
public record JobRequestOptions(
        boolean memoryUpdates,
        boolean expedites,
        boolean specUsage,
        boolean x11,
        boolean reboots,
        boolean anyFeature,
        boolean anyPreference,
        boolean extraConstraints,
        boolean shrinks,
        boolean hetSteps) {
    /** {@code true} where what --mem-update needs is configured. */
    public static final String MEMORY_UPDATES = "memory_updates";
    /** {@code true} with SlurmctldParameters=enable_expedited_requeue. */
    public static final String EXPEDITED_REQUEUE = "expedited_requeue";
    /** {@code true} with AllowSpecResourcesUsage. */
    public static final String SPEC_USAGE = "spec_usage";
    /** {@code true} with PrologFlags=X11. */
    public static final String X11 = "x11";
    /** {@code true} with RebootProgram. */
    public static final String REBOOTS = "reboots";
    /** A word of SchedulerParameters. */
    public static final String EXTRA_CONSTRAINTS = "extra_constraints";

    static JobRequestOptions of(OptionParser text) {
        return new JobRequestOptions(
                text.has(MEMORY_UPDATES),
                text.has(EXPEDITED_REQUEUE),
                text.has(SPEC_USAGE),
                text.has(X11),
                text.has(REBOOTS),
                text.has("ignore_constraint_validation"),
                text.has("ignore_prefer_validation"),
                text.has(EXTRA_CONSTRAINTS),
                !text.has("disable_job_shrink"),
                !text.has("disable_hetjob_steps"));
    }
}
