package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.ResourceNeedTable;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * {@code --time-min}, in one pass: what has no place for its whole time may begin for the longest for which there is
 * one now, and is planned for less where it begins earlier then.
 */
public final class TimeMinPlanner {
    private final Pass pass;
    private final ResourceNeedTable needs;
    private final State state;
    private final Set<ResourceNeed> failedNeeds = Collections.newSetFromMap(new IdentityHashMap<>());

    /** @param need for as long as it begins for */
    record Found(ResourceNeed need, Allocation place) {}

    TimeMinPlanner(Pass pass, ResourceNeedTable needs, State state) {
        this.pass = pass;
        this.needs = needs;
        this.state = state;
    }

    /** @param need that has no place now */
    Optional<Found> find(Job job, ResourceNeed need) {
        int fits = shortestMin(job, need, state);
        Optional<Found> found = fits < 0 ? Optional.empty() : lasting(fits, job, need);
        int fails = whole(need);
        while (found.isPresent() && fails - fits > 1) {
            int half = fits + fails >>> 1;
            Optional<Found> longer = lasting(half, job, need);
            fits = longer.isPresent() ? half : fits;
            fails = longer.isPresent() ? fails : half;
            found = longer.isPresent() ? longer : found;
        }
        return found;
    }

    /** Steps in which a time between the least and the whole one is looked for. */
    private static final int STEPS = 8;

    /**
     * Returns when a job that waits begins: the place kept for it from then on is for the longest time with which it
     * begins as early as with the least.
     */
    Optional<Planner.Estimate> plan(BackfillReservations plans, Job job, ResourceNeed need) {
        plans.turn(job);
        int fits = shortestMin(job, need, state);
        if (fits < 0) {
            return plans.earliest(need, true);
        }
        ResourceNeed best = needs.lasting(fits, need);
        long whole = start(plans.earliest(need, false));
        long soonest = start(plans.earliest(best, false));
        int fails = whole(need);
        for (int i = 0; i < STEPS && soonest < whole && fails - fits > 1; i++) {
            int half = fits + fails >>> 1;
            ResourceNeed longer = needs.lasting(half, need);
            boolean asSoon = start(plans.earliest(longer, false)) == soonest;
            best = asSoon ? longer : best;
            fits = asSoon ? half : fits;
            fails = asSoon ? fails : half;
        }
        return plans.earliest(soonest < whole ? best : need, true);
    }

    private static long start(Optional<Planner.Estimate> e) {
        return e.map(Planner.Estimate::start).orElse(Long.MAX_VALUE);
    }

    /** Returns the minutes for which a job may begin; -1 if it wants its whole time. */
    static int shortestMin(Job job, ResourceNeed need, State state) {
        return state.settings().options().scheduling().inOrder()
                ? -1
                : PartitionLimits.shortestMin(job.desc(), need.limitMin(), state.settings());
    }

    private static int whole(ResourceNeed need) {
        return need.limitMin() < 0 ? TimeGrid.HORIZON_S / 60 : need.limitMin();
    }

    /**
     * Returns the need for less time than all, for few lengths: three quarters of what may be missing, half, a quarter,
     * and the least.
     */
    public static List<ResourceNeed> lengths(Job job, ResourceNeed need, ResourceNeedTable needs, State state) {
        List<ResourceNeed> out = new ArrayList<>();
        for (int i = 3; shortestMin(job, need, state) >= 0 && i >= 0; i--) {
            out.add(between(job, need, i, 4, needs, state));
        }
        return out.stream().distinct().toList();
    }

    /** Returns the need for its least time and this part of what that lacks; for all of it where the job wants that. */
    static ResourceNeed between(Job job, ResourceNeed need, int part, int of, ResourceNeedTable needs, State state) {
        int shortest = shortestMin(job, need, state);
        return shortest < 0
                ? need
                : needs.lasting(shortest + (int) ((long) (whole(need) - shortest) * part / of), need);
    }

    private Optional<Found> lasting(int minutes, Job job, ResourceNeed whole) {
        ResourceNeed need = needs.lasting(minutes, whole);
        Optional<Found> found = failedNeeds.contains(need)
                ? Optional.empty()
                : pass.starter().placeFor(job, need).map(a -> new Found(need, a));
        if (found.isEmpty()) {
            failedNeeds.add(need);
        }
        return found;
    }
}
