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
        for (Json.Obj n : wanted) {
            out.add(node(names, n));
        }
        return new Json.Obj().put("nodes", out).put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    public static List<Object> states(Json.Obj n) {
        List<Object> states = Tree.texts(NodeRows.base(n));
        List<String> flags = n.texts("flags");
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

    private static Json.Obj node(Names names, Json.Obj n) {
        Json.Obj o = new Json.Obj();
        for (int i = 0; i < TEXTS.length; i += 2) {
            o.put(TEXTS[i], TEXTS[i + 1].isEmpty() ? "" : n.text(TEXTS[i + 1]));
        }
        for (int i = 0; i < NUMBERS.length; i += 2) {
            o.put(NUMBERS[i], NUMBERS[i + 1].isEmpty() ? 0L : n.number(NUMBERS[i + 1]));
        }
        for (int i = 0; i < TIMES.length; i += 2) {
            o.put(TIMES[i], Tree.number(TIMES[i + 1].isEmpty() ? 0 : n.number(TIMES[i + 1])));
        }
        // by its place among the words: 2 for threads up to 32 for none
        o.put("cpu_binding", 2L << BINDINGS.indexOf(n.text("cpuBind")) & 62);
        o.put("alloc_idle_cpus", Math.max(0, n.number("cpusEffective") - n.number("cpusAllocated")));
        o.put("free_mem", Tree.orUnset(n.number("memoryFreeMb")))
                .put("suspend_time", n.text("suspendTime").isEmpty() ? Tree.infinite() : powerTime(n, "suspendTime"));
        o.put(
                "energy",
                new Json.Obj()
                        .put("average_watts", n.number("averageWatts"))
                        .put("base_consumed_energy", 0L)
                        .put("consumed_energy", 0L)
                        .put("current_watts", Tree.number(n.number("watts")))
                        .put("previous_consumed_energy", 0L)
                        .put("last_collected", 0L));
        o.put("gres_drained", n.text("gresDrain").isEmpty() ? "N/A" : n.text("gresDrain"));
        o.put("features", Tree.csv(n.text("features"))).put("active_features", Tree.csv(n.text("activeFeatures")));
        o.put("partitions", new ArrayList<Object>(n.texts("partitions"))).put("state", states(n));
        String next = NodeRows.nextState(n);
        String afterReboot = next.equals("DOWN") ? next : "UNKNOWN," + next;
        o.put("next_state_after_reboot", Tree.csv(next.isEmpty() ? "INVALID" : afterReboot))
                .put("cert_flags", Tree.csv(n.flag("certTokenSet") ? "TOKEN_SET" : ""));
        int owner = n.integer("owner");
        o.put("owner", owner <= 0 ? "" : names.user(owner));
        // only federated clusters have a name here
        o.put("cluster_name", "");
        return o;
    }

    public static Json.Obj partitions(Json.Obj reply, List<Json.Obj> wanted) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj p : wanted) {
            out.add(partition(p));
        }
        return new Json.Obj().put("partitions", out).put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    public static Json.Obj partition(Json.Obj p) {
        Json.Obj o = new Json.Obj();
        o.put(
                "nodes",
                new Json.Obj()
                        .put("allowed_allocation", allowed(p, "allocNodes"))
                        .put("configured", p.text("nodes"))
                        .put("total", p.number("totalNodes")));
        o.put(
                "accounts",
                new Json.Obj().put("allowed", allowed(p, "allowAccounts")).put("deny", p.text("denyAccounts")));
        o.put("groups", new Json.Obj().put("allowed", allowed(p, "allowGroups")));
        o.put(
                "qos",
                new Json.Obj()
                        .put("allowed", allowed(p, "allowQos"))
                        .put("deny", p.text("denyQos"))
                        .put("assigned", p.text("qos")));
        o.put("alternate", p.text("alternate"));
        o.put(
                "tres",
                new Json.Obj()
                        .put("billing_weights", p.text("tresBillingWeights"))
                        .put("configured", p.text("tres")));
        o.put("cluster", "").put("select_type", Tree.texts("NONE"));
        o.put(
                "cpus",
                new Json.Obj().put("task_binding", bindings(p.text("cpuBind"))).put("total", p.number("totalCpus")));
        o.put("defaults", defaults(p));
        o.put("flags", flags(p)).put("grace_time", p.number("graceTimeSeconds"));
        o.put("maximums", maximums(p));
        o.put("minimums", new Json.Obj().put("nodes", p.number("minNodes")));
        o.put("name", p.text("name")).put("node_sets", p.text("nodeSets"));
        o.put("preempt_mode", preemption(p.text("preemptModeSet")));
        o.put(
                "priority",
                new Json.Obj().put("job_factor", p.number("priorityJobFactor")).put("tier", p.number("priorityTier")));
        o.put(
                "timeouts",
                new Json.Obj()
                        .put("resume", powerTime(p, "resumeTimeout"))
                        .put("suspend", powerTime(p, "suspendTimeout")));
        o.put(
                "partition",
                new Json.Obj()
                        .put("state", Tree.texts(p.text("state")))
                        .put("exclusive", exclusive(p))
                        .put("oversubscribe", p.text("overSubscribe")));
        o.put("topology", p.text("topology")).put("suspend_time", powerTime(p, "suspendTime"));
        return o;
    }

    private static Json.Obj defaults(Json.Obj p) {
        return new Json.Obj()
                .put("memory_per_cpu", p.number("defMemPerCpuMb"))
                .put("partition_memory_per_cpu", Tree.orUnset(p.number("defMemPerCpuMb")))
                .put("partition_memory_per_node", perNode(p, "defMemPerNodeMb", "defMemPerCpuMb"))
                .put(
                        "time",
                        p.number("defaultTimeMin") == PartitionInfo.NO_TIME
                                ? Tree.number(0)
                                : Tree.limit(p.number("defaultTimeMin")))
                .put("job", p.text("jobDefaults"));
    }

    private static String exclusive(Json.Obj p) {
        if (p.flag("exclusiveNode")) {
            return "NODE";
        }
        if (p.flag("exclusiveUser")) {
            return "USER";
        }
        return p.flag("exclusiveTopo") ? "TOPO" : "NO";
    }

    /** Memory of each node unless the partition counts memory by CPU. */
    private static Json.Obj perNode(Json.Obj p, String node, String cpu) {
        return p.number(cpu) > 0 ? Tree.unset() : Tree.number(p.number(node));
    }

    /** Returns the restriction, "" for ALL. */
    private static String allowed(Json.Obj p, String field) {
        return p.text(field).equals("ALL") ? "" : p.text(field);
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

    /** Seconds, INFINITE, or one of the words for what is said elsewhere. */
    private static Json.Obj powerTime(Json.Obj o, String field) {
        String text = o.text(field);
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

    private static List<Object> flags(Json.Obj p) {
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
            if (p.flag(table[i])) {
                out.add(table[i + 1]);
            }
        }
        return out;
    }

    private static Json.Obj maximums(Json.Obj p) {
        return new Json.Obj()
                .put("cpus_per_node", unlimited(p.number("maxCpusPerNode")))
                .put("cpus_per_socket", unlimited(p.number("maxCpusPerSocket")))
                .put("memory_per_cpu", p.number("maxMemPerCpuMb"))
                .put("partition_memory_per_cpu", Tree.orUnset(p.number("maxMemPerCpuMb")))
                .put("partition_memory_per_node", perNode(p, "maxMemPerNodeMb", "maxMemPerCpuMb"))
                .put("nodes", p.number("maxNodes") == 0 ? Tree.number(0) : unlimited(p.number("maxNodes")))
                .put("shares", shares(p.text("overSubscribe")))
                .put(
                        "oversubscribe",
                        new Json.Obj()
                                .put("jobs", shares(p.text("overSubscribe")))
                                .put(
                                        "flags",
                                        p.text("overSubscribe").startsWith("FORCE")
                                                ? Tree.texts("force")
                                                : new ArrayList<Object>()))
                .put("time", p.number("maxTimeMin") < 0 ? Tree.infinite() : Tree.number(p.number("maxTimeMin")))
                .put("over_time_limit", overTime(p.number("overTimeLimitMin")));
    }

    /** @param n a limit; 0, less, or one of the numbers that stand for none is infinite */
    public static Json.Obj unlimited(long n) {
        return isUnlimited(n) ? Tree.infinite() : Tree.number(n);
    }

    private static boolean isUnlimited(long n) {
        return n <= 0 || n >= 0xffff_fffeL || n == Integer.MAX_VALUE;
    }
}
