package dev.muster.scheduler.queue;

import dev.muster.core.limits.LimitCache;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.ResourceRequest;
import dev.muster.scheduler.claim.ReservedNodes;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeFilter;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SwitchWait;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Index of classes of needs and of lanes that is kept between passes. Owned by the core thread. */
public final class JobClassIndex {
    /** Distinct needs remembered; more and they are found anew. */
    public static final int CLASSES_MAX = 200_000;

    private static final long[] NOWHERE = {};
    private final ClusterIndex cluster;
    private final QueueOrder order;
    private final LimitCache limits;
    private final GroupVerdicts verdicts;
    private final IdentityHashMap<ResourceNeed, NeedClass> byNeed = new IdentityHashMap<>();
    private final Map<NodeFilter, NeedClass.CandidateMask> wheres = new HashMap<>();
    private final Map<Key, Integer> byKey = new HashMap<>();
    private final Map<String, Integer> partitions = new HashMap<>();
    private final Map<LicenseKey, Integer> licenseKeys = new HashMap<>();
    private final Map<Group, Group> groups = new HashMap<>();
    private final List<Lane> lanes = new ArrayList<>();
    /** Classes for which too little is free, where nothing else decides on them. */
    private BlockedClasses blockedClasses = new BlockedClasses(new FreeTable(0));

    private ReservedNodes reserved = ReservedNodes.NOTHING;
    private boolean areMagnetic;
    /** Jobs with a reservation in the last pass, in the order of their turns. */
    private final List<Integer> reservationOrder = new ArrayList<>();
    /** Number that goes up with each change of what nodes are. */
    private long version;

    /** Jobs that a pass cannot tell from one another but by their place in the queue. */
    private record Key(
            ResourceNeed need,
            ResourceRequest request,
            int limitMin,
            int timeMinMin,
            String user,
            String account,
            String qos) {
        // needs are one object each: their long hash is not made
        @Override
        public int hashCode() {
            return (((quick(need) * 31 + limitMin) * 31 + user.hashCode()) * 31 + account.hashCode()) * 31
                    + qos.hashCode();
        }

        @Override
        public boolean equals(Object o) {
            return o instanceof Key k
                    && k.need == need
                    && k.limitMin == limitMin
                    && k.timeMinMin == timeMinMin
                    && k.user.equals(user)
                    && k.account.equals(account)
                    && k.qos.equals(qos)
                    && k.request.equals(request);
        }
    }

    /** Parts of a request that decide which licenses it gets. */
    private record LicenseKey(LicenseRequest.Wanted wanted, int limitMin, String reservation) {}

    /** Classes that preempt the same jobs. */
    public static final class Group {
        private final ResourceNeed need;
        private final String qos;
        /** Trying to make room was in vain up to this priority, in the pass of that number. */
        public long vain;

        public long pass = -1;
        /** Memory of whether too little would be free if all possible victims went. */
        public final NeedClass.Memory memory = new NeedClass.Memory();
        /**
         * The jobs that jobs of the group may preempt, in the era of the preemptable jobs that {@link #kindEra} names.
         */
        public GroupVerdicts.@Nullable Kind kind;

        public long kindEra = -1;

        private final int id;

        private Group(int id, ResourceNeed need, String qos) {
            this.id = id;
            this.need = need;
            this.qos = qos;
        }

        public int id() {
            return id;
        }

        @Override
        public boolean equals(Object o) {
            return o instanceof Group g && g.need == need && g.qos.equals(qos);
        }

        @Override
        public int hashCode() {
            return quick(need) * 31 + qos.hashCode();
        }
    }

    /** Jobs of one {@link Key}: what limits say to one of them they say to all. */
    public static final class Lane {
        public final NeedClass need;
        public final Group group;
        /** Amounts that limits count of each of its jobs; null where there are none. */
        private final LimitCache.@Nullable RequestedAmounts asked;

        private Lane(NeedClass need, Group group, LimitCache.@Nullable RequestedAmounts asked) {
            this.need = need;
            this.group = group;
            this.asked = asked;
        }

        /** Returns the verdict of limits on its jobs. */
        public JobReason limit(LimitCache limits) {
            return asked == null ? JobReason.NONE : limits.blocks(asked);
        }

        /** Returns the number of the payer of its jobs, counted from 1, if limits depend on that alone; otherwise 0. */
        public int payer() {
            return asked == null || !asked.isShared() ? 0 : asked.payer() + 1;
        }
    }

    private static int quick(ResourceNeed need) {
        return ((need.limitMin() * 31 + need.tasks()) * 31 + need.nodesMin()) * 31
                + (int) (need.memPerCpuMb() + need.memPerNodeMb());
    }

    JobClassIndex(ClusterIndex cluster, QueueOrder order, LimitCache limits, GroupVerdicts verdicts) {
        this.cluster = cluster;
        this.order = order;
        this.limits = limits;
        this.verdicts = verdicts;
    }

    public void clear() {
        byNeed.clear();
        blockedClasses = new BlockedClasses(cluster.free());
        reserved = ReservedNodes.NOTHING;
        wheres.clear();
        partitions.clear();
        licenseKeys.clear();
        version++;
        clearLanes();
    }

    /** Lets each job's lane be found anew. */
    public void forgetLanes() {
        clearLanes();
        order.forget();
    }

    private void clearLanes() {
        byKey.clear();
        lanes.clear();
        groups.clear();
        verdicts.forgetGroups();
    }

    public BlockedClasses blockedClasses() {
        return blockedClasses;
    }

    public List<Integer> reservationOrder() {
        return reservationOrder;
    }

    /**
     * Returns the nodes that reservations hold. When they differ from before, classes that were turned down are tried
     * again.
     *
     * @param now seconds since 1970
     */
    public ReservedNodes reserved(State state, long now) {
        if (!reserved.holds(state, now)) {
            boolean drew = areMagnetic;
            reserved = new ReservedNodes(cluster, state, now);
            areMagnetic = state.reservations().values().stream().anyMatch(r -> r.has(ReservationFlag.MAGNETIC));
            forgetShort();
            if (drew || areMagnetic) {
                forgetLanes();
            }
        }
        return reserved;
    }

    public int groupsSize() {
        return groups.size();
    }

    /** Tests whether more lanes are kept than jobs wait: those of jobs that are gone. */
    public boolean areMany(int queued) {
        return lanes.size() > CLASSES_MAX + 2 * queued;
    }

    public long version() {
        return version;
    }

    /** Forgets candidate nodes of all classes after a node's features changed. */
    public void featuresChanged() {
        version++;
        wheres.values().forEach(w -> w.mask = new long[0]);
        forgetShort();
    }

    /** Forgets all verdicts: every class is tried again. */
    public void forgetShort() {
        blockedClasses.clear();
        verdicts.unsettle();
        byNeed.values().forEach(NeedClass::forget);
        groups.values().forEach(g -> g.memory.forget());
    }

    public int size() {
        return byNeed.size();
    }

    /** Returns a number above all numbers in {@link NeedClass#desk}. */
    public int licenseKeyCount() {
        return licenseKeys.size() + 1;
    }

    public int partitionsSize() {
        return partitions.size();
    }

    public int partition(String name) {
        return partitions.computeIfAbsent(name, n -> partitions.size());
    }

    /** Returns the class of a need, one object per distinct need. */
    public NeedClass of(ResourceNeed need, EligibleNodes candidates, boolean memoryConsumed) {
        NeedClass c = byNeed.get(need);
        if (c == null) {
            NodeFilter key = NodeFilter.of(need);
            NeedClass.CandidateMask where =
                    wheres.computeIfAbsent(key, k -> new NeedClass.CandidateMask(wheres.size(), k, new long[0]));
            int desk = need.licenses().items().isEmpty()
                    ? 0
                    : licenseKeys.computeIfAbsent(
                            new LicenseKey(need.licenses(), need.limitMin(), need.reservation()),
                            k -> licenseKeys.size() + 1);
            c = new NeedClass(byNeed.size(), need, partition(need.partition()), where, desk, memoryConsumed);
            byNeed.put(need, c);
        }
        if (c.mask().length == 0) {
            c.look(FreeTable.mask(candidates.of(need, Set.of()), cluster.nodes().size()));
        }
        return c;
    }

    /** Returns the mask of the filter's nodes as far as they are known; empty if they are not. */
    long[] mask(NodeFilter key) {
        NeedClass.CandidateMask where = wheres.get(key);
        return where == null ? NOWHERE : where.mask;
    }

    /** Returns the group of jobs with the need and the QOS, one object for all of them. */
    public Group group(ResourceNeed need, String qos) {
        Group group = new Group(groups.size(), need, qos);
        Group same = groups.putIfAbsent(group, group);
        return same == null ? group : same;
    }

    public Lane lane(int id) {
        return lanes.get(id);
    }

    public Lane[] allLanes() {
        return lanes.toArray(new Lane[0]);
    }

    /** Returns the masks of all places, by their numbers. */
    public long[][] masks() {
        long[][] out = new long[wheres.size()][];
        wheres.values().forEach(w -> out[w.id] = w.mask);
        return out;
    }

    /** Tests whether the job has alternatives, a deadline or another property that needs a look at it alone. */
    private static boolean isSpecial(Job job) {
        return job.isHet()
                || job.desc().partition().indexOf(',') >= 0
                || job.desc().charge().qos().indexOf(',') >= 0
                || job.array().maxRunning() > 0
                || job.desc().timing().deadline() > 0
                || !job.desc().charge().reservation().isEmpty()
                || !job.desc().request().prefer().isEmpty()
                || job.has(JobFlag.EXPEDITING)
                || job.desc().extras().warnReserve();
    }

    /** Returns the lane of an ordinary job; UNKNOWN for a job that is considered by itself. */
    public int laneOf(State state, Job job, EligibleNodes candidates, boolean memoryConsumed, boolean limited) {
        String partition = job.desc().partition();
        String qos = job.desc().charge().qos();
        if (isSpecial(job)
                || state.buffers().blocks(job.id()) != JobReason.NONE
                || limited && BurstBuffer.megabytes(job.desc()) > 0) {
            return QueueOrder.UNKNOWN;
        }
        Optional<Partition> of = state.partitions().find(partition);
        if (of.isEmpty() || PartitionLimits.reason(job.desc(), of.get(), state) != JobReason.NONE) {
            return QueueOrder.UNKNOWN;
        }
        ResourceNeed need = cluster.needs().of(job, of.get(), state);
        if (need.network().switches() > 0
                || PartitionLimits.shortestMin(job.desc(), need.limitMin(), state.settings()) >= 0
                || SwitchWait.mayDelayBoot(job, need, state)
                || !need.licenses().items().isEmpty()
                        && !state.settings().layered().isEmpty()) {
            return QueueOrder.UNKNOWN;
        }
        Key key = new Key(
                need,
                job.desc().request(),
                job.desc().timing().timeLimitMin(),
                job.desc().timing().timeMinMin(),
                job.desc().owner().user(),
                job.desc().charge().account(),
                qos);
        return byKey.computeIfAbsent(key, k -> {
            lanes.add(new Lane(
                    of(need, candidates, memoryConsumed),
                    group(need, job.desc().charge().firstQos()),
                    limited ? limits.asked(job.desc(), need.limitMin()) : null));
            return lanes.size() - 1;
        });
    }
}
