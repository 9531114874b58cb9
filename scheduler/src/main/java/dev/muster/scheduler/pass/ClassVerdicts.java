package dev.muster.scheduler.pass;

import dev.muster.core.limits.LimitCache;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.Feasibility;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.preempt.PreemptableJobs;
import dev.muster.scheduler.queue.BlockedClasses;
import dev.muster.scheduler.queue.EligibleNodes;
import dev.muster.scheduler.queue.JobClassIndex;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.queue.QueueOrder;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The verdicts of a pass on jobs before it looks at them: a class that failed is not tried again in it, nor one that
 * asks for no less; one that nothing became free for since an earlier pass is not tried at all. A verdict here is the
 * one that {@link Pass} would have found.
 */
public final class ClassVerdicts {
    public static final JobReason[] REASONS = JobReason.values();
    /** Number of failed needs of each place that other needs are compared with. */
    private static final int FAILED_MAX = 64;

    private static final int FAILED = 1;
    private static final int LACKS_LICENSES = 2;
    /** State of a class that its partition can never hold. */
    private static final int EXCEEDS = 3;
    /** Bits of a class' entry that are its state; at bit {@link #PARTITION} the number of its partition begins. */
    private static final int STATE = 3;

    private static final int PARTITION = 2;
    /** Verdict of a class in place of a reason: its jobs must be looked at. */
    private static final short ASK = -2;

    private final Pass pass;
    private final PreemptableJobs preemptable;
    private final boolean pruned;
    private final ClusterIndex cluster;
    private final JobQueue queue;
    private final JobClassIndex classes;
    private final FreeTable free;
    private final State state;
    private final EligibleNodes candidates;
    private final boolean limited;
    private final boolean memoryConsumed;
    private final boolean preempts;
    /** Whether jobs may be preempted for their licenses as well. */
    private final boolean reclaims;

    private final boolean layered;
    private final long number;
    private final BlockedClasses blockedClasses;
    private int[] states;
    /**
     * Verdict on each class: the ordinal of the reason for which its jobs wait when no limit holds them and no job is
     * preempted for them; ASK where it is unknown.
     */
    private short[] verdicts;
    /**
     * Whether verdicts of all blocked classes are to be found anew: since the last time a partition got its first
     * waiting job, or all jobs with reservations have had their turns.
     */
    private boolean verdictsStale;
    /** Number of reservations kept so far in this pass. */
    private int reservationsKept;

    private final RemainingCapacity remainingCapacity;
    /** Groups for which nothing is to be tried in this pass, whatever the priority. */
    private boolean[] hopelessGroups = {};

    private boolean hopelessKnown;
    private boolean[] blocked;
    /** Needs of each place that are known to fail, now or at any time. */
    private final List<List<Failed>> failedNeeds = new ArrayList<>();

    /** Stands for the payers where no limit is enforced. */
    private static final byte[] UNLIMITED = {};

    private record Failed(NeedClass need, boolean anyTime) {}

    ClassVerdicts(Pass pass, SchedulingContext context, State state, EligibleNodes candidates, boolean limited) {
        this.pass = pass;
        this.preemptable = context.preemptable();
        this.pruned = context.options().pruned();
        this.cluster = context.cluster();
        this.queue = context.queue();
        this.classes = queue.classes();
        this.free = cluster.free();
        this.state = state;
        this.candidates = candidates;
        this.limited = limited;
        this.memoryConsumed = state.memoryConsumed();
        this.preempts = pass.preemptor().isOn();
        this.reclaims = pass.preemptor().reclaims();
        this.number = queue.passes();
        this.layered = !state.settings().layered().isEmpty();
        this.states = new int[classes.size() + 64];
        this.verdicts = new short[states.length];
        java.util.Arrays.fill(verdicts, ASK);
        this.blocked = new boolean[classes.partitionsSize() + 8];
        this.blockedClasses = classes.blockedClasses();
        this.remainingCapacity = pass.remainingCapacity();
        if (pass.reservations().areClaimsOver()) {
            blockedClasses.forgetBehind();
        }
        blockedClasses.wake();
    }

    /**
     * Tests whether jobs may be passed over.
     *
     * @param special something makes each job a matter of its own
     */
    boolean areOpen(boolean special) {
        return pruned && !special && !cluster.allocations().anyExclusive();
    }

    NeedClass of(ResourceNeed need) {
        return classes.of(need, candidates, memoryConsumed);
    }

    private int stateOf(int id) {
        return id < states.length ? states[id] : 0;
    }

    private void set(NeedClass c, int classState) {
        set(c.id, c.partition, classState);
    }

    private void set(int id, int partition, int classState) {
        if (id >= states.length) {
            int known = verdicts.length;
            states = java.util.Arrays.copyOf(states, Math.max(id + 1, states.length * 2));
            verdicts = java.util.Arrays.copyOf(verdicts, states.length);
            java.util.Arrays.fill(verdicts, known, verdicts.length, ASK);
        }
        states[id] = classState | partition << PARTITION;
        verdicts[id] = ASK;
    }

    /**
     * Returns the index of the first job at or after {@code from} whose verdict may have changed; the block's size if
     * there is none.
     */
    int next(QueueOrder.Block block, int from) {
        if ((verdictsStale || from == 0 && blockedClasses.isStale())
                && pass.reservations().hasReserved()) {
            markBlocked();
        }
        if (preempts && !hopelessKnown) {
            return from;
        }
        boolean mayPreempt = preempts && !pass.preemptor().isExhausted();
        byte[] free = limited ? queue.limits().free() : UNLIMITED;
        short[] passed = block.passed;
        int[] needs = block.needs;
        short[] current = verdicts;
        for (int i = from; i < block.size; i++) {
            if (passed[i] != current[needs[i]]
                    || limited && free[block.payers[i]] != LimitCache.FREE && !isFree(block.payers[i])
                    || mayPreempt && !hopelessGroups[block.groups[i]]) {
                return i;
            }
        }
        return block.size;
    }

    /**
     * Tests whether a job's verdict is the one with which it was passed over before, as {@link #next} does for several.
     */
    boolean isUnchanged(QueueOrder.Block block, int i) {
        return (!preempts
                        || hopelessKnown
                                && (pass.preemptor().isExhausted()
                                        || block.groups[i] < hopelessGroups.length && hopelessGroups[block.groups[i]]))
                && block.passed[i] == verdicts[block.needs[i]]
                && (!limited || isFree(block.payers[i]));
    }

    /** Lets all blocked classes wait at once where a job before them waits in their partition. */
    private void markBlocked() {
        boolean all = verdictsStale
                && reservationsKept == classes.reservationOrder().size()
                && remembersBeside()
                && !remainingCapacity.isEmpty();
        blockedClasses.renew(
                reservationsKept, all ? Optional.of(remainingCapacity) : Optional.empty(), this::markBlocked);
        if (verdictsStale) {
            verdictsStale = false;
            for (int id = 0; id < blockedClasses.size() && id < states.length; id++) {
                markBlocked(id);
            }
        }
    }

    private void markBlocked(int id) {
        if (id < states.length
                && states[id] == 0
                && blockedClasses.isBlockedForSure(id)
                && blockedClasses.reservationsBefore(id) <= reservationsKept
                && isBlocked(blockedClasses.partition(id))
                && !isBarred(id)) {
            fail(id);
            verdicts[id] = (short) ((states[id] & STATE) == FAILED ? JobReason.PRIORITY : JobReason.LICENSES).ordinal();
        }
    }

    /** Returns the ordinal of the reason for which a job that has a lane waits; UNKNOWN if it must be looked at. */
    int reason(QueueOrder.Block block, int i) {
        if (limited && !isFree(block.payers[i])) {
            JobReason limit = classes.lane(block.lanes[i]).limit(queue.limits());
            if (limit != JobReason.NONE) {
                return limit.ordinal();
            }
        }
        if (!pass.reservations().hasReserved()) {
            return QueueOrder.UNKNOWN;
        }
        int known = stateOf(block.needs[i]);
        int classState = known != 0 ? known & STATE : first(block, i);
        if (classState == 0) {
            return QueueOrder.UNKNOWN;
        }
        if (classState == LACKS_LICENSES && !reclaims) {
            return verdict(block.needs[i], JobReason.LICENSES);
        }
        if (classState == EXCEEDS) {
            return verdict(block.needs[i], Feasibility.tooSmall(classes.lane(block.lanes[i]).need.need, state));
        }
        if (preempts
                && !isKnownHopeless(block.groups[i])
                && !cannotPreempt(classes.lane(block.lanes[i]), block.places[i])) {
            return QueueOrder.UNKNOWN;
        }
        if (classState == LACKS_LICENSES) {
            return verdict(block.needs[i], JobReason.LICENSES);
        }
        return isBlocked(stateOf(block.needs[i]) >>> PARTITION)
                ? verdict(block.needs[i], JobReason.PRIORITY)
                : JobReason.RESOURCES.ordinal();
    }

    /** Sets the verdict for all jobs of a class from here on. */
    private int verdict(int id, JobReason reason) {
        verdicts[id] = (short) reason.ordinal();
        return reason.ordinal();
    }

    /** Tests whether a job of which no more is known than this reason has its place kept while it waits. */
    static boolean keepsPlace(int reason) {
        return reason == JobReason.PRIORITY.ordinal()
                || reason == JobReason.RESOURCES.ordinal()
                || reason == JobReason.LICENSES.ordinal();
    }

    /** @param payer number of the payer as in the queue, 0 for none */
    private boolean isFree(int payer) {
        return payer > 0 && queue.limits().isFree(payer - 1);
    }

    private boolean isKnownHopeless(int group) {
        if (!hopelessKnown) {
            hopelessKnown = true;
            hopelessGroups = new boolean[classes.groupsSize() + 64];
            preemptable.settle(hopelessGroups);
        }
        return group < hopelessGroups.length && hopelessGroups[group];
    }

    private int first(QueueOrder.Block block, int i) {
        int id = block.needs[i];
        if (!isSettled(id)) {
            return first(classes.lane(block.lanes[i]).need);
        }
        int partition = blockedClasses.partition(id);
        if (!isBlocked(partition) || isBarred(id)) {
            return 0;
        }
        return fail(id);
    }

    /** Tests whether reservations occupy the whole partition of a blocked class. */
    private boolean isBarred(int id) {
        int partition = blockedClasses.partition(id);
        return !pass.reservedPartitions().isOpen(partition)
                && pass.reservedPartitions().is(partition, blockedClasses.need(id));
    }

    /** Fails a blocked class: for want of licenses first, if it asks for any. */
    private int fail(int id) {
        set(id, blockedClasses.partition(id), lacks(id, blockedClasses.desk(id)) ? LACKS_LICENSES : FAILED);
        return states[id] & STATE;
    }

    /** Tests whether a blocked class lacks licenses. */
    private boolean lacks(int id, int desk) {
        return desk > 0 && pass.licenses().lacks(desk, classes.licenseKeyCount(), blockedClasses.need(id));
    }

    /**
     * Tests whether jobs of a class wait anyway, on candidate nodes that are known: only then its verdict needs no
     * attempt.
     */
    private boolean mayBeShort(NeedClass c) {
        return c.mask().length > 0 && isBlocked(c.partition) && isJudged(c) && !c.named;
    }

    /** Returns the verdict for the first job of a class as if it had been tried; 0 if it must be tried. */
    private int first(NeedClass c) {
        if (c.licensed && (pass.isInOrder() || reclaims || isLayered(c.need))) {
            return 0;
        }
        if (c.licensed && c.desk > 0 && pass.licenses().lacks(c.desk, classes.licenseKeyCount(), c)) {
            set(c, LACKS_LICENSES);
            return LACKS_LICENSES;
        }
        // what is remembered of it is remembered of those as well that ask for no less: they need not be compared with
        // it
        boolean remembered = c.bounded && isRemembered(c);
        if (!mayBeShort(c)
                || !remembered && !isShort(c)
                || pass.reservedPartitions().is(c)) {
            return 0;
        }
        boolean anyTime = c.isKnownShort(free);
        if (remembered) {
            set(c, FAILED);
        } else {
            failed(c, anyTime);
        }
        if (c.exceeds()) {
            set(c, EXCEEDS);
            return EXCEEDS;
        }
        settle(c, anyTime);
        return FAILED;
    }

    /**
     * Settles a class: it fails in this pass, and in the next ones as long as nothing is had that could serve it.
     *
     * @param anyTime short of what is free
     */
    private void settle(NeedClass c, boolean anyTime) {
        boolean asked = c.licensed && (pass.isInOrder() || isLayered(c.need));
        if (!asked && (anyTime || remembersBeside())) {
            blockedClasses.add(c.id, c, anyTime ? 0 : reservationsKept);
        }
    }

    private boolean isSettled(int id) {
        return (remembersBeside()
                        ? blockedClasses.isStillBlocked(id, reservationsKept, remainingCapacity)
                        : blockedClasses.isStillBlocked(id))
                && blockedClasses.reservationsBefore(id) <= reservationsKept;
    }

    /** Tests whether capacity that is too little beside kept places stays so. */
    private boolean remembersBeside() {
        return pass.reservations().areTakenOver() && !pass.reservations().areClaimsOver();
    }

    /** Tests whether a class is known to be short of what is free, or of what is left of it. */
    private boolean isRemembered(NeedClass c) {
        return isSettled(c.id) || c.isKnownShort(free);
    }

    /**
     * Keeps the reservation of a waiting job from here on. Where the last pass kept another job's reservation at this
     * turn, resources may have become free.
     */
    void reservationKept(int jobId) {
        List<Integer> order = classes.reservationOrder();
        if (reservationsKept < order.size() && order.get(reservationsKept) != jobId) {
            int ahead = order.subList(reservationsKept, order.size()).indexOf(jobId);
            if (ahead > 0) {
                dropReservations(reservationsKept, reservationsKept + ahead);
            } else {
                order.add(reservationsKept, jobId);
                blockedClasses.shift(reservationsKept, 1);
            }
        } else if (reservationsKept == order.size()) {
            order.add(jobId);
        }
        reservationsKept++;
        verdictsStale |= reservationsKept == order.size();
    }

    /** Ends the pass: a job of the last pass that had no turn loses its reservation. */
    void end() {
        if (reservationsKept < classes.reservationOrder().size()) {
            dropReservations(reservationsKept, classes.reservationOrder().size());
        }
    }

    private void dropReservations(int from, int to) {
        List<Integer> those = classes.reservationOrder().subList(from, to);
        those.forEach(pass.reservations()::release);
        those.clear();
        blockedClasses.shift(from, from - to);
        blockedClasses.wake();
    }

    /** Tests whether an earlier pass found that preemption cannot help the group, and no victim has changed since. */
    private boolean isStillHopeless(JobClassIndex.Group group, NeedClass c) {
        if (group.kindEra == preemptable.era()
                && (preemptable.isSettled(PreemptableJobs.kindOf(group), group.id())
                        || preemptable.isPowerless(PreemptableJobs.kindOf(group)))) {
            return true;
        }
        boolean known = pass.preemptor().isKnownShort(group, c);
        if (known) {
            preemptable.settle(PreemptableJobs.kindOf(group), group.id(), c, group.memory);
        }
        return known;
    }

    private boolean cannotPreempt(JobClassIndex.Lane lane, QueueOrder.Place place) {
        JobClassIndex.Group group = lane.group;
        NeedClass c = lane.need;
        if (group.pass == number && group.vain == Long.MAX_VALUE
                || pass.preemptor().isExhausted()) {
            return true;
        }
        if (group.pass != number && isStillHopeless(group, c)) {
            noteHopeless(group, Long.MAX_VALUE);
            return true;
        }
        long priority = place.priority();
        if (group.pass == number && priority <= group.vain) {
            return true;
        }
        JobDesc desc = place.job().desc();
        boolean isShort = group.pass != number && pass.preemptor().isShort(desc, c.need, group, c);
        boolean hopeless = isShort || pass.preemptor().cannotPreempt(desc, c.need, priority);
        if (hopeless) {
            // where priorities do not decide it is the same for all of them
            noteHopeless(group, isShort || pass.preemptor().isPlain() ? Long.MAX_VALUE : priority);
        }
        if (isShort) {
            preemptable.settle(PreemptableJobs.kindOf(group), group.id(), c, group.memory);
        }
        return hopeless;
    }

    private void noteHopeless(JobClassIndex.Group group, long upTo) {
        group.pass = number;
        group.vain = upTo;
        if (upTo == Long.MAX_VALUE && group.id() < hopelessGroups.length) {
            hopelessGroups[group.id()] = true;
        }
    }

    private boolean isBlocked(int partition) {
        return partition < blocked.length && blocked[partition];
    }

    /** Notes that the job was looked at: what it was told, and which lane it is in. */
    void considered(QueueOrder.Block block, int i, Job job) {
        if (block.lanes[i] == QueueOrder.UNKNOWN) {
            block.lanes[i] = pass.isDrawn(job)
                    ? QueueOrder.UNKNOWN
                    : classes.laneOf(state, job, candidates, memoryConsumed, limited);
            block.needs[i] = block.lanes[i] < 0 ? 0 : classes.lane(block.lanes[i]).need.id;
            block.groups[i] =
                    block.lanes[i] < 0 ? 0 : classes.lane(block.lanes[i]).group.id();
            block.payers[i] =
                    block.lanes[i] < 0 ? 0 : classes.lane(block.lanes[i]).payer();
        }
        block.toldReasons[i] = (short) queue.waits().reason(job.id()).ordinal();
        block.passed[i] = block.lanes[i] < 0 || pass.reservations().isKept(job.id())
                ? (short) QueueOrder.UNKNOWN
                : block.toldReasons[i];
    }

    /**
     * Tests whether a need with licenses was turned down here for want of room: it is not tried again in this pass,
     * whatever becomes of the licenses.
     */
    boolean hasFailed(ResourceNeed need) {
        return !need.licenses().items().isEmpty() && pruned && (stateOf(of(need).id) & STATE) == FAILED;
    }

    // ---- what the pass finds

    /** Tests whether what is free does not suffice, for all that is known without a look at the nodes. */
    boolean isShort(ResourceNeed need) {
        return pruned && isShort(of(need));
    }

    private boolean isShort(NeedClass c) {
        if (!c.bounded) {
            return false;
        }
        if (isRemembered(c)) {
            return true;
        }
        boolean fails = false;
        for (Failed f : c.where() < failedNeeds.size() ? failedNeeds.get(c.where()) : List.<Failed>of()) {
            if (c.asksNoLess(f.need, f.anyTime)) {
                if (f.anyTime) {
                    c.isShortAsWell(free);
                    return true;
                }
                fails = true;
            }
        }
        return fails
                || c.isShort(free)
                || !remainingCapacity.isEmpty() && c.need.within().isNone() && free.isShort(c, remainingCapacity);
    }

    /** Returns the class of a need with its bounds, where they hold of what is free now. */
    Optional<NeedClass> bounds(ResourceNeed need) {
        return pruned ? Optional.of(of(need)).filter(c -> c.bounded) : Optional.empty();
    }

    /**
     * @param isShort for want of anything free
     * @param tooFew otherwise: too few nodes had room beside what is planned
     */
    void failed(ResourceNeed need, boolean isShort, boolean tooFew) {
        if (pruned && !isLayered(need)) {
            NeedClass c = of(need);
            set(c, FAILED);
            if (isShort || tooFew) {
                boolean anyTime = isShort && c.isKnownShort(free);
                failed(c, anyTime);
                if (c.simple) {
                    settle(c, anyTime);
                }
            }
        }
    }

    /** Tests whether the licenses of a need depend on the nodes that it gets: no verdict on its class holds of it. */
    private boolean isLayered(ResourceNeed need) {
        return layered && !need.licenses().items().isEmpty();
    }

    private void failed(NeedClass c, boolean anyTime) {
        set(c, FAILED);
        if (!c.simple) {
            return;
        }
        while (failedNeeds.size() <= c.where()) {
            failedNeeds.add(new ArrayList<>());
        }
        List<Failed> those = failedNeeds.get(c.where());
        for (Failed f : those) {
            if (c.asksNoLess(f.need, f.anyTime)) {
                return;
            }
        }
        those.removeIf(f -> f.need.asksNoLess(c, anyTime) && (anyTime || !f.anyTime));
        if (those.size() < FAILED_MAX) {
            those.add(new Failed(c, anyTime));
        }
    }

    /** Tests whether the partition can never hold the need: the same for all of a class until nodes change. */
    boolean exceeds(ResourceNeed need, JobDesc desc, Partition partition) {
        if (!pruned) {
            return Feasibility.exceeds(state, desc, partition);
        }
        NeedClass c = of(need);
        if (!c.isJudged(classes.version())) {
            c.judged(
                    classes.version(),
                    (isLayered(need) || !cluster.fitsEmpty(c)) && Feasibility.exceeds(state, desc, partition));
        }
        if (c.exceeds() && !isLayered(need)) {
            set(c, EXCEEDS);
        }
        return c.exceeds();
    }

    private boolean isJudged(NeedClass c) {
        if (!c.isJudged(classes.version()) && cluster.fitsEmpty(c)) {
            c.judged(classes.version(), false);
        }
        return c.isJudged(classes.version());
    }

    void lacksLicenses(ResourceNeed need) {
        if (pruned) {
            set(of(need), LACKS_LICENSES);
        }
    }

    void blocked(ResourceNeed need) {
        if (need.within().isNone()) {
            int p = classes.partition(need.partition());
            if (p >= blocked.length) {
                blocked = java.util.Arrays.copyOf(blocked, p + 8);
            }
            verdictsStale |= !blocked[p];
            blocked[p] = true;
        }
    }
}
