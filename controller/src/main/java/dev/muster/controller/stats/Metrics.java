package dev.muster.controller.stats;

import dev.muster.core.limits.TresCounts;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.api.ClusterMessages.NodeInfo;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The cluster in numbers: OpenMetrics text under the names that Slurm's metrics/openmetrics has. What there is no
 * measure of here is left out rather than said to be 0. Every name is a gauge. Made anew for each request from one
 * state.
 */
public final class Metrics {
    public static final List<String> PAGES = List.of("jobs", "jobs-users-accts", "nodes", "partitions", "scheduler");
    private static final long MIB = 1 << 20;

    private final State state;
    private final Function<Node, NodeInfo> nodeInfo;
    private final Function<Job, JobReason> reason;
    private final MetricsText out = new MetricsText();

    /** @param reason why a job waits */
    public Metrics(State state, Function<Node, NodeInfo> nodeInfo, Function<Job, JobReason> reason) {
        this.state = state;
        this.nodeInfo = nodeInfo;
        this.reason = reason;
    }

    /**
     * @param page one of {@link #PAGES}, or "" for what there is
     * @param diagnostics of sdiag, by their names there
     */
    public Optional<String> page(String page, List<String> partitions, Map<String, Long> diagnostics) {
        return switch (page) {
            case "" -> {
                StringBuilder text = new StringBuilder("slurmctld has metrics at:\n");
                PAGES.forEach(name -> text.append("  /metrics/").append(name).append('\n'));
                yield Optional.of(text.toString());
            }
            case "jobs" -> {
                JobCounts all = new JobCounts();
                state.jobs().values().forEach(all::add);
                all.print("slurm_jobs", "");
                yield Optional.of(out.text());
            }
            case "jobs-users-accts" -> {
                grouped("slurm_user_jobs", "username", job -> job.desc().owner().user());
                grouped(
                        "slurm_account_jobs",
                        "account",
                        job -> job.desc().charge().account());
                yield Optional.of(out.text());
            }
            case "nodes" -> {
                nodes();
                yield Optional.of(out.text());
            }
            case "partitions" -> {
                partitions(partitions);
                yield Optional.of(out.text());
            }
            case "scheduler" -> {
                MetricsText.SCHEDULER.forEach(
                        (name, source) -> out.put(name, "", diagnostics.getOrDefault(source, 0L)));
                yield Optional.of(out.text());
            }
            default -> Optional.empty();
        };
    }

    private void grouped(String prefix, String label, Function<Job, String> group) {
        TreeMap<String, JobCounts> groups = new TreeMap<>();
        state.jobs().values().stream()
                .filter(job -> !group.apply(job).isEmpty())
                .forEach(job -> groups.computeIfAbsent(group.apply(job), g -> new JobCounts())
                        .add(job));
        groups.forEach((name, counts) -> counts.print(prefix, MetricsText.label(label, name)));
    }

    /** Jobs by what they are doing, and what they have. */
    private final class JobCounts {
        private final Map<String, Long> counts = new LinkedHashMap<>();

        JobCounts() {
            MetricsText.JOBS.forEach(name -> counts.put(name, 0L));
        }

        private void count(String name, long n) {
            counts.merge(name, n, Long::sum);
        }

        void add(Job job) {
            // the record of an array's pending tasks stands for all of them
            long n = job.isArrayRecord() ? job.array().pending().count() : 1;
            count("", n);
            count(MetricsText.word(job.state()), n);
            count("started", job.state() == JobState.PENDING ? 0 : n);
            count("finished", job.state().isTerminal() ? n : 0);
            count("hold", job.state() == JobState.PENDING && job.isHeld() ? n : 0);
            for (JobFlag flag : JobFlag.values()) {
                String word = MetricsText.word(flag);
                if (job.has(flag) && !word.isEmpty()) {
                    count(word, n);
                }
            }
            if (job.state().isActive()) {
                TresCounts held = TresCounts.of(state, job.run().allocation());
                count("cpus_alloc", held.cpus());
                count("gpus_alloc", held.gres().getOrDefault("gpu", 0));
                count("memory_alloc", held.memoryMb() * MIB);
                count("nodes_alloc", held.nodes());
                boolean asleep = job.has(JobFlag.CONFIGURING)
                        && job.run().allocation().nodes().stream()
                                .map(Allocation.Share::node)
                                .anyMatch(name -> state.nodes()
                                        .find(name)
                                        .map(Node::isAsleep)
                                        .orElse(false));
                count("powerup_node", asleep ? 1 : 0);
            }
        }

        void print(String prefix, String label) {
            counts.forEach((name, value) -> out.put(name.isEmpty() ? prefix : prefix + "_" + name, label, value));
        }
    }

    private void nodes() {
        NodeCounts all = new NodeCounts();
        state.nodes().values().forEach(n -> all.add(n, nodeInfo.apply(n)));
        all.states.forEach((name, value) -> out.put(name.isEmpty() ? "slurm_nodes" : "slurm_nodes_" + name, "", value));
        state.nodes().values().forEach(n -> {
            NodeInfo info = nodeInfo.apply(n);
            String label = MetricsText.label("node", n.name());
            out.put("slurm_node_cpus", label, info.cpus());
            out.put("slurm_node_cpus_alloc", label, info.cpusAllocated());
            out.put("slurm_node_cpus_effective", label, info.cpusEffective());
            out.put("slurm_node_cpus_idle", label, Math.max(0, info.cpusEffective() - info.cpusAllocated()));
            out.put("slurm_node_gpus", label, n.gresCount("gpu", ""));
            out.put("slurm_node_gpus_alloc", label, gpusOf(n));
            out.put("slurm_node_memory_alloc_bytes", label, info.memoryAllocatedMb() * MIB);
            out.put(
                    "slurm_node_memory_effective_bytes",
                    label,
                    Math.max(0, info.memoryMb() - info.memSpecLimitMb()) * MIB);
            out.put("slurm_node_memory_free_bytes", label, info.memoryFreeMb() * MIB);
            out.put("slurm_node_memory_bytes", label, info.memoryMb() * MIB);
        });
    }

    private long gpusOf(Node n) {
        return n.jobs().stream()
                .flatMap(id -> state.jobs().at(id).run().allocation().on(n.name()).stream())
                .filter(share -> !share.released())
                .mapToLong(share -> share.gres().containsKey("gpu")
                        ? share.gres().get("gpu").count()
                        : 0)
                .sum();
    }

    /** Nodes by state and flag, and what they have. */
    private static final class NodeCounts {
        final Map<String, Long> states = new LinkedHashMap<>();
        long cpus;
        long cpusEffective;
        long cpusAllocated;
        long memoryMb;
        long memoryEffectiveMb;
        long memoryAllocatedMb;
        long memoryFreeMb;
        long gpus;

        NodeCounts() {
            MetricsText.NODES.forEach(name -> states.put(name, 0L));
        }

        private void count(String name) {
            states.merge(name, 1L, Long::sum);
        }

        void add(Node n, NodeInfo info) {
            count("");
            count(MetricsText.baseState(info.state()));
            info.flags().forEach(flag -> {
                if (!MetricsText.nodeFlag(flag).isEmpty()) {
                    count(MetricsText.nodeFlag(flag));
                }
            });
            if (n.has(Node.Flag.DRAIN)) {
                count(n.jobs().isEmpty() ? "drained" : "draining");
            }
            cpus += info.cpus();
            cpusEffective += info.cpusEffective();
            cpusAllocated += info.cpusAllocated();
            memoryMb += info.memoryMb();
            memoryEffectiveMb += Math.max(0, info.memoryMb() - info.memSpecLimitMb());
            memoryAllocatedMb += info.memoryAllocatedMb();
            memoryFreeMb += info.memoryFreeMb();
            gpus += n.gresCount("gpu", "");
        }
    }

    /**
     * Numbers of a partition.
     *
     * @param waiting the largest requests of its waiting jobs, by {@link MetricsText#WAITING}
     */
    private record PartitionCounts(JobCounts jobs, Map<String, Long> waiting) {}

    private void partitions(List<String> order) {
        out.put("slurm_partitions", "", order.size());
        Map<String, PartitionCounts> counts = new LinkedHashMap<>();
        order.forEach(name -> counts.put(name, new PartitionCounts(new JobCounts(), new LinkedHashMap<>())));
        for (Job job : state.jobs().values()) {
            for (String name : job.desc().partitionList()) {
                PartitionCounts of = counts.get(name);
                if (of != null) {
                    of.jobs.add(job);
                    wants(job, of.waiting);
                }
            }
        }
        counts.forEach((name, of) -> {
            String label = MetricsText.label("partition", name);
            of.jobs.print("slurm_partition_jobs", label);
            MetricsText.WAITING.forEach(
                    what -> out.put("slurm_partition_jobs_" + what, label, of.waiting.getOrDefault(what, 0L)));
            state.partitions().find(name).ifPresent(p -> nodesOf(p, label));
        });
    }

    /** Adds the largest request of a waiting job, for programs that add nodes on demand. */
    private void wants(Job job, Map<String, Long> largest) {
        if (!job.isPending()) {
            return;
        }
        long minNodes = Math.max(1, TresCounts.nodes(job));
        long maxNodes = Math.max(minNodes, job.desc().request().nodesMax());
        for (String suffix : job.isHeld() ? List.of("") : List.of("", "_nohold")) {
            largest.merge("max_job_nodes" + suffix, maxNodes, Long::max);
            largest.merge("min_job_nodes" + suffix, minNodes, Long::max);
        }
        if (reason.apply(job) == JobReason.PARTITION_NODE_LIMIT) {
            largest.merge("wait_part_node_limit", 1L, Long::sum);
        }
    }

    private void nodesOf(Partition p, String label) {
        NodeCounts all = new NodeCounts();
        p.nodes().forEach(name -> state.nodes().find(name).ifPresent(n -> all.add(n, nodeInfo.apply(n))));
        all.states.forEach(
                (name, value) -> out.put("slurm_partition_nodes" + MetricsText.ofPartition(name), label, value));
        out.put("slurm_partition_nodes_cpus_efctv", label, all.cpusEffective);
        out.put("slurm_partition_nodes_cpus_idle", label, Math.max(0, all.cpusEffective - all.cpusAllocated));
        out.put("slurm_partition_nodes_cpus_alloc", label, all.cpusAllocated);
        out.put("slurm_partition_nodes_mem_alloc", label, all.memoryAllocatedMb * MIB);
        out.put("slurm_partition_nodes_mem_avail", label, all.memoryEffectiveMb * MIB);
        out.put("slurm_partition_nodes_mem_free", label, all.memoryFreeMb * MIB);
        out.put("slurm_partition_nodes_mem_tot", label, all.memoryMb * MIB);
        out.put("slurm_partition_cpus", label, all.cpus);
        out.put("slurm_partition_gpus", label, all.gpus);
    }
}
