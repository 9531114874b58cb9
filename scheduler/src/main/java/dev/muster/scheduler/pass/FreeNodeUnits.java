package dev.muster.scheduler.pass;

import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.claim.ReservationsInForce;
import dev.muster.scheduler.node.GpuPlaces;
import dev.muster.scheduler.node.NodeSelector;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.timeline.CapacityTimeline;
import dev.muster.scheduler.timeline.RunningJobTimeline;
import java.util.Optional;

/**
 * Room of one node for a need now: its free units that reservations leave to the need and that no planned job needs
 * before its end. Flags around a call widen one question only. Called by {@link Placement} for each candidate node.
 */
final class FreeNodeUnits {
    private final long nowS;
    private final boolean memoryConsumed;
    private final PassReservations reserved;
    private final RunningJobTimeline runningJobs;
    private final Optional<ReservationsInForce> reservationsInForce;
    /** Whether preempted jobs are off their nodes to see what fits then. */
    private boolean blind;
    /** Whether the place is looked for as if nothing were planned. */
    private boolean unplanned;
    /** Whether units count that other jobs of the partition share. */
    private boolean sharing;

    FreeNodeUnits(
            long nowS,
            boolean memoryConsumed,
            PassReservations reserved,
            RunningJobTimeline runningJobs,
            Optional<ReservationsInForce> reservationsInForce) {
        this.nowS = nowS;
        this.memoryConsumed = memoryConsumed;
        this.reserved = reserved;
        this.runningJobs = runningJobs;
        this.reservationsInForce = reservationsInForce;
    }

    boolean isBlind() {
        return blind;
    }

    void setBlind(boolean on) {
        blind = on;
    }

    void setUnplanned(boolean on) {
        unplanned = on;
    }

    boolean isSharing() {
        return sharing;
    }

    void setSharing(boolean on) {
        sharing = on;
    }

    /** Returns the units that are free, or shared where that is looked for, and that reservations leave to the need. */
    IndexSet freeNow(ResourceNeed need, NodeSlot node) {
        IndexSet free =
                sharing ? node.freeUnits.union(node.shareable(need.partition(), need.sharing())) : node.freeUnits;
        free = GpuPlaces.open(need, node, free);
        free = need.shape().socketCpusMax() < 0
                ? free
                : node.withinSockets(free, need.partition(), need.shape().socketCpusMax());
        free = reserved.isEmpty() ? free : free.intersect(reserved.allowed(need.within(), node, nowS, need.end(nowS)));
        return need.shape().whole() ? node.wholeSockets(free) : free;
    }

    /**
     * Tests whether reservations of this pass count; a preemptor may have its victims' units, but none reserved for
     * earlier jobs.
     */
    private boolean isPlanned(NodeSlot node) {
        return !runningJobs.isEmpty() && !(blind && (unplanned || node.isShared()));
    }

    /** Returns the number of tasks of the need for which the node has room now. */
    int tasksNow(ResourceNeed need, NodeSlot node) {
        if (!node.accepts(need.apart())) {
            return 0;
        }
        IndexSet free = freeNow(need, node);
        int units = free.count();
        long memory = node.freeMemoryMb;
        boolean idle = node.isIdle() && !(need.exclusive() && isPartlyBarred(need, node));
        if (isPlanned(node)) {
            CapacityTimeline grid = runningJobs.grid();
            int end = grid.times.endSlot(0, need.limitMin());
            // shared units are in no plan
            int shared = sharing ? units - node.freeUnits.intersect(free).count() : 0;
            units = Math.min(units, shared + Math.max(0, grid.unitsIn(node.index, 0, end)));
            memory = Math.min(memory, grid.memoryIn(node.index, 0, end));
            idle &= blind ? !grid.isKeptIn(node.index, 0, end) : grid.idleIn(node.index, 0, end);
        }
        if (reservationsInForce.isPresent()
                && !unplanned
                && reservationsInForce.get().touches(node)) {
            long until = need.end(nowS);
            int shared = sharing ? units - node.freeUnits.intersect(free).count() : 0;
            units = Math.min(units, shared + reservationsInForce.get().unitsUntil(node, until));
            memory = Math.min(memory, reservationsInForce.get().memoryUntil(node, until));
            idle &= !(need.exclusive() && reservationsInForce.get().comesBefore(node, until));
        }
        int tasks = NodeSelector.tasksFitting(need, node, units, memory, idle, memoryConsumed);
        return tasks == 0
                ? 0
                : GpuPlaces.tasks(need, node, free, Math.min(tasks, NodeSelector.tasksByGres(need, node)));
    }

    /** Returns whether a reservation takes part of the node, so that an exclusive job cannot have it whole. */
    private boolean isPartlyBarred(ResourceNeed need, NodeSlot node) {
        return reserved.touches(need.within(), node, nowS, need.end(nowS));
    }

    /**
     * Returns whether a reservation of the whole node, or the job's need of a whole node, blocks the node until the
     * reservation ends.
     */
    boolean isBarred(ResourceNeed need, NodeSlot node) {
        return need.exclusive()
                ? isPartlyBarred(need, node)
                : reserved.isWholeFor(need.within(), node, nowS, need.end(nowS));
    }
}
