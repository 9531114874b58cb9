package dev.muster.core.limits;

import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;

/**
 * time_min_as_soft_limit: what waits and runs is planned as if it ended after its --time-min; it may run as long as
 * --time says.
 */
public final class SoftLimit {
    private SoftLimit() {}

    /** Tests whether the job has a soft time limit. */
    static boolean has(JobDesc desc, Settings settings) {
        return desc.timing().timeMinMin() > 0 && settings.options().scheduling().softTimeMin();
    }

    /**
     * Returns the minutes that a job is planned with.
     *
     * @param limitMin that it may run, -1 without limit
     */
    public static int planned(JobDesc desc, int limitMin, Settings settings) {
        return has(desc, settings) && (limitMin < 0 || desc.timing().timeMinMin() < limitMin)
                ? desc.timing().timeMinMin()
                : limitMin;
    }

    /** Returns the minutes that a job may run in its first partition, which may be more than it is planned with. */
    public static int hard(JobDesc desc, int plannedMin, State state) {
        return has(desc, state.settings())
                ? state.partitions()
                        .find(desc.firstPartition())
                        .map(p -> PartitionLimits.runMin(desc, p))
                        .orElse(plannedMin)
                : plannedMin;
    }

    /**
     * Returns the tick at which a running job is expected to be over: by its soft limit, and when that is over by the
     * other; -1 for never.
     */
    public static long endTick(Job job, Settings settings, long tickMs) {
        long hard = job.run().limitTickMs();
        if (!job.state().isActive() || !has(job.desc(), settings)) {
            return hard;
        }
        int limitMin = job.run().limitMin();
        long soft = hard < 0 || limitMin < 0
                ? job.run().sinceTickMs() + job.desc().timing().timeMinMin() * 60_000L
                : hard - Math.max(0, limitMin - job.desc().timing().timeMinMin()) * 60_000L;
        return soft > tickMs ? soft : hard;
    }
}
