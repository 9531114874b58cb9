package dev.muster.core.job;

import dev.muster.core.limits.Priorities;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.List;

/**
 * The time since when a job is eligible to start, and the time since when its age factor accrues. A held job is not
 * eligible and becomes so again when it is released. Its age goes on accruing while it is held or waits for a
 * dependency, unless a limit on accruing jobs applies: then it makes room for others.
 */
public final class Eligibility {
    private Eligibility() {}

    /** @param time 0: no more */
    public static List<Change> from(State state, Job job, long time) {
        List<Change> out = new ArrayList<>(List.of(new Change.JobEligible(job.id(), time)));
        long since = state.accounts().limitsAccrual() ? 0 : Priorities.accrueTime(state, job);
        if (since > 0) {
            out.add(new Change.AccrualChanged(job.id(), -since));
        }
        return out;
    }

    static List<Change> held(State state, Job job) {
        return job.isPending() && job.eligibleTime() > 0 ? from(state, job, 0) : List.of();
    }

    /**
     * Returns the changes by which a released job becomes eligible; one that also waits for a dependency or its begin
     * time does when that is over.
     */
    static List<Change> released(State state, Job job, DecisionTime now) {
        boolean free = job.isPending()
                && job.eligibleTime() == 0
                && Dependency.fulfilled(job.dependencies())
                && job.desc().timing().beginTime() <= now.seconds();
        return free ? from(state, job, now.seconds()) : List.of();
    }
}
