package dev.muster.scheduler.preempt;

import static java.util.Objects.requireNonNull;

import dev.muster.core.limits.PreemptPolicy;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.SuspendedJobs;
import dev.muster.scheduler.queue.BlockedClasses;
import dev.muster.scheduler.queue.GroupVerdicts;
import dev.muster.scheduler.queue.JobClassIndex;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that can be preempted, by what decides for which preemptors. For each kind of preemptor a table has what would
 * be free without all its possible victims: a class that does not fit even there needs no attempt. Priorities and
 * exempt times do not count here, so the table is an upper bound. Owned by the core thread.
 */
public final class PreemptableJobs implements GroupVerdicts {
    private static final int FAILED_MAX = 64;

    private final ClusterIndex cluster;
    private long pass;
    private final Map<PreemptionGroup, Category> categories = new HashMap<>();
    private final Map<PreemptionGroup, PreemptorKind> kinds = new HashMap<>();

    /**
     * The properties that decide between two jobs.
     *
     * @param name of the QOS or partition
     * @param reserved whether the job that would have the nodes is of a reservation, or the one that has them gives way
     *     to those
     */
    private record PreemptionGroup(String name, boolean reserved) {}

    private final Map<Integer, PreemptableJob> counted = new HashMap<>();
    private boolean on;
    /** Number that goes up when kinds are made anew. */
    private long era;
    /** The first second since 1970 at which a possible victim's exempt time ends. */
    private long exemptUntil = Long.MAX_VALUE;

    /** Order in which jobs are preempted by the settings: see {@link #inOrder}. */
    private Comparator<Job> order = Comparator.comparingInt(Job::id);

    private Comparator<PreemptableJob> holders = Comparator.comparing(PreemptableJob::job, order);

    /** A job that may have to go, and the nodes on which it has something. */
    record PreemptableJob(Job job, @Nullable Category of, NodeSlot[] slots) {}

    /** Jobs of one QOS, or of one partition, that go for the same takers. */
    static final class Category {
        private final Job example;
        private final int[] cpus;
        private final long[] memoryMb;
        private final int[] gpus;
        private final int[] holders;
        private final Map<Integer, Job> jobs = new TreeMap<>();
        /** Victims that are ending already; and the other possible victims in the order of preemption. */
        private final Map<Integer, Job> going = new TreeMap<>();

        private final List<PreemptableJob> staying = new ArrayList<>();

        private Category(Job example, int nodes) {
            this.example = example;
            this.cpus = new int[nodes];
            this.memoryMb = new long[nodes];
            this.gpus = new int[nodes];
            this.holders = new int[nodes];
        }
    }

    /** Preemptors with the same possible victims. */
    public static final class PreemptorKind implements GroupVerdicts.Kind {
        private final JobDesc example;
        private final String partition;
        private final FreeTable table;
        private final List<Category> below = new ArrayList<>();
        private final BitSet dirty = new BitSet();
        /** Needs that were found to be too much in this pass, by place. */
        private final List<List<NeedClass>> failedNeeds = new ArrayList<>();
        /** Classes that found no room in this pass beside the reservations, by place; their number is bounded. */
        private final List<List<NeedClass>> planned = new ArrayList<>();

        private long pass = -1;
        /** Numbers of groups that are of it. */
        private final BitSet groups = new BitSet();
        /** Groups of preemptors that do not fit even without all victims. */
        private final BlockedClasses blockedClasses;

        private PreemptorKind(JobDesc example, String partition, int nodes) {
            this.example = example;
            this.partition = partition;
            this.table = new FreeTable(nodes);
            this.blockedClasses = new BlockedClasses(table);
        }
    }

    public PreemptableJobs(ClusterIndex cluster) {
        this.cluster = cluster;
    }

    /** Begins a pass over the queue. */
    public void beginPass() {
        pass++;
    }

    /** Builds all anew from the jobs on nodes. */
    public void reset(State state, Iterable<Job> holding) {
        categories.clear();
        kinds.clear();
        era++;
        counted.clear();
        PreemptPolicy policy = new PreemptPolicy(state);
        on = policy.isOn();
        order = inOrder(policy);
        holders = Comparator.comparing(PreemptableJob::job, order);
        holding.forEach(j -> set(state, policy, j));
    }

    /**
     * Takes over what has become of these jobs.
     *
     * @param holding those on nodes
     */
    public void follow(State state, Iterable<Integer> jobs, Map<Integer, Job> holding) {
        if (on) {
            PreemptPolicy policy = new PreemptPolicy(state);
            for (int id : jobs) {
                Job job = holding.get(id);
                if (job == null) {
                    forget(id);
                } else {
                    set(state, policy, job);
                }
            }
        }
    }

    /** Adds a job that is on nodes, if it may be preempted. */
    private void set(State state, PreemptPolicy policy, Job job) {
        forget(job.id());
        if (on && goes(state, policy, job)) {
            PreemptionGroup key = new PreemptionGroup(
                    policy.byQos() ? job.desc().charge().qos() : job.desc().partition(),
                    Preemption.isGuest(job.desc()));
            Category c = categories.get(key);
            if (c == null) {
                c = new Category(job, cluster.nodes().size());
                categories.put(key, c);
                for (PreemptorKind kind : kinds.values()) {
                    if (policy.outranks(kind.example, Long.MAX_VALUE, kind.partition, job)) {
                        kind.below.add(c);
                    }
                }
            }
            PreemptableJob holder = new PreemptableJob(job, c, slots(job));
            counted.put(job.id(), holder);
            c.jobs.put(job.id(), job);
            if (goesAlready(state, job)) {
                c.going.put(job.id(), job);
            } else {
                c.staying.add(-Collections.binarySearch(c.staying, holder, holders) - 1, holder);
            }
            count(job, c, 1);
        }
    }

    /** Removes a job that is on nodes no more. */
    private void forget(int jobId) {
        PreemptableJob was = counted.remove(jobId);
        if (was != null) {
            Category c = requireNonNull(was.of, "set() counts holders of a category");
            c.jobs.remove(jobId);
            if (c.going.remove(jobId) == null) {
                c.staying.remove(Collections.binarySearch(c.staying, was, holders));
            }
            count(was.job, c, -1);
        }
    }

    private static boolean goes(State state, PreemptPolicy policy, Job job) {
        boolean running = job.state() == JobState.RUNNING || SuspendedJobs.awaitsTurn(state, job);
        return goesAlready(state, job) || running && policy.of(job) != Preemption.Mode.OFF;
    }

    /** Tests whether a job is being preempted, or is over but for what its nodes have to say. */
    static boolean goesAlready(State state, Job job) {
        return job.has(JobFlag.COMPLETING)
                || state.preempted().find(job.id()).filter(p -> p.endTick() > 0).isPresent();
    }

    /**
     * Orders victims by start alone if the policy says so; otherwise those of the lowest QOS or partition first, and
     * within a partition the small ones. Equals are ordered by submission, tasks of an array by index.
     */
    private static Comparator<Job> inOrder(PreemptPolicy policy) {
        boolean byStart = policy.youngestFirst();
        Comparator<Job> size = Comparator.comparingInt(
                (Job j) -> policy.byQos() ? 0 : j.run().allocation().nodes().size());
        return (byStart
                        ? Comparator.comparingLong((Job j) -> -j.run().startTime())
                        : Comparator.comparingLong(policy::rank).thenComparing(size))
                .thenComparingInt(j -> j.isArrayTask() ? j.array().jobId() : j.id())
                .thenComparingInt(j -> j.isArrayTask() ? j.array().task() : 0)
                .thenComparingInt(Job::id);
    }

    /**
     * Notes that a job is exempt from preemption until then.
     *
     * @param now seconds since 1970
     */
    void exempt(long until, long now) {
        exemptUntil = Math.min(until, exemptUntil <= now ? Long.MAX_VALUE : exemptUntil);
    }

    /** Forgets ends of exemptions that have come by now, because a pass begins. */
    void passed(long now) {
        exempt(Long.MAX_VALUE, now);
    }

    public long exemptUntil() {
        return exemptUntil;
    }

    /** Returns the order in which jobs are preempted. */
    Comparator<Job> order() {
        return order;
    }

    private void count(Job job, Category c, int sign) {
        for (Allocation.Share s : job.run().allocation().held()) {
            NodeSlot slot = cluster.node(s.node());
            if (slot != null && !s.released()) {
                int n = slot.index;
                c.cpus[n] += sign * slot.units(s).count() * slot.spec.cpusPerUnit();
                c.memoryMb[n] += sign * s.memoryMb();
                c.gpus[n] += sign
                        * (s.gres().containsKey("gpu") ? s.gres().get("gpu").count() : 0);
                c.holders[n] += sign;
                changed(n);
            }
        }
    }

    /** Notes that something free on the node is other than it was. */
    public void changed(int node) {
        for (PreemptorKind kind : kinds.values()) {
            kind.dirty.set(node);
        }
    }

    PreemptorKind kind(PreemptPolicy policy, JobDesc taker, String partition) {
        PreemptionGroup key = new PreemptionGroup(
                policy.byQos() ? taker.charge().firstQos() : partition,
                !taker.charge().reservation().isEmpty());
        PreemptorKind kind = kinds.get(key);
        if (kind == null) {
            kind = new PreemptorKind(taker, partition, cluster.nodes().size());
            for (Category c : categories.values()) {
                if (policy.outranks(taker, Long.MAX_VALUE, partition, c.example)) {
                    kind.below.add(c);
                }
            }
            kind.dirty.set(0, cluster.nodes().size());
            kinds.put(key, kind);
        }
        return kind;
    }

    public long era() {
        return era;
    }

    /** Returns the kind that the group was given in this era. */
    public static PreemptorKind kindOf(JobClassIndex.Group group) {
        return (PreemptorKind) requireNonNull(group.kind, "the caller compared kindEra with the era");
    }

    /** Groups are to be asked anew. */
    @Override
    public void unsettle() {
        kinds.values().forEach(k -> k.blockedClasses.clear());
    }

    /** Groups have other numbers. */
    @Override
    public void forgetGroups() {
        unsettle();
        kinds.values().forEach(k -> k.groups.clear());
    }

    /** Adds the group with that number to the kind. */
    void join(PreemptorKind kind, int group) {
        kind.groups.set(group);
    }

    /** Tests whether preemptors of this kind have no possible victim. */
    public boolean isPowerless(PreemptorKind kind) {
        for (Category c : kind.below) {
            if (!c.jobs.isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Marks the groups, of those that are of one of the kinds, for which it is certain now that too little would be
     * free.
     */
    public void settle(boolean[] hopelessGroups) {
        for (PreemptorKind kind : kinds.values()) {
            current(kind);
            kind.blockedClasses.wake();
            for (int g = isPowerless(kind) ? kind.groups.nextSetBit(0) : -1;
                    g >= 0 && g < hopelessGroups.length;
                    g = kind.groups.nextSetBit(g + 1)) {
                hopelessGroups[g] = true;
            }
            for (int g = 0; g < hopelessGroups.length; g++) {
                hopelessGroups[g] |= kind.blockedClasses.isBlockedForSure(g);
            }
        }
    }

    /** Tests the same for one group, with what was taken in this pass. */
    public boolean isSettled(PreemptorKind kind, int group) {
        refresh(kind);
        return kind.blockedClasses.isStillBlocked(group);
    }

    /** Notes that a group is known to be short until something more would be free. */
    public void settle(PreemptorKind kind, int group, NeedClass c, NeedClass.Memory memory) {
        if (c.isKnownShort(kind.table, memory)) {
            kind.blockedClasses.add(group, c);
        }
    }

    /** Returns all jobs that may be preempted for such takers, the oldest first. */
    Iterable<Job> below(PreemptorKind kind) {
        if (kind.below.size() == 1) {
            return kind.below.getFirst().jobs.values();
        }
        Map<Integer, Job> out = new TreeMap<>();
        kind.below.forEach(c -> out.putAll(c.jobs));
        return out.values();
    }

    /** Returns the record of a possible victim. */
    PreemptableJob holder(Job job) {
        PreemptableJob known = counted.get(job.id());
        return known == null ? new PreemptableJob(job, null, slots(job)) : known;
    }

    private NodeSlot[] slots(Job job) {
        List<Allocation.Share> held = job.run().allocation().held();
        NodeSlot[] out = new NodeSlot[held.size()];
        int size = 0;
        for (Allocation.Share s : held) {
            NodeSlot slot = s.released() ? null : cluster.node(s.node());
            if (slot != null) {
                out[size++] = slot;
            }
        }
        return size == out.length ? out : Arrays.copyOf(out, size);
    }

    /**
     * Returns the possible victims of the kind that are not ending yet, in the order of preemption. Read it before
     * anything else is recorded.
     */
    List<PreemptableJob> staying(PreemptorKind kind) {
        if (kind.below.size() == 1) {
            return kind.below.getFirst().staying;
        }
        List<PreemptableJob> out = new ArrayList<>();
        kind.below.forEach(c -> out.addAll(c.staying));
        out.sort(holders);
        return out;
    }

    /** Returns the possible victims of the kind that are ending already. */
    List<Job> going(PreemptorKind kind) {
        List<Job> out = new ArrayList<>();
        kind.below.forEach(c -> out.addAll(c.going.values()));
        return out;
    }

    /** Tests whether the job is a possible victim of such preemptors. */
    boolean isBelow(PreemptorKind kind, int jobId) {
        PreemptableJob known = counted.get(jobId);
        return known != null && kind.below.contains(known.of);
    }

    /**
     * Tests whether there is no room even if all possible victims went.
     *
     * @param memory of this class and kind
     * @param remaining what reservations leave
     */
    boolean isShort(PreemptorKind kind, NeedClass c, NeedClass.Memory memory, RemainingCapacity remaining) {
        if (!c.bounded) {
            return false;
        }
        List<NeedClass> those = failedAt(kind, c.where());
        if (c.isKnownShort(kind.table, memory)) {
            return true;
        }
        for (NeedClass f : those) {
            if (c.asksNoLess(f, true)) {
                return true;
            }
        }
        for (NeedClass f : kind.planned.get(c.where())) {
            if (c.asksNoLess(f, false)) {
                return true;
            }
        }
        if (!c.isShort(kind.table, memory)) {
            boolean reserved = isReserved(kind, c, memory, remaining);
            if (reserved) {
                // only because of its time limit: a shorter job may fit before a reservation begins
                failed(kind, c);
            }
            return reserved;
        }
        if (c.simple) {
            those.removeIf(f -> f.asksNoLess(c, true));
            those.add(c);
        }
        return true;
    }

    /**
     * Tests whether what reservations leave is too little: as long as these stay they leave less from pass to pass, and
     * so that is remembered as well.
     */
    private static boolean isReserved(
            PreemptorKind kind, NeedClass c, NeedClass.Memory memory, RemainingCapacity remaining) {
        return c.heedsReservations()
                && !remaining.isUnreserved()
                && kind.table.isShortOfUnreserved(c, remaining, memory);
    }

    /** Tests whether the node would do for one task at least if all possible victims left it. */
    boolean mayServe(PreemptorKind kind, NeedClass c, NodeSlot node, RemainingCapacity remaining) {
        current(kind);
        return kind.table.mayTakeWhoeverGoes(c, node.index, remaining);
    }

    /**
     * Notes that the class found no room in this pass without any victim, and so no class that requests no less will.
     */
    void failed(PreemptorKind kind, NeedClass c) {
        if (c.simple) {
            failedAt(kind, c.where());
            List<NeedClass> those = kind.planned.get(c.where());
            those.removeIf(f -> f.asksNoLess(c, false));
            if (those.size() < FAILED_MAX) {
                those.add(c);
            }
        }
    }

    /**
     * Notes that there was no room even without all possible victims: there is none before something more becomes free.
     */
    void hopeless(PreemptorKind kind, NeedClass.Memory memory) {
        refresh(kind);
        memory.at(kind.table.freed());
    }

    /**
     * Brings a kind to the state in which it was first asked for in this pass: in a pass what may be had only becomes
     * less.
     */
    private void current(PreemptorKind kind) {
        if (kind.pass != pass) {
            kind.pass = pass;
            kind.failedNeeds.clear();
            kind.planned.clear();
            refresh(kind);
        }
    }

    private List<NeedClass> failedAt(PreemptorKind kind, int where) {
        current(kind);
        while (kind.failedNeeds.size() <= where) {
            kind.failedNeeds.add(new ArrayList<>());
            kind.planned.add(new ArrayList<>());
        }
        return kind.failedNeeds.get(where);
    }

    private void refresh(PreemptorKind kind) {
        BitSet dirty = kind.dirty;
        for (int n = dirty.nextSetBit(0); n >= 0; n = dirty.nextSetBit(n + 1)) {
            NodeSlot slot = cluster.nodes().get(n);
            int cpus = slot.freeUnits.count() * slot.spec.cpusPerUnit();
            long memoryMb = slot.freeMemoryMb;
            int gpus = slot.freeGpus();
            int stay = slot.holders;
            for (Category c : kind.below) {
                cpus += c.cpus[n];
                memoryMb += c.memoryMb[n];
                gpus += c.gpus[n];
                stay -= c.holders[n];
            }
            kind.table.update(n, cpus, memoryMb, gpus, cluster.ready(slot), stay <= 0);
        }
        dirty.clear();
    }
}
