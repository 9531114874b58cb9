package dev.muster.benchmarks;

import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The nodes, partitions, topology and limits of the cluster that {@link SchedulingBenchmark} plans for. */
final class BenchmarkCluster {
    static final int USERS = 400;
    static final int LEAF = 40;

    // the twenty kinds of node: half old, six new, two with GPUs, two with much memory
    private static final int[] CPUS = {
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 128, 128, 128, 128, 128, 128, 96, 96, 96, 96
    };
    private static final long[] MEMORY_MB = {
        256_000, 256_000, 256_000, 256_000, 256_000, 256_000, 256_000, 256_000, 512_000, 512_000,
        512_000, 512_000, 512_000, 512_000, 512_000, 512_000, 1_000_000, 1_000_000, 1_000_000, 4_000_000
    };
    private static final int[] GPUS = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0};

    private BenchmarkCluster() {}

    static Node.Spec node(int i) {
        int kind = i % CPUS.length;
        int cpus = CPUS[kind];
        long memory = MEMORY_MB[kind];
        int gpus = GPUS[kind];
        List<Node.Gres> gres =
                gpus == 0 ? List.of() : List.of(new Node.Gres("gpu", "", 0, gpus, "", List.of(), List.of(), List.of()));
        String name = "n" + i;
        return new Node.Spec(
                name,
                name,
                name,
                1,
                cpus,
                1,
                2,
                cpus / 2,
                1,
                cpus,
                1,
                memory,
                0,
                0,
                kind < 10 ? List.of("old") : List.of("new", "fast"),
                1,
                gres,
                IndexSet.empty(),
                "UNKNOWN",
                "",
                i);
    }

    static Topology tree(List<Node.Spec> nodes) {
        List<Topology.Switch> switches = new ArrayList<>();
        List<String> leaves = new ArrayList<>();
        List<String> all = new ArrayList<>();
        for (int from = 0; from < nodes.size(); from += LEAF) {
            List<String> own = nodes.subList(from, Math.min(nodes.size(), from + LEAF)).stream()
                    .map(Node.Spec::name)
                    .toList();
            switches.add(new Topology.Switch("s" + from, 0, 1, own, List.of()));
            leaves.add("s" + from);
            all.addAll(own);
        }
        switches.add(new Topology.Switch("root", 1, 1, all, leaves));
        return new Topology("", Topology.Kind.TREE, switches, List.of(), List.of(), List.of(), false);
    }

    static Partition partition(String name, int tier, List<Node.Spec> nodes, Predicate<Node.Spec> of) {
        Json.Obj info = new Json.Obj()
                .put("name", name)
                .put("isDefault", name.equals("main"))
                .put("state", "UP")
                .put("maxTimeMin", 10080L)
                .put("maxNodes", -1L)
                .put("maxCpusPerNode", -1L)
                .put("overTimeLimitMin", -1L)
                .put("priorityTier", (long) tier)
                .put("allowGroups", "ALL")
                .put("allowAccounts", "ALL")
                .put("allowQos", "ALL")
                .put("allocNodes", "ALL")
                .put("overSubscribe", "NO")
                .put("defMemPerCpuMb", 2000L);
        return new Partition(
                Codec.bind(info, PartitionInfo.class),
                nodes.stream().filter(of).map(Node.Spec::name).toList());
    }

    /** Limits that hold some back in a cluster of that size, and not all. */
    static Policy policy(int nodeCount) {
        int scale = Math.max(1, nodeCount / 10_000);
        List<AssocPolicy> assocs = new ArrayList<>();
        List<String> qos = List.of("normal", "low", "high");
        assocs.add(new AssocPolicy(1, 0, "root", "", "", false, Map.of(), qos, ""));
        int id = 2;
        for (int a = 0; a < USERS / 10; a++) {
            int account = id++;
            assocs.add(new AssocPolicy(
                    account, 1, "a" + a, "", "", false, Map.of("GrpTRES", "cpu=" + 60_000 * scale), qos, ""));
            for (int u = 0; u < 10; u++) {
                assocs.add(new AssocPolicy(
                        id++,
                        account,
                        "a" + a,
                        "u" + (a * 10 + u),
                        "",
                        true,
                        Map.of("MaxJobs", Integer.toString(5000 * scale)),
                        qos,
                        ""));
            }
        }
        return new Policy(
                assocs,
                List.of(
                        new QosPolicy(1, "normal", Map.of("Priority", "10", "Preempt", "low")),
                        new QosPolicy(2, "low", Map.of()),
                        new QosPolicy(
                                3,
                                "high",
                                Map.of("Priority", "100", "Preempt", "low", "MaxTRESPU", "cpu=" + 20_000 * scale))),
                List.of(),
                List.of());
    }

    /** Limits of every kind, so high that no job reaches one. */
    static Policy generous() {
        Map<String, String> above = Map.of(
                "GrpTRES",
                "cpu=90000000",
                "GrpJobs",
                "9000000",
                "GrpSubmit",
                "9000000",
                "GrpTRESMins",
                "cpu=900000000000",
                "GrpTRESRunMins",
                "cpu=900000000000",
                "GrpWall",
                "900000000");
        Map<String, String> own = Map.of(
                "MaxJobs",
                "9000000",
                "MaxSubmit",
                "9000000",
                "MaxTRES",
                "cpu=900000",
                "MaxTRESPerNode",
                "cpu=9000",
                "MaxTRESMins",
                "cpu=9000000000",
                "MaxWall",
                "90000",
                "GrpTRES",
                "cpu=90000000");
        Map<String, String> qos = Map.of(
                "GrpTRES",
                "cpu=90000000",
                "MaxTRESPU",
                "cpu=90000000",
                "MaxJobsPU",
                "9000000",
                "MaxTRESPA",
                "cpu=90000000",
                "MaxTRES",
                "cpu=900000",
                "GrpTRESRunMins",
                "cpu=900000000000");
        Policy p = policy(0);
        return new Policy(
                p.assocs().stream()
                        .map(a -> new AssocPolicy(
                                a.id(),
                                a.parentId(),
                                a.account(),
                                a.user(),
                                a.partition(),
                                a.isDefault(),
                                a.user().isEmpty() ? above : own,
                                a.qos(),
                                a.defaultQos()))
                        .toList(),
                p.qos().stream().map(q -> new QosPolicy(q.id(), q.name(), qos)).toList(),
                List.of(),
                List.of());
    }
}
