package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.core.Partition;
import dev.muster.core.State;
import dev.muster.model.JobDesc;
import dev.muster.model.JobReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a pass knows of jobs before it looks at them: a class that failed is not tried again in it, nor one that asks for no less; one that nothing
 * became free for since an earlier pass is not tried at all. What is said here is what {@link Pass} would have found.
 */
final class Lanes {
    static final JobReason[] REASONS = JobReason.values();
    /** Needs that failed are compared with others, so many of each place. */
    private static final int FAILED_MAX = 64;

    private static final int FAILED = 1;
    private static final int LACKS_LICENCES = 2;
    /** Its partition can never hold it. */
    private static final int EXCEEDS = 3;
    /** Of what is known of a class: this, and beginning at that bit the number of its partition. */
    private static final int STATE = 3;
    private static final int PARTITION = 2;

    private final Pass pass;
    private final Scheduler scheduler;
    private final Classes classes;
    private final FreeTable free;
    private final State state;
    private final Candidates candidates;
    private final boolean limited;
    private final boolean memoryConsumed;
    private final boolean preempts;
    private final boolean layered;
    private final long number;
    private final Settled settled;
    private int[] states;
    /** Of groups that nothing is to be tried for in this pass, whatever the priority. */
    private boolean[] vain = {};
    private boolean vainKnown;
    /** Of those who are charged together: what limits say to them as of that stamp. */
    private byte[] payers = {};
    private long payersAt = -1;
    /** A job was looked at since that stamp. */
    private boolean considered = true;
    private boolean[] blocked;
    /** Of each place those that are known to fail, and of them how many for any time. */
    private final List<List<Failed>> failed = new ArrayList<>();

    private record Failed(NeedClass need, boolean anyTime) {}

    Lanes(Pass pass, Scheduler scheduler, State state, Candidates candidates, boolean limited) {
        this.pass = pass;
        this.scheduler = scheduler;
        this.classes = scheduler.known();
        this.free = scheduler.free();
        this.state = state;
        this.candidates = candidates;
        this.limited = limited;
        this.memoryConsumed = state.settings().memoryConsumed();
        this.preempts = pass.preemptor().isOn();
        this.number = scheduler.passes();
        this.layered = !state.settings().layered().isEmpty();
        this.states = new int[classes.size() + 64];
        this.blocked = new boolean[classes.partitionsSize() + 8];
        this.settled = classes.settled();
        settled.wake();
    }

    /** Whether jobs may be passed over. @param special something makes each job a matter of its own */
    boolean areOpen(boolean special) {
        return scheduler.isPruned() && !special && !scheduler.someMind();
    }

    NeedClass of(Need need) {
        return classes.of(need, candidates, memoryConsumed);
    }

    private int stateOf(int id) {
        return id < states.length ? states[id] : 0;
    }

    private void set(NeedClass c, int is) {
        set(c.id, c.partition, is);
    }

    private void set(int id, int partition, int is) {
        if (id >= states.length) {
            states = java.util.Arrays.copyOf(states, Math.max(id + 1, states.length * 2));
        }
        states[id] = is | partition << PARTITION;
    }

    /** The ordinal of the reason for which a job that has a lane waits; UNKNOWN if it must be looked at. */
    int reason(QueueOrder.Block block, int i) {
        if (limited && !isFree(block.payers[i])) {
            JobReason limit = classes.lane(block.lanes[i]).limit(scheduler.limits());
            if (limit != JobReason.NONE) {
                return limit.ordinal();
            }
        }
        if (!pass.hasReserved()) {
            return QueueOrder.UNKNOWN;
        }
        int known = stateOf(block.needs[i]);
        int is = known != 0 ? known & STATE : first(block, i);
        if (is == 0) {
            return QueueOrder.UNKNOWN;
        }
        if (is == LACKS_LICENCES) {
            return JobReason.LICENSES.ordinal();
        }
        if (is == EXCEEDS) {
            return Feasibility.tooSmall(classes.lane(block.lanes[i]).need.need, state).ordinal();
        }
        if (preempts && !isKnownVain(block.groups[i]) && !isVain(classes.lane(block.lanes[i]), block.places[i])) {
            return QueueOrder.UNKNOWN;
        }
        return (isBlocked(stateOf(block.needs[i]) >>> PARTITION) ? JobReason.PRIORITY : JobReason.RESOURCES).ordinal();
    }

    private boolean isFree(int payer) {
        if (payer < 0) {
            return false;
        }
        if (considered) {
            // nothing else in a pass changes what limits say
            considered = false;
            long stamp = scheduler.limits().stamp();
            if (payersAt != stamp) {
                payersAt = stamp;
                java.util.Arrays.fill(payers, (byte) 0);
            }
        }
        if (payer >= payers.length) {
            payers = java.util.Arrays.copyOf(payers, Math.max(payer + 64, payers.length * 2));
        }
        if (payers[payer] == 0) {
            payers[payer] = (byte) (scheduler.limits().isFree(payer) ? 1 : 2);
        }
        return payers[payer] == 1;
    }

    private boolean isKnownVain(int group) {
        if (!vainKnown) {
            vainKnown = true;
            vain = new boolean[classes.groupsSize() + 64];
            scheduler.yields().settle(vain);
        }
        return group < vain.length && vain[group];
    }

    private int first(QueueOrder.Block block, int i) {
        int id = block.needs[i];
        if (!settled.has(id)) {
            return first(classes.lane(block.lanes[i]).need);
        }
        int partition = settled.partition(id);
        if (!isBlocked(partition) || pass.hasReservations() && pass.isBarred(settled.need(id))) {
            return 0;
        }
        set(id, partition, FAILED);
        return FAILED;
    }

    /** The first of its class: as if it had been tried. 0 if it must be. */
    private int first(NeedClass c) {
        if (c.licensed && (pass.isInOrder() || isLayered(c.need))) {
            return 0;
        }
        if (c.licensed && pass.licences().given(c.need, 0).isEmpty()) {
            set(c, LACKS_LICENCES);
            return LACKS_LICENCES;
        }
        // what is remembered of it is remembered of those as well that ask for no less: they need not be compared with it
        boolean remembered = c.bounded && isRemembered(c);
        if (c.mask().length == 0 || !isBlocked(c.partition) || !isJudged(c) || c.named || !remembered && !isShort(c)
                || pass.isBarred(c)) {
            return 0;
        }
        if (remembered) {
            set(c, FAILED);
        } else {
            failed(c, true);
        }
        if (c.licensed) {
            // whatever becomes of the licences in this pass
            pass.failed(c.need);
        }
        if (c.exceeds()) {
            set(c, EXCEEDS);
            return EXCEEDS;
        }
        if (!c.licensed && c.isKnownShort(free)) {
            settled.add(c.id, c);
        }
        return FAILED;
    }

    /** It is known to be short of what is free. */
    private boolean isRemembered(NeedClass c) {
        return settled.has(c.id) || c.isKnownShort(free);
    }

    private boolean isVain(Classes.Lane lane, QueueOrder.Place place) {
        Classes.Group group = lane.group;
        NeedClass c = lane.need;
        if (group.pass == number && group.vain == Long.MAX_VALUE) {
            return true;
        }
        if (group.pass != number && group.kindEra == scheduler.yields().era() && (scheduler.yields().isSettled(group.kind, group.id())
                || scheduler.yields().isPowerless(group.kind))) {
            vain(group, Long.MAX_VALUE);
            return true;
        }
        if (group.pass != number && pass.preemptor().isKnownShort(group, c)) {
            vain(group, Long.MAX_VALUE);
            scheduler.yields().settle(group.kind, group.id(), c, group.memory);
            return true;
        }
        long priority = place.priority();
        if (group.pass == number && priority <= group.vain) {
            return true;
        }
        JobDesc desc = place.job().desc();
        boolean isShort = group.pass != number && pass.preemptor().isShort(desc, c.need, group, c);
        boolean vain = isShort || pass.preemptor().isVain(desc, c.need, group, c, priority);
        if (vain) {
            // where priorities do not decide it is the same for all of them
            vain(group, isShort || pass.preemptor().isPlain() ? Long.MAX_VALUE : priority);
        }
        if (isShort) {
            scheduler.yields().settle(group.kind, group.id(), c, group.memory);
        }
        return vain;
    }

    private void vain(Classes.Group group, long upTo) {
        group.pass = number;
        group.vain = upTo;
        if (upTo == Long.MAX_VALUE && group.id() < vain.length) {
            vain[group.id()] = true;
        }
    }

    private boolean isBlocked(int partition) {
        return partition < blocked.length && blocked[partition];
    }

    /** The job was looked at: what it was told, and which lane it is in. */
    void considered(QueueOrder.Block block, int i, Job job) {
        considered = true;
        if (block.lanes[i] == QueueOrder.UNKNOWN && !pass.isKept(job)) {
            block.lanes[i] = classes.laneOf(state, job, candidates, memoryConsumed, limited);
            block.needs[i] = block.lanes[i] < 0 ? 0 : classes.lane(block.lanes[i]).need.id;
            block.groups[i] = block.lanes[i] < 0 ? 0 : classes.lane(block.lanes[i]).group.id();
            block.payers[i] = block.lanes[i] < 0 ? QueueOrder.UNKNOWN : classes.lane(block.lanes[i]).payer();
        }
        block.told[i] = (short) scheduler.reason(job.id()).ordinal();
    }

    // ---- what the pass finds

    /** What is free does not suffice, for all that is known without a look at the nodes. */
    boolean isShort(Need need) {
        return scheduler.isPruned() && isShort(of(need));
    }

    private boolean isShort(NeedClass c) {
        if (!c.bounded) {
            return false;
        }
        if (isRemembered(c)) {
            return true;
        }
        for (Failed f : c.where() < failed.size() ? failed.get(c.where()) : List.<Failed>of()) {
            if (c.asksNoLess(f.need, f.anyTime)) {
                return true;
            }
        }
        return c.isShort(free);
    }

    /** With the bounds of its class, where they hold of what is free now. */
    Optional<NeedClass> bounds(Need need) {
        return scheduler.isPruned() ? Optional.of(of(need)).filter(c -> c.bounded) : Optional.empty();
    }

    /** @param isShort for want of anything free; otherwise @param tooFew nodes had room beside what is planned */
    void failed(Need need, boolean isShort, boolean tooFew) {
        if (scheduler.isPruned() && !isLayered(need)) {
            NeedClass c = of(need);
            set(c, FAILED);
            if (isShort || tooFew) {
                failed(c, isShort && isRemembered(c));
            }
        }
    }

    /** What it asks for depends on the nodes that it gets: nothing that is said here of classes holds of it. */
    private boolean isLayered(Need need) {
        return layered && !need.licences().items().isEmpty();
    }

    private void failed(NeedClass c, boolean anyTime) {
        set(c, FAILED);
        if (!c.simple) {
            return;
        }
        while (failed.size() <= c.where()) {
            failed.add(new ArrayList<>());
        }
        List<Failed> those = failed.get(c.where());
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

    /** Whether the partition can never hold it: the same for all of a class until nodes change. */
    boolean exceeds(Need need, JobDesc desc, Partition partition) {
        if (!scheduler.isPruned()) {
            return Feasibility.exceeds(state, desc, partition);
        }
        NeedClass c = of(need);
        if (!c.isJudged(classes.version())) {
            c.judged(classes.version(), (isLayered(need) || !scheduler.fitsEmpty(c)) && Feasibility.exceeds(state, desc, partition));
        }
        if (c.exceeds() && !isLayered(need)) {
            set(c, EXCEEDS);
        }
        return c.exceeds();
    }

    private boolean isJudged(NeedClass c) {
        if (!c.isJudged(classes.version()) && scheduler.fitsEmpty(c)) {
            c.judged(classes.version(), false);
        }
        return c.isJudged(classes.version());
    }

    void lacksLicences(Need need) {
        if (scheduler.isPruned()) {
            set(of(need), LACKS_LICENCES);
        }
    }

    void blocked(Need need) {
        if (need.reservation().isEmpty()) {
            int p = classes.partition(need.partition());
            if (p >= blocked.length) {
                blocked = java.util.Arrays.copyOf(blocked, p + 8);
            }
            blocked[p] = true;
        }
    }
}
