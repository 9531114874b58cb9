package dev.muster.controller.view;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.tres.GresRequest;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ResourceRequest;
import java.util.ArrayList;
import java.util.List;

/** Numbers of tasks on the nodes of an allocation, and their text in the environment. */
final class TasksPerNode {
    private TasksPerNode() {}

    /** Returns the number of tasks that srun would start on each node of the allocation. */
    static List<Integer> of(Job job) {
        ResourceRequest r = job.desc().request();
        List<Allocation.Share> nodes = job.run().allocation().nodes();
        int perTask = Math.max(1, r.cpusPerTask());
        List<Integer> out = new ArrayList<>();
        if (r.tasksPerNode() > 0) {
            nodes.forEach(n -> out.add(r.tasksPerNode()));
            return out;
        }
        int gpus = GresRequest.gpus(GresRequest.of(r).perTask());
        List<Integer> room = nodes.stream()
                .map(n -> Math.max(1, Math.min(n.usableCpus(r.threadsUsed()) / perTask, byGpus(n, gpus))))
                .toList();
        if (r.tasks() == 0) {
            return room;
        }
        int[] counts = new int[nodes.size()];
        int left = dealt(counts, room, r.tasks());
        // with --overcommit there may be more tasks than CPUs
        dealt(counts, java.util.Collections.nCopies(counts.length, Integer.MAX_VALUE), r.overcommit() ? left : 0);
        for (int c : counts) {
            out.add(c);
        }
        return out;
    }

    /** Returns the number of tasks for which a node has GPUs; unlimited without GPUs per task. */
    private static int byGpus(Allocation.Share node, int gpusPerTask) {
        return gpusPerTask == 0
                ? Integer.MAX_VALUE
                : node.gres().getOrDefault("gpu", IndexSet.empty()).count() / gpusPerTask;
    }

    /**
     * Deals tasks to the nodes in turn, one to each that has room.
     *
     * @return number of tasks without a place
     */
    private static int dealt(int[] counts, List<Integer> room, int tasks) {
        int left = tasks;
        for (boolean progress = true; left > 0 && progress; ) {
            progress = false;
            for (int i = 0; i < counts.length && left > 0; i++) {
                if (counts[i] < room.get(i)) {
                    counts[i]++;
                    left--;
                    progress = true;
                }
            }
        }
        return left;
    }

    /** Returns the numbers in the form of SLURM_TASKS_PER_NODE: {@code 4(x2),3}. */
    static String text(List<Integer> values) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < values.size(); ) {
            int j = i;
            while (j < values.size() && values.get(j).equals(values.get(i))) {
                j++;
            }
            out.append(out.isEmpty() ? "" : ",").append(values.get(i));
            if (j - i > 1) {
                out.append("(x").append(j - i).append(')');
            }
            i = j;
        }
        return out.toString();
    }
}
