package dev.muster.scheduler.timeline;

import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.List;

/**
 * Capacity over time: free units and memory per node in each slot of {@link TimeGrid}. Ends of running jobs are rounded
 * up, so a plan never promises what is not there.
 */
public final class CapacityTimeline {
    public final TimeGrid times;
    final int[][] units;
    final long[][] memoryMb;
    final boolean[][] busy;
    /** Whether a job that does not run yet has resources of a node, by slot and node. */
    private final boolean[][] kept;

    /** Creates a timeline with everything as free as it is now in every slot; {@link #free} adds what ends later. */
    CapacityTimeline(List<NodeSlot> nodes, TimeGrid times) {
        this.times = times;
        int n = nodes.size();
        units = new int[times.count()][n];
        memoryMb = new long[times.count()][n];
        busy = new boolean[times.count()][n];
        kept = new boolean[times.count()][n];
        for (int i = 0; i < n; i++) {
            units[0][i] = nodes.get(i).freeUnits.count();
            memoryMb[0][i] = nodes.get(i).freeMemoryMb;
            busy[0][i] = !nodes.get(i).isIdle();
        }
        for (int slot = 1; slot < times.count(); slot++) {
            System.arraycopy(units[0], 0, units[slot], 0, n);
            System.arraycopy(memoryMb[0], 0, memoryMb[slot], 0, n);
            System.arraycopy(busy[0], 0, busy[slot], 0, n);
        }
    }

    /** Frees the resources that a running job releases after the given seconds. */
    void free(int node, long afterSeconds, int unitCount, long memory) {
        for (int slot = times.slotAt(Math.max(0, afterSeconds)); slot < times.count(); slot++) {
            units[slot][node] += unitCount;
            memoryMb[slot][node] += memory;
        }
    }

    /** Notes that nothing runs on the node from the given second on. */
    void idle(int node, long fromSeconds) {
        for (int slot = times.slotAt(Math.max(0, fromSeconds)); slot < times.count(); slot++) {
            busy[slot][node] = false;
        }
    }

    public void take(int node, int fromSlot, int toSlot, int unitCount, long memory) {
        for (int slot = fromSlot; slot < toSlot; slot++) {
            units[slot][node] -= unitCount;
            memoryMb[slot][node] -= memory;
            busy[slot][node] = true;
            kept[slot][node] = true;
        }
    }

    /** Adds resources, or takes them if negative, until the slot begins; for a trial. */
    void give(int node, int toSlot, int unitCount, long memory) {
        for (int slot = 0; slot < Math.min(toSlot, times.count()); slot++) {
            units[slot][node] += unitCount;
            memoryMb[slot][node] += memory;
        }
    }

    public boolean isKeptIn(int node, int fromSlot, int toSlot) {
        for (int slot = fromSlot; slot < toSlot; slot++) {
            if (kept[slot][node]) {
                return true;
            }
        }
        return false;
    }

    /**
     * Tests whether enough is free at the beginning of a slot for the need to fit there at all: idle nodes for one that
     * must have them whole, else CPUs. To be passed over quickly; that it is true says nothing.
     */
    public boolean mayFit(ResourceNeed need, List<NodeSlot> order, int[] index, int slot) {
        long cpus = 0;
        int found = 0;
        boolean any = need.exclusive() || need.shape().spared().any();
        for (int i = 0; i < index.length && (found < need.nodesMin() || !any && cpus < need.cpus()); i++) {
            if (!isFull(need, index[i], slot)) {
                found++;
                cpus += any
                        ? 0
                        : Math.max(0, units[slot][index[i]])
                                * (long) order.get(i).spec.cpusPerUnit();
            }
        }
        return found >= need.nodesMin() && (any || cpus >= need.cpus());
    }

    /** Tests whether nothing of the node is there for the need at the beginning of a slot. */
    public boolean isFull(ResourceNeed need, int node, int slot) {
        return need.exclusive()
                ? busy[slot][node]
                : units[slot][node] <= 0 && !need.shape().spared().any();
    }

    public int unitsIn(int node, int fromSlot, int toSlot) {
        int least = Integer.MAX_VALUE;
        for (int slot = fromSlot; slot < toSlot; slot++) {
            least = Math.min(least, units[slot][node]);
        }
        return least;
    }

    public long memoryIn(int node, int fromSlot, int toSlot) {
        long least = Long.MAX_VALUE;
        for (int slot = fromSlot; slot < toSlot; slot++) {
            least = Math.min(least, memoryMb[slot][node]);
        }
        return least;
    }

    public boolean idleIn(int node, int fromSlot, int toSlot) {
        for (int slot = fromSlot; slot < toSlot; slot++) {
            if (busy[slot][node]) {
                return false;
            }
        }
        return true;
    }
}
