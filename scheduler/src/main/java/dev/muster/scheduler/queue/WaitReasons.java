package dev.muster.scheduler.queue;

import dev.muster.core.command.Planner;
import dev.muster.core.state.Job;
import dev.muster.model.job.JobReason;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Reasons why each job waits, and when a pass planned it to start. Written by the core thread, read on any. */
public final class WaitReasons {
    private final Map<Integer, JobReason> reasons = new ConcurrentHashMap<>();
    private final Map<Integer, Planner.Estimate> planned = new ConcurrentHashMap<>();

    /** Notes why a job waits that has no planned start. */
    public void explain(int jobId, JobReason reason) {
        explain(jobId, reason, Optional.empty());
    }

    public void explain(int jobId, JobReason reason, Optional<Planner.Estimate> start) {
        if (reasons.get(jobId) != reason) {
            reasons.put(jobId, reason);
        }
        if (start.isPresent()) {
            planned.put(jobId, start.get());
        } else if (!planned.isEmpty()) {
            planned.remove(jobId);
        }
    }

    /** Returns why the job waits; NONE for a job that no pass has looked at. */
    public JobReason reason(int jobId) {
        return reasons.getOrDefault(jobId, JobReason.NONE);
    }

    /** Returns when the job is planned to start; null if it has no plan. */
    public Planner.@Nullable Estimate planned(int jobId) {
        return planned.get(jobId);
    }

    public Map<Integer, Planner.Estimate> planned() {
        return planned;
    }

    /** Estimates of jobs that were not planned in a pass over the whole queue do not count any more. */
    public void retain(Set<Integer> jobs) {
        planned.keySet().retainAll(jobs);
    }

    /** Forgets a job that does not wait any more. */
    public void forget(int jobId) {
        reasons.remove(jobId);
        planned.remove(jobId);
    }

    /**
     * Tests whether a job waits neither for a limit nor a license nor anything else that no order of the queue could
     * give it.
     */
    public boolean isForResources(Job job) {
        JobReason reason = reason(job.isArrayTask() ? job.array().jobId() : job.id());
        return reason == JobReason.NONE || reason == JobReason.PRIORITY || reason == JobReason.RESOURCES;
    }
}
