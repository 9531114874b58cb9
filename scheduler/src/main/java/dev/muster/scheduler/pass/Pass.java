package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.NumberAllocator;
import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.claim.ReservationsInForce;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.claim.ReservedPartitions;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.Feasibility;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.preempt.PassAllocations;
import dev.muster.scheduler.preempt.Preemptor;
import dev.muster.scheduler.queue.BackfillPolicy;
import dev.muster.scheduler.queue.EligibleNodes;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.queue.UnavailableNodes;
import dev.muster.scheduler.request.ReservationScope;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SwitchWait;
import dev.muster.scheduler.timeline.LicenseAllocator;
import dev.muster.scheduler.timeline.RunningJobTimeline;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Considers the whole queue once, in priority order. It starts each job that fits now. The first jobs that do not fit
 * reserve exact units, up to a number of reservations; a later job starts only where it delays none of these. A class
 * of equal needs that failed once is not tried again in the pass, because resources only shrink within it.
 */
public final class Pass {
    /** Jobs that get a reservation: the rest of the queue waits for Priority. */
    public static final int RESERVATIONS_MAX = 100;

    private final SchedulingContext context;
    private final ClusterIndex cluster;
    private final JobQueue queue;
    private final State state;
    private final DecisionTime now;
    private final int maxStarts;
    private final AccountRules accounts;
    private final boolean limited;
    private final boolean inOrder;
    private final boolean limitStops;
    /** Partitions whose next job a limit holds, where this stops all jobs behind it. */
    private final Set<String> closed = new HashSet<>();

    final CompleteWaitPartitions settling;
    private final List<Charged> charged = new ArrayList<>();
    private final List<Planner.Start> starts = new ArrayList<>();
    private final PassAllocations allocations;
    // classes are one object each, so identity is equality
    private final Set<ResourceNeed> failedNeeds = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Number of smaller sizes of a node range that are tried one by one before the smallest. */
    private static final int FEWER_MAX = 16;

    /** Failed needs that find nodes enough, but not their layered resources on them. */
    private final Set<ResourceNeed> lacking = Collections.newSetFromMap(new IdentityHashMap<>());

    private final Set<ResourceNeed> exceeding = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<String> blocked = new HashSet<>();
    private final PassReservations reserved;
    private final Preemptor preemptor;
    private final ResumeQueue suspended;
    private final RunningJobTimeline runningJobs;
    private final LicenseAllocator licenses;
    private final NumberAllocator numbers;
    private final Placement placing;
    private final BackfillPolicy backfill;
    private final PassOrder order;
    private final BackfillReservations plans;
    private final BackfillReservationLimits words;
    private final SwitchWait waits;
    private int reservations;
    /** Jobs that start now although a more urgent one waits for its reservation. */
    private int backfilled;

    private int backfilledHet;
    private final ClassVerdicts verdicts;
    private final TimeMinPlanner timeMin;
    /** Places of the last plan, where plans are made elsewhere. */
    private final Optional<ReservationsInForce> reservationsInForce;
    /** Jobs that were given a time in this pass. */
    private final Set<Integer> planned = new HashSet<>();

    private final ReservedPartitions barred;

    private record Charged(JobDesc desc, Allocation allocation, int limitMin) {}

    public Pass(SchedulingContext context, State state, DecisionTime now, int maxStarts) {
        this.context = context;
        this.cluster = context.cluster();
        this.queue = context.queue();
        this.state = state;
        this.now = now;
        this.maxStarts = maxStarts;
        this.accounts = new AccountRules(state);
        this.settling = CompleteWaitPartitions.of(queue.waits(), state, now);
        this.limitStops = state.settings().options().scheduling().limitStops();
        this.limited = accounts.enforces(AccountingEnforcement.Word.LIMITS);
        if (limited) {
            queue.limits().at(state, accounts, context.use(), now.seconds());
        }
        this.inOrder = state.settings().options().scheduling().inOrder();
        this.reserved =
                new PassReservations(state, queue.classes().reserved(state, now.seconds()), cluster.withheld(), now.seconds());
        this.barred = new ReservedPartitions(cluster, reserved, now.seconds());
        EligibleNodes candidates = new EligibleNodes(cluster, queue.classes(), state);
        this.backfill = queue.backfill(state);
        this.runningJobs = new RunningJobTimeline(cluster, state, now, starts);
        this.allocations = new PassAllocations(cluster, runningJobs);
        this.licenses = new LicenseAllocator(cluster.licenses(), state, now, runningJobs::times);
        boolean busyFirst =
                backfill.fills() || state.settings().options().backfill().busyNodes();
        this.plans = new BackfillReservations(state, now, candidates, reserved, licenses, runningJobs, busyFirst);
        this.waits = new SwitchWait(state, now, cluster.needs()::one);
        this.words = new BackfillReservationLimits(state.settings().options().backfill());
        this.numbers = new NumberAllocator(state, now);
        this.reservationsInForce =
                words.areGiven() ? Optional.empty() : context.standing().apply(state, now);
        this.preemptor = new Preemptor(
                cluster,
                queue.ranks(),
                context.preemptable(),
                context.options().pruned(),
                state,
                now,
                allocations,
                licenses,
                remainingCapacity(),
                this::victimLifted);
        this.verdicts = new ClassVerdicts(this, context, state, candidates, limited);
        this.placing = new Placement(
                context,
                state,
                now.seconds(),
                candidates,
                verdicts,
                reserved,
                licenses,
                numbers,
                runningJobs,
                reservationsInForce,
                plans,
                starts);
        this.timeMin = new TimeMinPlanner(this, cluster.needs(), state);
        this.order = new PassOrder(this, context, backfill, verdicts, now.seconds());
        this.suspended = new ResumeQueue(cluster, queue.ranks(), preemptor, allocations, state);
    }

    /** @param off the victim is off its nodes for a trial, or back on them */
    private void victimLifted(Job victim, boolean off) {
        runningJobs.lifted(victim, off);
        reservationsInForce.ifPresent(s -> s.lifted(victim.id(), off));
    }

    public List<Planner.Start> run() {
        try {
            boolean whole = order.walk(limitStops || words.areGiven() || settling.isAnywhere());
            suspended.resumeAll();
            order.fill();
            if (whole && starts.size() < maxStarts) {
                queue.waits().retain(planned);
            }
            return starts;
        } finally {
            preemptor.undo();
            // what is started for good comes back with the records
            charged.forEach(c -> context.use().started(state, c.desc, c.allocation, c.limitMin, -1));
            allocations.undo();
        }
    }

    /** Resumes suspended jobs that come before this one; see {@link ResumeQueue#resumeBefore}. */
    void resumeBefore(Job next) {
        suspended.resumeBefore(next);
    }

    public List<Planner.Preempt> preemptions() {
        return preemptor.preempts();
    }

    public List<Integer> resumes() {
        return suspended.resumed();
    }

    /** Returns what jobs put up with at this time. */
    public SwitchWait waits() {
        return waits;
    }

    /** Returns the counts with this pass' work added. */
    public PassCounts added(PassCounts before) {
        return new PassCounts(
                before.backfilled() + backfilled,
                before.backfilledHet() + backfilledHet,
                before.full() + (isFull() ? 1 : 0));
    }

    /** Counts the start of all components of a heterogeneous job. */
    void startedHet(int components) {
        backfilledHet += reservations > 0 ? components : 0;
    }

    /** Tests whether as many jobs have started as may in one pass. */
    boolean isFull() {
        return starts.size() >= maxStarts;
    }

    boolean hasSuspended() {
        return !suspended.isEmpty();
    }

    void consider(Job job) {
        if (job.isHet()) {
            if (job.isHetLeader()) {
                new HetPass(this, context, state).consider(job);
            }
            return;
        }
        JobReason buffer = state.buffers().blocks(job.id());
        if (buffer != JobReason.NONE) {
            queue.waits().explain(job.id(), buffer);
            return;
        }
        int task = job.isArrayRecord() ? job.array().pending().first() : -1;
        int tasksStarted = 0;
        while (starts.size() < maxStarts) {
            if (job.array().maxRunning() > 0
                    && cluster.running(job.array().jobId()) + tasksStarted
                            >= job.array().maxRunning()) {
                queue.waits().explain(job.id(), JobReason.JOB_ARRAY_TASK_LIMIT);
                return;
            }
            if (!start(job, task)) {
                return;
            }
            tasksStarted++;
            backfilled += reservations > 0 ? 1 : 0;
            if (task < 0) {
                return;
            }
            task = job.array().pending().next(task + 1);
            if (task < 0) {
                return;
            }
        }
    }

    /**
     * Starts the job or one task of it in the first of its partitions and reservations that has room; explains itself
     * if none has.
     */
    private boolean start(Job job, int task) {
        JobReason reason = JobReason.NONE;
        List<ReservationScope> reservations = reserved.toTry(job.desc());
        if (reservations.isEmpty() || PartitionLimits.isTooLate(job.desc().timing(), now.seconds())) {
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
                    cluster.known(waits.patient(job, cluster.needs().of(job, partition.get(), state)), job);
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
        boolean waits = closed.contains(partition.name())
                || settling.has(partition.name())
                || hasFailed(need)
                || reserved.opens(need.within()) > now.seconds()
                || inOrder && blocked.contains(blocker(need))
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
        if (settling.has(partition.name())) {
            return settling.reason(job);
        }
        JobReason policy = isLimited(job) ? queue.limited(job, need.limitMin()) : JobReason.NONE;
        if (closed.contains(partition.name())) {
            queue.waits().explain(job.id(), JobReason.PRIORITY);
            return JobReason.PRIORITY;
        }
        if (policy != JobReason.NONE) {
            if (limitStops) {
                closed.add(partition.name());
            }
            queue.waits().explain(job.id(), policy);
            return policy;
        }
        if (exceeding.contains(need)) {
            return tooSmall(job, need);
        }
        if (reserved.opens(need.within()) > now.seconds()) {
            JobReason waits = last ? JobReason.RESERVATION : JobReason.RESOURCES;
            if (last) {
                reserve(job, need, waits);
            }
            return waits;
        }
        if (inOrder && blocked.contains(blocker(need))) {
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
        if (lacking.contains(need)) {
            reason = JobReason.LICENSES;
        } else if (blocked.contains(blocker(need))) {
            reason = JobReason.PRIORITY;
        } else {
            reason = JobReason.RESOURCES;
        }
        if (last) {
            reserve(job, need, reason);
        }
        return reason;
    }

    private JobReason withoutLicenses(Job job, int task, ResourceNeed need, boolean last) {
        Optional<JobReason> room = preemptor.reclaims(need) ? room(job, task, need) : Optional.empty();
        if (last && room.isEmpty()) {
            verdicts.lacksLicenses(need);
            reserve(job, need, JobReason.LICENSES);
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
        verdicts.failed(need, isShort, placing.wereTooFew());
        if (verdicts.exceeds(need, job.desc(), partition)) {
            exceeding.add(need);
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
        if (unavailable(need)) {
            reason = JobReason.REQ_NODE_NOT_AVAIL;
        } else if (lacksLayers(need)) {
            reason = JobReason.LICENSES;
        } else if (blocked.contains(blocker(need))) {
            reason = JobReason.PRIORITY;
        } else if (lacksUnit(need)) {
            reason = JobReason.NO_TOPOLOGY_UNIT;
        } else {
            reason = JobReason.RESOURCES;
        }

        boolean waitsForNodes = !blocked.contains(blocker(need))
                && verdicts.of(need)
                        .isMissing(
                                queue.unavailable().version(),
                                () -> UnavailableNodes.isNamed(
                                        queue.unavailable().missing(state, job.desc(), need.partition())));
        if (reserve(job, need, reason) && reason != JobReason.LICENSES && !waitsForNodes) {
            blocked.add(blocker(need));
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

    void awaitsLeaving(Allocation place, ResourceNeed need) {
        allocations.keep(place, need);
    }

    /**
     * Preempts other jobs for this one: NONE if it starts at once, RESOURCES if it waits for their ends, empty if there
     * are no victims.
     */
    private Optional<JobReason> room(Job job, int task, ResourceNeed need) {
        if (!preemptor.isOn()) {
            return Optional.empty();
        }
        return switch (placing.blindly(() -> preemptor.make(
                job,
                need,
                queue.classes().group(need, job.desc().charge().firstQos()),
                verdicts.of(need),
                places(need)))) {
            case Preemptor.NoRoom n -> Optional.empty();
            case Preemptor.RoomNow r -> {
                claim(job, r.allocation(), need);
                starts.add(start(job, task, need, r.allocation()));
                yield Optional.of(JobReason.NONE);
            }
            case Preemptor.RoomLater r -> {
                awaitsLeaving(r.allocation(), need);
                queue.waits().explain(job.id(), JobReason.RESOURCES);
                yield Optional.of(JobReason.RESOURCES);
            }
        };
    }

    private Preemptor.PlacementQuery places(ResourceNeed need) {
        return new Preemptor.PlacementQuery() {
            @Override
            public Optional<Allocation> find() {
                return preemptor.lacksLicenses(need) ? Optional.empty() : placing.anywhere(need);
            }

            @Override
            public boolean wereTooFew() {
                return placing.wereTooFew();
            }

            @Override
            public boolean isThereUnplanned() {
                return placing.isThereUnplanned(need);
            }
        };
    }

    /** A limit may allow fewer nodes of a range than there are. */
    private Optional<Allocation> placeWithin(Job job, ResourceNeed need) {
        return placing.near(
                isLimited(job) ? queue.limits().nodesInUse(job.desc()).orElse(Set.of()) : Set.of(),
                () -> placeNear(job, need));
    }

    private Optional<Allocation> placeNear(Job job, ResourceNeed need) {
        Optional<Allocation> allocation = placing.anywhere(need);
        for (int less = 1;
                less <= FEWER_MAX
                        && need.nodesWanted() - less >= need.nodesMin()
                        && whole(job, need, allocation) != JobReason.NONE;
                less++) {
            int wanted = less == FEWER_MAX ? need.nodesMin() : need.nodesWanted() - less;
            allocation = placing.anywhere(need.wanting(wanted));
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

    /** Returns the need in the first of the job's reservations that is open; empty if none is. */
    Optional<ResourceNeed> inReservation(Job job, ResourceNeed plain) {
        return reserved.of(job.desc()).stream()
                .map(ReservationScope::of)
                .filter(w -> reserved.opens(w) <= now.seconds())
                .findFirst()
                .map(w -> cluster.needs().in(w, plain));
    }

    /** Marks the allocation as ahead of a job that comes first in its partition and goes on waiting. */
    Allocation ahead(Allocation allocation, ResourceNeed need) {
        return blocked.contains(blocker(need)) ? allocation.ahead() : allocation;
    }

    /** Returns the key of the jobs that a waiting job blocks: those of its partition in the same reservation. */
    private static String blocker(ResourceNeed need) {
        return need.reservation().isEmpty() ? need.partition() : need.partition() + "\n" + need.reservation();
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
        started(job, need, start(job, task, need, place));
    }

    void started(Job job, ResourceNeed need, Planner.Start start) {
        if (limited) {
            context.use().started(state, job.desc(), start.allocation(), start.limitMin(), 1);
            charged.add(new Charged(job.desc(), start.allocation(), start.limitMin()));
        }
        claim(job, start.allocation(), need);
        starts.add(start);
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

    ReservedPartitions barred() {
        return barred;
    }

    boolean isInOrder() {
        return inOrder;
    }

    LicenseAllocator licenses() {
        return licenses;
    }

    Placement placing() {
        return placing;
    }

    private void claim(Job job, Allocation allocation, ResourceNeed need) {
        licenses.take(allocation, need, false);
        numbers.take(allocation);
        for (Allocation.Share share : allocation.nodes()) {
            allocations.take(job, share, need);
        }
    }

    // ---- later

    /** Tests whether reservations draw the job although it names none. */
    boolean isDrawn(Job job) {
        return reserved.areMagnetic() && reserved.of(job.desc()).size() > 1;
    }

    private boolean unavailable(ResourceNeed need) {
        for (String name : HostList.distinct(need.nodeList())) {
            NodeSlot node = cluster.node(name);
            if (node == null || !node.usable || placing.isBarred(need, node)) {
                return true;
            }
        }
        return !reserved.isEmpty() && need.within().isNone() && barred.isAll(need, need.limitMin());
    }

    /** Tests whether there are nodes enough, but not with the layered resources that the need asks for. */
    private boolean lacksLayers(ResourceNeed need) {
        if (!licenses.layers(need, 0).isEmpty() && placing.place(need).isPresent()) {
            lacking.add(need);
        }
        return lacking.contains(need);
    }

    /** Tests whether there are nodes enough, but they do not hang together. */
    private boolean lacksUnit(ResourceNeed need) {
        return need.network().in(state.settings()).isStrict()
                && placing.place(need, Topology.FLAT).isPresent();
    }

    /**
     * Reserves units for the need at the earliest time at which it fits. Returns false if the reservation delays no
     * other job.
     */
    boolean reserve(Job job, ResourceNeed need, JobReason reason) {
        boolean nothing = order.keepsNothing(job, need, reason, blocker(need));
        if (reservationsInForce.isPresent()) {
            standBy(job, need, reason, nothing);
            return true;
        }
        if (nothing
                || reservations >= context.options().reservationsMax()
                || !accounts.reserves(
                        job.desc(), queue.ranks().priority(job.id()).orElse(job.priority()))) {
            queue.waits().explain(job.id(), reason);
            return true;
        }
        if (!words.allows(
                job, need.partition(), queue.ranks().priority(job.id()).orElse(job.priority()), now.seconds())) {
            queue.waits().explain(job.id(), reason);
            return false;
        }
        reservations++;
        order.head(job, blocker(need));
        Optional<Planner.Estimate> estimate = timeMin.plan(plans, job, need);
        estimate.ifPresent(e -> planned.add(job.id()));
        queue.waits().explain(job.id(), reason, estimate);
        return true;
    }

    /** Plans are made elsewhere: what the last one keeps for the job is kept. */
    private void standBy(Job job, ResourceNeed need, JobReason reason, boolean nothing) {
        if (!nothing && isKept(job.id())) {
            keep(job.id());
        }
        if (!nothing) {
            order.head(job, blocker(need));
        }
        queue.waits().explain(job.id(), reason);
    }

    /**
     * Returns whether no further reservation is made in this pass. Jobs with reservations of the last plan are in no
     * lane.
     */
    boolean hasReserved() {
        return reservationsInForce.isPresent()
                || reservations >= context.options().reservationsMax();
    }

    boolean isKept(int jobId) {
        return reservationsInForce.isPresent() && reservationsInForce.get().has(jobId);
    }

    /** Keeps for a job that waits what the last plan keeps for it. */
    void keep(int jobId) {
        if (planned.add(jobId)) {
            reservationsInForce.orElseThrow().keep(jobId);
            reservations++;
            verdicts.reservationKept(jobId);
        }
    }

    /** Drops the reservation of the job; jobs that it turned down are considered again. */
    void releaseReservation(int jobId) {
        reservationsInForce.ifPresent(s -> s.leave(jobId));
    }

    boolean hasStanding() {
        return reservationsInForce.isPresent();
    }

    /** Returns whether the time is past a reservation of the last plan. */
    boolean areClaimsOver() {
        return reservationsInForce.isPresent() && reservationsInForce.get().areOver();
    }

    RemainingCapacity remainingCapacity() {
        return new RemainingCapacity(cluster.nodes(), reserved, reservationsInForce, now.seconds());
    }

    void planned(Job job) {
        planned.add(job.id());
    }

    Preemptor preemptor() {
        return preemptor;
    }

    /**
     * Reserves for several components as {@link #reserve}, for all of them together; empty if there is no such time or
     * there are reservations enough.
     */
    List<Planner.Estimate> reserveTogether(List<ResourceNeed> needs, List<ResourceNeed> less) {
        if (reservations >= context.options().reservationsMax()) {
            return List.of();
        }
        reservations += needs.size();
        return plans.together(needs, less);
    }

    public Optional<Planner.Estimate> estimate(JobDesc desc) {
        return plans.estimate(desc, context);
    }

    /**
     * Estimates the start of a job as if no other job waited; running jobs without a limit count as ending after a
     * year.
     */
    public Optional<Planner.Estimate> estimateIgnoringQueue(JobDesc desc) {
        runningJobs.yearly();
        return plans.estimateIgnoringQueue(desc);
    }
}
