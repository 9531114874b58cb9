package dev.muster.scheduler.pass;

import dev.muster.core.state.Job;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Options of SchedulerParameters that limit which jobs get reservations; a job without one delays no other. One object
 * per pass.
 */
final class ReserveWords {
    private final long leastPriority;
    private final long leastAgeS;
    private final int perPartition;
    private final boolean arrays;
    private final boolean onePerJob;
    private final Map<String, Integer> ofPartition = new HashMap<>();
    private final Set<Integer> had = new HashSet<>();

    ReserveWords(Map<String, String> options) {
        leastPriority = number(options, "bf_min_prio_reserve", 0);
        leastAgeS = number(options, "bf_min_age_reserve", 0);
        perPartition = (int) Math.min(Integer.MAX_VALUE, number(options, "bf_job_part_count_reserve", 0));
        arrays = number(options, "bf_max_job_array_resv", 1) > 0;
        onePerJob = options.containsKey("bf_one_resv_per_job");
    }

    private static long number(Map<String, String> options, String word, long otherwise) {
        String text = options.getOrDefault(word, "");
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : otherwise;
    }

    /** Returns whether any option is set; if not, every job may reserve. */
    boolean areGiven() {
        return leastPriority > 0 || leastAgeS > 0 || perPartition > 0 || !arrays || onePerJob;
    }

    /**
     * Whether the job may keep others back in that partition; counted when it does.
     *
     * @param now seconds
     */
    boolean allows(Job job, String partition, long priority, long now) {
        boolean old = leastAgeS == 0 || job.eligibleTime() > 0 && now - job.eligibleTime() >= leastAgeS;
        boolean room = perPartition == 0 || ofPartition.getOrDefault(partition, 0) < perPartition;
        if (!old
                || !room
                || priority < leastPriority
                || job.isArrayRecord() && !arrays
                || onePerJob && had.contains(job.id())) {
            return false;
        }
        ofPartition.merge(partition, 1, Integer::sum);
        had.add(job.id());
        return true;
    }
}
