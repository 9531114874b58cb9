package dev.muster.cli;

import dev.muster.model.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** {@code --json}: nodes and jobs in the shape of Slurm's data_parser, with the fields that this cluster knows. */
final class RecordsJson {
    private static final String PARSER = "data_parser/v0.0.45";

    private RecordsJson() {}

    /** Prints the records under their name, with what Slurm says of itself around them. */
    static int print(CommandContext c, String name, List<Object> records, long lastUpdate) {
        String[] version = Standard.VERSION.substring(Standard.VERSION.indexOf(' ') + 1).split("\\.");
        Json.Obj plugin = new Json.Obj().put("type", "").put("name", "").put("data_parser", PARSER)
                .put("accounting_storage", "");
        Json.Obj client = new Json.Obj().put("source", "").put("user", c.host().userName(c.host().uid())).put("group", "");
        Json.Obj slurm = new Json.Obj()
                .put("version", new Json.Obj().put("major", version[0]).put("micro", version[2]).put("minor", version[1]))
                .put("release", String.join(".", version))
                .put("cluster", c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst());
        Json.Obj meta = new Json.Obj().put("plugin", plugin).put("client", client)
                .put("command", new ArrayList<Object>(c.args())).put("slurm", slurm);
        Json.Obj all = new Json.Obj().put(name, records).put("last_update", known(lastUpdate)).put("meta", meta)
                .put("errors", List.of()).put("warnings", List.of());
        c.out().println(new String(Json.print(all), StandardCharsets.UTF_8));
        return 0;
    }

    static Json.Obj known(long n) {
        return number(true, false, n);
    }

    /** Negative stands for "no limit". */
    private static Json.Obj limit(long n) {
        return n < 0 ? number(true, true, 0) : known(n);
    }

    private static Json.Obj unlessZero(long n) {
        return number(n != 0, false, n);
    }

    private static Json.Obj number(boolean set, boolean infinite, long n) {
        return new Json.Obj().put("set", set).put("infinite", infinite).put("number", n);
    }

    private static List<Object> list(String commas) {
        return commas.isEmpty() ? List.of() : new ArrayList<>(Texts.split(commas, ','));
    }

    private static void copy(Json.Obj from, Json.Obj to, String... pairs) {
        for (int i = 0; i < pairs.length; i += 2) {
            to.put(pairs[i + 1], from.text(pairs[i]));
        }
    }

    private static void numbers(Json.Obj from, Json.Obj to, String... pairs) {
        for (int i = 0; i < pairs.length; i += 2) {
            to.put(pairs[i + 1], from.number(pairs[i]));
        }
    }

    private static void maybe(Json.Obj from, Json.Obj to, String... pairs) {
        for (int i = 0; i < pairs.length; i += 2) {
            to.put(pairs[i + 1], unlessZero(from.number(pairs[i])));
        }
    }

    private static void times(Json.Obj from, Json.Obj to, String... pairs) {
        for (int i = 0; i < pairs.length; i += 2) {
            to.put(pairs[i + 1], known(from.number(pairs[i])));
        }
    }

    static Json.Obj node(Json.Obj n) {
        Json.Obj o = new Json.Obj();
        copy(n, o, "architecture", "architecture");
        times(n, o, "bootTime", "boot_time", "lastBusy", "last_busy", "slurmdStartTime", "slurmd_start_time", "reasonTime",
                "reason_changed_at");
        numbers(n, o, "boards", "boards", "coresPerSocket", "cores", "cpusAllocated", "alloc_cpus", "cpus", "cpus",
                "cpusEffective", "effective_cpus", "memoryMb", "real_memory", "memoryAllocatedMb", "alloc_memory",
                "coreSpecCount", "specialized_cores", "memSpecLimitMb", "specialized_memory", "sockets", "sockets",
                "threadsPerCore", "threads", "tmpDiskMb", "temporary_disk", "weight", "weight", "port", "port");
        copy(n, o, "comment", "comment", "extra", "extra", "gres", "gres", "gresUsed", "gres_used", "name", "name", "address",
                "address", "hostname", "hostname", "operatingSystem", "operating_system", "reason", "reason", "reasonUser",
                "reason_set_by_user", "tresConfigured", "tres", "tresAllocated", "tres_used", "version", "version",
                "cpuSpecList", "specialized_cpus");
        o.put("cpu_load", n.number("cpuLoad")).put("free_mem", known(n.number("memoryFreeMb")));
        o.put("alloc_idle_cpus", Math.max(0, n.number("cpusEffective") - n.number("cpusAllocated")));
        o.put("features", list(n.text("features"))).put("active_features", list(n.text("activeFeatures")));
        o.put("partitions", new ArrayList<Object>(n.texts("partitions")));
        List<Object> state = new ArrayList<>();
        state.add(n.text("state"));
        state.addAll(n.texts("flags"));
        o.put("state", state);
        return o;
    }

    static Json.Obj job(Json.Obj j) {
        Json.Obj o = new Json.Obj();
        copy(j, o, "account", "account", "adminComment", "admin_comment", "batchHost", "batch_host", "burstBuffer",
                "burst_buffer", "command", "command", "comment", "comment", "container", "container", "features", "features",
                "prefer", "prefer", "dependency", "dependency", "excludeList", "excluded_nodes", "extra", "extra", "groupName",
                "group_name", "licenses", "licenses", "mailUser", "mail_user", "mcsLabel", "mcs_label", "name", "name",
                "network", "network", "nodes", "nodes", "nodeList", "required_nodes", "partition", "partition", "qos", "qos",
                "reservation", "resv_name", "stdin", "standard_input", "stdout", "standard_output", "stderr",
                "standard_error", "reasonText", "state_description", "submitLine", "submit_line", "tresPerJob", "tres_per_job",
                "tresPerNode", "tres_per_node", "tresPerSocket", "tres_per_socket", "tresPerTask", "tres_per_task",
                "tresRequested", "tres_req_str", "tresAlloc", "tres_alloc_str", "userName", "user_name", "wckey", "wckey",
                "workDir", "current_working_directory", "submitHost", "allocating_node");
        numbers(j, o, "groupId", "group_id", "userId", "user_id", "jobId", "job_id", "nice", "nice", "restarts",
                "restart_cnt", "arrayMaxRunning", "max_simultaneous_tasks");
        times(j, o, "accrueTime", "accrue_time", "deadline", "deadline", "eligibleTime", "eligible_time", "endTime",
                "end_time", "preemptTime", "preempt_time", "suspendTime", "suspend_time", "startTime", "start_time",
                "submitTime", "submit_time", "preSuspendSeconds", "pre_sus_time", "lastSchedEval", "last_sched_evaluation",
                "cpus", "cpus", "nodeCount", "node_count", "tasks", "tasks", "priority", "priority");
        maybe(j, o, "cpusPerTask", "cpus_per_task", "tasksPerNode", "tasks_per_node", "memPerNodeMb", "memory_per_node",
                "memPerCpuMb", "memory_per_cpu", "timeMinMin", "time_minimum", "nodeCountMax", "max_nodes");
        boolean array = !j.text("arrayTasks").isEmpty();
        o.put("array_job_id", known(j.number("arrayJobId")));
        o.put("array_task_id", number(j.number("arrayJobId") != 0 && !array, false, Math.max(0, j.number("arrayTaskId"))));
        o.put("array_task_string", j.text("arrayTasks"));
        o.put("time_limit", limit(j.number("timeLimitMin")));
        o.put("batch_flag", j.flag("batch")).put("requeue", j.flag("requeue")).put("hold", j.flag("held"));
        o.put("contiguous", j.flag("contiguous"));
        o.put("state_reason", JobRows.reason(j));
        o.put("exit_code", exit(j.obj("exit"))).put("derived_exit_code", exit(j.obj("derivedExit")));
        List<Object> state = new ArrayList<>();
        state.add(j.text("state"));
        state.addAll(j.texts("flags"));
        o.put("job_state", state);
        return o;
    }

    private static Json.Obj exit(Json.Obj exit) {
        int signal = exit.integer("signal");
        String status = signal != 0 ? "SIGNALED" : exit.integer("code") != 0 ? "ERROR" : "SUCCESS";
        return new Json.Obj().put("status", List.of(status)).put("return_code", known(exit.integer("code")))
                .put("signal", new Json.Obj().put("id", number(signal != 0, false, signal))
                        .put("name", signal == 0 ? "" : Signals.name(signal)));
    }
}
