package dev.muster.scheduler.request;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.QosRules;
import dev.muster.core.limits.SoftLimit;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.step.TaskLayout;
import dev.muster.core.tres.GresRequest;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Fills in the defaults of one request: nodes and tasks, then memory, then what follows from GPUs. */
final class ResourceNeedBuilder {
    private final JobDesc desc;
    private final ResourceRequest r;
    private final Partition partition;
    private final State state;
    private final Settings settings;
    /** Memory is allocated to the job. */
    private final boolean dealt;

    /** More CPUs, and more memory, than any node has. */
    private static final int CPUS_TOP = 1 << 20;

    private static final long MEMORY_TOP_MB = 1L << 40;

    private final GresRequest gres;
    private int nodesMin;
    private int nodesMax;
    private int tasks;
    private int cpusPerTask;
    private int cpusMin;
    private long memPerNodeMb;
    private long memPerCpuMb;

    ResourceNeedBuilder(JobDesc desc, Partition partition, State state, boolean dealt) {
        this.desc = desc;
        this.r = desc.request();
        this.partition = partition;
        this.state = state;
        this.settings = state.settings();
        this.dealt = dealt;
        this.gres = GresRequest.of(r);
    }

    ResourceNeed resolve() {
        countNodesAndTasks();
        PartitionLimits.Memory memory =
                dealt ? PartitionLimits.memory(r, partition, settings) : new PartitionLimits.Memory(0, 0, false);
        limitMemory(memory);
        int gpusPerNode = GresRequest.gpus(gres.perNode());
        addGpuDefaults(gpusPerNode);
        // with --ntasks-per-gpu and GPUs per node, a node has no more tasks than its GPUs serve
        int tasksPerNode = r.tasksPerNode() > 0 ? r.tasksPerNode() : SaturatingMath.times(r.tasksPerGpu(), gpusPerNode);
        int wanted = wanted(r, gres, nodesMin, Math.min(tasks, partition.nodes().size()));
        bound();
        return new ResourceNeed(
                partition.name(),
                nodesMin,
                nodesMax == 0 ? 0 : Math.max(nodesMax, nodesMin),
                wanted,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusMin,
                memPerNodeMb,
                memPerCpuMb,
                memory.all(),
                gres.perNode(),
                gres.perJob(),
                gres.perTask(),
                isExclusive(),
                GresRequest.overcommits(r),
                ResourceNeed.Shape.of(r, desc.extras().extra(), partition, settings),
                r.tmpDiskMb(),
                r.features(),
                TopologyRequest.isPool(r) ? "" : r.nodeList(),
                r.excludeList(),
                tasksOn(r),
                ResourceNeed.Gpus.of(r, gres.perTask(), settings).atMost(CPUS_TOP, MEMORY_TOP_MB),
                LicenseRequest.parse(r.licenses()).orElse(LicenseRequest.Wanted.NONE),
                SoftLimit.planned(desc, PartitionLimits.runMin(desc, partition), settings),
                ReservationScope.NONE,
                ResourceNeed.sharing(r, partition, settings),
                apart(desc, partition, settings),
                TopologyRequest.of(r, partition, desc.extras().resvPorts(), wanted),
                desc.extras().batchFeatures(),
                reboot(),
                sizes(r, nodesMin, r.useMinNodes() ? Math.max(nodesMin, nodesMax) : Math.max(nodesMin, wanted)));
    }

    /** Bounds what the job wants of a node, so that the pass can multiply without a look for overflow. */
    private void bound() {
        cpusPerTask = Math.min(CPUS_TOP, cpusPerTask);
        cpusMin = Math.min(CPUS_TOP, cpusMin);
        memPerNodeMb = Math.min(MEMORY_TOP_MB, memPerNodeMb);
        memPerCpuMb = Math.min(MEMORY_TOP_MB, memPerCpuMb);
    }

    private void countNodesAndTasks() {
        nodesMin = Math.max(1, Math.max(r.nodesMin(), PartitionLimits.minNodes(desc, partition, state)));
        nodesMax = r.nodesMax() > 0 ? r.nodesMax() : Math.max(0, r.nodesMin());
        int partitionMax = partition.info().maxNodes();
        if (partitionMax > 0 && nodesMin <= partitionMax && !QosRules.has(state, desc, QosRules.MAX_NODES)) {
            nodesMax = nodesMax == 0 ? partitionMax : Math.min(nodesMax, partitionMax);
        }
        tasks = r.tasks() > 0 ? r.tasks() : SaturatingMath.times(nodesMin, Math.max(1, r.tasksPerNode()));
        if (r.tasksPerNode() > 0 && r.nodesMin() == 0) {
            nodesMin = Math.max(nodesMin, SaturatingMath.dividedUp(tasks, r.tasksPerNode()));
        }
        tasks = Math.max(tasks, nodesMin);
        if (nodesMax == 0 && r.tasks() > 0 && !r.tresPerJob().isEmpty()) {
            nodesMax = tasks; // devices of the whole job add no nodes without a task
        }
    }

    /** Gives each task more CPUs where its memory is above MaxMemPerCPU. */
    private void limitMemory(PartitionLimits.Memory memory) {
        memPerNodeMb = memory.perNodeMb();
        memPerCpuMb = memory.perCpuMb();
        cpusPerTask = Math.max(1, r.cpusPerTask());
        long maxPerCpuMb = first(partition.info().maxMemPerCpuMb(), settings.maxMemPerCpuMb());
        if (maxPerCpuMb > 0 && memPerCpuMb > maxPerCpuMb) {
            long times = SaturatingMath.dividedUp(memPerCpuMb, maxPerCpuMb);
            memPerCpuMb = SaturatingMath.dividedUp(memPerCpuMb, times);
            cpusPerTask = SaturatingMath.toInt(SaturatingMath.times(cpusPerTask, times));
        }
    }

    /** Sets memory per GPU, CPUs per GPU and the least CPUs of a node. */
    private void addGpuDefaults(int gpusPerNode) {
        if (r.memPerGpuMb() > 0 && dealt) {
            memPerNodeMb = SaturatingMath.times(r.memPerGpuMb(), (long) gpusPerNode);
            memPerCpuMb = 0;
        }
        cpusMin = Math.max(r.cpusPerNodeMin(), SaturatingMath.times(r.cpusPerGpu(), gpusPerNode));
        int gpusPerTask = GresRequest.gpus(gres.perTask());
        if (r.cpusPerGpu() > 0 && gpusPerTask > 0 && r.cpusPerTask() == 0) {
            cpusPerTask = SaturatingMath.times(r.cpusPerGpu(), gpusPerTask);
        }
        if (r.tasks() != 1 && r.tasksPerNode() > 0 && !GresRequest.overcommits(r)) {
            // each node must have room for --ntasks-per-node, even if the job has fewer tasks in all
            cpusMin = Math.max(cpusMin, SaturatingMath.times(r.tasksPerNode(), cpusPerTask));
        }
    }

    private boolean isExclusive() {
        return ResourceNeed.isExclusive(r, partition)
                || settings.selects("LINEAR")
                        && ResourceNeed.sharing(r, partition, settings).jobs() == 1;
    }

    private ResourceNeed.Reboot reboot() {
        if (desc.extras().reboot()) {
            return ResourceNeed.Reboot.ALWAYS;
        }
        boolean may = r.features().isEmpty()
                || settings.options().nodes().features().mayReboot(desc.owner().uid());
        return may ? ResourceNeed.Reboot.FOR_FEATURES : ResourceNeed.Reboot.NEVER;
    }

    /**
     * Returns the numbers of nodes to try: most first, or fewest first with --use-min-nodes; only the fewest where the
     * partition or the number of tasks leaves none.
     */
    private static List<Integer> sizes(ResourceRequest r, int minNodes, int maxNodes) {
        if (r.nodeSizes().isEmpty()) {
            return List.of();
        }
        List<Integer> all = Stream.of(r.nodeSizes().split(","))
                .map(Integer::valueOf)
                .filter(n -> n >= minNodes && n <= maxNodes)
                .toList();
        if (all.isEmpty()) {
            return List.of(minNodes);
        }
        if (r.useMinNodes()) {
            return all;
        }
        return all.reversed();
    }

    /**
     * Returns the number of nodes that a job wants. It is the most of a range, but at most one node for each task; with
     * --use-min-nodes, or devices that are requested in sum or by task, it is the fewest. Without a range, --spread-job
     * takes the most nodes.
     */
    private static int wanted(ResourceRequest r, GresRequest gres, int nodesMin, int maxNodes) {
        if (r.spread() && r.nodesMin() == 0 && r.nodesMax() == 0) {
            return Math.max(nodesMin, maxNodes);
        }
        boolean range = r.nodesMin() > 0
                && r.nodesMax() > r.nodesMin()
                && !r.useMinNodes()
                && gres.perJob().isEmpty()
                && gres.perTask().isEmpty();
        if (!range) {
            return nodesMin;
        }
        return Math.max(nodesMin, r.tasks() > 0 ? Math.min(r.tasks(), r.nodesMax()) : r.nodesMax());
    }

    private static Map<String, Integer> tasksOn(ResourceRequest r) {
        Map<String, Integer> out = new TreeMap<>();
        if (r.distribution().startsWith("arbitrary")) {
            TaskLayout.listed(r.nodeList()).stream()
                    .flatMap(List::stream)
                    .limit(r.tasks() > 0 ? r.tasks() : Integer.MAX_VALUE)
                    .forEach(name -> out.merge(name, 1, Integer::sum));
        }
        return out;
    }

    private static long first(long a, long b) {
        return a > 0 ? a : Math.max(b, 0);
    }

    private static SharingPolicy apart(JobDesc desc, Partition partition, Settings settings) {
        SharingPolicy own = SharingPolicy.of(desc, partition, settings);
        return own.isExclusive() ? own : SharingPolicy.ANYBODY;
    }
}
