package dev.muster.scheduler;

import java.util.List;
import java.util.Optional;

/**
 * What others leave of a node's free CPUs and memory to a class that names no reservation: those whose places are kept,
 * and reservations. No less than there is.
 */
final class Beside {
    private final List<NodeSlot> nodes;
    private final Optional<Standing> standing;
    private final Reserved reserved;
    private final long nowS;

    Beside(List<NodeSlot> nodes, Reserved reserved, Optional<Standing> standing, long nowS) {
        this.nodes = nodes;
        this.reserved = reserved;
        this.standing = standing;
        this.nowS = nowS;
    }

    /** Nobody has anything kept. */
    boolean isEmpty() {
        return standing.isEmpty() && reserved.isEmpty();
    }

    /** Reservations leave all nodes to everybody. */
    boolean isUnreserved() {
        return reserved.isEmpty();
    }

    /** What reservations leave of so many CPUs of the node, whoever runs on it now; -1 if the class must have it whole and may not. */
    int cpusWhoeverGoes(NeedClass c, int node, int most) {
        if (!reserved.has(node) || !c.heedsReservations()) {
            return most;
        }
        NodeSlot slot = nodes.get(node);
        int open = reserved.unitsUntil(slot, until(c));
        return open == slot.spec.units() ? most : c.exclusive ? -1 : Math.min(most, open * slot.spec.cpusPerUnit());
    }

    private long until(NeedClass c) {
        return c.need.limitMin() < 0 ? Long.MAX_VALUE : nowS + c.need.limitMin() * 60L;
    }

    boolean isWhole(NeedClass c, int node) {
        NodeSlot slot = nodes.get(node);
        return (!reserved.has(node) || !reserved.touches("", slot, nowS, until(c)))
                && (standing.isEmpty() || !standing.get().comesBefore(slot, until(c)));
    }

    int cpus(NeedClass c, int node, int free) {
        NodeSlot slot = nodes.get(node);
        int open = reserved.has(node) ? Math.min(free, reserved.freeUntil(slot, until(c)) * slot.spec.cpusPerUnit()) : free;
        return standing.isEmpty() || !standing.get().touches(slot) ? open
                : Math.min(open, standing.get().unitsUntil(slot, until(c)) * slot.spec.cpusPerUnit());
    }

    long memoryMb(NeedClass c, int node, long free) {
        NodeSlot slot = nodes.get(node);
        return standing.isEmpty() || !standing.get().touches(slot) ? free : Math.min(free, standing.get().memoryUntil(slot, until(c)));
    }
}
