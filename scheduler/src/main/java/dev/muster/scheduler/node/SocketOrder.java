package dev.muster.scheduler.node;

import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.request.ResourceNeed;

/**
 * Chooses the cores of a node that a job without GPUs gets. Slurm's default is cyclic: tasks of one CPU go round the
 * sockets core by core; a task of several has all of its CPUs in one socket where they have room there, and a socket is
 * filled with whole tasks before the next one. With block distribution (-m block:block, CR_CORE_DEFAULT_DIST_BLOCK,
 * plane), and where the node has no room for a task more, the first cores are taken.
 */
final class SocketOrder {
    private final ResourceNeed need;
    private final NodeSlot node;
    private final int perSocket;
    private final int sockets;

    private SocketOrder(ResourceNeed need, NodeSlot node) {
        this.need = need;
        this.node = node;
        this.sockets = Math.max(1, node.spec.sockets());
        this.perSocket = Math.max(1, (node.spec.units() + sockets - 1) / sockets);
    }

    /** Chooses units for the tasks: free units before shared ones. */
    static IndexSet choose(ResourceNeed need, NodeSlot node, IndexSet may, int count, int tasks) {
        IndexSet idle = may.intersect(node.freeUnits);
        if (count >= may.count()
                || (need.shape().block() || isFull(need, node, may, count))
                        && need.shape().tasksPerSocket() == 0
                || node.spec.sockets() < 2
                || idle.count() < count) {
            return UnitSets.idleFirst(may, node.freeUnits, count);
        }
        return new SocketOrder(need, node).among(idle, count, tasks);
    }

    /**
     * Returns whether the units are those of the most tasks that the node could take, by its cores and
     * --ntasks-per-node.
     */
    private static boolean isFull(ResourceNeed need, NodeSlot node, IndexSet may, int count) {
        int usable = need.usableCpus(node.spec);
        long tasks = (long) may.count() * usable / need.cpusPerTask();
        tasks = need.tasksPerNode() > 0 ? Math.min(tasks, need.tasksPerNode()) : tasks;
        return (long) count * usable >= tasks * need.cpusPerTask();
    }

    private IndexSet among(IndexSet free, int count, int tasks) {
        IndexSet[] of = new IndexSet[sockets];
        for (int s = 0; s < sockets; s++) {
            of[s] = free.intersect(IndexSet.range(s * perSocket, (s + 1) * perSocket - 1, 1));
        }
        int[] taken = new int[sockets];
        int left = need.cpusPerTask() > 1 ? count - wholeTasks(of, taken, count, tasks) : count;
        for (int maxUnits : new int[] {bound(), Integer.MAX_VALUE}) {
            left = roundRobin(of, taken, left, maxUnits);
        }
        IndexSet out = IndexSet.empty();
        for (int s = 0; s < sockets; s++) {
            out = out.union(UnitSets.firstOf(of[s], taken[s]));
        }
        return out;
    }

    /** Returns the number of units of a socket for as many tasks as may be on one. */
    private int bound() {
        int tasks = need.shape().tasksPerSocket();
        return tasks > 0 ? units(tasks) : Integer.MAX_VALUE;
    }

    private int units(int tasks) {
        int usable = need.usableCpus(node.spec);
        return (int) Math.min(Integer.MAX_VALUE, ((long) tasks * need.cpusPerTask() + usable - 1) / usable);
    }

    /** Returns units taken. */
    private int wholeTasks(IndexSet[] of, int[] taken, int count, int tasks) {
        int all = 0;
        int waiting = tasks;
        for (int s = 0; s < sockets && waiting > 0; s++) {
            int fit = Math.min(waiting, of[s].count() * need.usableCpus(node.spec) / need.cpusPerTask());
            fit = need.shape().tasksPerSocket() > 0 ? Math.min(fit, need.shape().tasksPerSocket()) : fit;
            taken[s] = Math.min(units(fit), count - all);
            all += taken[s];
            waiting -= fit;
        }
        return all;
    }

    /** Returns units for which there was no room. */
    private int roundRobin(IndexSet[] of, int[] taken, int units, int maxUnits) {
        int left = units;
        for (boolean progress = true; left > 0 && progress; ) {
            progress = false;
            for (int s = 0; s < sockets && left > 0; s++) {
                if (taken[s] < Math.min(maxUnits, of[s].count())) {
                    taken[s]++;
                    left--;
                    progress = true;
                }
            }
        }
        return left;
    }
}
