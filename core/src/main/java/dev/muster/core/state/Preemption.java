package dev.muster.core.state;

import dev.muster.model.job.JobDesc;

/**
 * A job that had to give way.
 *
 * @param time since when, seconds since 1970
 * @param mode what becomes of it
 * @param endTick cluster time at which its grace is over; 0 if it had none
 */
public record Preemption(int jobId, long time, Mode mode, long endTick) {
    /** Keys of {@link Settings#options}. */
    public static final String TYPE = "preempt_type";

    public static final String MODE = "preempt_mode";
    public static final String EXEMPT_S = "preempt_exempt_s";
    public static final String PARAMETERS = "preempt_parameters";

    /**
     * The ways in which a job is preempted. GANG: the job keeps its allocation and waits for its next turn on cores
     * that it shares.
     */
    public enum Mode {
        OFF,
        CANCEL,
        REQUEUE,
        SUSPEND,
        GANG
    }

    /** {@code --signal=R:}: it may be on nodes of reservations, and goes when their jobs come. */
    public static boolean isGuest(JobDesc desc) {
        return desc.extras().warnReserve() && desc.charge().reservation().isEmpty();
    }
}
