package dev.muster.rest.operation;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.Signals;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.NodeCounts;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.contract.Words;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A job as it is described over REST ({@code job_desc_msg}), as the request that sbatch would make. A field that is
 * given and has no place there is refused in words.
 */
final class JobBody extends JobFields {
    /** Field, and where its value goes as it is. */
    private static final String[] TEXTS = {
        "name",
        "name",
        "partition",
        "partition",
        "account",
        "charge.account",
        "qos",
        "charge.qos",
        "wckey",
        "charge.wckey",
        "reservation",
        "charge.reservation",
        "constraints",
        "request.features",
        "prefer",
        "request.prefer",
        "licenses",
        "request.licenses",
        "network",
        "request.network",
        "tres_per_node",
        "request.tresPerNode",
        "tres_per_job",
        "request.tresPerJob",
        "tres_per_socket",
        "request.tresPerSocket",
        "tres_per_task",
        "request.tresPerTask",
        "distribution",
        "request.distribution",
        "dependency",
        "timing.dependency",
        "array",
        "timing.array",
        "comment",
        "extras.comment",
        "admin_comment",
        "extras.adminComment",
        "extra",
        "extras.extra",
        "clusters",
        "extras.cluster",
        "mail_user",
        "extras.mailUser",
        "container",
        "extras.container",
        "container_id",
        "extras.containerId",
        "burst_buffer",
        "extras.burstBuffer",
        "mcs_label",
        "extras.mcsLabel",
        "batch_features",
        "extras.batchFeatures",
        "account_gather_frequency",
        "extras.acctgFreq",
        "cpu_frequency",
        "extras.cpuFreq",
        "tres_bind",
        "extras.tresBind",
        "tres_freq",
        "extras.tresFreq",
        "container_type",
        "extras.containerType"
    };

    private static final String[] NUMBERS = {
        "tasks",
        "request.tasks",
        "cpus_per_task",
        "request.cpusPerTask",
        "tasks_per_node",
        "request.tasksPerNode",
        "tasks_per_socket",
        "request.tasksPerSocket",
        "tasks_per_core",
        "request.tasksPerCore",
        "minimum_cpus_per_node",
        "request.cpusPerNodeMin",
        "temporary_disk_per_node",
        "request.tmpDiskMb",
        "sockets_per_node",
        "request.socketsPerNode",
        "cores_per_socket",
        "request.coresPerSocket",
        "threads_per_core",
        "request.threadsPerCore",
        "core_specification",
        "request.coreSpec",
        "thread_specification",
        "request.threadSpec",
        "deadline",
        "timing.deadline",
        "nice",
        "timing.nice",
        "minimum_nodes",
        "request.nodesMin",
        "maximum_nodes",
        "request.nodesMax",
        "memory_per_cpu",
        "request.memPerCpuMb",
        "memory_per_node",
        "request.memPerNodeMb",
        "time_limit",
        "timing.timeLimitMin",
        "time_minimum",
        "timing.timeMinMin",
        "begin_time",
        "timing.beginTime",
        "segment_size",
        "request.segment",
        "memory_update_margin",
        "extras.memUpdateMargin",
        "memory_update_delay",
        "extras.memUpdateMin",
        "reserve_ports",
        "extras.resvPorts"
    };
    private static final String[] FLAGS = {
        "contiguous",
        "request.contiguous",
        "overcommit",
        "request.overcommit",
        "hold",
        "timing.hold",
        "wait_all_nodes",
        "extras.waitAllNodes",
        "reboot",
        "extras.reboot"
    };
    private static final String[] FILES = {
        "current_working_directory",
        "files.workDir",
        "standard_input",
        "files.stdin",
        "standard_output",
        "files.stdout",
        "standard_error",
        "files.stderr"
    };

    /** Flags that describe a job that was read; a new job may have them, without an effect. */
    private static final Set<String> IDLE_FLAGS = Set.of(
            "USING_DEFAULT_ACCOUNT",
            "USING_DEFAULT_PARTITION",
            "USING_DEFAULT_QOS",
            "USING_DEFAULT_WCKEY",
            "HAS_STATE_DIRECTORY",
            "EXACT_TASK_COUNT_REQUESTED",
            "EXACT_CPU_COUNT_REQUESTED",
            "EXACT_MEMORY_REQUESTED",
            "SEND_JOB_ENVIRONMENT",
            "JOB_WAS_RUNNING",
            "PARTITION_ASSIGNED",
            "JOB_IMPLICIT_MAX_NODES");

    private static final int UMASK = 022;

    private final Host host;
    private final Json.Obj out = new Json.Obj();

    /** @param at where it stands in the request's body */
    JobBody(Host host, Json.Obj in, String at) {
        super(in, at);
        this.host = host;
    }

    private static void put(Json.Obj to, String path, Object value) {
        int dot = path.indexOf('.');
        if (dot < 0) {
            to.put(path, value);
            return;
        }
        String head = path.substring(0, dot);
        if (!to.has(head)) {
            to.put(head, new Json.Obj());
        }
        put(to.obj(head), path.substring(dot + 1), value);
    }

    /**
     * The whole request but its id.
     *
     * @param kind BATCH or ALLOCATION
     */
    Json.Obj request(String kind, String script) throws RestException {
        List<String> environment = takes("environment") ? in.texts("environment") : List.of();
        if (environment.isEmpty()) {
            throw new RestException(
                    422,
                    SlurmErrno.ENVIRONMENT_MISSING.number(),
                    SlurmErrno.ENVIRONMENT_MISSING.sentence(),
                    "environment must be set",
                    at + "environment/");
        }
        out.put("kind", kind);
        if (takes("script")
                && !in.text("script").isEmpty()
                && !in.text("script").equals(script)) {
            throw unfit(
                    "script",
                    kind.equals("BATCH")
                            ? "There is one script for all of a job, which its first component or the body itself says"
                            : "An allocation has no script");
        }
        plainFields();
        if (in.text("name").isEmpty() && kind.equals("BATCH")) {
            out.put("name", "openapi");
        }
        resources();
        timing();
        extras();
        owner();
        payload();
        refuseUnread();
        refuseUnfit();
        List<Object> env = new ArrayList<>();
        environment.forEach(e -> env.add(base64(e)));
        return new Json.Obj().put("job", out).put("script", base64(script)).put("environment", env);
    }

    /** Refuses a value that has no place in a job's description, which slurmctld could not say so well. */
    private void refuseUnfit() throws RestException {
        try {
            Codec.bind(out, JobDesc.class);
        } catch (Json.MalformedException e) {
            throw RestException.unfit(ErrorSentence.of(e), at);
        }
    }

    /** Copies the fields of the four tables. */
    private void plainFields() throws RestException {
        for (int i = 0; i < TEXTS.length; i += 2) {
            if (takes(TEXTS[i]) && !in.text(TEXTS[i]).isEmpty()) {
                put(
                        out,
                        TEXTS[i + 1],
                        TEXTS[i].startsWith("tres_per_") ? devices(in.text(TEXTS[i])) : in.text(TEXTS[i]));
            }
        }
        for (int i = 0; i < NUMBERS.length; i += 2) {
            if (takes(NUMBERS[i]) && bounded(NUMBERS[i]) != 0) {
                put(out, NUMBERS[i + 1], bounded(NUMBERS[i]));
            }
        }
        for (int i = 0; i < FLAGS.length; i += 2) {
            if (takes(FLAGS[i]) && in.flag(FLAGS[i])) {
                put(out, FLAGS[i + 1], Boolean.TRUE);
            }
        }
        for (int i = 0; i < FILES.length; i += 2) {
            if (takes(FILES[i]) && !in.text(FILES[i]).isEmpty()) {
                put(out, FILES[i + 1], base64(in.text(FILES[i])));
            }
        }
    }

    private static String base64(String text) {
        return Bytes.of(text.getBytes(StandardCharsets.UTF_8)).base64();
    }

    /** {@code gpu:2} and {@code gres:gpu:2} are {@code gres/gpu:2}. */
    private static String devices(String text) {
        List<String> all = new ArrayList<>();
        for (String item : Words.of(text)) {
            String bare = item.startsWith("gres:") || item.startsWith("gres/") ? item.substring(5) : item;
            boolean other = bare.startsWith("cpu") || bare.startsWith("mem") || bare.startsWith("license/");
            all.add(other ? bare : "gres/" + bare);
        }
        return String.join(",", all);
    }

    private void resources() throws RestException {
        if (isSet("memory_per_node") && value("memory_per_node") == 0) {
            put(out, "request.memAll", Boolean.TRUE);
        }
        nodes();
        sharing();
        if (value("required_switches") < 0) {
            throw unfit("required_switches", "A number of switches is needed");
        }
        if (takes("required_switches") && bounded("required_switches") > 0) {
            put(out, "request.switches", switches(takes("wait_for_switch") ? bounded("wait_for_switch") : 0));
        }
        perGpu();
        distribution();
        cpus();
    }

    private void nodes() throws RestException {
        if (takes("nodes") && !in.text("nodes").isEmpty()) {
            String nodes = in.text("nodes");
            Optional<NodeCounts> counts = NodeCounts.parse(nodes, n -> Digits.only(n, 9) ? Long.parseLong(n) : -1);
            if (counts.isEmpty()) {
                throw unfit("nodes", "nodes=" + nodes + " is no number of nodes, range or list of them");
            }
            put(out, "request.nodesMin", (long) counts.get().least());
            put(out, "request.nodesMax", (long) counts.get().most());
            put(out, "request.nodeSizes", counts.get().sizes());
        }
        if (takes("required_nodes") && !in.texts("required_nodes").isEmpty()) {
            put(out, "request.nodeList", String.join(",", in.texts("required_nodes")));
        }
        if (takes("excluded_nodes") && !in.texts("excluded_nodes").isEmpty()) {
            put(out, "request.excludeList", String.join(",", in.texts("excluded_nodes")));
        }
    }

    private void sharing() {
        for (String word : takes("shared") ? in.texts("shared") : List.<String>of()) {
            switch (word) {
                case "none" -> put(out, "request.exclusive", "NODE");
                case "oversubscribe" -> put(out, "request.oversubscribe", Boolean.TRUE);
                default -> put(out, "request.exclusive", word.toUpperCase(java.util.Locale.ROOT));
            }
        }
        for (String word : takes("exclusive") ? in.texts("exclusive") : List.<String>of()) {
            put(
                    out,
                    "request.exclusive",
                    switch (word) {
                        case "true" -> "NODE";
                        case "false" -> "SHARED";
                        default -> word.toUpperCase(java.util.Locale.ROOT);
                    });
        }
    }

    /** Requests for each GPU of the job: {@code gres/gpu:2}, or {@code =2}. */
    private void perGpu() throws RestException {
        for (String[] f :
                new String[][] {{"cpus_per_tres", "request.cpusPerGpu"}, {"memory_per_tres", "request.memPerGpuMb"}}) {
            if (!takes(f[0]) || in.text(f[0]).isEmpty()) {
                continue;
            }
            String bare = in.text(f[0]).replaceFirst("^gres[:/]", "");
            if (!bare.matches("gpu[:=][0-9]{1,9}")) {
                throw unfit(f[0], f[0] + " is for GPUs: gres/gpu:NUMBER");
            }
            put(out, f[1], Long.parseLong(bare.substring(4)));
        }
        if (takes("ntasks_per_tres") && bounded("ntasks_per_tres") > 0) {
            put(out, "request.tasksPerGpu", bounded("ntasks_per_tres"));
        }
    }

    private void distribution() throws RestException {
        if (!takes("distribution_plane_size") || !isSet("distribution_plane_size")) {
            return;
        }
        String word = in.text("distribution").toLowerCase(java.util.Locale.ROOT);
        long size = bounded("distribution_plane_size");
        if (!word.isEmpty() && !word.startsWith("plane") || size < 1) {
            throw unfit("distribution_plane_size", "It is the size of the planes of distribution=plane");
        }
        put(out, "request.distribution", "plane=" + size);
    }

    /** The number of CPUs of all tasks together. */
    private void cpus() throws RestException {
        if (takes("minimum_boards_per_node") && bounded("minimum_boards_per_node") > 1) {
            throw unfit("minimum_boards_per_node", "Nodes have one board each");
        }
        long least = takes("minimum_cpus") ? bounded("minimum_cpus") : 0;
        long each = Math.max(1, bounded("cpus_per_task"));
        long tasks = bounded("tasks");
        if (least > 0 && tasks == 0) {
            put(out, "request.tasks", (least + each - 1) / each);
        } else if (least > tasks * each) {
            throw unfit(
                    "minimum_cpus", "The tasks need " + tasks * each + " CPUs: ask for more tasks, or cpus_per_task");
        }
    }

    private void timing() throws RestException {
        if (takes("priority") && isSet("priority")) {
            if (bounded("priority") < 0) {
                throw unfit("priority", "A priority is a number");
            }
            if (value("priority") == 0) {
                put(out, "timing.hold", Boolean.TRUE);
            } else if (value("priority") > 0) {
                put(out, "timing.prioritySet", Boolean.TRUE);
                put(out, "timing.priority", value("priority"));
            }
        }
        if (takes("requeue")) {
            put(out, "timing.requeue", in.flag("requeue") ? "YES" : "NO");
        }
        if (takes("delay_boot") && bounded("delay_boot") > 0) {
            put(out, "timing.delayBootMin", (bounded("delay_boot") + 59) / 60);
        }
        for (String flag : takes("flags") ? in.texts("flags") : List.<String>of()) {
            switch (flag) {
                case "KILL_INVALID_DEPENDENCY" -> put(out, "timing.killOnInvalidDependency", "YES");
                case "NO_KILL_INVALID_DEPENDENCY" -> put(out, "timing.killOnInvalidDependency", "NO");
                case "SPREAD_JOB" -> put(out, "request.spread", Boolean.TRUE);
                case "PREFER_MINIMUM_NODE_COUNT" -> put(out, "request.useMinNodes", Boolean.TRUE);
                case "GRES_BINDING_ENFORCED" -> put(out, "request.gresFlags", "enforce-binding");
                case "GRES_BINDING_DISABLED" -> put(out, "request.gresFlags", "disable-binding");
                case "EXPEDITED_REQUEUE" -> put(out, "timing.expedite", Boolean.TRUE);
                case "SPREAD_SEGMENTS" -> put(out, "request.spreadSegments", Boolean.TRUE);
                case "CONSOLIDATE_SEGMENTS" -> put(out, "request.consolidateSegments", Boolean.TRUE);
                case "STEPMGR_ENABLED" -> put(out, "extras.stepMgr", Boolean.TRUE);
                default -> {
                    if (!IDLE_FLAGS.contains(flag)) {
                        throw unfit("flags", "The flag " + flag + " of a job is not supported by this version");
                    }
                }
            }
        }
    }

    private void extras() throws RestException {
        if (takes("mail_type") && !in.texts("mail_type").isEmpty()) {
            put(out, "extras.mailType", mailTypes());
        }
        if (takes("open_mode") && !in.texts("open_mode").isEmpty()) {
            put(out, "files.openMode", in.texts("open_mode").getFirst().toLowerCase(java.util.Locale.ROOT));
        }
        List<String> profile = takes("profile") ? new ArrayList<>(in.texts("profile")) : new ArrayList<>();
        profile.remove("NOT_SET");
        if (!profile.isEmpty()) {
            put(out, "extras.profile", String.join(",", profile).toLowerCase(java.util.Locale.ROOT));
        }
        if (takes("kill_on_node_fail") && !in.flag("kill_on_node_fail")) {
            put(out, "extras.noKill", Boolean.TRUE);
        }
        if (takes("oom_kill_step")) {
            put(out, "extras.oomKillStep", bounded("oom_kill_step") == 0 ? "0" : "1");
        }
        warning();
    }

    /** The signal before the end. */
    private void warning() throws RestException {
        if (!takes("kill_warning_signal") || in.text("kill_warning_signal").isEmpty()) {
            return;
        }
        int signal = Signals.number(in.text("kill_warning_signal"));
        if (signal < 0) {
            throw RestException.unfit("kill_warning_signal is no signal", at + "kill_warning_signal/");
        }
        takes("kill_warning_delay");
        put(out, "extras.warnSignal", (long) signal);
        put(out, "extras.warnSeconds", isSet("kill_warning_delay") ? bounded("kill_warning_delay") : 60L);
        for (String flag : takes("kill_warning_flags") ? in.texts("kill_warning_flags") : List.<String>of()) {
            if (!flag.equals("BATCH_JOB") && !flag.equals("RESERVATION_JOB")) {
                throw unfit(
                        "kill_warning_flags",
                        "The flag " + flag + " of the signal before the end is not supported by this version");
            }
            put(out, flag.equals("BATCH_JOB") ? "extras.warnBatchOnly" : "extras.warnReserve", Boolean.TRUE);
        }
    }

    private void owner() throws RestException {
        for (String field : List.of("user_id", "group_id")) {
            if (takes(field) && !in.text(field).isEmpty()) {
                int id = field.startsWith("u") ? host.userId(in.text(field)) : host.groupId(in.text(field));
                if (id < 0) {
                    throw RestException.unfit(field + "=" + in.text(field) + " is not known", at + field + "/");
                }
                put(out, field.startsWith("u") ? "owner.uid" : "owner.gid", (long) id);
                // a number of 0 alone means that nothing was said
                put(out, field.startsWith("u") ? "owner.user" : "owner.group", id == 0 ? "root" : "");
            }
        }
    }

    private void payload() {
        List<Object> arguments = new ArrayList<>();
        if (takes("argv")) {
            in.texts("argv").forEach(a -> arguments.add(base64(a)));
        }
        if (!arguments.isEmpty()) {
            put(out, "payload.arguments", arguments);
        }
        put(out, "payload.submitHost", host.hostName());
        put(out, "payload.umask", (long) UMASK);
        if (!in.has("current_working_directory")) {
            put(out, "files.workDir", base64("/"));
        }
        Json.Obj limits = new Json.Obj();
        if (takes("rlimits")) {
            for (Map.Entry<String, Object> e : in.obj("rlimits").fields().entrySet()) {
                Json.Obj limit = (Json.Obj) e.getValue();
                if (limit.flag("set") || limit.flag("infinite")) {
                    limits.put(
                            e.getKey().toUpperCase(java.util.Locale.ROOT),
                            limit.flag("infinite") ? -1L : limit.number("number"));
                }
            }
        }
        put(out, "payload.limits", limits);
    }
}
