package dev.muster.scheduler;

import java.util.Arrays;
import java.util.List;

/**
 * What is free on each node now, side by side in arrays and sets of bits, so that a need can be turned down without a look at any
 * {@link NodeSlot}; and which nodes have become freer, one after the other, so that who was turned down is asked again only after that. Nodes
 * have the numbers of their slots. Owned by the core thread.
 */
final class FreeTable {
    /** Of so many nodes that became freer it is remembered which. */
    private static final int LOG_MAX = 1 << 12;

    final int[] cpus;
    final long[] memoryMb;
    final int[] gpus;
    private final long[] ready;
    private final long[] idle;
    private final long[] room;
    private final int[] log = new int[LOG_MAX];
    private long freed;
    /** Jobs are only looked past for a moment: what is free now was not made free. */
    boolean quiet;

    FreeTable(int nodes) {
        cpus = new int[nodes];
        memoryMb = new long[nodes];
        gpus = new int[nodes];
        ready = new long[words(nodes)];
        idle = new long[words(nodes)];
        room = new long[words(nodes)];
    }

    static int words(int nodes) {
        return (nodes + 63) >>> 6;
    }

    /** How often a node has become freer so far. */
    long freed() {
        return freed;
    }

    /** Whether it is known which nodes became freer since then. */
    boolean remembers(long since) {
        return freed - since <= LOG_MAX;
    }

    /** The node that became freer for the so-manieth time. */
    int freedAt(long time) {
        return log[(int) (time & LOG_MAX - 1)];
    }

    /** Takes up what is free on a node. @param now it may be given work */
    void update(NodeSlot slot, boolean now) {
        int n = slot.index;
        int c = slot.freeUnits.count() * slot.spec.cpusPerUnit();
        int g = slot.freeGpus();
        boolean more = c > cpus[n] || slot.freeMemoryMb > memoryMb[n] || g > gpus[n] || now && !is(ready, n) || slot.isIdle() && !is(idle, n);
        cpus[n] = c;
        memoryMb[n] = slot.freeMemoryMb;
        gpus[n] = g;
        set(ready, n, now);
        set(idle, n, slot.isIdle());
        set(room, n, c > 0);
        if (more && !quiet) {
            freer(n);
        }
    }

    /** Something of it may be had that could not be had before. */
    void freer(int node) {
        log[(int) (freed & LOG_MAX - 1)] = node;
        freed++;
    }

    private static boolean is(long[] bits, int n) {
        return (bits[n >>> 6] & 1L << n) != 0;
    }

    private static void set(long[] bits, int n, boolean on) {
        if (on) {
            bits[n >>> 6] |= 1L << n;
        } else {
            bits[n >>> 6] &= ~(1L << n);
        }
    }

    /** The nodes as a set of bits. */
    static long[] mask(List<NodeSlot> nodes, int count) {
        long[] out = new long[words(count)];
        nodes.forEach(n -> set(out, n.index, true));
        return out;
    }

    /** Whether one task would fit on the node, as far as can be told from here. */
    boolean mayTake(NeedClass c, int n) {
        return is(c.mask(), n) && is(ready, n) && (c.exclusive ? is(idle, n) : is(room, n)) && cpus[n] >= c.cpusMin && memoryMb[n] >= c.memoryMin
                && gpus[n] >= c.gpus;
    }

    /** What is free now does not suffice for the need, wherever it lies and whatever is planned. That it may suffice says nothing. */
    boolean isShort(NeedClass c) {
        long[] mask = c.mask();
        long[] of = c.exclusive ? idle : room;
        int nodes = 0;
        long tasks = 0;
        for (int w = 0; w < mask.length; w++) {
            for (long bits = mask[w] & ready[w] & of[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                if (cpus[n] < c.cpusMin || memoryMb[n] < c.memoryMin || gpus[n] < c.gpus) {
                    continue;
                }
                nodes++;
                tasks += c.tasksOn(cpus[n], memoryMb[n]);
                if (nodes >= c.nodesMin && tasks >= c.tasks) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Everything as it is now, for a look from elsewhere. */
    FreeTable copy() {
        FreeTable out = new FreeTable(cpus.length);
        System.arraycopy(cpus, 0, out.cpus, 0, cpus.length);
        System.arraycopy(memoryMb, 0, out.memoryMb, 0, cpus.length);
        System.arraycopy(gpus, 0, out.gpus, 0, cpus.length);
        System.arraycopy(ready, 0, out.ready, 0, ready.length);
        System.arraycopy(idle, 0, out.idle, 0, idle.length);
        System.arraycopy(room, 0, out.room, 0, room.length);
        return out;
    }

    boolean isReady(int n) {
        return is(ready, n);
    }

    boolean isIdle(int n) {
        return is(idle, n);
    }

    @Override
    public String toString() {
        return Arrays.toString(cpus) + Arrays.toString(memoryMb) + Arrays.toString(gpus);
    }
}
