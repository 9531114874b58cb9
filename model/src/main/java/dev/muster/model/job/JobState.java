package dev.muster.model.job;

/** A job's base state, in Slurm's names, with the short form that {@code squeue} prints. */
public enum JobState {
    /** Queued, waiting for its turn, a dependency, a time or a release. */
    PENDING("PD"),
    /** Has an allocation (with the CONFIGURING flag: nodes are being made ready). */
    RUNNING("R"),
    /** Has an allocation; its processes are stopped and its CPUs are free for others. */
    SUSPENDED("S"),
    /** Ended with exit code zero on all nodes. */
    COMPLETED("CD"),
    /** Ended by its user or an administrator. */
    CANCELLED("CA"),
    /** Ended with a non-zero exit code or another failure. */
    FAILED("F"),
    /** Ended because it reached its time limit. */
    TIMEOUT("TO"),
    /** Ended because a node it ran on failed. */
    NODE_FAIL("NF"),
    /** Ended to make room for a job of higher priority. */
    PREEMPTED("PR"),
    /** Ended because a node did not boot. */
    BOOT_FAIL("BF"),
    /** Ended because it could no longer finish before its deadline. */
    DEADLINE("DL"),
    /** Ended because it used more memory than it was given. */
    OUT_OF_MEMORY("OOM");

    private final String compact;

    JobState(String compact) {
        this.compact = compact;
    }

    /** The two- or three-letter form, for example {@code PD}. */
    public String compact() {
        return compact;
    }

    public boolean isTerminal() {
        return switch (this) {
            case PENDING, RUNNING, SUSPENDED -> false;
            case COMPLETED, CANCELLED, FAILED, TIMEOUT, NODE_FAIL, PREEMPTED, BOOT_FAIL, DEADLINE, OUT_OF_MEMORY ->
                true;
        };
    }

    /** Holds an allocation that steps may run in. */
    public boolean isActive() {
        return this == RUNNING || this == SUSPENDED;
    }
}
