package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.core.Limits;
import dev.muster.core.Now;
import dev.muster.core.Partition;
import dev.muster.core.Planner;
import dev.muster.core.State;
import dev.muster.model.JobReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Between the core thread and whoever makes plans of the whole queue: what a plan is made of is noted down after a pass, when it was asked for, and
 * what comes back is taken up before the next. Where the cluster is large the pass leaves planning to it and keeps its places; elsewhere it only
 * tells when those start that the pass had no reservation for.
 */
final class Outlooks {
    /** Of so many jobs that wait the places are kept that a plan gives them. */
    static final int CLAIMS_MAX = 1000;
    /** Jobs wait for these, or for something that the plan knows of. */
    private static final java.util.Set<JobReason> PLANNED = java.util.EnumSet.of(JobReason.NONE, JobReason.PRIORITY, JobReason.RESOURCES,
            JobReason.LICENSES, JobReason.NO_TOPOLOGY_UNIT, JobReason.REQ_NODE_NOT_AVAIL, JobReason.JOB_ARRAY_TASK_LIMIT);

    private final Scheduler scheduler;
    private volatile Optional<Forecast> latest = Optional.empty();
    private final AtomicReference<Forecast> offered = new AtomicReference<>();
    private Map<Integer, List<Forecast.Claim>> claims = Map.of();
    private boolean elsewhere;

    Outlooks(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    void clear() {
        latest = Optional.empty();
        offered.set(null);
        claims = Map.of();
    }

    /** Passes keep the places that plans give, and make none. */
    void elsewhere(boolean on) {
        elsewhere = on;
        claims = on ? claims : Map.of();
    }

    /** From any thread: a plan that was made. */
    void offer(Forecast plan) {
        latest = Optional.of(plan);
        offered.set(plan);
    }

    Optional<Planner.Estimate> estimate(int jobId) {
        return latest.flatMap(f -> f.estimate(jobId));
    }

    long start(int jobId) {
        return latest.map(f -> f.start(jobId)).orElse(0L);
    }

    /** The places that count in a pass; empty where passes plan for themselves. */
    Optional<Standing> standing(State state, Now now) {
        if (!elsewhere) {
            return Optional.empty();
        }
        Forecast fresh = offered.getAndSet(null);
        if (fresh != null) {
            Map<Integer, List<Forecast.Claim>> before = claims;
            claims = new Standing(scheduler, state, now, before).renewed(fresh.claims());
            before.keySet().forEach(scheduler::forgetLane);
            claims.keySet().forEach(scheduler::forgetLane);
        }
        return Optional.of(new Standing(scheduler, state, now, claims));
    }

    /** What a plan is made of, as things are now. Only from the core thread. @param most jobs whose places are to be kept */
    Forecast.Input input(State state, Now now, int most) {
        List<Forecast.Asked> queue = new ArrayList<>(scheduler.order().size());
        Candidates candidates = new Candidates(scheduler, state);
        boolean memory = state.settings().memoryConsumed();
        for (QueueOrder.Block block : scheduler.order().blocks()) {
            for (int i = 0; i < block.size; i++) {
                Job job = block.places[i].job();
                JobReason told = block.told[i] >= 0 ? Lanes.REASONS[block.told[i]] : scheduler.reason(job.id());
                if (PLANNED.contains(told) && job.desc().charge().reservation().isEmpty()) {
                    int tasks = job.isArrayRecord() ? job.array().pending().count() : 1;
                    Optional<NeedClass> c = block.lanes[i] >= 0 ? Optional.of(scheduler.known().lane(block.lanes[i]).need)
                            : need(state, job).map(n -> scheduler.known().of(n, candidates, memory));
                    c.filter(n -> n.mask().length > 0).ifPresent(n -> queue.add(new Forecast.Asked(job.id(), n, n.mask(), tasks)));
                }
            }
        }
        List<Long> ends = new ArrayList<>();
        scheduler.holders().forEach(j -> ends.add(Forecast.left(j, now.tickMs())));
        return new Forecast.Input(state, now.seconds(), now.tickMs(), Times.with(ends, scheduler.nodes().size()), scheduler.free().copy(),
                scheduler.empty(), scheduler.nodes().stream().map(n -> n.spec.name()).toList(), queue, elsewhere ? most : 0);
    }

    private Optional<Need> need(State state, Job job) {
        for (String name : scheduler.partitions(job)) {
            Optional<Partition> p = state.partitions().find(name);
            if (p.isPresent() && Limits.reason(job.desc(), p.get(), state) == JobReason.NONE) {
                return Optional.of(scheduler.need(job, p.get(), state));
            }
        }
        return Optional.empty();
    }
}
