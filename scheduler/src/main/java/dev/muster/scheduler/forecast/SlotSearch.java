package dev.muster.scheduler.forecast;

import dev.muster.scheduler.node.Candidate;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.SelectedNode;
import dev.muster.scheduler.timeline.DevicePlan;
import dev.muster.scheduler.timeline.PlanningNodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Finds nodes for one job in some slots of a {@link ForecastWindow}, on the capacity that {@link FutureCapacity} has
 * free in all of them. The next search overwrites the result. These are the innermost loops of a plan: they read raw
 * arrays.
 */
final class SlotSearch {
    private static final int[] NONE = {};

    private final Forecast.Input in;
    /** The first slot behind the seven days. */
    private final int near;

    private final PlanningNodes planningNodes;
    /** Free CPUs by slot and node, as in {@link FutureCapacity}; below them its other figures. */
    private final int[][] cpus;

    private final int[][] memoryMb;
    private final int[][] maxCpus;
    private final int[][] gpus;
    private final int[] fuller;
    private final int[] whole;
    private final DevicePlan devices;
    private final ConstraintCheck constraints;
    /** Nodes of a mask with power and those without, by mask. */
    private final IdentityHashMap<long[], long[][]> halves = new IdentityHashMap<>();

    private int[] found = new int[64];
    private int[] foundTasks = new int[64];
    /** Number of entries of {@link #found} that were taken last. */
    private int chosen;
    /** Tasks that the nodes found have room for. */
    private long sum;
    /** The first nodes that have room are as many as it may have, and have not all devices that it asks for. */
    private boolean othersMayDo;

    SlotSearch(Forecast.Input in, FutureCapacity ahead, int near) {
        this.in = in;
        this.near = near;
        this.planningNodes = ahead.planningNodes;
        this.cpus = ahead.cpus;
        this.memoryMb = ahead.memoryMb;
        this.maxCpus = ahead.maxCpus;
        this.gpus = ahead.gpus;
        this.fuller = ahead.fuller;
        this.whole = ahead.whole;
        this.devices = ahead.devices;
        this.constraints = ahead.constraints;
    }

    /** Returns the nodes found last, by {@link PlanningNodes}'s numbers; {@link #count} of them. */
    int[] found() {
        return found;
    }

    /** Returns how many tasks each node found has room for. */
    int[] tasks() {
        return foundTasks;
    }

    int count() {
        return chosen;
    }

    /**
     * Tests whether enough nodes have room in all these slots: they are then in {@link #found}.
     *
     * @param mask nodes that the job may run on
     */
    boolean fits(Forecast.Alternative job, long[] mask, int slot, int end) {
        NeedClass c = job.need();
        chosen = 0;
        sum = 0;
        int[] named = c.named ? constraints.named(c.need, job.within()) : NONE;
        for (int n : named) {
            if (!add(n, tasksOn(c, n, slot, end))) {
                return false;
            }
        }
        boolean together = constraints.isTogether(c, slot);
        if (c.named && (named.length == 0 || !together && isEnough(c, named.length, slot, end))) {
            return named.length > 0;
        }
        othersMayDo = false;
        boolean fits;
        if (together) {
            fits = together(c, mask, named, slot, end);
        } else if (!in.free().areSomeAsleep()) {
            fits = singly(c, mask, named, slot, end);
        } else {
            fits = awakeFirst(c, mask, named, slot, end);
        }

        return fits || othersMayDo && constraints.mayLook() && together(c, mask, named, slot, end);
    }

    private boolean singly(NeedClass c, long[] mask, int[] named, int slot, int end) {
        return isForOne(c, named) && onOneNode(c, mask, slot, end) || oneByOne(c, mask, named, slot, end);
    }

    /**
     * Takes nodes that have power first, as in a pass: others would be started for the job although there is no need.
     */
    private boolean awakeFirst(NeedClass c, long[] mask, int[] named, int slot, int end) {
        long[][] half = halves.computeIfAbsent(mask, in.free()::halves);
        return isForOne(c, named) && (onOneNode(c, half[0], slot, end) || onOneNode(c, half[1], slot, end))
                || oneByOne(c, half[0], named, slot, end)
                || oneByOne(c, half[1], named, slot, end);
    }

    private static boolean isForOne(NeedClass c, int[] named) {
        return named.length == 0 && !c.single && c.need.nodesWanted() == 1;
    }

    /** Looks for one node with room for all tasks of a job that may have several. */
    private boolean onOneNode(NeedClass c, long[] mask, int slot, int end) {
        long wanted = Math.max(c.cpusMin, (long) c.tasks * c.cpusPerTask);
        for (int w = 0; w < mask.length; w++) {
            for (long bits = maxCpus[slot][w] < wanted ? 0 : mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                long tasks = cpus[slot][n] < wanted ? 0 : tasksOn(c, n, slot, end);
                if (tasks >= Math.max(1, c.tasks) && add(n, tasks) && isEnough(c, 0, slot, end)) {
                    return true;
                }
                sum = 0;
                chosen = 0;
            }
        }
        return false;
    }

    private boolean add(int n, long tasks) {
        if (tasks <= 0) {
            return false;
        }
        if (chosen == found.length) {
            found = Arrays.copyOf(found, 2 * chosen);
            foundTasks = Arrays.copyOf(foundTasks, 2 * chosen);
        }
        found[chosen] = n;
        foundTasks[chosen++] = (int) Math.min(Integer.MAX_VALUE, tasks);
        sum += tasks;
        return true;
    }

    private boolean isEnough(NeedClass c, int required, int slot, int end) {
        return chosen >= Math.max(c.nodesMin, required)
                && sum >= c.tasks
                && (c.need.gresPerJob().isEmpty() || devices.suffice(c.need, found, chosen, slot, end));
    }

    private static boolean isAmong(int[] some, int n) {
        for (int i : some) {
            if (i == n) {
                return true;
            }
        }
        return false;
    }

    /** Takes one node after the other, in their order. */
    private boolean oneByOne(NeedClass c, long[] mask, int[] named, int slot, int end) {
        int[] now = cpus[slot];
        int nodesMax = c.need.nodesMax() > 0 ? c.need.nodesMax() : Integer.MAX_VALUE;
        for (int w = 0; w < mask.length && !othersMayDo; w++) {
            if (mask[w] == 0 || maxCpus[slot][w] < c.cpusMin) {
                continue;
            }
            int best = Integer.MIN_VALUE;
            for (long bits = mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                best = Math.max(best, now[n]);
                if (now[n] < cpusNeeded(c, n) || isAmong(named, n) || !add(n, tasksOn(c, n, slot, end))) {
                    continue;
                }
                if (chosen <= nodesMax && isEnough(c, named.length, slot, end)) {
                    return true;
                }
                if (chosen == nodesMax) {
                    if (!c.need.gresPerJob().isEmpty()) {
                        othersMayDo = true;
                        return false;
                    }
                    dropSmallest(named.length);
                }
            }
            if (mask[w] == -1L) {
                maxCpus[slot][w] = best;
            }
        }
        return false;
    }

    /**
     * Drops the node with room for the fewest tasks, because these nodes have too little together: the next takes its
     * place.
     */
    private void dropSmallest(int required) {
        int least = required;
        for (int i = required; i < chosen; i++) {
            least = foundTasks[i] < foundTasks[least] ? i : least;
        }
        if (least < chosen) {
            sum -= foundTasks[least];
            chosen--;
            found[least] = found[chosen];
            foundTasks[least] = foundTasks[chosen];
        }
    }

    /** Takes all nodes that have room, and of them those that can be had together. The named ones are found already. */
    private boolean together(NeedClass c, long[] mask, int[] named, int slot, int end) {
        List<Candidate> able = new ArrayList<>();
        for (int i = 0; i < named.length; i++) {
            able.add(candidate(found[i], foundTasks[i], slot, end));
        }
        for (int w = 0; w < mask.length; w++) {
            for (long bits = maxCpus[slot][w] < c.cpusMin ? 0 : mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                int tasks = cpus[slot][n] < c.cpusMin ? 0 : (int) Math.min(Integer.MAX_VALUE, tasksOn(c, n, slot, end));
                if (tasks > 0 && !isAmong(named, n)) {
                    able.add(candidate(n, tasks, slot, end));
                }
            }
        }
        List<SelectedNode> picks = constraints.pick(c.need, able, named.length, slot, end);
        chosen = 0;
        picks.forEach(p -> add(p.node().index, p.tasks()));
        return !picks.isEmpty();
    }

    private Candidate candidate(int n, int tasks, int slot, int end) {
        return new Candidate(
                constraints.node(n), tasks, (need, node, item) -> devices.usable(need, item, n, slot, end));
    }

    /** Tests whether some reservation of the node repeats before the job would be over, whenever it begins. */
    private boolean comesAgain(NeedClass c, int n) {
        long gapS = planningNodes.gapS(n);
        return gapS < Long.MAX_VALUE && (c.need.limitMin() < 0 || c.need.limitMin() * 60L > gapS);
    }

    private int cpusNeeded(NeedClass c, int n) {
        return c.exclusive ? whole[n] : c.cpusMin;
    }

    /** Returns the least CPUs free in one of the slots; -1 if a slot has fewer than the class needs. */
    private int cpusIn(NeedClass c, int n, int slot, int last) {
        int wanted = cpusNeeded(c, n);
        int least = Integer.MAX_VALUE;
        for (int s = slot; s < last; s++) {
            least = Math.min(least, cpus[s][n]);
            if (least < wanted) {
                return -1;
            }
        }
        return least;
    }

    /** Returns the least memory free in one of the slots, in MiB; -1 if a slot has too few GPUs for the class. */
    private int memoryIn(NeedClass c, int n, int slot, int last) {
        int least = Integer.MAX_VALUE;
        if (c.memoryMin <= 0 && c.gpus <= 0 && ConstraintCheck.isPlain(c)) {
            return least;
        }
        for (int s = slot; s < last; s++) {
            least = Math.min(least, memoryMb[s][n]);
            if (c.gpus > 0 && gpus[s][n] < c.gpus) {
                return -1;
            }
        }
        return least;
    }

    /** Returns how many tasks fit on the node in all these slots. */
    private long tasksOn(NeedClass c, int n, int slot, int end) {
        if (slot >= near && comesAgain(c, n)) {
            return 0;
        }
        int last = Math.min(end, Math.max(slot + 1, fuller[n]));
        int least = cpusIn(c, n, slot, last);
        int memory = least < 0 ? -1 : memoryIn(c, n, slot, last);
        if (memory < Math.max(0, c.memoryMin)
                || c.need.memAll() && memory < in.whole().memoryMb[planningNodes.node(n)]
                || constraints.keepsOff(c.need.apart(), n, slot, end)) {
            return 0;
        }
        if (ConstraintCheck.isPlain(c)) {
            return constraints.near(c.need, n, slot, c.tasksOn(least, memory));
        }
        long tasks = devices.tasks(c.need, n, slot, last);
        return tasks == 0
                ? 0
                : constraints.near(
                        c.need,
                        n,
                        slot,
                        Math.min(tasks, constraints.tasks(c, n, least, memory, least >= whole[n], slot, end)));
    }
}
