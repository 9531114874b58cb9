package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.scheduler.claim.NumberAllocator;
import dev.muster.scheduler.preempt.PassAllocations;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.timeline.LicenseAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * Jobs that a pass starts. Each takes its resources, licenses and numbers at once, and counts against limits until the
 * pass is over: afterwards the records of the starts bring all of it. Called by {@link Pass} and its parts.
 */
final class StartedJobs {
    private final State state;
    private final int startsMax;
    /** Whether limits are enforced. */
    private final boolean limited;

    private final AccountUse use;
    private final PassAllocations allocations;
    private final LicenseAllocator licenses;
    private final NumberAllocator numbers;
    private final List<Planner.Start> starts;
    private final List<Charged> charged = new ArrayList<>();
    /** Jobs that start now although a more urgent one waits for its reservation. */
    private int backfilled;
    /** Components of heterogeneous jobs that do. */
    private int backfilledHet;

    private record Charged(JobDesc desc, Allocation allocation, int limitMin) {}

    /** @param starts list to which starts are added; others read it */
    StartedJobs(
            State state,
            int startsMax,
            boolean limited,
            AccountUse use,
            PassAllocations allocations,
            LicenseAllocator licenses,
            NumberAllocator numbers,
            List<Planner.Start> starts) {
        this.state = state;
        this.startsMax = startsMax;
        this.limited = limited;
        this.use = use;
        this.allocations = allocations;
        this.licenses = licenses;
        this.numbers = numbers;
        this.starts = starts;
    }

    List<Planner.Start> all() {
        return starts;
    }

    /** Tests whether as many jobs have started as may in one pass. */
    boolean isFull() {
        return starts.size() >= startsMax;
    }

    /** Adds the start of a job, and counts it against limits. */
    void add(Job job, ResourceNeed need, Planner.Start start) {
        if (limited) {
            use.started(state, job.desc(), start.allocation(), start.limitMin(), 1);
            charged.add(new Charged(job.desc(), start.allocation(), start.limitMin()));
        }
        addUncharged(job, need, start);
    }

    /** Adds the start of a job that limits do not count in this pass. */
    void addUncharged(Job job, ResourceNeed need, Planner.Start start) {
        Allocation allocation = start.allocation();
        licenses.take(allocation, need, false);
        numbers.take(allocation);
        for (Allocation.Share share : allocation.nodes()) {
            allocations.take(job, share, need);
        }
        starts.add(start);
    }

    /** Keeps resources that other jobs still have for the job that will have them. */
    void awaitRelease(Allocation place, ResourceNeed need) {
        allocations.keep(place, need);
    }

    /** Counts starts ahead of a more urgent job. */
    void countBackfilled(int jobs, int hetComponents) {
        backfilled += jobs;
        backfilledHet += hetComponents;
    }

    /** Returns the counts with this pass' work added. */
    PassCounts added(PassCounts before) {
        return new PassCounts(
                before.backfilled() + backfilled,
                before.backfilledHet() + backfilledHet,
                before.full() + (isFull() ? 1 : 0));
    }

    /** Takes back all charges and allocations of the pass; jobs that really start return by their journal records. */
    void undo() {
        charged.forEach(c -> use.started(state, c.desc, c.allocation, c.limitMin, -1));
        allocations.undo();
    }
}
