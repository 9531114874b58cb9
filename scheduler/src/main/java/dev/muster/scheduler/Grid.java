package dev.muster.scheduler;

import java.util.List;

/**
 * What will be free when: free units and memory per node on a telescoping time grid (fine near now, coarse later). Ends of
 * running jobs are rounded up, so a plan never promises what is not there.
 */
final class Grid {
    /** Slot starts, seconds from now. */
    static final int[] STARTS = starts();

    final int[][] units;
    final long[][] memoryMb;
    final boolean[][] busy;

    private static int[] starts() {
        int[][] steps = {{60, 600}, {300, 3600}, {900, 6 * 3600}, {3600, 86400}, {7200, 3 * 86400}, {4 * 3600, 7 * 86400}};
        java.util.ArrayList<Integer> out = new java.util.ArrayList<>();
        int at = 0;
        for (int[] step : steps) {
            while (at < step[1]) {
                out.add(at);
                at += step[0];
            }
        }
        return out.stream().mapToInt(i -> i).toArray();
    }

    /** Everything as free as it is now in every slot; {@link #free} adds what ends later. */
    Grid(List<NodeSlot> nodes) {
        int n = nodes.size();
        units = new int[STARTS.length][n];
        memoryMb = new long[STARTS.length][n];
        busy = new boolean[STARTS.length][n];
        for (int slot = 0; slot < STARTS.length; slot++) {
            for (int i = 0; i < n; i++) {
                units[slot][i] = nodes.get(i).freeUnits.count();
                memoryMb[slot][i] = nodes.get(i).freeMemoryMb;
                busy[slot][i] = !nodes.get(i).isIdle();
            }
        }
    }

    /** The first slot that begins at or after so many seconds from now; the number of slots if there is none. */
    static int slotAt(long seconds) {
        int lo = 0;
        int hi = STARTS.length;
        while (lo < hi) {
            int mid = (lo + hi) >>> 1;
            if (STARTS[mid] >= seconds) {
                hi = mid;
            } else {
                lo = mid + 1;
            }
        }
        return lo;
    }

    /** One past the last slot that a job starting in a slot with this limit touches. */
    static int endSlot(int slot, int limitMin) {
        return limitMin < 0 ? STARTS.length : Math.max(slot + 1, slotAt(STARTS[slot] + limitMin * 60L));
    }

    /** A running job gives this back after so many seconds. */
    void free(int node, long afterSeconds, int unitCount, long memory) {
        for (int slot = slotAt(Math.max(0, afterSeconds)); slot < STARTS.length; slot++) {
            units[slot][node] += unitCount;
            memoryMb[slot][node] += memory;
        }
    }

    /** Nothing runs on the node from the given second on. */
    void idle(int node, long fromSeconds) {
        for (int slot = slotAt(Math.max(0, fromSeconds)); slot < STARTS.length; slot++) {
            busy[slot][node] = false;
        }
    }

    void take(int node, int fromSlot, int toSlot, int unitCount, long memory) {
        for (int slot = fromSlot; slot < toSlot; slot++) {
            units[slot][node] -= unitCount;
            memoryMb[slot][node] -= memory;
            busy[slot][node] = true;
        }
    }

    int unitsIn(int node, int fromSlot, int toSlot) {
        int least = Integer.MAX_VALUE;
        for (int slot = fromSlot; slot < toSlot; slot++) {
            least = Math.min(least, units[slot][node]);
        }
        return least;
    }

    long memoryIn(int node, int fromSlot, int toSlot) {
        long least = Long.MAX_VALUE;
        for (int slot = fromSlot; slot < toSlot; slot++) {
            least = Math.min(least, memoryMb[slot][node]);
        }
        return least;
    }

    boolean idleIn(int node, int fromSlot, int toSlot) {
        for (int slot = fromSlot; slot < toSlot; slot++) {
            if (busy[slot][node]) {
                return false;
            }
        }
        return true;
    }
}
