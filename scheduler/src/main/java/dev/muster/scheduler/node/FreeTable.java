package dev.muster.scheduler.node;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The free resources of each node now, in arrays and bit sets, so that a need can be rejected without a look at any
 * {@link NodeSlot}. A log of the nodes that gained resources lets a pass test a blocked class again only after such a
 * gain. Nodes have the numbers of their slots. Owned by the core thread.
 */
public final class FreeTable {
    /** Entries in the log of nodes that gained resources. */
    private static final int LOG_MAX = 1 << 12;

    public final int[] cpus;
    public final long[] memoryMb;
    public final int[] gpus;
    private final long[] ready;
    private final long[] idle;
    private final long[] room;
    /** Nodes that would have to be started, and how many. */
    private final long[] asleep;

    private int sleepers;
    private final int[] log = new int[LOG_MAX];
    private long freed;
    /** The last answer of {@link #grownSince}, and of nodes whether they are in one that is being made. */
    private @Nullable GrownNodes grown;

    private long grownFrom;
    private long grownTo;
    private final long[] noted;
    /** Change after which each node was last other than before, counted in {@link #changes}. */
    private final long[] changedAt;

    private long changes;
    /** Jobs are only looked past for a moment: what is free now was not made free. */
    public boolean quiet;

    public FreeTable(int nodes) {
        cpus = new int[nodes];
        memoryMb = new long[nodes];
        gpus = new int[nodes];
        ready = new long[words(nodes)];
        idle = new long[words(nodes)];
        room = new long[words(nodes)];
        asleep = new long[words(nodes)];
        noted = new long[words(nodes)];
        changedAt = new long[nodes];
    }

    /** Returns how often something of a node was changed so far. */
    public long changes() {
        return changes;
    }

    /**
     * Tests whether a job started or ended on the node, or has another end, since the table had this number of changes.
     */
    public boolean hasChanged(int node, long since) {
        return changedAt[node] > since;
    }

    public void change(int node) {
        changedAt[node] = ++changes;
    }

    public static int words(int nodes) {
        return (nodes + 63) >>> 6;
    }

    /** Returns how often a node has become freer so far. */
    public long freed() {
        return freed;
    }

    /** Nodes that became freer, each once, and the most that one of them has. */
    public record GrownNodes(int[] nodes, int cpus, long memoryMb, int gpus) {
        /** Returns how many of the nodes may take a task of the need, as the table has them. */
        int mayServe(NeedClass c, FreeTable table) {
            if (c.cpusMin > cpus || c.memoryMin > memoryMb || c.gpus > gpus) {
                return 0;
            }
            int out = 0;
            for (int n : nodes) {
                out += table.mayTake(c, n) ? 1 : 0;
            }
            return out;
        }

        /** Returns the number of tasks of the need that fit on those of these nodes that may serve it. */
        long tasks(NeedClass c, FreeTable table) {
            long out = 0;
            for (int n : nodes) {
                out += table.mayTake(c, n) ? c.tasksOn(table.cpus[n], table.memoryMb[n]) : 0;
            }
            return out;
        }
    }

    /**
     * Returns the nodes that became freer since then; empty if they are not known any more. What has become less
     * meanwhile has less than it says.
     */
    public Optional<GrownNodes> grownSince(long since) {
        if (freed - since > LOG_MAX) {
            return Optional.empty();
        }
        if (grown == null || grownFrom != since || grownTo != freed) {
            grownFrom = since;
            grownTo = freed;
            int[] those = new int[(int) (freed - since)];
            int count = 0;
            int mostCpus = 0;
            long mostMemory = 0;
            int mostGpus = 0;
            for (long change = since; change < freed; change++) {
                int n = log[(int) (change & LOG_MAX - 1)];
                if (is(ready, n) && (is(room, n) || is(idle, n)) && !is(noted, n)) {
                    set(noted, n, true);
                    those[count++] = n;
                    mostCpus = Math.max(mostCpus, cpus[n]);
                    mostMemory = Math.max(mostMemory, memoryMb[n]);
                    mostGpus = Math.max(mostGpus, gpus[n]);
                }
            }
            for (int i = 0; i < count; i++) {
                set(noted, those[i], false);
            }
            grown = new GrownNodes(Arrays.copyOf(those, count), mostCpus, mostMemory, mostGpus);
        }
        return Optional.of(grown);
    }

    /**
     * Takes up what is free on a node.
     *
     * @param now it may be given work
     */
    public void update(NodeSlot slot, boolean now) {
        if (slot.asleep != is(asleep, slot.index)) {
            set(asleep, slot.index, slot.asleep);
            sleepers += slot.asleep ? 1 : -1;
        }
        update(
                slot.index,
                slot.freeUnits.count() * slot.spec.cpusPerUnit(),
                slot.freeMemoryMb,
                slot.freeGpus(),
                now,
                slot.isIdle());
    }

    public void update(int n, int c, long memory, int g, boolean now, boolean isIdle) {
        boolean more =
                c > cpus[n] || memory > memoryMb[n] || g > gpus[n] || now && !is(ready, n) || isIdle && !is(idle, n);
        cpus[n] = c;
        memoryMb[n] = memory;
        gpus[n] = g;
        set(ready, n, now);
        set(idle, n, isIdle);
        set(room, n, c > 0);
        if (!quiet) {
            change(n);
        }
        if (more && !quiet) {
            markGrown(n);
        }
    }

    /**
     * Splits these nodes into those that have power, and those that would have to be started.
     *
     * @param mask may be longer than there are nodes
     */
    public long[][] halves(long[] mask) {
        long[][] out = {mask.clone(), new long[mask.length]};
        for (int w = 0; w < Math.min(mask.length, asleep.length); w++) {
            out[0][w] &= ~asleep[w];
            out[1][w] = mask[w] & asleep[w];
        }
        return out;
    }

    public boolean areSomeAsleep() {
        return sleepers > 0;
    }

    /** Notes that something of a node may be had that could not be had before. */
    public void markGrown(int node) {
        log[(int) (freed & LOG_MAX - 1)] = node;
        freed++;
    }

    public static boolean is(long[] bits, int n) {
        return (bits[n >>> 6] & 1L << n) != 0;
    }

    private static void set(long[] bits, int n, boolean on) {
        if (on) {
            bits[n >>> 6] |= 1L << n;
        } else {
            bits[n >>> 6] &= ~(1L << n);
        }
    }

    /** Returns the nodes as a set of bits. */
    public static long[] mask(List<NodeSlot> nodes, int count) {
        long[] out = new long[words(count)];
        nodes.forEach(n -> set(out, n.index, true));
        return out;
    }

    /**
     * Returns the nodes on which one task would fit, as far as can be told from here, in the order of their numbers.
     */
    public List<NodeSlot> able(NeedClass c, List<NodeSlot> nodes) {
        List<NodeSlot> out = new ArrayList<>();
        long[] mask = c.mask();
        long[] of = c.exclusive ? idle : room;
        for (int w = 0; w < mask.length; w++) {
            for (long bits = mask[w] & ready[w] & of[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                if (mayTake(c, n)) {
                    out.add(nodes.get(n));
                }
            }
        }
        return out;
    }

    /** Returns those of these nodes on which something is free, in the order of their numbers. */
    public List<NodeSlot> withRoom(long[] mask, List<NodeSlot> nodes) {
        List<NodeSlot> out = new ArrayList<>();
        for (int w = 0; w < mask.length; w++) {
            for (long bits = mask[w] & room[w]; bits != 0; bits &= bits - 1) {
                out.add(nodes.get((w << 6) + Long.numberOfTrailingZeros(bits)));
            }
        }
        return out;
    }

    /** Tests whether one task would fit on the node, as far as can be told from here. */
    public boolean mayTake(NeedClass c, int n) {
        return isOpen(c.mask(), c.exclusive, n)
                && cpus[n] >= c.cpusMin
                && memoryMb[n] >= c.memoryMin
                && gpus[n] >= c.gpus;
    }

    /** Tests whether the node is one of these and may be given work, and something of it is free, or all. */
    public boolean isOpen(long[] mask, boolean whole, int n) {
        return is(mask, n) && is(ready, n) && (whole ? is(idle, n) : is(room, n));
    }

    /** Tests as {@link #mayTake(NeedClass, int)} does, on the capacity that earlier jobs leave. */
    public boolean mayTake(NeedClass c, int n, UnreservedCapacity unreserved) {
        return mayTake(c, n) && tasksBeside(c, n, unreserved) >= 0;
    }

    /** Returns the tasks that fit beside reserved capacity, on a node that {@link #mayTake} says yes to; or -1. */
    private long tasksBeside(NeedClass c, int n, UnreservedCapacity unreserved) {
        if (c.exclusive && !unreserved.isWhole(c, n)) {
            return -1;
        }
        int left = unreserved.cpus(c, n, cpus[n]);
        long leftMb = left < c.cpusMin ? 0 : unreserved.memoryMb(c, n, memoryMb[n]);
        return left >= c.cpusMin && leftMb >= c.memoryMin ? c.tasksOn(left, leftMb) : -1;
    }

    /** Tests whether something of the node is free. */
    public boolean hasRoom(int node) {
        return is(ready, node) && (is(room, node) || is(idle, node));
    }

    /**
     * Tests whether what is free now does not suffice for the need, wherever it lies and whatever is planned. That it
     * may suffice says nothing.
     *
     * @param memory where that is noted down
     */
    public boolean isShort(NeedClass c, NeedClass.Memory memory) {
        return isShort(c, memory, n -> c.tasksOn(cpus[n], memoryMb[n]));
    }

    /** Tests the same on the capacity that earlier jobs leave, and remembers no result. */
    public boolean isShort(NeedClass c, UnreservedCapacity unreserved) {
        return isShort(c, new NeedClass.Memory(), n -> tasksBeside(c, n, unreserved));
    }

    /** Tests the same on the capacity that reservations leave once victims are gone. */
    public boolean isShortOfUnreserved(NeedClass c, UnreservedCapacity unreserved, NeedClass.Memory memory) {
        return isShort(c, memory, n -> tasksWhoeverGoes(c, n, unreserved));
    }

    /** @param tasks that fit on a node that {@link #mayTake} says yes to, or -1 */
    private boolean isShort(NeedClass c, NeedClass.Memory memory, IntToLongFunction tasks) {
        int known = memory.witness;
        if (known >= 0 && mayTake(c, known) && c.isEnough(tasks.applyAsLong(known))) {
            return false;
        }
        long[] mask = c.mask();
        long[] of = c.exclusive ? idle : room;
        int nodes = 0;
        long sum = 0;
        for (int w = 0; w < mask.length; w++) {
            for (long bits = mask[w] & ready[w] & of[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                long here = cpus[n] < c.cpusMin || memoryMb[n] < c.memoryMin || gpus[n] < c.gpus
                        ? -1
                        : tasks.applyAsLong(n);
                if (here >= 0) {
                    nodes++;
                    sum += here;
                    if (nodes >= c.nodesMin && sum >= c.tasks) {
                        memory.witness = c.isEnough(here) ? n : -1;
                        return false;
                    }
                }
            }
        }
        memory.at(freed, nodes, sum);
        return true;
    }

    /** Returns the tasks that fit in what reservations leave, on a node that {@link #mayTake} says yes to; or -1. */
    private long tasksWhoeverGoes(NeedClass c, int n, UnreservedCapacity unreserved) {
        int open = unreserved.cpusWhoeverGoes(c, n, cpus[n]);
        return open >= c.cpusMin ? c.tasksOn(open, memoryMb[n]) : -1;
    }

    /** Tests as {@link #mayTake(NeedClass, int)}, in what reservations leave. */
    public boolean mayTakeWhoeverGoes(NeedClass c, int n, UnreservedCapacity unreserved) {
        return mayTake(c, n) && tasksWhoeverGoes(c, n, unreserved) >= 0;
    }

    /**
     * Returns how many of the jobs, in their order, must leave before the class may fit; -1 if it does not fit without
     * all of them either.
     *
     * @param slots nodes by name
     * @param unreserved capacity that reservations leave
     */
    public int enough(
            NeedClass c, Iterator<Job> those, Function<String, NodeSlot> slots, UnreservedCapacity unreserved) {
        long[] mask = c.mask();
        FitCount fits = countFits(c, unreserved);
        Map<Integer, FreePart> left = new HashMap<>();
        int departed = 0;
        for (; !fits.suffices(c) && those.hasNext(); departed++) {
            for (Allocation.Share s : those.next().run().allocation().held()) {
                NodeSlot slot = s.released() ? null : slots.apply(s.node());
                if (slot != null && is(mask, slot.index) && is(ready, slot.index)) {
                    int n = slot.index;
                    FreePart was = left.get(n);
                    FreePart before = was == null ? left(n, cpus[n], slot.holders, c, unreserved) : was;
                    fits.remove(was == null && !mayTake(c, n) ? -1 : before.tasks(c));
                    FreePart now = before.without(s, slot);
                    left.put(n, now);
                    fits.add(now.tasks(c));
                }
            }
        }
        return fits.suffices(c) ? departed : -1;
    }

    /** Nodes that a class fits on, and its tasks that fit on them together. */
    private static final class FitCount {
        private int nodes;
        private long tasks;

        /** @param tasksOnNode -1 where the class does not fit */
        void add(long tasksOnNode) {
            if (tasksOnNode >= 0) {
                nodes++;
                tasks += tasksOnNode;
            }
        }

        void remove(long tasksOnNode) {
            if (tasksOnNode >= 0) {
                nodes--;
                tasks -= tasksOnNode;
            }
        }

        boolean suffices(NeedClass c) {
            return nodes >= c.nodesMin && tasks >= c.tasks;
        }
    }

    private FitCount countFits(NeedClass c, UnreservedCapacity unreserved) {
        FitCount out = new FitCount();
        long[] mask = c.mask();
        long[] open = c.exclusive ? idle : room;
        for (int w = 0; w < mask.length; w++) {
            for (long bits = mask[w] & ready[w] & open[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                out.add(mayTake(c, n) ? left(n, cpus[n], 0, c, unreserved).tasks(c) : -1);
            }
        }
        return out;
    }

    private FreePart left(int n, int free, int holders, NeedClass c, UnreservedCapacity unreserved) {
        return new FreePart(free, memoryMb[n], gpus[n], holders, unreserved.cpusWhoeverGoes(c, n, Integer.MAX_VALUE));
    }

    /**
     * The free part of a node and the jobs still on it, after others have left.
     *
     * @param open CPUs that reservations leave, -1 where that must be all
     */
    private record FreePart(int free, long memoryMb, int gpus, int holders, int open) {
        FreePart without(Allocation.Share s, NodeSlot slot) {
            return new FreePart(
                    free + slot.units(s).count() * slot.spec.cpusPerUnit(),
                    memoryMb + s.memoryMb(),
                    gpus + (s.gres().containsKey("gpu") ? s.gres().get("gpu").count() : 0),
                    holders - 1,
                    open);
        }

        /** Returns as many tasks as fit; -1 if the node cannot serve the need. */
        long tasks(NeedClass c) {
            int cpus = Math.min(free, open);
            boolean may = (c.exclusive ? holders <= 0 : cpus > 0)
                    && cpus >= c.cpusMin
                    && memoryMb >= c.memoryMin
                    && gpus >= c.gpus;
            return may ? c.tasksOn(cpus, memoryMb) : -1;
        }
    }

    /** Returns a copy of everything as it is now, for a look from elsewhere. */
    public FreeTable copy() {
        FreeTable out = new FreeTable(cpus.length);
        System.arraycopy(cpus, 0, out.cpus, 0, cpus.length);
        System.arraycopy(memoryMb, 0, out.memoryMb, 0, cpus.length);
        System.arraycopy(gpus, 0, out.gpus, 0, cpus.length);
        System.arraycopy(ready, 0, out.ready, 0, ready.length);
        System.arraycopy(idle, 0, out.idle, 0, idle.length);
        System.arraycopy(room, 0, out.room, 0, room.length);
        System.arraycopy(asleep, 0, out.asleep, 0, asleep.length);
        out.sleepers = sleepers;
        out.changes = changes;
        return out;
    }

    public boolean isReady(int n) {
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
