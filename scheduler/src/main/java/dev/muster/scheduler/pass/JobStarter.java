package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.Feasibility;
import dev.muster.scheduler.preempt.Preemptor;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.queue.UnavailableNodes;
import dev.muster.scheduler.request.ReservationScope;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SwitchWait;
import dev.muster.scheduler.timeline.LicenseAllocator;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Tries to start one job of the queue now: in the first of its partitions and reservations that has room, else by
 * preemption, else for less than its whole time. A job that cannot start gets a reservation and its reason. One object
 * per pass; it remembers which needs have failed, because resources only shrink within a pass.
 */
final class JobStarter {
    /** Number of smaller sizes of a node range that are tried one by one before the smallest. */
    private static final int FEWER_MAX = 16;

    private final Pass pass;
    private final ClusterIndex cluster;
    private final JobQueue queue;
    private final State state;
    private final long nowS;
    private final boolean limited;
    private final boolean limitStops;
    private final CompleteWaitPartitions completeWait;
    private final PassReservations reserved;
    private final MissingResources missing;
    private final Preemptor preemptor;
    private final LicenseAllocator licenses;
    private final Placement placement;
    private final SwitchWait switchWait;
    private final ClassVerdicts verdicts;
    private final TimeMinPlanner timeMin;
    /** Partitions whose next job a limit holds, where this stops all jobs behind it. */
    private final Set<String> closedPartitions = new HashSet<>();
    /** Partitions and reservations in which a job waits and blocks those behind it. */
    private final Set<String> blocked = new HashSet<>();
    // classes are one object each, so identity is equality
    private final Set<ResourceNeed> failedNeeds = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Needs that are larger than their partition. */
    private final Set<ResourceNeed> tooLarge = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * @param pass with all its other parts
     * @param reserved what reservations leave
     * @param limited whether limits are enforced
     */
    JobStarter(
            Pass pass, SchedulingContext context, State state, long nowS, PassReservations reserved, boolean limited) {
        this.pass = pass;
        this.cluster = context.cluster();
        this.queue = context.queue();
        this.state = state;
        this.nowS = nowS;
        this.limited = limited;
        this.limitStops = state.settings().options().scheduling().limitStops();
        this.completeWait = pass.completeWait();
        this.reserved = reserved;
        this.missing = new MissingResources(
                cluster, state, reserved, pass.reservedPartitions(), pass.licenses(), pass.placement());
        this.preemptor = pass.preemptor();
        this.licenses = pass.licenses();
        this.placement = pass.placement();
        this.switchWait = pass.waits();
        this.verdicts = pass.verdicts();
        this.timeMin = pass.timeMin();
    }

    /**
     * Starts the job or one task of it in the first of its partitions and reservations that has room; explains itself
     * if none has.
     */
    boolean start(Job job, int task) {
        JobReason reason = JobReason.NONE;
        List<ReservationScope> reservations = reserved.toTry(job.desc());
        if (reservations.isEmpty() || PartitionLimits.isTooLate(job.desc().timing(), nowS)) {
            queue.waits().explain(job.id(), reservations.isEmpty() ? JobReason.RESERVATION : JobReason.DEADLINE);
            return false;
        }
        for (String name : queue.ranks().partitions(job)) {
            Optional<Partition> partition = state.partitions().find(name);
            JobReason limit = partition
                    .map(p -> PartitionLimits.reason(job.desc(), p, state))
                    .orElse(JobReason.PARTITION_DOWN);
            if (limit != JobReason.NONE) {
                reason = reason == JobReason.NONE ? limit : reason;
                continue;
            }
            ResourceNeed plain =
                    cluster.known(switchWait.patient(job, cluster.needs().of(job, partition.get(), state)), job);
            for (Job as : PartitionLimits.under(
                    job,
                    partition.get(),
                    state,
                    j -> !isLimited(j) || queue.limited(j, plain.limitMin()) == JobReason.NONE)) {
                String prefer = job.desc().request().prefer();
                ResourceNeed liked = prefer.isEmpty() ? plain : cluster.needs().on(prefer, plain);
                if (liked != plain
                        && reservations.stream()
                                .anyMatch(r -> preferred(
                                        as,
                                        task,
                                        partition.get(),
                                        cluster.needs().in(r, liked)))) {
                    return true;
                }
                for (int i = 0; i < reservations.size(); i++) {
                    ResourceNeed need = cluster.needs().in(reservations.get(i), plain);
                    JobReason why = attempt(as, task, partition.get(), need, i + 1 == reservations.size());
                    if (why == JobReason.NONE) {
                        return true;
                    }
                    reason = why;
                }
            }
        }
        if (PartitionLimits.isOfPartition(reason)) {
            queue.waits().explain(job.id(), reason);
        }
        return false;
    }

    /**
     * Tries to start the job at once on nodes with the features of {@code --prefer}, without preemption and without a
     * reservation.
     */
    private boolean preferred(Job job, int task, Partition partition, ResourceNeed need) {
        boolean waits = closedPartitions.contains(partition.name())
                || completeWait.has(partition.name())
                || hasFailed(need)
                || reserved.opens(need.within()) > nowS
                || pass.isInOrder() && blocked.contains(PendingJobReservations.blocker(need))
                || licenses.given(need, 0).isEmpty()
                || isLimited(job) && queue.limited(job, need.limitMin()) != JobReason.NONE;
        Optional<Allocation> allocation = waits ? Optional.empty() : placeWithin(job, need);
        if (allocation.isEmpty() || whole(job, need, allocation) != JobReason.NONE) {
            failedNeeds.add(need);
            return false;
        }
        begins(job, task, need, allocation.get());
        return true;
    }

    private JobReason tooSmall(Job job, ResourceNeed need) {
        JobReason reason = Feasibility.tooSmall(need, state);
        queue.waits().explain(job.id(), reason);
        return reason;
    }

    /**
     * Starts the job in the partition if it can, and returns NONE; otherwise returns the reason why it waits.
     *
     * @param last no other partition or QOS of the job follows, so it gets its reservation here
     */
    private JobReason attempt(Job job, int task, Partition partition, ResourceNeed need, boolean last) {
        if (completeWait.has(partition.name())) {
            return completeWait.reason(job);
        }
        JobReason policy = isLimited(job) ? queue.limited(job, need.limitMin()) : JobReason.NONE;
        if (closedPartitions.contains(partition.name())) {
            queue.waits().explain(job.id(), JobReason.PRIORITY);
            return JobReason.PRIORITY;
        }
        if (policy != JobReason.NONE) {
            if (limitStops) {
                closedPartitions.add(partition.name());
            }
            queue.waits().explain(job.id(), policy);
            return policy;
        }
        if (tooLarge.contains(need)) {
            return tooSmall(job, need);
        }
        if (reserved.opens(need.within()) > nowS) {
            JobReason waits = last ? JobReason.RESERVATION : JobReason.RESOURCES;
            if (last) {
                pass.reservations().reserve(job, need, waits);
            }
            return waits;
        }
        if (pass.isInOrder() && blocked.contains(PendingJobReservations.blocker(need))) {
            queue.waits().explain(job.id(), JobReason.PRIORITY);
            return JobReason.PRIORITY;
        }
        if (hasFailed(need)) {
            return failedBefore(job, task, need, last);
        }
        if (licenses.given(need, 0).isEmpty()) {
            return withoutLicenses(job, task, need, last);
        }
        return tryPlacement(job, task, partition, need, last);
    }

    /** Tries a need that has failed in this pass: only preemption or a smaller size can help the job now. */
    private JobReason failedBefore(Job job, int task, ResourceNeed need, boolean last) {
        Optional<JobReason> room = roomOrLess(job, task, need);
        if (room.isPresent()) {
            return room.get();
        }
        JobReason reason;
        if (missing.isWithoutLayers(need)) {
            reason = JobReason.LICENSES;
        } else if (blocked.contains(PendingJobReservations.blocker(need))) {
            reason = JobReason.PRIORITY;
        } else {
            reason = JobReason.RESOURCES;
        }
        if (last) {
            pass.reservations().reserve(job, need, reason);
        }
        return reason;
    }

    private JobReason withoutLicenses(Job job, int task, ResourceNeed need, boolean last) {
        Optional<JobReason> room = preemptor.reclaims(need) ? room(job, task, need) : Optional.empty();
        if (last && room.isEmpty()) {
            verdicts.lacksLicenses(need);
            pass.reservations().reserve(job, need, JobReason.LICENSES);
        }
        return room.orElse(JobReason.LICENSES);
    }

    private JobReason tryPlacement(Job job, int task, Partition partition, ResourceNeed need, boolean last) {
        boolean isShort = verdicts.isShort(need);
        Optional<Allocation> allocation = isShort ? Optional.empty() : placeWithin(job, need);
        JobReason whole = whole(job, need, allocation);
        if (whole != JobReason.NONE) {
            queue.waits().explain(job.id(), whole);
            return whole;
        }
        if (allocation.isPresent()) {
            begins(job, task, need, allocation.get());
            return JobReason.NONE;
        }
        failedNeeds.add(need);
        verdicts.failed(need, isShort, placement.wereTooFew());
        if (verdicts.exceeds(need, job.desc(), partition)) {
            tooLarge.add(need);
            return tooSmall(job, need);
        }
        Optional<JobReason> room = roomOrLess(job, task, need);
        if (room.isPresent()) {
            return room.get();
        }
        if (last) {
            return planned(job, need);
        }
        return JobReason.RESOURCES;
    }

    /** Plans a job for which nothing is left to be tried now, and returns why it waits. */
    private JobReason planned(Job job, ResourceNeed need) {
        JobReason reason;
        if (missing.isUnavailable(need)) {
            reason = JobReason.REQ_NODE_NOT_AVAIL;
        } else if (missing.lacksLayers(need)) {
            reason = JobReason.LICENSES;
        } else if (blocked.contains(PendingJobReservations.blocker(need))) {
            reason = JobReason.PRIORITY;
        } else if (missing.lacksUnit(need)) {
            reason = JobReason.NO_TOPOLOGY_UNIT;
        } else {
            reason = JobReason.RESOURCES;
        }

        boolean waitsForNodes = !blocked.contains(PendingJobReservations.blocker(need))
                && verdicts.of(need)
                        .isMissing(
                                queue.unavailable().version(),
                                () -> UnavailableNodes.isNamed(
                                        queue.unavailable().missing(state, job.desc(), need.partition())));
        if (pass.reservations().reserve(job, need, reason) && reason != JobReason.LICENSES && !waitsForNodes) {
            blocked.add(PendingJobReservations.blocker(need));
            verdicts.blocked(need);
        }
        return reason;
    }

    /** Makes room for a job as {@link #room}; or begins it for less than its whole time. */
    private Optional<JobReason> roomOrLess(Job job, int task, ResourceNeed need) {
        return room(job, task, need)
                .or(() -> timeMin.find(job, need).map(f -> {
                    begins(job, task, f.need(), f.place());
                    return JobReason.NONE;
                }));
    }

    /**
     * Preempts other jobs for this one: NONE if it starts at once, RESOURCES if it waits for their ends, empty if there
     * are no victims.
     */
    private Optional<JobReason> room(Job job, int task, ResourceNeed need) {
        if (!preemptor.isOn()) {
            return Optional.empty();
        }
        return switch (placement.blindly(() -> preemptor.make(
                job,
                need,
                queue.classes().group(need, job.desc().charge().firstQos()),
                verdicts.of(need),
                places(need)))) {
            case Preemptor.NoRoom n -> Optional.empty();
            case Preemptor.RoomNow r -> {
                pass.starts().addUncharged(job, need, start(job, task, need, r.allocation()));
                yield Optional.of(JobReason.NONE);
            }
            case Preemptor.RoomLater r -> {
                pass.starts().awaitRelease(r.allocation(), need);
                queue.waits().explain(job.id(), JobReason.RESOURCES);
                yield Optional.of(JobReason.RESOURCES);
            }
        };
    }

    private Preemptor.PlacementQuery places(ResourceNeed need) {
        return new Preemptor.PlacementQuery() {
            @Override
            public Optional<Allocation> find() {
                return preemptor.lacksLicenses(need) ? Optional.empty() : placement.anywhere(need);
            }

            @Override
            public boolean wereTooFew() {
                return placement.wereTooFew();
            }

            @Override
            public boolean isThereUnplanned() {
                return placement.isThereUnplanned(need);
            }
        };
    }

    /** A limit may allow fewer nodes of a range than there are. */
    private Optional<Allocation> placeWithin(Job job, ResourceNeed need) {
        return placement.near(
                isLimited(job) ? queue.limits().nodesInUse(job.desc()).orElse(Set.of()) : Set.of(),
                () -> placeNear(job, need));
    }

    private Optional<Allocation> placeNear(Job job, ResourceNeed need) {
        Optional<Allocation> allocation = placement.anywhere(need);
        for (int less = 1;
                less <= FEWER_MAX
                        && need.nodesWanted() - less >= need.nodesMin()
                        && whole(job, need, allocation) != JobReason.NONE;
                less++) {
            int wanted = less == FEWER_MAX ? need.nodesMin() : need.nodesWanted() - less;
            allocation = placement.anywhere(need.wanting(wanted));
        }
        return allocation;
    }

    /** Returns whether limits apply: not to a job that returns from a failed node. */
    private boolean isLimited(Job job) {
        return limited && !job.has(JobFlag.EXPEDITING);
    }

    private JobReason whole(Job job, ResourceNeed need, Optional<Allocation> allocation) {
        return isLimited(job) && allocation.isPresent()
                ? queue.limits().blocks(job.desc(), allocation.get(), need.limitMin())
                : JobReason.NONE;
    }

    /** Returns a place that limits allow. */
    Optional<Allocation> placeFor(Job job, ResourceNeed need) {
        return hasFailed(need) || verdicts.isShort(need)
                ? Optional.empty()
                : placeWithin(job, need).filter(a -> whole(job, need, Optional.of(a)) == JobReason.NONE);
    }

    /** Tests whether the need is known to have no place in this pass. */
    private boolean hasFailed(ResourceNeed need) {
        return failedNeeds.contains(need) || verdicts.hasFailed(need);
    }

    /** Marks the allocation as ahead of a job that comes first in its partition and goes on waiting. */
    Allocation ahead(Allocation allocation, ResourceNeed need) {
        return blocked.contains(PendingJobReservations.blocker(need)) ? allocation.ahead() : allocation;
    }

    private Planner.Start start(Job job, int task, ResourceNeed need, Allocation place) {
        return new Planner.Start(
                job.id(),
                task,
                ahead(place, need),
                need.limitMin(),
                need.partition(),
                need.reservation(),
                job.desc().charge().qos());
    }

    private void begins(Job job, int task, ResourceNeed need, Allocation place) {
        pass.starts().add(job, need, start(job, task, need, place));
    }
}
