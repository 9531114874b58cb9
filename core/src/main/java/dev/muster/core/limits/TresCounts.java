package dev.muster.core.limits;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.tres.Billing;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.TrackedTypes;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts of each resource that a job has or, while it waits, asks for: Slurm calls them TRES counts.
 *
 * @param memoryMb mebibytes on all nodes together
 * @param gres devices by the name of their kind, types added up; and of {@link TrackedTypes} by those of both,
 *     {@code gpu:a100}
 */
public record TresCounts(int cpus, long memoryMb, int nodes, Map<String, Integer> gres) {
    /** Counts an allocation, with memory only where memory is allocated. */
    public static TresCounts of(State state, Allocation a) {
        Map<String, Integer> gres = new TreeMap<>();
        TrackedTypes types = TrackedTypes.of(state.settings());
        for (Allocation.Share s : a.nodes()) {
            s.gres().forEach((name, devices) -> gres.merge(name, devices.count(), Integer::sum));
            types.held(gres, state, s.node(), s.gres());
        }
        return new TresCounts(
                a.cpus(), state.memoryConsumed() ? a.memoryMb() : 0, a.nodes().size(), gres);
    }

    /**
     * Counts the request of a job as ReqTRES shows it, whatever the job was given: the least number of nodes, and its
     * tasks' CPUs. CPUs that only its memory brings (MaxMemPerCPU) are not among them.
     */
    public static TresCounts asked(State state, JobDesc desc) {
        ResourceRequest r = desc.request();
        int nodes = nodes(r);
        boolean range = r.nodesMax() > r.nodesMin() && r.nodesMin() > 0;
        int tasks;
        if (GresRequest.overcommits(r)) {
            tasks = nodes;
        } else if (r.tasks() > 0) {
            tasks = r.tasks();
        } else if (r.tasksPerNode() > 0) {
            tasks = SaturatingMath.times(nodes, r.tasksPerNode());
        } else if (range) {
            tasks = 1;
        } else {
            tasks = nodes;
        }

        int gpus = requested(state, desc, nodes, 1).gres().getOrDefault("gpu", 0);
        int ofGpus = r.cpusPerTask() == 0 ? SaturatingMath.times(r.cpusPerGpu(), gpus) : 0;
        TresCounts all = requested(
                state, desc, nodes, Math.max(SaturatingMath.times(tasks, Math.max(1, r.cpusPerTask())), ofGpus));
        return new TresCounts(
                Math.max(SaturatingMath.times(tasks, Math.max(1, r.cpusPerTaskTyped())), ofGpus),
                all.memoryMb(),
                nodes,
                all.gres());
    }

    /** Counts the allocation of a job; its request where it has none. */
    public static TresCounts of(State state, Job job) {
        Allocation a = job.run().allocation();
        return a.isEmpty() ? requested(state, job) : of(state, a);
    }

    /** Counts the request of a job, on the nodes that it has or at least needs. */
    public static TresCounts requested(State state, Job job) {
        return requested(state, job.desc(), nodes(job), cpus(job));
    }

    /** Counts the least that a description asks for. */
    public static TresCounts requested(State state, JobDesc desc) {
        return requested(state, desc, nodes(desc.request()), cpus(desc.request()));
    }

    private static TresCounts requested(State state, JobDesc desc, int nodes, int cpus) {
        ResourceRequest r = desc.request();
        PartitionLimits.Memory memory = PartitionLimits.memory(state, desc);
        Map<String, Integer> gres = new TreeMap<>();
        GresRequest asked = GresRequest.of(r);
        TrackedTypes types = TrackedTypes.of(state.settings());
        asked.perNode().forEach(i -> types.asked(gres, i, nodes));
        asked.perJob().forEach(i -> types.asked(gres, i, 1));
        asked.perTask().forEach(i -> types.asked(gres, i, Math.max(1, r.tasks())));
        long mb;
        if (r.memPerGpuMb() > 0) {
            mb = SaturatingMath.times(r.memPerGpuMb(), (long) gres.getOrDefault("gpu", 0));
        } else if (memory.all()) {
            mb = SaturatingMath.times(wholeNode(state, desc), (long) nodes);
        } else if (memory.perNodeMb() > 0) {
            mb = SaturatingMath.times(memory.perNodeMb(), (long) nodes);
        } else {
            mb = SaturatingMath.times(memory.perCpuMb(), (long) cpus);
        }

        return new TresCounts(cpus, mb, nodes, gres);
    }

    /** Returns all memory of a node, which a job's partition is asked for before it is known which node it will be. */
    public static long wholeNode(State state, JobDesc desc) {
        return state.partitions()
                .find(desc.firstPartition())
                .flatMap(p -> p.nodes().stream().findFirst())
                .flatMap(n -> state.nodes().find(n))
                .map(n -> n.spec().memoryMb())
                .orElse(0L);
    }

    /** Returns the CPUs that a job has, or the least that it asks for. */
    public static int cpus(Job job) {
        Allocation a = job.run().allocation();
        return a.isEmpty() ? cpus(job.desc().request()) : a.cpus();
    }

    private static int cpus(ResourceRequest r) {
        int nodes = minNodes(r);
        // with --overcommit as if there were one task on each node
        int tasks;
        if (GresRequest.overcommits(r)) {
            tasks = nodes;
        } else if (r.tasks() > 0) {
            tasks = r.tasks();
        } else {
            tasks = SaturatingMath.times(nodes, Math.max(1, r.tasksPerNode()));
        }

        return Math.max(
                SaturatingMath.times(tasks, Math.max(1, r.cpusPerTask())),
                SaturatingMath.times(nodes, Math.max(1, r.cpusPerNodeMin())));
    }

    /** Returns the number of nodes that a job has, or the least that it asks for. */
    public static int nodes(Job job) {
        Allocation a = job.run().allocation();
        return a.isEmpty() ? nodes(job.desc().request()) : a.nodes().size();
    }

    private static int nodes(ResourceRequest r) {
        int byTasks = r.tasksPerNode() > 0 && r.tasks() > 0 ? SaturatingMath.dividedUp(r.tasks(), r.tasksPerNode()) : 1;
        return Math.max(byTasks, minNodes(r));
    }

    /** Returns the least number of nodes; a job that sets none has all nodes that it names. */
    private static int minNodes(ResourceRequest r) {
        boolean named = r.nodesMin() == 0 && !r.nodeList().isEmpty();
        int listed = named && HostList.parse(r.nodeList()) instanceof HostList.Parsed.Ok ok
                ? (int) ok.list().names().stream().distinct().count()
                : 0;
        return Math.max(1, Math.max(r.nodesMin(), listed));
    }

    /**
     * @param partition one or several, separated by commas: the first one's TRESBillingWeights count; without any, its
     *     CPUs
     */
    public long billing(State state, String partition) {
        return billing(state, partition, Map.of());
    }

    /** Returns the billing of the job, its licenses and burst buffer included. */
    public long billing(State state, JobDesc desc) {
        return billing(state, desc.partition(), global(desc));
    }

    private long billing(State state, String partition, Map<String, Long> global) {
        String weights = state.partitions()
                .find(JobDesc.first(partition))
                .map(p -> p.info().tresBillingWeights())
                .orElse("");
        return Billing.of(
                weights,
                cpus,
                memoryMb,
                nodes,
                gres,
                global,
                state.settings().options().priority().flags());
    }

    /** Returns the counts by Slurm's names: cpu, mem (mebibytes), node, billing, gres/…. */
    public Map<String, Long> byName(long billing) {
        Map<String, Long> out = new TreeMap<>();
        out.put("cpu", (long) cpus);
        out.put("mem", memoryMb);
        out.put("node", (long) nodes);
        out.put("billing", billing);
        gres.forEach((name, count) -> out.put("gres/" + name, (long) count));
        return out;
    }

    /**
     * Returns the TRES of a job that limits count. Licenses ({@code license/…}) and the burst buffer are included;
     * alternative licenses are not, because the choice is still open.
     */
    public Map<String, Long> counted(State state, JobDesc desc) {
        return counted(desc, billing(state, desc));
    }

    public Map<String, Long> counted(JobDesc desc, long billing) {
        Map<String, Long> out = byName(billing);
        out.putAll(global(desc));
        return out;
    }

    private static Map<String, Long> global(JobDesc desc) {
        if (desc.request().licenses().isEmpty() && BurstBuffer.megabytes(desc) == 0) {
            return Map.of();
        }
        Map<String, Long> out = new TreeMap<>();
        if (!desc.request().licenses().isEmpty()) {
            LicenseRequest.parse(desc.request().licenses())
                    .filter(w -> !w.any())
                    .ifPresent(w ->
                            w.items().forEach(i -> out.merge("license/" + i.name(), (long) i.count(), Long::sum)));
        }
        long buffer = BurstBuffer.megabytes(desc);
        if (buffer > 0) {
            out.put(BurstBuffer.TRES, buffer);
        }
        return out;
    }

    /**
     * Returns how many seconds a job waits for as few switches as it wants: what it asks for, and no more than
     * max_switch_wait.
     */
    public static long switchWait(ResourceRequest r, Settings settings) {
        long limit = settings.options().scheduling().switchWaitMaxS();
        int sign = r.switches().indexOf('@');
        long asked = sign < 0
                ? limit
                : Durations.parseSeconds(r.switches().substring(sign + 1)).orElse(limit);
        return asked == Durations.UNLIMITED ? limit : Math.min(limit, asked);
    }

    /** Counts all resources of the nodes. */
    public static TresCounts of(State state, List<Node> nodes) {
        Map<String, Integer> gres = new TreeMap<>();
        TrackedTypes types = TrackedTypes.of(state.settings());
        nodes.forEach(n -> types.all(gres, n));
        return new TresCounts(
                nodes.stream().mapToInt(n -> n.spec().cpus()).sum(),
                nodes.stream().mapToLong(n -> n.spec().memoryMb()).sum(),
                nodes.size(),
                gres);
    }
}
