package dev.muster.scheduler.timeline;

import dev.muster.core.limits.SoftLimit;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;

/** Tells how long jobs on nodes may still stay there. */
public final class RemainingTime {
    /** Seconds that stand for "without end". */
    public static final long ENDLESS_S = Long.MAX_VALUE / 2;

    private RemainingTime() {}

    /**
     * Returns the seconds until the job must be over, {@link #ENDLESS_S} for never.
     *
     * @param tickMs on the clock that limits follow
     */
    public static long seconds(State state, Job job, long tickMs) {
        long end = SoftLimit.endTick(job, state.settings(), tickMs);
        if (end < 0) {
            return job.state().isActive() ? ENDLESS_S : RunningJobTimeline.LEAVING_S;
        }
        return Math.max(0, (end - tickMs + 999) / 1000);
    }

    /**
     * Returns the remaining seconds where a job without a limit counts as running for a year, and for another after
     * each.
     *
     * @param nowS seconds since 1970
     */
    public static long yearly(State state, Job job, long nowS, long tickMs) {
        long left = seconds(state, job, tickMs);
        return left >= ENDLESS_S
                ? TimeGrid.YEAR_S - Math.floorMod(nowS - job.run().startTime(), (long) TimeGrid.YEAR_S)
                : left;
    }
}
