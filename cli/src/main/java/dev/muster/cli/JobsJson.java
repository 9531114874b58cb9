package dev.muster.cli;

import dev.muster.model.Sluid;
import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.List;

/** Jobs in the shape of {@code slurm/v0.0.45/jobs}: squeue and {@code scontrol show job}. */
final class JobsJson {
    private JobsJson() {}

    static Json.Obj answer(CommandContext c, Json.Obj reply) {
        List<Object> jobs = new ArrayList<>();
        for (Json.Obj j : reply.objects("jobs")) {
            jobs.add(job(c, j));
        }
        return new Json.Obj().put("jobs", jobs).put("last_backfill", Tree.unset())
                .put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    static Json.Obj job(CommandContext c, Json.Obj j) {
        Json.Obj o = new Json.Obj();
        boolean over = !JobRows.isUnfinished(j);
        texts(o, j);
        int array = j.integer("arrayJobId");
        o.put("array_job_id", Tree.number(array));
        o.put("array_task_id", JobRows.taskId(j) < 0 ? Tree.unset() : Tree.number(JobRows.taskId(j)));
        o.put("array_max_tasks", Tree.number(j.number("arrayMaxRunning")));
        o.put("array_task_string", JobRows.arrayTasks(j));
        o.put("het_job_id", Tree.number(j.number("hetJobId"))).put("het_job_offset",
                Tree.number(j.number("hetOffset")));
        o.put("job_id", j.number("jobId")).put("user_id", j.number("userId")).put("group_id", j.number("groupId"));
        o.put("association_id", 0L).put("nice", j.number("nice")).put("restart_cnt", j.number("restarts"));
        o.put("required_switches", 0L).put("segment_size", 0L).put("memory_update_delay", 0L)
                .put("memory_update_margin", 0L);
        o.put("maximum_switch_wait_time", 0L).put("sockets_per_board", 0L);
        o.put("core_spec", j.number("coreSpec")).put("thread_spec", j.number("threadSpec"));
        o.put("batch_flag", j.flag("batch")).put("contiguous", j.flag("contiguous")).put("hold", j.flag("held"));
        o.put("reboot", Boolean.FALSE).put("requeue", j.flag("requeue"));
        times(o, j);
        counts(o, j);
        List<Object> states = Tree.texts(j.text("state"));
        states.addAll(j.texts("flags"));
        o.put("job_state", states).put("flags", new ArrayList<Object>());
        o.put("exit_code", Tree.exit(j.obj("exit"), !over)).put("derived_exit_code", Tree.exit(j.obj("derivedExit"),
                !over));
        o.put("mail_type", Tree.csv(j.text("mailType"))).put("profile", Tree.texts("NOT_SET"));
        o.put("shared", new ArrayList<Object>()).put("gres_detail", new ArrayList<Object>());
        o.put("job_size_str", new ArrayList<Object>()).put("priority_by_partition", new ArrayList<Object>());
        o.put("step_id", new Json.Obj().put("sluid", Sluid.text(j.number("sluid"))).put("job_id",
                Tree.number(j.number("jobId")))
                .put("step_het_component", Tree.unset()).put("step_id", "TBD"));
        o.put("cluster", c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst());
        if (!j.text("nodes").isEmpty()) {
            o.put("job_resources", resources(j));
        }
        return o;
    }

    /** Names of the answer and the components they come from; "" where this cluster has none. */
    private static final String[] TEXTS = {"account", "account", "admin_comment", "adminComment", "allocating_node",
            "submitHost",
        "batch_features", "", "batch_host", "batchHost", "burst_buffer", "burstBuffer", "burst_buffer_state", "",
        "cluster_features", "", "command", "command", "comment", "comment", "container", "container", "container_id",
                "containerId",
        "cpus_per_tres", "", "cron", "cronSpec", "dependency", "dependency", "excluded_nodes", "excludeList", "extra", "extra",
        "failed_node", "", "features", "features", "federation_origin", "", "federation_siblings_active", "",
        "federation_siblings_viable", "", "group_name", "groupName", "het_job_id_set", "", "licenses", "licenses",
        "licenses_allocated", "licensesAlloc", "mail_user", "mailUser", "mcs_label", "mcsLabel", "memory_per_tres", "", "name",
                "name",
        "network", "network", "nodes", "nodes", "partition", "partition", "prefer", "prefer", "qos", "qos",
        "required_nodes", "nodeListRequested", "resv_name", "reservation", "scheduled_nodes", "schedNodes",
        "selinux_context", "", "state_description", "reasonText", "standard_input", "stdin", "standard_output",
                "stdout",
        "standard_error", "stderr", "stdin_expanded", "stdin", "stdout_expanded", "stdout", "stderr_expanded", "stderr",
        "submit_line", "submitLine", "system_comment", "", "tres_bind", "tresBind", "tres_freq", "", "tres_per_job",
                "tresPerJob",
        "tres_per_node", "tresPerNode", "tres_per_socket", "tresPerSocket", "tres_per_task", "tresPerTask",
        "tres_req_str", "tresRequested", "tres_alloc_str", "tresAlloc", "user_name", "userName", "wckey", "wckey",
        "current_working_directory", "workDir"};

    private static void texts(Json.Obj o, Json.Obj j) {
        for (int i = 0; i < TEXTS.length; i += 2) {
            o.put(TEXTS[i], TEXTS[i + 1].isEmpty() ? "" : j.text(TEXTS[i + 1]));
        }
        o.put("state_reason", JobRows.reason(j));
    }

    private static final String[] TIMES = {"accrue_time", "accrueTime", "deadline", "deadline", "eligible_time",
            "eligibleTime",
        "end_time", "endTime", "last_sched_evaluation", "lastSchedEval", "preempt_time", "preemptTime",
        "preemptable_time", "", "pre_sus_time", "preSuspendSeconds", "resize_time", "", "start_time", "startTime",
        "submit_time", "submitTime", "suspend_time", "suspendTime"};

    private static void times(Json.Obj o, Json.Obj j) {
        for (int i = 0; i < TIMES.length; i += 2) {
            o.put(TIMES[i], Tree.number(TIMES[i + 1].isEmpty() ? 0 : j.number(TIMES[i + 1])));
        }
        o.put("time_limit", Tree.limit(j.number("timeLimitMin"))).put("time_minimum",
                Tree.number(j.number("timeMinMin")));
        o.put("delay_boot", Tree.number(0));
    }

    private static final String[] NUMBERS = {"cpus", "cpus", "node_count", "nodeCount", "tasks", "tasks", "priority",
            "priority",
        "max_cpus", "cpusMax", "max_nodes", "nodeCountMax", "cpus_per_task", "cpusPerTask",
        "minimum_cpus_per_node", "cpusPerNodeMin", "minimum_tmp_disk_per_node", "tmpDiskMb"};
    private static final String[] OPTIONAL = {"cores_per_socket", "coresPerSocket", "sockets_per_node",
            "socketsPerNode",
        "threads_per_core", "threadsPerCore", "tasks_per_core", "tasksPerCore", "tasks_per_node", "tasksPerNode",
        "tasks_per_socket", "tasksPerSocket", "tasks_per_board", "", "tasks_per_tres", "", "memory_per_cpu",
                "memPerCpuMb",
        "memory_per_node", "memPerNodeMb", "cpu_frequency_minimum", "", "cpu_frequency_maximum", "",
        "cpu_frequency_governor", "", "billable_tres", ""};

    private static void counts(Json.Obj o, Json.Obj j) {
        for (int i = 0; i < NUMBERS.length; i += 2) {
            o.put(NUMBERS[i], Tree.number(j.number(NUMBERS[i + 1])));
        }
        for (int i = 0; i < OPTIONAL.length; i += 2) {
            o.put(OPTIONAL[i], Tree.orUnset(OPTIONAL[i + 1].isEmpty() ? 0 : j.number(OPTIONAL[i + 1])));
        }
    }

    private static Json.Obj resources(Json.Obj j) {
        List<Object> allocation = new ArrayList<>();
        long index = 0;
        for (Json.Obj d : j.objects("details")) {
            for (Object name : Tree.hosts(d.text("nodes"))) {
                long cpus = cpuCount(d.text("cpuIds"));
                allocation.add(new Json.Obj().put("index", index++).put("name", name)
                        .put("cpus", new Json.Obj().put("count", cpus).put("used", cpus))
                        .put("memory", new Json.Obj().put("used", 0L).put("allocated", d.number("memoryMb")))
                        .put("sockets", new ArrayList<Object>()));
            }
        }
        Json.Obj nodes = new Json.Obj().put("count", (long) Tree.hosts(j.text("nodes")).size())
                .put("select_type", Tree.texts("AVAILABLE")).put("list", j.text("nodes"))
                .put("whole", j.text("exclusive").equals("NODE")).put("allocation", allocation);
        return new Json.Obj().put("select_type", Tree.texts("CR_CORE_MEMORY")).put("nodes", nodes)
                .put("cpus", j.number("cpus")).put("threads_per_core", Tree.orUnset(j.number("threadsPerCore")));
    }

    private static long cpuCount(String ids) {
        return dev.muster.model.IndexSet.parseSpec(ids, dev.muster.model.IndexSet.MAX_INDEX).stream()
                .mapToLong(s -> s.indexes().count()).sum();
    }
}
