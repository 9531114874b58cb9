package dev.muster.scheduler.queue;

import dev.muster.core.options.BackfillOptions.HetOrder;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * bf_hetjob_prio: components of a heterogeneous job stand in the queue as if all had the least, the mean or the
 * greatest of their priorities and tiers.
 */
public final class HetQueueOrder {
    /** Priority tier above that of every partition. */
    private static final int RESERVED_TIER = 1 << 20;

    private HetQueueOrder() {}

    private static HetOrder of(State state) {
        return state.settings().options().backfill().hetOrder();
    }

    static QueueOrder.Place place(State state, Job job, ToIntFunction<Job> tier, ToLongFunction<Job> priority) {
        HetOrder order = job.isHet() ? of(state) : HetOrder.OWN;
        if (order == HetOrder.OWN) {
            return new QueueOrder.Place(tier.applyAsInt(job) + above(job), priority.applyAsLong(job), job.id(), job);
        }
        List<Job> all = state.members(job);
        int above = all.stream().mapToInt(HetQueueOrder::above).max().orElse(0);
        return new QueueOrder.Place(
                (int) among(order, all.stream().mapToLong(tier::applyAsInt)) + above,
                among(order, all.stream().mapToLong(priority)),
                job.id(),
                job);
    }

    /** Sorts jobs with a reservation first (slurm.conf(5), PriorityType). */
    private static int above(Job job) {
        return job.desc().charge().reservation().isEmpty() ? 0 : RESERVED_TIER;
    }

    private static long among(HetOrder order, LongStream each) {
        return switch (order) {
            case MIN -> each.min().orElse(0);
            case AVG, OWN -> (long) each.average().orElse(0);
            case MAX -> each.max().orElse(0);
        };
    }

    /** Adds the jobs whose place changes with these: the components of their heterogeneous jobs. */
    public static List<Integer> touched(State state, List<Integer> jobs) {
        return of(state) == HetOrder.OWN
                        || jobs.stream()
                                .noneMatch(id ->
                                        state.jobs().find(id).filter(Job::isHet).isPresent())
                ? jobs
                : jobs.stream()
                        .flatMap(id -> Stream.concat(
                                Stream.of(id),
                                state.jobs().find(id).stream()
                                        .flatMap(j -> state.members(j).stream().map(Job::id))))
                        .distinct()
                        .toList();
    }
}
