package dev.muster.scheduler.pass;

import dev.muster.core.options.BackfillOptions;
import dev.muster.core.state.Job;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Options of SchedulerParameters that limit which jobs get reservations; a job without one delays no other. One object
 * per pass.
 */
final class BackfillReservationLimits {
    private final BackfillOptions options;
    private final Map<String, Integer> ofPartition = new HashMap<>();
    private final Set<Integer> reservedJobs = new HashSet<>();

    BackfillReservationLimits(BackfillOptions options) {
        this.options = options;
    }

    /** Returns whether any option is set; if not, every job may reserve. */
    boolean areGiven() {
        return options.limitsReservations();
    }

    /**
     * Tests whether the job may keep others back in that partition; counts it when it may.
     *
     * @param now seconds
     */
    boolean allows(Job job, String partition, long priority, long now) {
        boolean old = options.reserveAgeMinS() == 0
                || job.eligibleTime() > 0 && now - job.eligibleTime() >= options.reserveAgeMinS();
        boolean room = options.reservePerPartitionMax() == 0
                || ofPartition.getOrDefault(partition, 0) < options.reservePerPartitionMax();
        if (!old
                || !room
                || priority < options.reservePriorityMin()
                || job.isArrayRecord() && !options.reserveArrays()
                || options.reserveOncePerJob() && reservedJobs.contains(job.id())) {
            return false;
        }
        ofPartition.merge(partition, 1, Integer::sum);
        reservedJobs.add(job.id());
        return true;
    }
}
