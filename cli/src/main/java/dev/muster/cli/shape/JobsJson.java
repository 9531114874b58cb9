package dev.muster.cli.shape;

import dev.muster.cli.format.JobRows;
import dev.muster.json.Json;
import dev.muster.model.format.Durations;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.CpuFreq;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Shapes jobs as {@code slurm/v0.0.45/jobs} for squeue and {@code scontrol show job}. */
public final class JobsJson {
    private JobsJson() {}

    /** @param version the last part of the data parser's v0.0.N: values are in that version's form */
    public static Json.Obj answer(Names names, Json.Obj reply, int version) {
        List<Field> fields = fields(names.cluster(), version);
        List<Object> jobs = new ArrayList<>();
        for (Json.Obj row : reply.objects("jobs")) {
            Json.Obj job = Field.tree(fields, row);
            if (!job.has("job_resources")) {
                job.put("job_resources", null);
            }
            jobs.add(job);
        }
        return new Json.Obj()
                .put("jobs", jobs)
                .put("last_backfill", Tree.number(reply.number("lastBackfill")))
                .put("last_update", Tree.number(reply.number("lastUpdate")));
    }

    /** Returns the sources of a job's fields, for a cluster's name and a version of the data parser. */
    public static List<Field> fields(String cluster, int version) {
        List<Field> all = new ArrayList<>(FIELDS);
        all.add(new Field.Constant("cluster", cluster));
        if (version < DataParser.NEWEST) {
            all.add(new Field.Few(
                    "shared", j -> List.of(j.text("exclusive"), j.flag("oversubscribe")), JobsJson::shared));
        } else {
            all.add(new Field.Constant("shared", List.of()));
        }
        return List.copyOf(all);
    }

    /** "Not set" as a 16-bit number without its highest bit, which marks threads. */
    private static final long NO_THREAD_SPEC = 0x7ffe;

    public static Json.Obj job(Names names, Json.Obj job) {
        return Field.tree(fields(names.cluster(), DataParser.NEWEST), job);
    }

    /** Names of the answer and the components they come from. */
    private static final String[] TEXTS = {
        "account",
        "account",
        "admin_comment",
        "adminComment",
        "allocating_node",
        "submitHost",
        "batch_host",
        "batchHost",
        "burst_buffer",
        "burstBuffer",
        "burst_buffer_state",
        "burstBufferState",
        "command",
        "command",
        "comment",
        "comment",
        "container",
        "container",
        "container_id",
        "containerId",
        "container_type",
        "containerType",
        "batch_features",
        "batchFeatures",
        "cpus_per_tres",
        "cpusPerTres",
        "cron",
        "cronSpec",
        "dependency",
        "dependency",
        "failed_node",
        "failedNode",
        "excluded_nodes",
        "excludeList",
        "extra",
        "extra",
        "features",
        "features",
        "group_name",
        "groupName",
        "het_job_id_set",
        "hetJobIdSet",
        "licenses",
        "licenses",
        "licenses_allocated",
        "licensesAlloc",
        "mcs_label",
        "mcsLabel",
        "memory_per_tres",
        "memPerTres",
        "name",
        "name",
        "network",
        "network",
        "nodes",
        "nodes",
        "partition",
        "partition",
        "prefer",
        "prefer",
        "qos",
        "qos",
        "required_nodes",
        "nodeListRequested",
        "resv_name",
        "reservation",
        "scheduled_nodes",
        "schedNodes",
        "standard_input",
        "stdinPattern",
        "standard_output",
        "stdoutPattern",
        "stdin_expanded",
        "stdin",
        "stdout_expanded",
        "stdout",
        "submit_line",
        "submitLine",
        "tres_bind",
        "tresBind",
        "tres_freq",
        "tresFreq",
        "tres_per_job",
        "tresPerJob",
        "tres_per_node",
        "tresPerNode",
        "tres_per_socket",
        "tresPerSocket",
        "tres_per_task",
        "tresPerTask",
        "tres_req_str",
        "tresRequested",
        "tres_alloc_str",
        "tresAlloc",
        "user_name",
        "userName",
        "wckey",
        "wckey",
        "current_working_directory",
        "workDir"
    };
    /** Fields that no job of Muster has: federations, SELinux, the system's comments. */
    private static final String[] NONE = {
        "cluster_features",
        "federation_origin",
        "federation_siblings_active",
        "federation_siblings_viable",
        "selinux_context",
        "system_comment"
    };

    private static final String[] PLAIN = {
        "job_id",
        "jobId",
        "user_id",
        "userId",
        "group_id",
        "groupId",
        "nice",
        "nice",
        "restart_cnt",
        "restarts",
        "association_id",
        "assocId",
        "segment_size",
        "segment",
        "memory_update_delay",
        "memUpdateMin",
        "memory_update_margin",
        "memUpdateMargin",
        "core_spec",
        "coreSpec"
    };
    private static final String[] NUMBERS = {
        "accrue_time",
        "accrueTime",
        "deadline",
        "deadline",
        "eligible_time",
        "eligibleTime",
        "end_time",
        "endTime",
        "last_sched_evaluation",
        "lastSchedEval",
        "preempt_time",
        "preemptTime",
        "preemptable_time",
        "preemptEligibleTime",
        "pre_sus_time",
        "preSuspendSeconds",
        "start_time",
        "startTime",
        "submit_time",
        "submitTime",
        "suspend_time",
        "suspendTime",
        "time_minimum",
        "timeMinMin",
        "delay_boot",
        "delayBootMin",
        "array_job_id",
        "arrayJobId",
        "array_max_tasks",
        "arrayMaxRunning",
        "het_job_id",
        "hetJobId",
        "het_job_offset",
        "hetOffset",
        "cpus",
        "cpus",
        "node_count",
        "nodeCount",
        "tasks",
        "tasks",
        "priority",
        "priority",
        "minimum_cpus_per_node",
        "cpusPerNodeMin",
        "minimum_tmp_disk_per_node",
        "tmpDiskMb",
        "tasks_per_node",
        "tasksPerNode",
        "tasks_per_tres",
        "tasksPerGpu"
    };
    private static final String[] OPTIONAL = {
        "cores_per_socket",
        "coresPerSocket",
        "sockets_per_node",
        "socketsPerNode",
        "threads_per_core",
        "threadsPerCore",
        "memory_per_cpu",
        "memPerCpuMb",
        "memory_per_node",
        "memPerNodeMb"
    };
    /** Fields that are infinite if the job sets no value. */
    private static final String[] OR_INFINITE = {"tasks_per_core", "tasksPerCore", "tasks_per_socket", "tasksPerSocket"
    };

    private static final String[] FLAGS = {
        "batch_flag", "batch", "contiguous", "contiguous", "hold", "held", "requeue", "requeue", "reboot", "reboot"
    };
    private static final List<Field> FIELDS = table();

    private static List<Field> table() {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < TEXTS.length; i += 2) {
            fields.add(new Field.Text(TEXTS[i], TEXTS[i + 1]));
        }
        for (String name : NONE) {
            fields.add(new Field.Constant(name, ""));
        }
        for (int i = 0; i < PLAIN.length; i += 2) {
            fields.add(new Field.Number(PLAIN[i], PLAIN[i + 1], Field.Form.PLAIN));
        }
        for (int i = 0; i < NUMBERS.length; i += 2) {
            fields.add(new Field.Number(NUMBERS[i], NUMBERS[i + 1], Field.Form.NUMBER));
        }
        for (int i = 0; i < OPTIONAL.length; i += 2) {
            fields.add(new Field.Number(OPTIONAL[i], OPTIONAL[i + 1], Field.Form.OR_UNSET));
        }
        for (int i = 0; i < OR_INFINITE.length; i += 2) {
            fields.add(new Field.Number(OR_INFINITE[i], OR_INFINITE[i + 1], Field.Form.OR_INFINITE));
        }
        fields.add(new Field.Counted("cpus_per_task", j -> Math.max(1, j.number("cpusPerTask")), Field.Form.NUMBER));
        for (int i = 0; i < FLAGS.length; i += 2) {
            fields.add(new Field.Flag(FLAGS[i], FLAGS[i + 1]));
        }
        constants(fields);
        made(fields);
        return List.copyOf(fields);
    }

    private static void constants(List<Field> fields) {
        for (String name : List.of("sockets_per_board")) {
            fields.add(new Field.Constant(name, 0L));
        }
        // jobs are not resized, and no option requests tasks per board or extra CPUs
        for (String name : List.of("resize_time", "tasks_per_board", "max_cpus")) {
            fields.add(new Field.Constant(name, Tree.number(0)));
        }
        fields.add(new Field.Few("profile", j -> j.text("profile"), j -> {
            String profile =
                    j.text("profile").toUpperCase(java.util.Locale.ROOT).replace("FILESYSTEM", "LUSTRE");
            return Tree.texts(profile.isEmpty() ? new String[] {"NOT_SET"} : profile.split(","));
        }));
        fields.add(new Field.Constant("job_size_str", List.of()));
        // a job without a file for errors writes them where its output goes: the field is empty then
        fields.add(new Field.Made("standard_error", j -> j.flag("ownStderr") ? j.text("stderrPattern") : ""));
        fields.add(new Field.Made("stderr_expanded", j -> j.flag("ownStderr") ? j.text("stderr") : ""));
        fields.add(new Field.Made("priority_by_partition", JobsJson::partitionPriorities));
    }

    private static List<Object> partitionPriorities(Json.Obj job) {
        List<Object> out = new ArrayList<>();
        for (String one : job.texts("partitionPriorities")) {
            int equalSign = one.lastIndexOf('=');
            out.add(new Json.Obj()
                    .put("partition", one.substring(0, equalSign))
                    .put("priority", Long.parseLong(one.substring(equalSign + 1))));
        }
        return out;
    }

    private static void made(List<Field> fields) {
        fields.add(new Field.Number("time_limit", "timeLimitMin", Field.Form.LIMIT));
        fields.add(new Field.Few(
                "array_task_id",
                j -> (long) JobRows.taskId(j),
                j -> JobRows.taskId(j) < 0 ? Tree.unset() : Tree.number(JobRows.taskId(j))));
        fields.add(new Field.Few(
                "array_task_string",
                j -> List.of(j.text("arrayTasks"), j.number("arrayMaxRunning")),
                JobRows::arrayTasks));
        fields.add(new Field.Few(
                "billable_tres",
                JobsJson::billing,
                j -> Tree.decimal(billing(j) >= 0, (double) Math.max(0, billing(j)))));
        fields.add(new Field.Made(
                "mail_user", j -> j.text("mailUser").isEmpty() ? j.text("userName") : j.text("mailUser")));
        fields.add(new Field.Few("cpu_frequency_minimum", j -> j.text("cpuFreq"), j -> frequency(j, CpuFreq::min)));
        fields.add(new Field.Few("cpu_frequency_maximum", j -> j.text("cpuFreq"), j -> frequency(j, CpuFreq::max)));
        fields.add(
                new Field.Few("cpu_frequency_governor", j -> j.text("cpuFreq"), j -> frequency(j, CpuFreq::governor)));
        fields.add(new Field.Few("required_switches", j -> j.text("switches"), j -> switches(j.text("switches"))));
        fields.add(new Field.Few(
                "maximum_switch_wait_time", j -> j.text("switches"), j -> switchWait(j.text("switches"))));
        fields.add(new Field.Few(
                "state_reason",
                j -> j.text("reason"),
                j -> j.text("reason").isEmpty() || j.text("reason").equals("NONE") ? "None" : j.text("reason")));
        fields.add(new Field.Few(
                "state_description",
                j -> List.of(
                        j.text("reason"), j.text("reasonText"), j.obj("exit").number("signal")),
                j -> j.text("reason").equals("RaisedSignal") ? JobRows.reason(j) : j.text("reasonText")));
        fields.add(new Field.Few("job_state", j -> List.of(j.text("state"), j.list("flags")), j -> {
            List<Object> states = Tree.texts(j.text("state"));
            states.addAll(j.texts("flags"));
            return states;
        }));
        fields.add(new Field.Few("flags", JobsJson::flags, j -> new ArrayList<Object>(flags(j))));
        for (String[] exit : new String[][] {{"exit_code", "exit"}, {"derived_exit_code", "derivedExit"}}) {
            fields.add(new Field.Few(exit[0], j -> j.obj(exit[1]).fields(), j -> Tree.exit(j.obj(exit[1]))));
        }
        fields.add(new Field.Few("mail_type", j -> j.text("mailType"), j -> Tree.csv(j.text("mailType"))));
        fields.add(new Field.Made(
                "step_id",
                j -> new Json.Obj()
                        .put("sluid", Sluid.text(j.number("sluid")))
                        .put("job_id", Tree.number(j.number("jobId")))
                        .put("step_het_component", Tree.unset())
                        .put("step_id", "entire")));
        fields.add(new Field.Made("gres_detail", JobsJson::gresDetail));
        fields.add(new Field.Made("job_resources", j -> j.text("nodes").isEmpty() ? null : resources(j)));
        fields.add(new Field.Counted(
                "max_nodes", j -> j.text("nodes").isEmpty() ? j.number("nodeCountMax") : 0, Field.Form.NUMBER));
        fields.add(new Field.Counted(
                "thread_spec",
                j -> j.number("threadSpec") == 0 ? NO_THREAD_SPEC : j.number("threadSpec"),
                Field.Form.PLAIN));
    }

    /** Returns the billing count of {@code cpu=2,mem=4G,billing=2}; -1 before the job has an allocation. */
    private static long billing(Json.Obj job) {
        String tres = job.text("tresAlloc");
        if (tres.isEmpty()) {
            return -1;
        }
        int index = tres.indexOf("billing=");
        long n = 0;
        for (int i = index + 8;
                index >= 0 && i < tres.length() && Character.isDigit(tres.charAt(i)) && i < index + 26;
                i++) {
            n = n * 10 + tres.charAt(i) - '0';
        }
        return n;
    }

    /** {@code 1@5:00}: the number of switches. */
    private static long switches(String text) {
        String count = text.indexOf('@') < 0 ? text : text.substring(0, text.indexOf('@'));
        return count.matches("[0-9]{1,9}") ? Long.parseLong(count) : 0;
    }

    /** Seconds; 0 where the job does not say how long it would wait. */
    private static long switchWait(String text) {
        int index = text.indexOf('@');
        return index < 0
                ? 0
                : Math.max(0, Durations.parseSeconds(text.substring(index + 1)).orElse(0));
    }

    static Json.Obj frequency(Json.Obj job, Function<CpuFreq, String> part) {
        return CpuFreq.parse(job.text("cpuFreq"))
                .map(part)
                .filter(word -> !word.isEmpty())
                .map(word -> Tree.number(CpuFreq.number(word)))
                .orElseGet(Tree::unset);
    }

    private static List<String> flags(Json.Obj job) {
        List<String> out = new ArrayList<>(job.texts("wishes"));
        if (!job.text("cronSpec").isEmpty()) {
            out.add("CRON_JOB");
        }
        if (!job.text("dependency").isEmpty()) {
            out.add("DEPENDENT");
        }
        if (job.flag("backfilled")) {
            out.add("BACKFILL_ATTEMPTED");
        }
        if (job.flag("expedite")) {
            out.add("EXPEDITED_REQUEUE");
        }
        if (job.flag("stepMgr")) {
            out.add("STEPMGR_ENABLED");
        }
        if (job.flag("spreadSegments")) {
            out.add("SPREAD_SEGMENTS");
        }
        if (job.flag("consolidateSegments")) {
            out.add("CONSOLIDATE_SEGMENTS");
        }
        return out;
    }

    /** Returns the job's sharing of nodes in the form of data parsers before v0.0.45. */
    private static List<Object> shared(Json.Obj job) {
        return switch (job.text("exclusive")) {
            case "USER" -> Tree.texts("user");
            case "MCS" -> Tree.texts("mcs");
            case "TOPO" -> Tree.texts("topo");
            case "NODE" -> Tree.texts("none");
            default -> job.flag("oversubscribe") ? Tree.texts("oversubscribe") : Tree.texts();
        };
    }

    private static Json.Obj resources(Json.Obj job) {
        List<Object> allocation = new ArrayList<>();
        boolean ended = job.number("endTime") > 0
                && !job.text("state").equals("RUNNING")
                && !job.text("state").equals("SUSPENDED");
        long index = 0;
        for (Json.Obj detail : job.objects("details")) {
            for (Object name : Tree.hosts(detail.text("nodes"))) {
                long cpus = cpuCount(detail.text("cpuIds"));
                allocation.add(new Json.Obj()
                        .put("index", index++)
                        .put("name", name)
                        .put("cpus", new Json.Obj().put("count", cpus).put("used", ended ? 0 : cpus))
                        .put("memory", new Json.Obj().put("used", 0L).put("allocated", detail.number("memoryMb")))
                        .put("sockets", sockets(detail)));
            }
        }
        Json.Obj nodes = new Json.Obj()
                .put("count", (long) Tree.hosts(job.text("nodes")).size())
                .put("select_type", Tree.texts("ONE_ROW"))
                .put("list", job.text("nodes"))
                .put("whole", job.text("exclusive").equals("NODE"))
                .put("allocation", allocation);
        return new Json.Obj()
                .put("select_type", Tree.texts("CR_CORE_MEMORY"))
                .put("nodes", nodes)
                .put("cpus", job.number("cpus"))
                .put("threads_per_core", Tree.orUnset(job.number("threadsPerCore")));
    }

    /** Returns the job's devices, an entry for each node. */
    private static List<Object> gresDetail(Json.Obj job) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj detail : job.objects("details")) {
            for (int i = 0;
                    i
                            < (detail.text("gres").isEmpty()
                                    ? 0
                                    : Tree.hosts(detail.text("nodes")).size());
                    i++) {
                out.add(detail.text("gres"));
            }
        }
        return out;
    }

    private static List<Object> sockets(Json.Obj detail) {
        IndexSet had = IndexSet.parse(detail.text("cores"));
        List<Object> sockets = new ArrayList<>();
        int perSocket = detail.integer("coresPerSocket");
        for (int s = 0; s < detail.integer("sockets"); s++) {
            List<Object> cores = new ArrayList<>();
            for (int c = 0; c < perSocket; c++) {
                cores.add(new Json.Obj()
                        .put("index", (long) c)
                        .put("status", Tree.texts(had.contains(s * perSocket + c) ? "ALLOCATED" : "UNALLOCATED")));
            }
            sockets.add(new Json.Obj().put("index", (long) s).put("cores", cores));
        }
        return sockets;
    }

    private static long cpuCount(String ids) {
        return IndexSet.parseSpec(ids, IndexSet.MAX_INDEX).stream()
                .mapToLong(s -> s.indexes().count())
                .sum();
    }
}
