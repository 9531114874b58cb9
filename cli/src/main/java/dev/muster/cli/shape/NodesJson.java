package dev.muster.cli.shape;

import dev.muster.cli.format.NodeRows;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Shapes nodes and partitions as {@code slurm/v0.0.45} does. */
public final class NodesJson {
    private NodesJson() {}

    public static Json.Obj nodes(Names names, Json.Obj reply, List<Json.Obj> wanted) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj node : wanted) {
            out.add(node(names, node));
        }
        return new Json.Obj().put("nodes", out).put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    public static List<Object> states(Json.Obj node) {
        List<Object> states = Tree.texts(NodeRows.base(node));
        List<String> flags = node.texts("flags");
        for (String word : FLAGS) {
            if (flags.contains(word.equals("MAINTENANCE") ? "MAINT" : word)) {
                states.add(word);
            }
        }
        return states;
    }

    /** Sorts flags in the order of the data parser. */
    private static final List<String> FLAGS = List.of(
            "EXTERNAL",
            "RESERVED",
            "CLOUD",
            "DRAIN",
            "COMPLETING",
            "NOT_RESPONDING",
            "POWERED_DOWN",
            "FAIL",
            "POWERING_UP",
            "MAINTENANCE",
            "REBOOT_REQUESTED",
            "POWERING_DOWN",
            "DYNAMIC_FUTURE",
            "REBOOT_ISSUED",
            "PLANNED",
            "INVALID_REG",
            "POWER_DOWN",
            "POWER_UP",
            "DYNAMIC_NORM",
            "BLOCKED");

    private static final String[] TEXTS = {
        "architecture",
        "architecture",
        "burstbuffer_network_address",
        "bcastAddress",
        "extra",
        "extra",
        "gpu_spec",
        "",
        "gres",
        "gres",
        "gres_drained",
        "gresDrain",
        "gres_used",
        "gresUsed",
        "instance_id",
        "instanceId",
        "instance_type",
        "instanceType",
        "mcs_label",
        "mcsLabel",
        "name",
        "name",
        "address",
        "address",
        "hostname",
        "hostname",
        "operating_system",
        "operatingSystem",
        "comment",
        "comment",
        "reason",
        "reason",
        "reason_set_by_user",
        "reasonUser",
        "reservation",
        "reservation",
        "specialized_cpus",
        "cpuSpecList",
        "tres_used",
        "tresAllocated",
        "tres",
        "tresConfigured",
        "version",
        "version",
        "topology",
        "topology"
    };
    private static final String[] NUMBERS = {
        "boards",
        "boards",
        "cores",
        "coresPerSocket",
        "specialized_cores",
        "coreSpecCount",
        "cpu_load",
        "cpuLoad",
        "cpus",
        "cpus",
        "effective_cpus",
        "cpusEffective",
        "specialized_memory",
        "memSpecLimitMb",
        "port",
        "port",
        "real_memory",
        "memoryMb",
        "res_cores_per_gpu",
        "",
        "alloc_memory",
        "memoryAllocatedMb",
        "alloc_cpus",
        "cpusAllocated",
        "sockets",
        "sockets",
        "threads",
        "threadsPerCore",
        "temporary_disk",
        "tmpDiskMb",
        "weight",
        "weight"
    };
    private static final String[] TIMES = {
        "boot_time",
        "bootTime",
        "last_busy",
        "lastBusy",
        "reason_changed_at",
        "reasonTime",
        "resume_after",
        "resumeAfter",
        "slurmd_start_time",
        "slurmdStartTime",
        "tls_cert_last_renewal",
        "certTime"
    };

    private static Json.Obj node(Names names, Json.Obj row) {
        Json.Obj out = new Json.Obj();
        for (int i = 0; i < TEXTS.length; i += 2) {
            out.put(TEXTS[i], TEXTS[i + 1].isEmpty() ? "" : row.text(TEXTS[i + 1]));
        }
        for (int i = 0; i < NUMBERS.length; i += 2) {
            out.put(NUMBERS[i], NUMBERS[i + 1].isEmpty() ? 0L : row.number(NUMBERS[i + 1]));
        }
        for (int i = 0; i < TIMES.length; i += 2) {
            out.put(TIMES[i], Tree.number(TIMES[i + 1].isEmpty() ? 0 : row.number(TIMES[i + 1])));
        }
        // by its place among the words: 2 for threads up to 32 for none
        out.put("cpu_binding", 2L << BINDINGS.indexOf(row.text("cpuBind")) & 62);
        out.put("alloc_idle_cpus", Math.max(0, row.number("cpusEffective") - row.number("cpusAllocated")));
        out.put("free_mem", Tree.orUnset(row.number("memoryFreeMb")))
                .put(
                        "suspend_time",
                        row.text("suspendTime").isEmpty() ? Tree.infinite() : powerTime(row, "suspendTime"));
        out.put(
                "energy",
                new Json.Obj()
                        .put("average_watts", row.number("averageWatts"))
                        .put("base_consumed_energy", 0L)
                        .put("consumed_energy", 0L)
                        .put("current_watts", Tree.number(row.number("watts")))
                        .put("previous_consumed_energy", 0L)
                        .put("last_collected", 0L));
        out.put("gres_drained", row.text("gresDrain").isEmpty() ? "N/A" : row.text("gresDrain"));
        out.put("features", Tree.csv(row.text("features")))
                .put("active_features", Tree.csv(row.text("activeFeatures")));
        out.put("partitions", new ArrayList<Object>(row.texts("partitions"))).put("state", states(row));
        String next = NodeRows.nextState(row);
        String afterReboot = next.equals("DOWN") ? next : "UNKNOWN," + next;
        out.put("next_state_after_reboot", Tree.csv(next.isEmpty() ? "INVALID" : afterReboot))
                .put("cert_flags", Tree.csv(row.flag("certTokenSet") ? "TOKEN_SET" : ""));
        int owner = row.integer("owner");
        out.put("owner", owner <= 0 ? "" : names.user(owner));
        // only federated clusters have a name here
        out.put("cluster_name", "");
        return out;
    }

    public static Json.Obj partitions(Json.Obj reply, List<Json.Obj> wanted) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj partition : wanted) {
            out.add(partition(partition));
        }
        return new Json.Obj().put("partitions", out).put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    public static Json.Obj partition(Json.Obj partition) {
        Json.Obj out = new Json.Obj();
        out.put(
                "nodes",
                new Json.Obj()
                        .put("allowed_allocation", allowed(partition, "allocNodes"))
                        .put("configured", partition.text("nodes"))
                        .put("total", partition.number("totalNodes")));
        out.put(
                "accounts",
                new Json.Obj()
                        .put("allowed", allowed(partition, "allowAccounts"))
                        .put("deny", partition.text("denyAccounts")));
        out.put("groups", new Json.Obj().put("allowed", allowed(partition, "allowGroups")));
        out.put(
                "qos",
                new Json.Obj()
                        .put("allowed", allowed(partition, "allowQos"))
                        .put("deny", partition.text("denyQos"))
                        .put("assigned", partition.text("qos")));
        out.put("alternate", partition.text("alternate"));
        out.put(
                "tres",
                new Json.Obj()
                        .put("billing_weights", partition.text("tresBillingWeights"))
                        .put("configured", partition.text("tres")));
        out.put("cluster", "").put("select_type", Tree.texts("NONE"));
        out.put(
                "cpus",
                new Json.Obj()
                        .put("task_binding", bindings(partition.text("cpuBind")))
                        .put("total", partition.number("totalCpus")));
        out.put("defaults", defaults(partition));
        out.put("flags", flags(partition)).put("grace_time", partition.number("graceTimeSeconds"));
        out.put("maximums", maximums(partition));
        out.put("minimums", new Json.Obj().put("nodes", partition.number("minNodes")));
        out.put("name", partition.text("name")).put("node_sets", partition.text("nodeSets"));
        out.put("preempt_mode", preemption(partition.text("preemptModeSet")));
        out.put(
                "priority",
                new Json.Obj()
                        .put("job_factor", partition.number("priorityJobFactor"))
                        .put("tier", partition.number("priorityTier")));
        out.put(
                "timeouts",
                new Json.Obj()
                        .put("resume", powerTime(partition, "resumeTimeout"))
                        .put("suspend", powerTime(partition, "suspendTimeout")));
        out.put(
                "partition",
                new Json.Obj()
                        .put("state", Tree.texts(partition.text("state")))
                        .put("exclusive", exclusive(partition))
                        .put("oversubscribe", partition.text("overSubscribe")));
        out.put("topology", partition.text("topology")).put("suspend_time", powerTime(partition, "suspendTime"));
        return out;
    }

    private static Json.Obj defaults(Json.Obj partition) {
        return new Json.Obj()
                .put("memory_per_cpu", partition.number("defMemPerCpuMb"))
                .put("partition_memory_per_cpu", Tree.orUnset(partition.number("defMemPerCpuMb")))
                .put("partition_memory_per_node", perNode(partition, "defMemPerNodeMb", "defMemPerCpuMb"))
                .put(
                        "time",
                        partition.number("defaultTimeMin") == PartitionInfo.NO_TIME
                                ? Tree.number(0)
                                : Tree.limit(partition.number("defaultTimeMin")))
                .put("job", partition.text("jobDefaults"));
    }

    private static String exclusive(Json.Obj partition) {
        if (partition.flag("exclusiveNode")) {
            return "NODE";
        }
        if (partition.flag("exclusiveUser")) {
            return "USER";
        }
        return partition.flag("exclusiveTopo") ? "TOPO" : "NO";
    }

    /** Memory of each node unless the partition counts memory by CPU. */
    private static Json.Obj perNode(Json.Obj partition, String node, String cpu) {
        return partition.number(cpu) > 0 ? Tree.unset() : Tree.number(partition.number(node));
    }

    /** Returns the restriction, "" for ALL. */
    private static String allowed(Json.Obj partition, String field) {
        return partition.text(field).equals("ALL") ? "" : partition.text(field);
    }

    private static final List<String> BINDINGS = List.of("threads", "cores", "sockets", "ldoms", "none");

    /** @param number as a node's {@code cpu_binding} has it */
    public static Optional<String> binding(long number) {
        int place = Long.numberOfTrailingZeros(number) - 1;
        return Long.bitCount(number) == 1 && place >= 0 && place < BINDINGS.size()
                ? Optional.of(BINDINGS.get(place))
                : Optional.empty();
    }

    /**
     * Returns a partition's bindings as the number of data parsers before v0.0.45.
     *
     * @param words CPU_BIND_TO_CORES and so on
     */
    static Object bindings(List<?> words) {
        String word = words.getFirst()
                .toString()
                .toLowerCase(java.util.Locale.ROOT)
                .replace("cpu_bind_to_", "")
                .replace("cpu_bind_", "");
        return 2L << BINDINGS.indexOf(word) & 62;
    }

    private static List<Object> bindings(String word) {
        return switch (word) {
            case "" -> new ArrayList<>();
            case "none" -> Tree.texts("CPU_BIND_NONE");
            default -> Tree.texts("CPU_BIND_TO_" + word.toUpperCase(java.util.Locale.ROOT));
        };
    }

    /** Seconds, INFINITE, or the word for a value that is set elsewhere. */
    private static Json.Obj powerTime(Json.Obj out, String field) {
        String text = out.text(field);
        if (text.equals("INFINITE")) {
            return Tree.infinite();
        }
        if (text.matches("[0-9]+")) {
            return Tree.number(Long.parseLong(text));
        }
        return Tree.unset();
    }

    /** Returns how many jobs share a unit, from {@code NO}, {@code EXCLUSIVE}, {@code YES:4} or {@code FORCE:4}. */
    private static long shares(String overSubscribe) {
        int colon = overSubscribe.indexOf(':');
        String count = overSubscribe.substring(colon + 1);
        if (overSubscribe.equals("NO") || overSubscribe.startsWith("EXCLUSIVE")) {
            return 0;
        }
        if (colon > 0 && count.matches("[0-9]{1,5}")) {
            return Long.parseLong(count);
        }
        return 1;
    }

    private static Json.Obj overTime(long minutes) {
        if (minutes < 0) {
            return Tree.unset();
        }
        if (minutes == PartitionInfo.OVER_UNLIMITED) {
            return Tree.infinite();
        }
        return Tree.number(minutes);
    }

    private static List<Object> preemption(String modes) {
        if (modes.isEmpty()) {
            return Tree.texts("CLUSTER_GLOBAL");
        }
        return Tree.csv(modes.equals("OFF") ? "DISABLED" : modes);
    }

    private static List<Object> flags(Json.Obj partition) {
        String[] table = {
            "isDefault",
            "DEFAULT",
            "hidden",
            "HIDDEN",
            "disableRootJobs",
            "NO_ROOT",
            "rootOnly",
            "ROOT_ONLY",
            "requireReservation",
            "REQ_RESV",
            "leastLoadedNodes",
            "LLN",
            "powerDownOnIdle",
            "PDOI"
        };
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < table.length; i += 2) {
            if (partition.flag(table[i])) {
                out.add(table[i + 1]);
            }
        }
        return out;
    }

    private static Json.Obj maximums(Json.Obj partition) {
        return new Json.Obj()
                .put("cpus_per_node", unlimited(partition.number("maxCpusPerNode")))
                .put("cpus_per_socket", unlimited(partition.number("maxCpusPerSocket")))
                .put("memory_per_cpu", partition.number("maxMemPerCpuMb"))
                .put("partition_memory_per_cpu", Tree.orUnset(partition.number("maxMemPerCpuMb")))
                .put("partition_memory_per_node", perNode(partition, "maxMemPerNodeMb", "maxMemPerCpuMb"))
                .put(
                        "nodes",
                        partition.number("maxNodes") == 0 ? Tree.number(0) : unlimited(partition.number("maxNodes")))
                .put("shares", shares(partition.text("overSubscribe")))
                .put(
                        "oversubscribe",
                        new Json.Obj()
                                .put("jobs", shares(partition.text("overSubscribe")))
                                .put(
                                        "flags",
                                        partition.text("overSubscribe").startsWith("FORCE")
                                                ? Tree.texts("force")
                                                : new ArrayList<Object>()))
                .put(
                        "time",
                        partition.number("maxTimeMin") < 0
                                ? Tree.infinite()
                                : Tree.number(partition.number("maxTimeMin")))
                .put("over_time_limit", overTime(partition.number("overTimeLimitMin")));
    }

    /** @param n a limit; 0, less, or one of the numbers that stand for none is infinite */
    public static Json.Obj unlimited(long n) {
        return isUnlimited(n) ? Tree.infinite() : Tree.number(n);
    }

    private static boolean isUnlimited(long n) {
        return n <= 0 || n >= 0xffff_fffeL || n == Integer.MAX_VALUE;
    }
}
