package dev.muster.scheduler.claim;

import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.UnreservedCapacity;
import dev.muster.scheduler.request.ReservationScope;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.List;
import java.util.Optional;

/**
 * The free CPUs and memory of a node that planned jobs and reservations leave to a class that names no reservation. It
 * is an upper bound.
 */
public final class RemainingCapacity implements UnreservedCapacity {
    private final List<NodeSlot> nodes;
    private final Optional<ReservationsInForce> reservationsInForce;
    private final PassReservations reserved;
    private final long nowS;

    public RemainingCapacity(
            List<NodeSlot> nodes,
            PassReservations reserved,
            Optional<ReservationsInForce> reservationsInForce,
            long nowS) {
        this.nodes = nodes;
        this.reserved = reserved;
        this.reservationsInForce = reservationsInForce;
        this.nowS = nowS;
    }

    /** Tests that no planned job and no reservation holds anything. */
    public boolean isEmpty() {
        return reservationsInForce.isEmpty() && reserved.isEmpty();
    }

    /** Tests whether reservations withhold no node. */
    public boolean isUnreserved() {
        return reserved.isEmpty();
    }

    @Override
    public int cpusWhoeverGoes(NeedClass c, int node, int maxCpus) {
        if (!reserved.has(node) || !c.heedsReservations()) {
            return maxCpus;
        }
        NodeSlot slot = nodes.get(node);
        int open = reserved.unitsUntil(slot, until(c));
        if (open == slot.spec.units()) {
            return maxCpus;
        }
        if (c.exclusive) {
            return -1;
        }
        return Math.min(maxCpus, open * slot.spec.cpusPerUnit());
    }

    private long until(NeedClass c) {
        return c.need.end(nowS);
    }

    @Override
    public boolean isWhole(NeedClass c, int node) {
        return isWhole(nodes.get(node), until(c));
    }

    private boolean isWhole(NodeSlot slot, long until) {
        return (!reserved.has(slot.index) || !reserved.touches(ReservationScope.NONE, slot, nowS, until))
                && (reservationsInForce.isEmpty() || !reservationsInForce.get().comesBefore(slot, until));
    }

    @Override
    public int cpus(NeedClass c, int node, int free) {
        return cpus(nodes.get(node), until(c), free);
    }

    private int cpus(NodeSlot slot, long until, int free) {
        int open = reserved.has(slot.index)
                ? Math.min(free, reserved.freeUntil(slot, until) * slot.spec.cpusPerUnit())
                : free;
        return reservationsInForce.isEmpty() || !reservationsInForce.get().touches(slot)
                ? open
                : Math.min(open, reservationsInForce.get().unitsUntil(slot, until) * slot.spec.cpusPerUnit());
    }

    @Override
    public long memoryMb(NeedClass c, int node, long free) {
        return memoryMb(nodes.get(node), until(c), free);
    }

    private long memoryMb(NodeSlot slot, long until, long free) {
        return reservationsInForce.isEmpty() || !reservationsInForce.get().touches(slot)
                ? free
                : Math.min(free, reservationsInForce.get().memoryUntil(slot, until));
    }

    /** Returns a number that rises when a backfill reservation takes effect and when preemption tries a victim. */
    public int version() {
        return reservationsInForce.map(ReservationsInForce::version).orElse(0);
    }

    /**
     * @param freeCpus free CPUs of the node now
     * @param freeMb free memory of the node now, in MiB
     */
    public NodeRemainder left(int node, int freeCpus, long freeMb) {
        return new NodeRemainder(nodes.get(node), freeCpus, freeMb);
    }

    /**
     * Capacity of one node that reservations and earlier jobs leave, by time limit. It is kept until the node changes,
     * because thousands of classes ask one after the other.
     */
    public final class NodeRemainder {
        private static final int KNOWN = 64;
        private static final byte PART = 1;
        private static final byte WHOLE = 2;
        private final NodeSlot slot;
        private final int freeCpus;
        private final long freeMb;
        private final int[] limits = new int[KNOWN];
        private final int[] cpus = new int[KNOWN];
        private final long[] mb = new long[KNOWN];
        private final byte[] extents = new byte[KNOWN];

        private NodeRemainder(NodeSlot slot, int freeCpus, long freeMb) {
            this.slot = slot;
            this.freeCpus = freeCpus;
            this.freeMb = freeMb;
        }

        /** Returns whether the node has that much for a job with this limit in minutes, -1 for none. */
        public boolean has(int limitMin, int leastCpus, long leastMb, boolean whole) {
            int bucket = limitMin * 0x9E3779B9 >>> 26;
            if (extents[bucket] == 0 || limits[bucket] != limitMin) {
                long until = ResourceNeed.end(nowS, limitMin);
                limits[bucket] = limitMin;
                cpus[bucket] = RemainingCapacity.this.cpus(slot, until, freeCpus);
                mb[bucket] = memoryMb(slot, until, freeMb);
                extents[bucket] = isWhole(slot, until) ? WHOLE : PART;
            }
            return cpus[bucket] >= leastCpus && mb[bucket] >= leastMb && (!whole || extents[bucket] == WHOLE);
        }
    }
}
