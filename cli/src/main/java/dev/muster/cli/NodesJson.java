package dev.muster.cli;

import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.List;

/** Nodes and partitions in the shapes of {@code slurm/v0.0.45}. */
final class NodesJson {
    private NodesJson() {}

    static Json.Obj nodes(CommandContext c, Json.Obj reply, List<Json.Obj> wanted) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj n : wanted) {
            out.add(node(c, n));
        }
        return new Json.Obj().put("nodes", out).put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    static List<Object> states(Json.Obj n) {
        List<Object> states = Tree.texts(NodeRows.base(n));
        for (String f : n.texts("flags")) {
            if (!f.startsWith("NEXT_")) {
                states.add(f.equals("MAINT") ? "MAINTENANCE" : f);
            }
        }
        return states;
    }

    private static final String[] TEXTS = {"architecture", "architecture", "burstbuffer_network_address", "", "extra",
            "extra",
        "gpu_spec", "", "gres", "gres", "gres_drained", "gresDrain", "gres_used", "gresUsed", "instance_id", "",
        "instance_type", "", "mcs_label", "mcsLabel", "name", "name", "address", "address", "hostname", "hostname",
        "operating_system", "operatingSystem", "comment", "comment", "reason", "reason", "reason_set_by_user",
                "reasonUser",
        "reservation", "", "specialized_cpus", "cpuSpecList", "tres_used", "tresAllocated", "tres", "tresConfigured",
        "version", "version", "topology", "topology"};
    private static final String[] NUMBERS = {"boards", "boards", "cores", "coresPerSocket", "specialized_cores",
            "coreSpecCount",
        "cpu_binding", "", "cpu_load", "cpuLoad", "cpus", "cpus", "effective_cpus", "cpusEffective",
        "specialized_memory", "memSpecLimitMb", "port", "port", "real_memory", "memoryMb", "res_cores_per_gpu", "",
        "alloc_memory", "memoryAllocatedMb", "alloc_cpus", "cpusAllocated", "sockets", "sockets", "threads",
                "threadsPerCore",
        "temporary_disk", "tmpDiskMb", "weight", "weight"};
    private static final String[] TIMES = {"boot_time", "bootTime", "last_busy", "lastBusy", "reason_changed_at",
            "reasonTime",
        "resume_after", "resumeAfter", "slurmd_start_time", "slurmdStartTime", "tls_cert_last_renewal", ""};

    private static Json.Obj node(CommandContext c, Json.Obj n) {
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
        o.put("alloc_idle_cpus", Math.max(0, n.number("cpusEffective") - n.number("cpusAllocated")));
        o.put("free_mem", Tree.orUnset(n.number("memoryFreeMb"))).put("suspend_time", Tree.unset());
        if (n.flag("metered")) {
            o.put("energy", new Json.Obj().put("average_watts", n.number("averageWatts")).put("current_watts", Tree.number(n.number("watts"))));
        }
        o.put("features", Tree.csv(n.text("features"))).put("active_features", Tree.csv(n.text("activeFeatures")));
        o.put("partitions", new ArrayList<Object>(n.texts("partitions"))).put("state", states(n));
        o.put("next_state_after_reboot",
                Tree.csv(NodeRows.has(n, "NEXT_DOWN") ? "DOWN" : NodeRows.has(n, "NEXT_RESUME") ? "RESUME" : ""))
                .put("cert_flags", new ArrayList<Object>());
        int owner = n.integer("owner");
        o.put("owner", owner <= 0 ? "" : c.host().userName(owner));
        o.put("cluster_name", c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst());
        return o;
    }

    static Json.Obj partitions(Json.Obj reply, List<Json.Obj> wanted) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj p : wanted) {
            out.add(partition(p));
        }
        return new Json.Obj().put("partitions", out).put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    private static Json.Obj partition(Json.Obj p) {
        Json.Obj o = new Json.Obj();
        o.put("nodes", new Json.Obj().put("allowed_allocation", p.text("allocNodes")).put("configured", p.text("nodes"))
                .put("total", p.number("totalNodes")));
        o.put("accounts", new Json.Obj().put("allowed", p.text("allowAccounts")).put("deny", p.text("denyAccounts")));
        o.put("groups", new Json.Obj().put("allowed", p.text("allowGroups")));
        o.put("qos", new Json.Obj().put("allowed", p.text("allowQos")).put("deny", p.text("denyQos"))
                .put("assigned", p.text("qos")));
        o.put("alternate", p.text("alternate"));
        o.put("tres", new Json.Obj().put("billing_weights", p.text("tresBillingWeights")).put("configured",
                p.text("tres")));
        o.put("cluster", "").put("select_type", new ArrayList<Object>());
        o.put("cpus", new Json.Obj().put("task_binding", new ArrayList<Object>()).put("total", p.number("totalCpus")));
        o.put("defaults", new Json.Obj().put("memory_per_cpu", p.number("defMemPerCpuMb"))
                .put("partition_memory_per_cpu", Tree.orUnset(p.number("defMemPerCpuMb")))
                .put("partition_memory_per_node", Tree.orUnset(p.number("defMemPerNodeMb")))
                .put("time", Tree.limit(p.number("defaultTimeMin"))).put("job", p.text("jobDefaults")));
        o.put("flags", flags(p)).put("grace_time", p.number("graceTimeSeconds"));
        o.put("maximums", maximums(p));
        o.put("minimums", new Json.Obj().put("nodes", p.number("minNodes")));
        o.put("name", p.text("name")).put("node_sets", p.text("nodeSets"));
        o.put("preempt_mode", Tree.texts(p.text("preemptMode").isEmpty() ? "OFF" : p.text("preemptMode")));
        o.put("priority", new Json.Obj().put("job_factor", p.number("priorityJobFactor")).put("tier",
                p.number("priorityTier")));
        o.put("timeouts", new Json.Obj().put("resume", Tree.unset()).put("suspend", Tree.unset()));
        o.put("partition", new Json.Obj().put("state", Tree.texts(p.text("state")))
                .put("exclusive", p.flag("exclusiveUser") ? "user" : p.flag("exclusiveTopo") ? "topo" : "")
                .put("oversubscribe", p.text("overSubscribe")));
        o.put("topology", "").put("suspend_time", Tree.unset());
        return o;
    }

    private static List<Object> flags(Json.Obj p) {
        String[] table = {"isDefault", "DEFAULT", "hidden", "HIDDEN", "disableRootJobs", "NO_ROOT", "rootOnly",
                "ROOT_ONLY",
            "requireReservation", "REQ_RESV", "leastLoadedNodes", "LLN", "exclusiveUser", "EXCLUSIVE_USER",
            "exclusiveTopo", "EXCLUSIVE_TOPO"};
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < table.length; i += 2) {
            if (p.flag(table[i])) {
                out.add(table[i + 1]);
            }
        }
        return out;
    }

    private static Json.Obj maximums(Json.Obj p) {
        return new Json.Obj().put("cpus_per_node", unlimited(p.number("maxCpusPerNode")))
                .put("cpus_per_socket", unlimited(p.number("maxCpusPerSocket"))).put("memory_per_cpu",
                        p.number("maxMemPerCpuMb"))
                .put("partition_memory_per_cpu", Tree.orUnset(p.number("maxMemPerCpuMb")))
                .put("partition_memory_per_node", Tree.orUnset(p.number("maxMemPerNodeMb")))
                .put("nodes", unlimited(p.number("maxNodes"))).put("shares", 1L)
                .put("oversubscribe", new Json.Obj().put("jobs", 1L).put("flags", new ArrayList<Object>()))
                .put("time", p.number("maxTimeMin") <= 0 ? Tree.infinite() : Tree.number(p.number("maxTimeMin")))
                .put("over_time_limit", Tree.limit(p.number("overTimeLimitMin")));
    }

    private static Json.Obj unlimited(long n) {
        return ShowText.orUnlimited(n).equals("UNLIMITED") ? Tree.infinite() : Tree.number(n);
    }

    /** One group of nodes of sinfo. */
    static Json.Obj row(CommandContext c, SinfoRow r) {
        Json.Obj n = r.first();
        int[] counts = r.counts();
        List<String> cpus = Texts.split(r.cpus(), '/');
        Json.Obj out = new Json.Obj();
        out.put("port", n.number("port")).put("node", new Json.Obj().put("state", r.nodes.isEmpty()
                ? List.of() : states(n)));
        out.put("nodes", new Json.Obj().put("allocated", (long) counts[0]).put("idle", (long) counts[1])
                .put("other", (long) counts[2]).put("total", (long) r.nodes.size())
                .put("hostnames", Tree.hosts(r.each("hostname"))).put("addresses", Tree.hosts(r.each("address")))
                .put("nodes", Tree.hosts(r.list())));
        out.put("cpus", new Json.Obj().put("allocated", Long.parseLong(cpus.get(0))).put("idle",
                Long.parseLong(cpus.get(1)))
                .put("other", Long.parseLong(cpus.get(2))).put("total", Long.parseLong(cpus.get(3)))
                .put("minimum", r.min("cpus")).put("maximum", r.max("cpus")).put("load", spread(r, "cpuLoad"))
                .put("per_node", new Json.Obj().put("max", Tree.infinite())));
        out.put("sockets", spread(r, "sockets")).put("cores", spread(r, "coresPerSocket"));
        out.put("threads", spread(r, "threadsPerCore")).put("disk", spread(r, "tmpDiskMb"));
        out.put("memory", spread(r, "memoryMb").put("allocated", n.number("memoryAllocatedMb"))
                .put("free", new Json.Obj().put("minimum", Tree.number(r.min("memoryFreeMb")))
                        .put("maximum", Tree.number(r.max("memoryFreeMb")))));
        out.put("weight", spread(r, "weight"));
        out.put("features", new Json.Obj().put("total", n.text("features")).put("active", n.text("activeFeatures")));
        out.put("gres", new Json.Obj().put("total", n.text("gres")).put("used", n.text("gresUsed")));
        out.put("reason", new Json.Obj().put("description", n.text("reason"))
                .put("time", Tree.number(n.number("reasonTime"))).put("user", n.text("reasonUser")));
        out.put("partition", partition(r.partition)).put("comment", n.text("comment")).put("extra", n.text("extra"));
        out.put("cluster", c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst()).put("reservation", "");
        return out;
    }

    private static Json.Obj spread(SinfoRow r, String field) {
        return new Json.Obj().put("minimum", r.min(field)).put("maximum", r.max(field));
    }
}
