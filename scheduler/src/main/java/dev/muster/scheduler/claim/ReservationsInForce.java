package dev.muster.scheduler.claim;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.SuspendedJobs;
import dev.muster.scheduler.timeline.RemainingTime;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * The reservations of the last plan as they take effect in one pass. A reservation holds from its job's turn on, if the
 * job does not start then. So a job that comes earlier in the queue may take it, and a later job may have its nodes
 * only until the reserved job begins.
 */
public final class ReservationsInForce {
    private final ClusterIndex cluster;
    private final IntPredicate isQueued;
    private final State state;
    private final DecisionTime now;
    private final PlannedReservations claims;
    /** Ranks of the jobs whose turn has come, as {@link PlannedReservations#rank}. */
    private final BitSet turnsReached = new BitSet();
    /** Number that goes up with each job whose turn comes. */
    private int version;

    private int lifts;
    private final Map<Integer, UpperBound> bounds = new HashMap<>();
    /**
     * Nodes of which it is known whether something of them is kept, as of {@link #checkedAt}; below it, the nodes of
     * which something is.
     */
    private final BitSet checkedNodes = new BitSet();

    private final BitSet touched = new BitSet();
    private int checkedAt;

    /**
     * The least that is left of a node up to the begin of one of its reservations; valid as long as nothing else
     * changes.
     */
    private static final class UpperBound {
        private final int version;
        private final int units;
        private final long memoryMb;
        private final long[] beginsS;
        private final long[] leastCpus;
        private final long[] leastMb;

        private UpperBound(int version, NodeSlot node, long[] beginsS) {
            this.version = version;
            this.units = node.freeUnits.count();
            this.memoryMb = node.freeMemoryMb;
            this.beginsS = beginsS;
            this.leastCpus = new long[beginsS.length];
            this.leastMb = new long[beginsS.length];
        }

        private boolean holds(int now, NodeSlot node) {
            return version == now && units == node.freeUnits.count() && memoryMb == node.freeMemoryMb;
        }

        private long until(long until, boolean cpus) {
            long least = Long.MAX_VALUE;
            for (int i = 0; i < beginsS.length && beginsS[i] < until; i++) {
                least = Math.min(least, cpus ? leastCpus[i] : leastMb[i]);
            }
            return Math.max(0, least);
        }
    }

    private UpperBound bound(NodeSlot node) {
        UpperBound known = bounds.get(node.index);
        if (known != null && known.holds(version, node)) {
            return known;
        }
        List<PlannedPlace> here = here(node.index);
        UpperBound out = new UpperBound(
                version,
                node,
                here.stream()
                        .mapToLong(c -> Math.max(c.from(), now.seconds()))
                        .sorted()
                        .distinct()
                        .toArray());
        for (int i = 0; i < out.beginsS.length; i++) {
            out.leastCpus[i] = left(node, here, out.beginsS[i], true);
            out.leastMb[i] = left(node, here, out.beginsS[i], false);
        }
        bounds.put(node.index, out);
        return out;
    }
    /**
     * Resources that come free on nodes that were looked at: when, as seconds since 1970, CPUs, mebibytes, and the
     * number of the job that has them.
     */
    private final Map<Integer, List<long[]>> ends = new HashMap<>();
    /** Running jobs that are off their nodes for a moment: what they have is free already. */
    private final Set<Integer> lifted = new HashSet<>();

    public ReservationsInForce(
            ClusterIndex cluster, IntPredicate isQueued, State state, DecisionTime now, PlannedReservations claims) {
        this.cluster = cluster;
        this.isQueued = isQueued;
        this.state = state;
        this.now = now;
        this.claims = claims;
    }

    public boolean has(int jobId) {
        return claims.has(jobId);
    }

    /**
     * Returns a number that goes up with each job whose turn comes, and with each victim that leaves its nodes for a
     * trial or comes back.
     */
    int version() {
        return version + lifts;
    }

    /** Keeps the places of a job that does not start now. */
    public void keep(int jobId) {
        int rank = claims.rank(jobId);
        if (rank >= 0) {
            turnsReached.set(rank);
            version++;
        }
    }

    /** Notes that the job's nodes with room have more of it again for others. */
    public void leave(int jobId) {
        FreeTable free = cluster.free();
        for (PlannedPlace c : claims.of(jobId)) {
            if (free.hasRoom(c.node())) {
                free.markGrown(c.node());
            }
        }
    }

    public boolean areOver() {
        return claims.firstEnd() <= now.seconds();
    }

    public void lifted(int jobId, boolean off) {
        lifts++;
        if (off) {
            lifted.add(jobId);
        } else {
            lifted.remove(jobId);
        }
    }

    /** Tests whether a job with an earlier turn has a reservation on the node: looked up once between two turns. */
    public boolean touches(NodeSlot node) {
        if (checkedAt != version) {
            checkedAt = version;
            checkedNodes.clear();
        }
        if (!checkedNodes.get(node.index)) {
            checkedNodes.set(node.index);
            touched.set(node.index, isTouched(node));
        }
        return touched.get(node.index);
    }

    private boolean isTouched(NodeSlot node) {
        for (int claim = claims.first(node.index); claim >= 0; claim = claims.next(claim)) {
            if (turnsReached.get(claims.rankAt(claim))) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a job with an earlier turn has a reservation there that begins before that second since 1970. */
    public boolean comesBefore(NodeSlot node, long until) {
        for (PlannedPlace c : here(node.index)) {
            if (c.from() < until) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the units of the node that a job may have until then, in seconds since 1970, without delaying a
     * reservation.
     */
    public int unitsUntil(NodeSlot node, long until) {
        return (int) Math.min(node.freeUnits.count(), least(node, until, true) / Math.max(1, node.spec.cpusPerUnit()));
    }

    /** Returns the memory in MiB that a job may have until then, without delaying a reservation. */
    public long memoryUntil(NodeSlot node, long until) {
        return Math.min(node.freeMemoryMb, least(node, until, false));
    }

    /** Returns the least that is left at the begin of any reservation. */
    private long least(NodeSlot node, long until, boolean cpus) {
        if (!lifted.isEmpty()) {
            bounds.remove(node.index);
        }
        long least = bound(node).until(until, cpus);
        if (!lifted.isEmpty()) {
            bounds.remove(node.index);
        }
        return least;
    }

    /** Returns the CPUs, or the memory in MiB, that running jobs and other reservations leave at that time. */
    private long left(NodeSlot node, List<PlannedPlace> here, long atS, boolean cpus) {
        long left = cpus ? (long) node.freeUnits.count() * node.spec.cpusPerUnit() : node.freeMemoryMb;
        int column = cpus ? 1 : 2;
        for (long[] e : ends.computeIfAbsent(node.index, n -> ends(node))) {
            left += e[0] <= atS && !lifted.contains((int) e[3]) ? e[column] : 0;
        }
        for (PlannedPlace other : here) {
            if (other.from() <= atS && other.to() > atS) {
                left -= cpus ? other.cpus() : other.memoryMb();
            }
        }
        return left;
    }

    private List<long[]> ends(NodeSlot node) {
        List<long[]> out = new ArrayList<>();
        for (int id : state.nodes().at(node.spec.name()).jobs()) {
            Job job = state.jobs().at(id);
            for (Allocation.Share s : job.run().allocation().held()) {
                if (s.node().equals(node.spec.name()) && !s.released() && !SuspendedJobs.gaveItsCores(state, job)) {
                    long leftS = RemainingTime.seconds(state, job, now.tickMs());
                    out.add(new long[] {now.seconds() + leftS, s.chargedCpus(), s.memoryMb(), id});
                }
            }
        }
        return out;
    }

    /** Returns the reservations on the node of jobs with earlier turns. */
    private List<PlannedPlace> here(int node) {
        List<PlannedPlace> out = new ArrayList<>();
        for (int claim = claims.first(node); claim >= 0; claim = claims.next(claim)) {
            if (turnsReached.get(claims.rankAt(claim))) {
                out.add(claims.at(claim));
            }
        }
        return out;
    }

    /**
     * Returns the claims of a new plan that can still be kept, in its order; for a job that loses its place the one
     * that it had, if that can. Where nothing has changed since the plan was noted down they can be.
     *
     * @param since as {@link FreeTable#changes} was then; before the beginning: each is looked at
     */
    public PlannedReservations renewed(PlannedReservations wanted, long since) {
        PlannedReservations out = wanted.copy();
        BitSet other = new BitSet();
        IntPredicate asPlanned = n -> !cluster.free().hasChanged(n, since) && !other.get(n);
        for (int rank = 0; rank < wanted.size(); rank++) {
            int job = wanted.jobAt(rank);
            boolean waits = isQueued.test(job);
            if (waits && fits(wanted.of(job), out, rank, asPlanned)) {
                continue;
            }
            List<PlannedPlace> kept = waits ? claims.of(job) : List.of();
            kept = fits(kept, out, rank, n -> false) ? kept : List.of();
            out.replace(rank, kept);
            kept.forEach(c -> other.set(c.node()));
        }
        return out;
    }

    /**
     * @param keptClaims what is kept for those before that number
     * @param asPlanned nodes of which that is known
     */
    private boolean fits(List<PlannedPlace> those, PlannedReservations keptClaims, int rank, IntPredicate asPlanned) {
        for (PlannedPlace c : those) {
            NodeSlot node = cluster.nodes().get(c.node());
            if (!asPlanned.test(c.node()) && !(node.usable && isEnough(node, c, keptClaims.on(c.node(), rank)))) {
                return false;
            }
        }
        return true;
    }

    /** Tests that no time comes at which there is less than nothing, with this claim among the others. */
    private boolean isEnough(NodeSlot node, PlannedPlace c, List<PlannedPlace> claimsBefore) {
        List<PlannedPlace> here = new ArrayList<>(claimsBefore);
        here.add(c);
        for (PlannedPlace other : here) {
            long overlapS = Math.max(other.from(), c.from());
            if (overlapS >= Math.min(other.to(), c.to())) {
                continue;
            }
            long cpus = (long) node.freeUnits.count() * node.spec.cpusPerUnit();
            long memory = node.freeMemoryMb;
            for (long[] e : ends.computeIfAbsent(node.index, n -> ends(node))) {
                cpus += e[0] <= overlapS ? e[1] : 0;
                memory += e[0] <= overlapS ? e[2] : 0;
            }
            for (PlannedPlace o : here) {
                boolean then = o.from() <= overlapS && o.to() > overlapS;
                cpus -= then ? o.cpus() : 0;
                memory -= then ? o.memoryMb() : 0;
            }
            if (cpus < 0 || memory < 0) {
                return false;
            }
        }
        return true;
    }
}
