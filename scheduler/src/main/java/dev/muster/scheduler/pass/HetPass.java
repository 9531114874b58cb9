package dev.muster.scheduler.pass;

import static java.util.Objects.requireNonNull;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.Feasibility;
import dev.muster.scheduler.preempt.Preemptor;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.queue.PriorityIndex;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Heterogeneous jobs in a pass: all components at once or none, each on nodes of its own. What cannot start now is
 * planned for the first time at which all fit.
 */
final class HetPass {
    private final Pass pass;
    private final AccountUse use;
    private final ClusterIndex cluster;
    private final JobQueue queue;
    private final State state;
    private final AccountRules accounts;
    /** Reason that kept the last job that was tried from its nodes, where those were free. */
    private JobReason limited = JobReason.NONE;

    /** A component and the partition it is tried in. */
    private record Part(Job job, ResourceNeed need) {}

    HetPass(Pass pass, SchedulingContext context, State state) {
        this.pass = pass;
        this.use = context.use();
        this.cluster = context.cluster();
        this.queue = context.queue();
        this.state = state;
        this.accounts = new AccountRules(state);
    }

    /** Starts the whole job of this leader, or explains why it waits. */
    void consider(Job leader) {
        List<Job> members = state.members(leader);
        if (members.size() < leader.het().members().size() || !members.stream().allMatch(PriorityIndex::inQueue)) {
            return;
        }
        List<Part> parts = new ArrayList<>();
        boolean blocked = false;
        for (Job job : members) {
            Optional<Part> part = part(job);
            part.ifPresent(parts::add);
            blocked |= part.isEmpty();
        }
        // a component with few candidate nodes takes its nodes before one that can go anywhere
        parts.sort(Comparator.comparingInt(p -> pass.placement().candidateCount(p.need)));
        if (blocked || start(parts, true)) {
            return;
        }
        JobReason limit = limited;
        if (limit == JobReason.NONE && room(parts)) {
            return;
        }
        if (!startForLess(parts)) {
            later(parts, limit);
        }
    }

    /** Makes room by preemption, for all components or for none. */
    private boolean room(List<Part> parts) {
        IdentityHashMap<Allocation, List<Planner.Start>> places = new IdentityHashMap<>();
        Preemptor.Outcome room = pass.placement()
                .blindly(() -> pass.preemptor()
                        .makeTogether(
                                parts.stream().map(Part::job).toList(),
                                parts.stream().map(Part::need).toList(),
                                new Preemptor.PlacementQuery() {
                                    @Override
                                    public Optional<Allocation> find() {
                                        Optional<List<Planner.Start>> all = places(parts);
                                        return all.map(starts -> {
                                            Allocation together = new Allocation(
                                                    1,
                                                    starts.stream()
                                                            .flatMap(s -> s.allocation().nodes().stream())
                                                            .toList());
                                            places.put(together, starts);
                                            return together;
                                        });
                                    }

                                    @Override
                                    public boolean wereTooFew() {
                                        return false;
                                    }

                                    @Override
                                    public boolean isThereUnplanned() {
                                        return false;
                                    }
                                }));
        return switch (room) {
            case Preemptor.NoRoom n -> false;
            case Preemptor.RoomNow r -> {
                begin(parts, starts(places, r.allocation()));
                yield true;
            }
            case Preemptor.RoomLater r -> {
                List<Planner.Start> starts = starts(places, r.allocation());
                for (int i = 0; i < parts.size(); i++) {
                    pass.starts().awaitRelease(starts.get(i).allocation(), parts.get(i).need);
                    queue.waits().explain(parts.get(i).job.id(), JobReason.RESOURCES);
                }
                yield true;
            }
        };
    }

    private static List<Planner.Start> starts(
            IdentityHashMap<Allocation, List<Planner.Start>> places, Allocation allocation) {
        return requireNonNull(places.get(allocation), "room is made for what find() returned");
    }

    private void begin(List<Part> parts, List<Planner.Start> starts) {
        pass.startedHet(starts.size());
        for (int i = 0; i < starts.size(); i++) {
            pass.starts().add(parts.get(i).job, parts.get(i).need, starts.get(i));
        }
    }

    /**
     * {@code --time-min}: all begin for the longest part of what their least times lack of the whole ones, in eighths.
     */
    private boolean startForLess(List<Part> parts) {
        if (shorter(parts, 0).equals(parts) || !start(shorter(parts, 0), false)) {
            return false;
        }
        int fits = 0;
        for (int step = EIGHTHS / 2; step > 0; step /= 2) {
            fits += start(shorter(parts, fits + step), false) ? step : 0;
        }
        return start(shorter(parts, fits), true);
    }

    private static final int EIGHTHS = 8;

    private List<Part> shorter(List<Part> parts, int eighths) {
        return parts.stream()
                .map(p -> new Part(
                        p.job, TimeMinPlanner.between(p.job, p.need, eighths, EIGHTHS, cluster.needs(), state)))
                .toList();
    }

    /** Returns the component in the first of its partitions that it may use and that is large enough. */
    private Optional<Part> part(Job job) {
        JobReason reason = state.buffers().blocks(job.id());
        if (reason != JobReason.NONE) {
            queue.waits().explain(job.id(), reason, Optional.empty());
            return Optional.empty();
        }
        reason = JobReason.PARTITION_DOWN;
        for (String name : queue.ranks().partitions(job)) {
            Optional<Partition> partition = state.partitions().find(name);
            if (partition.isEmpty()) {
                continue;
            }
            if (pass.completeWait().has(name)) {
                reason = pass.completeWait().reason(job);
                continue;
            }
            reason = PartitionLimits.reason(job.desc(), partition.get(), state);
            if (reason == JobReason.NONE) {
                Optional<ResourceNeed> open = pass.inReservation(
                        job,
                        cluster.known(pass.waits().patient(job, cluster.needs().of(job, partition.get(), state)), job));
                if (open.isEmpty()) {
                    reason = JobReason.RESERVATION;
                    continue;
                }
                ResourceNeed need = open.get();
                for (String qos : job.desc().charge().eachQos()) {
                    Job as = job.underQos(qos);
                    reason = accounts.enforces(AccountingEnforcement.Word.LIMITS)
                            ? queue.limits().blocks(as.desc(), Allocation.NONE, need.limitMin())
                            : JobReason.NONE;
                    if (reason == JobReason.NONE && Feasibility.exceeds(state, as.desc(), partition.get())) {
                        reason = Feasibility.tooSmall(need, state);
                    }
                    if (reason == JobReason.NONE) {
                        return Optional.of(new Part(as, need));
                    }
                }
            }
        }
        queue.waits().explain(job.id(), reason, Optional.empty());
        return Optional.empty();
    }

    /** @param really it is not only asked whether they could */
    private boolean start(List<Part> parts, boolean really) {
        Optional<List<Planner.Start>> starts = places(parts);
        if (really) {
            starts.ifPresent(s -> begin(parts, s));
        }
        return starts.isPresent();
    }

    /** Places each component beside the others; empty if one of them has no place. */
    private Optional<List<Planner.Start>> places(List<Part> parts) {
        List<Planner.Start> starts = new ArrayList<>();
        Set<String> used = new HashSet<>();
        limited = JobReason.NONE;
        boolean all = true;
        int charged = 0;
        for (Part part : parts) {
            Optional<Allocation> allocation = pass.placement().avoiding(part.need, used);
            if (allocation.isEmpty()) {
                all = false;
                break;
            }
            JobReason policy = accounts.enforces(AccountingEnforcement.Word.LIMITS)
                    ? queue.limits().blocks(part.job.desc(), allocation.get(), part.need.limitMin())
                    : JobReason.NONE;
            if (policy != JobReason.NONE) {
                limited = policy;
                all = false;
                break;
            }
            use.started(state, part.job.desc(), allocation.get(), part.need.limitMin(), 1);
            pass.licenses().take(allocation.get(), part.need, false);
            charged++;
            allocation.get().nodes().forEach(share -> used.add(share.node()));
            starts.add(new Planner.Start(
                    part.job.id(),
                    -1,
                    pass.starter().ahead(allocation.get(), part.need),
                    part.need.limitMin(),
                    part.need.partition(),
                    part.need.reservation(),
                    part.job.desc().charge().qos()));
        }
        for (int i = 0; i < charged; i++) {
            use.started(
                    state,
                    parts.get(i).job.desc(),
                    starts.get(i).allocation(),
                    starts.get(i).limitMin(),
                    -1);
            pass.licenses().take(starts.get(i).allocation(), parts.get(i).need, true);
        }
        return all ? Optional.of(starts) : Optional.empty();
    }

    /** Reserves the first time at which all components have room, unless a limit holds the job. */
    private void later(List<Part> parts, JobReason limit) {
        if (limit != JobReason.NONE) {
            parts.forEach(p -> queue.waits().explain(p.job.id(), limit, Optional.empty()));
            return;
        }
        List<Planner.Estimate> planned = pass.reservations()
                .reserveTogether(
                        parts.stream().map(Part::need).toList(),
                        shorter(parts, 0).stream().map(Part::need).toList());
        parts.forEach(p -> pass.reservations().notePlanned(p.job));
        for (int i = 0; i < parts.size(); i++) {
            queue.waits()
                    .explain(
                            parts.get(i).job.id(),
                            JobReason.RESOURCES,
                            planned.isEmpty() ? Optional.empty() : Optional.of(planned.get(i)));
        }
    }
}
