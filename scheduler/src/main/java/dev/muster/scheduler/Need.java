package dev.muster.scheduler;

import dev.muster.core.Limits;
import dev.muster.core.Partition;
import dev.muster.core.Settings;
import dev.muster.core.Tres;
import dev.muster.model.JobDesc;
import dev.muster.model.ResourceRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * A request with its defaults filled in: equal needs are one job class, tested once per pass.
 *
 * @param nodesMax      0 for no bound
 * @param gresPerNode   on every node
 * @param gresPerJob    over all nodes together
 * @param memPerCpuMb   0 if memory is asked for per node or not at all
 * @param limitMin      -1 for none
 */
record Need(
        String partition,
        int nodesMin,
        int nodesMax,
        int tasks,
        int cpusPerTask,
        int tasksPerNode,
        int cpusPerNodeMin,
        long memPerNodeMb,
        long memPerCpuMb,
        boolean memAll,
        List<Tres.Item> gresPerNode,
        List<Tres.Item> gresPerJob,
        List<Tres.Item> gresPerTask,
        boolean exclusive,
        boolean overcommit,
        long tmpDiskMb,
        String features,
        String nodeList,
        String excludeList,
        int limitMin) {

    static Need of(JobDesc desc, Partition partition, Settings settings) {
        ResourceRequest r = desc.request();
        int nodesMin = Math.max(1, Math.max(r.nodesMin(), partition.info().minNodes()));
        int nodesMax = r.nodesMax() > 0 ? r.nodesMax() : Math.max(0, r.nodesMin());
        int tasks = r.tasks() > 0 ? r.tasks() : r.tasksPerNode() > 0 ? r.tasksPerNode() * nodesMin : nodesMin;
        if (r.tasksPerNode() > 0 && r.nodesMin() == 0) {
            nodesMin = Math.max(nodesMin, (tasks + r.tasksPerNode() - 1) / r.tasksPerNode());
        }
        tasks = Math.max(tasks, nodesMin);
        long perNode = r.memPerNodeMb();
        long perCpu = r.memPerCpuMb();
        boolean all = r.memAll();
        if (perNode == 0 && perCpu == 0 && !all) {
            perCpu = first(partition.info().defMemPerCpuMb(), settings.defMemPerCpuMb());
            perNode = perCpu > 0 ? 0 : first(partition.info().defMemPerNodeMb(), settings.defMemPerNodeMb());
            all = settings.memoryConsumed() && perCpu == 0 && perNode == 0;
        }
        int cpusPerTask = Math.max(1, r.cpusPerTask());
        long perGpu = 0;
        for (Tres.Item item : Tres.gres(r.tresPerNode())) {
            perGpu += item.name().equals("gpu") ? item.count() : 0;
        }
        if (r.memPerGpuMb() > 0 && perGpu > 0) {
            perNode = r.memPerGpuMb() * perGpu;
            perCpu = 0;
        }
        int cpusMin = r.cpusPerNodeMin();
        if (r.cpusPerGpu() > 0 && perGpu > 0) {
            cpusMin = Math.max(cpusMin, (int) (r.cpusPerGpu() * perGpu));
        }
        return new Need(partition.name(), nodesMin, nodesMax == 0 ? 0 : Math.max(nodesMax, nodesMin), tasks, cpusPerTask,
                r.tasksPerNode(), cpusMin, perNode, perCpu, all, Tres.gres(r.tresPerNode()), Tres.gres(r.tresPerJob()),
                Tres.gres(r.tresPerTask()), r.exclusive() != ResourceRequest.Exclusive.SHARED || partition.isExclusive(),
                r.overcommit(), r.tmpDiskMb(), r.features(), r.nodeList(), r.excludeList(), limit(desc, partition));
    }

    private static long first(long a, long b) {
        return a > 0 ? a : Math.max(b, 0);
    }

    /** The limit the job runs under: a job that may be shorter (--time-min) still gets its full time where it fits. */
    private static int limit(JobDesc desc, Partition partition) {
        int limit = Limits.timeLimitMin(desc, partition);
        int most = partition.info().maxTimeMin();
        return most >= 0 && desc.timing().timeMinMin() > 0 && (limit < 0 || limit > most) ? most : limit;
    }

    /** Total CPUs, at least. */
    int cpus() {
        return overcommit ? nodesMin : tasks * cpusPerTask;
    }

    List<String> gresNames() {
        List<String> names = new ArrayList<>();
        for (List<Tres.Item> items : List.of(gresPerNode, gresPerJob, gresPerTask)) {
            for (Tres.Item item : items) {
                names.add(item.name());
            }
        }
        return names;
    }
}
