package dev.muster.controller.lua;

import static dev.muster.lua.SlurmWords.INFINITE;
import static dev.muster.lua.SlurmWords.MEM_PER_CPU;
import static dev.muster.lua.SlurmWords.NICE_OFFSET;
import static dev.muster.lua.SlurmWords.NO_VAL;
import static dev.muster.lua.SlurmWords.NO_VAL16;
import static dev.muster.lua.SlurmWords.NO_VAL64;

import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.json.RecordEditor;
import dev.muster.lua.LuaState;
import dev.muster.lua.ScriptError;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.job.CpuFreq;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The fields of {@code job_desc} by the names that scripts use, over an edit of a job's description. A field that was
 * not set is nil, or the NO_VAL of its width.
 */
final class JobFields {

    private enum Kind {
        TEXT,
        PATH,
        /** 0 is not said: NO_VAL, or NO_VAL16. */
        WIDE,
        SHORT,
        /** A time; 0 is none. */
        MOMENT,
        /** -1 is without limit. */
        MINUTES,
        YES_NO
    }

    private record Field(Kind kind, String path) {}

    private static final Map<String, Field> FIELDS = new TreeMap<>();

    private static void fields(Kind kind, String... pairs) {
        for (String pair : pairs) {
            String[] p = pair.split("=");
            FIELDS.put(p[0], new Field(kind, p[1]));
        }
    }

    static {
        fields(
                Kind.TEXT,
                "account=charge.account",
                "qos=charge.qos",
                "wckey=charge.wckey",
                "reservation=charge.reservation",
                "acctg_freq=extras.acctgFreq",
                "admin_comment=extras.adminComment",
                "comment=extras.comment",
                "extra=extras.extra",
                "batch_features=extras.batchFeatures",
                "burst_buffer=extras.burstBuffer",
                "clusters=extras.cluster",
                "container=extras.container",
                "container_id=extras.containerId",
                "container_type=extras.containerType",
                "mail_user=extras.mailUser",
                "mcs_label=extras.mcsLabel",
                "tres_bind=extras.tresBind",
                "tres_freq=extras.tresFreq",
                "name=name",
                "partition=partition",
                "array_inx=timing.array",
                "dependency=timing.dependency",
                "exc_nodes=request.excludeList",
                "req_nodes=request.nodeList",
                "features=request.features",
                "prefer=request.prefer",
                "licenses=request.licenses",
                "network=request.network",
                "gres=request.tresPerNode",
                "tres_per_node=request.tresPerNode",
                "tres_per_job=request.tresPerJob",
                "tres_per_socket=request.tresPerSocket",
                "tres_per_task=request.tresPerTask",
                "alloc_node=payload.submitHost",
                "user_name=owner.user",
                "group_name=owner.group");
        fields(
                Kind.PATH,
                "work_dir=files.workDir",
                "std_in=files.stdin",
                "std_out=files.stdout",
                "std_err=files.stderr",
                "submit_line=payload.submitLine");
        fields(
                Kind.WIDE,
                "min_nodes=request.nodesMin",
                "num_tasks=request.tasks",
                "pn_min_tmp_disk=request.tmpDiskMb",
                "segment_size=request.segment");
        fields(
                Kind.SHORT,
                "cpus_per_task=request.cpusPerTask",
                "pn_min_cpus=request.cpusPerNodeMin",
                "cores_per_socket=request.coresPerSocket",
                "sockets_per_node=request.socketsPerNode",
                "threads_per_core=request.threadsPerCore",
                "ntasks_per_node=request.tasksPerNode",
                "ntasks_per_socket=request.tasksPerSocket",
                "ntasks_per_core=request.tasksPerCore",
                "ntasks_per_tres=request.tasksPerGpu",
                "core_spec=request.coreSpec",
                "thread_spec=request.threadSpec",
                "warn_signal=extras.warnSignal",
                "warn_time=extras.warnSeconds");
        fields(Kind.MOMENT, "begin_time=timing.beginTime", "deadline=timing.deadline");
        fields(Kind.MINUTES, "time_limit=timing.timeLimitMin", "time_min=timing.timeMinMin");
        fields(
                Kind.YES_NO,
                "contiguous=request.contiguous",
                "overcommit=request.overcommit",
                "wait_all_nodes=extras.waitAllNodes");
    }

    /** Fields that a script reads but may not set; those that are in no other table are refused as well. */
    private static final List<String> FIXED = List.of(
            "alloc_node",
            "user_name",
            "group_name",
            "submit_line",
            "user_id",
            "group_id",
            "argc",
            "argv",
            "job_id",
            "assoc_qos",
            "assoc_comment",
            "default_account",
            "default_qos",
            "cron_job",
            "het_job_offset",
            "deadline",
            "network",
            "overcommit",
            "kill_on_node_fail",
            "ntasks_per_core",
            "wait_all_nodes",
            "warn_signal",
            "warn_time",
            "container_id",
            "container_type");

    private static final long SECONDS_PER_MINUTE = 60;
    private static final long SWITCHES_MAX = 999_999_999;
    private static final long DEFAULT_ACCOUNT = 0x200_0000;
    private static final long DEFAULT_PARTITION = 0x400_0000;
    private static final long DEFAULT_QOS = 0x800_0000;
    private static final long DEFAULT_WCKEY = 0x1000_0000;
    private static final long TASKS_SAID = 0x4000;
    private static final long CPUS_SAID = 0x8000;
    private static final long KILL_INVALID = 1;
    private static final long NO_KILL_INVALID = 2;
    private static final long ENFORCE_BINDING = 16;
    private static final long DISABLE_BINDING = 524_288;
    private static final String[][] BITS = {{"256", "spread"}, {"512", "useMinNodes"}};
    /** Nil where they are unset. */
    private static final List<String> SPARED = List.of("core_spec", "thread_spec", "warn_signal", "warn_time");

    private static final List<String> SPECIAL_WRITTEN = List.of(
            "max_nodes",
            "priority",
            "nice",
            "site_factor",
            "pn_min_memory",
            "min_mem_per_node",
            "min_mem_per_cpu",
            "shared",
            "oversubscribe",
            "requeue",
            "reboot",
            "mail_type",
            "bitflags",
            "req_switch",
            "wait4switch",
            "delay_boot",
            "cpu_freq_min",
            "cpu_freq_max",
            "cpu_freq_gov");

    private JobFields() {}

    /** Fields that are set as they are; their values when read also depend on other options. */
    private static final List<String> DERIVED =
            List.of("min_nodes", "num_tasks", "pn_min_cpus", "threads_per_core", "tres_per_task", "segment_size");

    private static final List<String> SPECIAL = List.of(
            "delay_boot",
            "max_nodes",
            "min_cpus",
            "max_cpus",
            "priority",
            "nice",
            "site_factor",
            "pn_min_memory",
            "min_mem_per_node",
            "min_mem_per_cpu",
            "cpus_per_tres",
            "mem_per_tres",
            "shared",
            "oversubscribe",
            "requeue",
            "reboot",
            "kill_on_node_fail",
            "mail_type",
            "bitflags",
            "req_switch",
            "wait4switch",
            "user_id",
            "group_id",
            "argc",
            "argv",
            "cron_job");

    /** Returns all fields of the job, as a plain table. */
    static Map<String, Object> table(RecordEditor<?> job) {
        Map<String, Object> out = new TreeMap<>();
        FIELDS.keySet().forEach(name -> out.put(name, get(job, name)));
        SPECIAL.forEach(name -> out.put(name, get(job, name)));
        return out;
    }

    static @Nullable Object get(RecordEditor<?> job, String name) {
        Field f = FIELDS.get(name);
        if (f == null || DERIVED.contains(name)) {
            return special(job, name);
        }
        return switch (f.kind) {
            case TEXT -> text(job.text(f.path));
            case PATH -> path(job, name, ((Bytes) job.at(f.path)).text());
            case WIDE -> number(job.number(f.path), NO_VAL);
            case SHORT ->
                SPARED.contains(name) && job.number(f.path) == 0 ? null : number(job.number(f.path), NO_VAL16);
            case MOMENT -> job.number(f.path);
            case MINUTES -> job.number(f.path) < 0 ? (Object) INFINITE : number(job.number(f.path), NO_VAL);
            case YES_NO -> job.flag(f.path) ? 1L : 0L;
        };
    }

    private static @Nullable Object text(String value) {
        return value.isEmpty() ? null : value;
    }

    /** A batch job's input is nothing unless it says otherwise. */
    private static @Nullable Object path(RecordEditor<?> job, String name, String value) {
        return value.isEmpty() && name.equals("std_in") && !job.text("kind").matches("ALLOCATION|RUN")
                ? "/dev/null"
                : text(value);
    }

    private static Object number(long value, long unset) {
        return value == 0 ? unset : value;
    }

    private static @Nullable Object special(RecordEditor<?> job, String name) {
        RecordEditor<?> r = job.part("request");
        RecordEditor<?> t = job.part("timing");
        return switch (name) {
            case "max_nodes" -> number(r.number("nodesMax") > 0 ? r.number("nodesMax") : r.number("nodesMin"), NO_VAL);
            case "min_cpus" -> Math.max(1, cpus(r));
            case "min_nodes" -> number(r.number("nodesMin") > 0 ? r.number("nodesMin") : named(r), NO_VAL);
            case "num_tasks" ->
                number(r.number("tasks") > 0 ? r.number("tasks") : r.number("tasksPerGpu") * gpus(r), NO_VAL);
            case "pn_min_cpus" -> number(Math.max(r.number("cpusPerNodeMin"), r.number("cpusPerTask")), NO_VAL16);
            case "threads_per_core" -> number(threadsPerCore(r), NO_VAL16);
            case "tres_per_task" -> text(perTask(r));
            case "delay_boot" -> t.number("delayBootMin") == 0 ? NO_VAL : t.number("delayBootMin") * SECONDS_PER_MINUTE;
            case "segment_size" -> r.number("segment");
            case "max_cpus" -> NO_VAL;
            case "priority" -> priority(t);
            case "nice" -> t.number("nice") == 0 ? NO_VAL : NICE_OFFSET + t.number("nice");
            case "site_factor" -> t.number("siteFactor") == 0 ? NO_VAL : NICE_OFFSET + t.number("siteFactor");
            case "pn_min_memory" -> {
                Long perNodeMb = memoryPerNode(r);
                yield perNodeMb != null ? perNodeMb : (Object) Double.valueOf(memoryPerCpu(r));
            }
            case "min_mem_per_node" -> memoryPerNode(r);
            case "min_mem_per_cpu" -> r.number("memPerCpuMb") > 0 ? (Object) r.number("memPerCpuMb") : null;
            case "cpus_per_tres" -> text(r.number("cpusPerGpu") > 0 ? "gres/gpu:" + r.number("cpusPerGpu") : "");
            case "mem_per_tres" -> text(r.number("memPerGpuMb") > 0 ? "gres/gpu:" + r.number("memPerGpuMb") : "");
            case "shared", "oversubscribe" -> shared(r);
            case "requeue" ->
                switch (t.text("requeue")) {
                    case "YES" -> 1L;
                    case "NO" -> 0L;
                    default -> NO_VAL16;
                };
            case "reboot" -> job.part("extras").flag("reboot") ? 1L : NO_VAL16;
            case "kill_on_node_fail" -> job.part("extras").flag("noKill") ? (Object) 0L : null;
            case "mail_type" -> MailTypeFlags.of(job.part("extras").text("mailType"));
            case "bitflags" -> bits(job);
            case "req_switch" -> number(switches(r), NO_VAL);
            case "wait4switch" -> number(switchWaitS(r), NO_VAL);
            case "user_id" -> job.part("owner").number("uid");
            case "group_id" -> job.part("owner").number("gid");
            case "argc" -> arguments(job).size();
            case "argv" -> argv(job);
            case "cpu_freq_min" -> frequency(frequencies(job).min());
            case "cpu_freq_max" -> frequency(frequencies(job).max());
            case "cpu_freq_gov" -> frequency(frequencies(job).governor());
            case "het_job_offset", "pack_job_offset" -> NO_VAL;
            case "boards_per_node",
                    "ntasks_per_board",
                    "sockets_per_board",
                    "power_flags",
                    "spank_job_env_size",
                    "end_time" -> 0L;
            case "cron_job" -> false;
            default -> null;
        };
    }

    private static long threadsPerCore(RecordEditor<?> r) {
        boolean hinted = r.text("hint").matches("nomultithread|compute_bound");
        return hinted && r.number("threadsPerCore") == 0 ? 1 : r.number("threadsPerCore");
    }

    private static long priority(RecordEditor<?> timing) {
        if (timing.flag("hold")) {
            return 0;
        }
        return timing.flag("prioritySet") ? timing.number("priority") : NO_VAL;
    }

    private static double memoryPerCpu(RecordEditor<?> r) {
        return r.number("memPerCpuMb") > 0 ? MEM_PER_CPU + r.number("memPerCpuMb") : NO_VAL64;
    }

    /** Returns the memory per node in MiB, 0 for all of a node's; null if unset. */
    private static @Nullable Long memoryPerNode(RecordEditor<?> r) {
        if (r.flag("memAll")) {
            return 0L;
        }
        return r.number("memPerNodeMb") > 0 ? r.number("memPerNodeMb") : null;
    }

    private static long shared(RecordEditor<?> r) {
        return switch (r.text("exclusive")) {
            case "NODE" -> 0;
            case "USER" -> 2;
            case "MCS" -> 3;
            case "TOPO" -> 4;
            default -> r.flag("oversubscribe") ? 1 : NO_VAL16;
        };
    }

    private static CpuFreq frequencies(RecordEditor<?> job) {
        return CpuFreq.parse(job.part("extras").text("cpuFreq")).orElse(new CpuFreq("", "", ""));
    }

    private static long frequency(String word) {
        return word.isEmpty() ? NO_VAL : CpuFreq.number(word);
    }

    private static long switches(RecordEditor<?> r) {
        String count = r.text("switches").split("@")[0];
        return Digits.only(count, 9) ? Long.parseLong(count) : 0;
    }

    private static long switchWaitS(RecordEditor<?> r) {
        int sign = r.text("switches").indexOf('@');
        return sign < 0
                ? 0
                : Durations.parseSeconds(r.text("switches").substring(sign + 1)).orElse(0);
    }

    /** Returns the number of nodes that {@code -w} names. */
    private static long named(RecordEditor<?> r) {
        String list = r.text("nodeList");
        return list.indexOf('/') < 0 && HostList.parse(list) instanceof HostList.Parsed.Ok names
                ? names.list().size()
                : 0;
    }

    /** Returns the minimum number of CPUs for all tasks. */
    private static long cpus(RecordEditor<?> r) {
        long perTask = r.number("cpusPerTask");
        long perNode = Math.max(1, r.number("tasksPerNode"));
        boolean exact =
                r.number("nodesMin") > 0 && (r.number("nodesMax") == 0 || r.number("nodesMax") == r.number("nodesMin"));
        if (r.number("tasks") > 0 || r.number("tasksPerGpu") > 0) {
            return (r.number("tasks") > 0 ? r.number("tasks") : r.number("tasksPerGpu") * gpus(r))
                    * Math.max(1, perTask);
        }
        if (exact) {
            return r.number("nodesMin") * perNode * Math.max(1, perTask);
        }
        return perTask > 0 ? perNode * perTask : r.number("cpusPerGpu") * gpus(r);
    }

    /** Returns the job's GPUs if the request is one number, else 0. */
    private static long gpus(RecordEditor<?> r) {
        String last = r.text("tresPerJob").replaceFirst(".*gpu[^,]*[:=]([0-9]{1,6}).*", "$1");
        return Digits.only(last, 6) ? Long.parseLong(last) : 0;
    }

    /** Adds a task's CPUs to its other resources. */
    private static String perTask(RecordEditor<?> r) {
        String cpus = r.number("cpusPerTask") > 0 ? "cpu=" + r.number("cpusPerTask") : "";
        String rest = r.text("tresPerTask");
        if (cpus.isEmpty() || rest.contains("cpu")) {
            return rest;
        }
        if (rest.isEmpty()) {
            return cpus;
        }
        return cpus + "," + rest;
    }

    private static long bits(RecordEditor<?> job) {
        RecordEditor<?> r = job.part("request");
        long bits = (r.number("tasks") > 0 ? TASKS_SAID : 0) | (r.number("cpusPerTask") > 0 ? CPUS_SAID : 0);
        bits |= job.text("charge.account").isEmpty() ? DEFAULT_ACCOUNT : 0;
        bits |= job.text("partition").isEmpty() ? DEFAULT_PARTITION : 0;
        bits |= job.text("charge.qos").isEmpty() ? DEFAULT_QOS : 0;
        bits |= job.text("charge.wckey").isEmpty() ? DEFAULT_WCKEY : 0;
        for (String[] bit : BITS) {
            bits |= r.flag(bit[1]) ? Long.parseLong(bit[0]) : 0;
        }
        String flags = r.text("gresFlags");
        bits |= flags.contains("enforce-binding") ? ENFORCE_BINDING : 0;
        bits |= flags.contains("disable-binding") ? DISABLE_BINDING : 0;
        return bits
                | switch (job.part("timing").text("killOnInvalidDependency")) {
                    case "YES" -> KILL_INVALID;
                    case "NO" -> NO_KILL_INVALID;
                    default -> 0;
                };
    }

    private static List<?> arguments(RecordEditor<?> job) {
        return (List<?>) job.at("payload.arguments");
    }

    private static @Nullable Object argv(RecordEditor<?> job) {
        Map<Long, Object> out = new TreeMap<>();
        for (Object each : arguments(job)) {
            out.put((long) out.size(), each);
        }
        return out.isEmpty() ? null : out;
    }

    // ---- writing

    /**
     * Numbers that are kept beside the description: an update has them, and on a new job {@link #mistake} reads them.
     */
    private static final List<String> BESIDE = List.of("min_cpus", "max_cpus", "end_time", "immediate");

    private static final List<String> DEVICES = List.of("gres", "tres_per_node");
    private static final List<String> MEMORY = List.of("pn_min_memory", "min_mem_per_node", "min_mem_per_cpu");

    /** What a script assigns with {@code nil}: no field takes it. */
    static final Object NIL = new LuaState.Opaque("nil");

    static boolean isBeside(String name) {
        return BESIDE.contains(name);
    }

    /** Returns whether a new job keeps the value as the script set it, also where the description takes it up. */
    static boolean isKept(String name) {
        return BESIDE.contains(name) || PER_GPU.contains(name);
    }

    /** Returns the value of a field that a new job keeps. */
    static Object kept(String name, Object value) {
        if (PER_GPU.contains(name)) {
            return value.toString();
        }
        return stored(name, value);
    }

    /** Returns a script's number as the field's type in C holds it. */
    static long stored(String name, Object value) {
        if (!FieldInteger.isNumber(value)) {
            throw wrongType("number", value);
        }
        return width(name).stored(FieldInteger.real(value));
    }

    private static FieldInteger width(String name) {
        Field f = FIELDS.get(name);
        if (f != null) {
            return switch (f.kind) {
                case SHORT, YES_NO -> FieldInteger.UINT16;
                case MOMENT -> FieldInteger.TIME;
                case TEXT, PATH, WIDE, MINUTES -> FieldInteger.UINT32;
            };
        }
        return FieldInteger.ofSpecial(name);
    }

    /** Returns whether an update keeps the field's number beside the description, where any number fits. */
    static boolean isNumberOfUpdate(String name) {
        Field f = FIELDS.get(name);
        return !MEMORY.contains(name) && (f == null || f.kind != Kind.TEXT && f.kind != Kind.PATH);
    }

    /** Returns all names of the same field, including this one. */
    static List<String> sameAs(String name) {
        return Stream.of(DEVICES, MEMORY)
                .filter(names -> names.contains(name))
                .findFirst()
                .orElse(List.of(name));
    }

    /**
     * Returns the values that an update reads after an assignment: the value itself, as 0 and "" differ from an unset
     * field.
     */
    static Map<String, Object> ofUpdate(String name, Object value) {
        Map<String, Object> out = new TreeMap<>();
        if (!MEMORY.contains(name)) {
            Object content = isNumberOfUpdate(name) ? (Object) stored(name, value) : text(value);
            sameAs(name).forEach(n -> out.put(n, content));
        }
        return out;
    }

    /** Sets a field; answers why not, if it can not be set. */
    static Optional<String> set(RecordEditor<?> job, String name, Object value) {
        if (FIXED.contains(name)) {
            return Optional.of("unrecognized field: " + name);
        }
        Field f = FIELDS.get(name);
        if (f == null) {
            return PER_GPU.contains(name) ? setPerGpu(job, name, value) : setSpecial(job, name, value);
        }
        Object content = switch (f.kind) {
            case TEXT -> name.equals("gres") ? withPrefix(textOf(value)) : textOf(value);
            case PATH -> Bytes.of(textOf(value));
            case WIDE, MOMENT, SHORT -> whole(name, value);
            case MINUTES -> stored(name, value) == INFINITE ? Long.valueOf(-1) : Long.valueOf(whole(name, value));
            case YES_NO -> Boolean.valueOf(whole(name, value) != 0);
        };
        job.set(f.path, content);
        return Optional.empty();
    }

    /** Returns the devices as tres_per_node names them. */
    private static String withPrefix(String gres) {
        return Stream.of(gres.split(","))
                .filter(item -> !item.isEmpty())
                .map(item -> item.startsWith(GRES_PREFIX) ? item : GRES_PREFIX + item)
                .collect(Collectors.joining(","));
    }

    static String textOf(Object value) {
        if (!isText(value)) {
            throw wrongType("string", value);
        }
        return text(value);
    }

    /** Returns a script's text as C has it: it ends before a NUL, which no environment and no path may have. */
    private static String text(Object value) {
        String whole = value.toString();
        int end = whole.indexOf('\0');
        return end < 0 ? whole : whole.substring(0, end);
    }

    private static boolean isText(Object value) {
        return value instanceof Number || value instanceof Bytes;
    }

    /** Returns an error in the words of Lua for an assignment. */
    private static ScriptError wrongType(String wanted, Object value) {
        String type = switch (value) {
            case Boolean b -> "boolean";
            case LuaState.Opaque o -> o.type();
            default -> isText(value) ? "string" : "userdata";
        };
        return new ScriptError("bad argument #3 to 'newindex' (" + wanted + " expected, got " + type + ")");
    }

    /**
     * Returns a script's number, 0 for the NO_VAL of the field's type.
     *
     * @throws Json.MalformedException if the field's type cannot hold it
     */
    private static long whole(String name, Object value) {
        long stored = stored(name, value);
        FieldInteger width = width(name);
        double real = FieldInteger.real(value);
        boolean isFlagged = name.startsWith("min_mem") && real >= MEM_PER_CPU && real != NO_VAL64;
        if (width.isUnset(stored) && !isFlagged) {
            return 0;
        }
        if (isFlagged || !width.holds(stored)) {
            throw new Json.MalformedException(stored + " is out of range");
        }
        return stored;
    }

    private static Optional<String> setSpecial(RecordEditor<?> job, String name, Object value) {
        if (!SPECIAL_WRITTEN.contains(name)) {
            return Optional.of("unrecognized field: " + name);
        }
        RecordEditor<?> r = job.part("request");
        RecordEditor<?> t = job.part("timing");
        long number = whole(name, value);
        boolean isSet = !width(name).isUnset(stored(name, value));
        switch (name) {
            case "max_nodes" -> r.set("nodesMax", number);
            case "priority" -> setPriority(t, isSet, number);
            case "nice" -> t.set("nice", isSet ? number - NICE_OFFSET : 0L);
            case "site_factor" ->
                t.set("siteFactor", isSet && number > Integer.MAX_VALUE ? number - NICE_OFFSET : number);
            case "pn_min_memory" -> memory(r, FieldInteger.real(value));
            case "min_mem_per_node" -> r.set("memPerNodeMb", number).set("memPerCpuMb", 0L);
            case "min_mem_per_cpu" -> r.set("memPerCpuMb", number).set("memPerNodeMb", 0L);
            case "shared", "oversubscribe" -> share(r, isSet ? (int) number : -1);
            case "requeue" -> t.set("requeue", isSet ? yesOrNo(number != 0) : "UNSET");
            case "reboot" -> job.part("extras").set("reboot", number != 0);
            case "mail_type" -> job.part("extras").set("mailType", MailTypeFlags.words(number));
            case "bitflags" -> setBits(r, t, number);
            case "req_switch" -> switches(r, number, switchWaitS(r));
            case "wait4switch" -> switches(r, Math.max(1, switches(r)), number);
            case "delay_boot" -> t.set("delayBootMin", (number + SECONDS_PER_MINUTE - 1) / SECONDS_PER_MINUTE);
            case "cpu_freq_min" ->
                setFrequencies(
                        job,
                        number,
                        frequency(frequencies(job).max()),
                        frequency(frequencies(job).governor()));
            case "cpu_freq_max" ->
                setFrequencies(
                        job,
                        frequency(frequencies(job).min()),
                        number,
                        frequency(frequencies(job).governor()));
            case "cpu_freq_gov" ->
                setFrequencies(
                        job,
                        frequency(frequencies(job).min()),
                        frequency(frequencies(job).max()),
                        number);
            default -> throw new IllegalArgumentException(name);
        }
        return Optional.empty();
    }

    /** Sets a job's priority. A hold of the submission stays: a priority does not release the job. */
    private static void setPriority(RecordEditor<?> timing, boolean isSet, long priority) {
        timing.set("prioritySet", isSet && priority > 0)
                .set("priority", isSet ? priority : 0L)
                .set("hold", timing.flag("hold") || isSet && priority == 0);
    }

    private static String yesOrNo(boolean flag) {
        return flag ? "YES" : "NO";
    }

    private static void setBits(RecordEditor<?> request, RecordEditor<?> timing, long bits) {
        for (String[] bit : BITS) {
            request.set(bit[1], (bits & Long.parseLong(bit[0])) != 0);
        }
        if ((bits & ENFORCE_BINDING) != 0) {
            request.set("gresFlags", "enforce-binding");
        } else {
            request.set("gresFlags", (bits & DISABLE_BINDING) != 0 ? "disable-binding" : "");
        }
        boolean isSet = (bits & (KILL_INVALID | NO_KILL_INVALID)) != 0;
        timing.set("killOnInvalidDependency", isSet ? yesOrNo((bits & KILL_INVALID) != 0) : "UNSET");
    }

    /** @throws Json.MalformedException if the three numbers are no request */
    private static void setFrequencies(RecordEditor<?> job, long min, long max, long governor) {
        CpuFreq wanted = CpuFreq.of(min, max, governor);
        boolean isWhole = stands(min, wanted.min()) && stands(max, wanted.max()) && stands(governor, wanted.governor());
        String stored = wanted.stored();
        if (!isWhole || !stored.isEmpty() && CpuFreq.parse(stored).isEmpty()) {
            throw new Json.MalformedException("no request of frequencies: " + min + ", " + max + ", " + governor);
        }
        job.part("extras").set("cpuFreq", stored);
    }

    private static boolean stands(long number, String word) {
        return number == 0 || number == NO_VAL || !word.isEmpty();
    }

    private static final String GRES_PREFIX = "gres/";
    private static final List<String> PER_GPU = List.of("cpus_per_tres", "mem_per_tres");
    private static final Pattern GPU_COUNT = Pattern.compile("gres/gpu[:=]([0-9]{1,9})");

    /**
     * Sets CPUs or memory of each GPU; a text that names no count of GPUs sets none, and {@link #mistake} finds it
     * beside the description.
     */
    private static Optional<String> setPerGpu(RecordEditor<?> job, String name, Object value) {
        Matcher m = GPU_COUNT.matcher(textOf(value));
        job.part("request")
                .set(
                        name.equals("cpus_per_tres") ? "cpusPerGpu" : "memPerGpuMb",
                        m.matches() ? Long.parseLong(m.group(1)) : 0);
        return Optional.empty();
    }

    /**
     * Returns why slurmctld refuses what the script made of the job, before it looks at the cluster.
     *
     * @param beside values that the script set and that are kept beside the description
     */
    static Optional<SlurmErrno> mistake(RecordEditor<?> job, Map<String, Object> beside) {
        RecordEditor<?> r = job.part("request");
        boolean named = Stream.of("tresPerNode", "tresPerJob", "tresPerSocket")
                .flatMap(name -> Stream.of(r.text(name).split(",")))
                .allMatch(item -> item.isEmpty() || item.startsWith(GRES_PREFIX));
        boolean counted = PER_GPU.stream()
                .map(name -> String.valueOf(beside.getOrDefault(name, "")))
                .allMatch(text -> text.isEmpty() || GPU_COUNT.matcher(text).matches());
        if (!named || !counted) {
            return Optional.of(SlurmErrno.INVALID_TRES);
        }
        if (!r.text("tresPerSocket").isEmpty() && r.number("socketsPerNode") == 0) {
            return Optional.of(SlurmErrno.INVALID_GRES);
        }
        if (r.number("nodesMax") > 0 && r.number("nodesMin") > r.number("nodesMax")) {
            return Optional.of(SlurmErrno.INVALID_NODE_COUNT);
        }
        long max = beside.get("max_cpus") instanceof Long n && n < NO_VAL ? n : Long.MAX_VALUE;
        long min = Math.max(beside.get("min_cpus") instanceof Long n && n < NO_VAL ? n : 0, cpus(r));
        boolean isHeld = job.part("timing").flag("hold");
        return min > max && !isHeld ? Optional.of(SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE) : Optional.empty();
    }

    private static void memory(RecordEditor<?> r, double mb) {
        boolean perCpu = mb >= MEM_PER_CPU && mb < NO_VAL64;
        r.set("memPerCpuMb", perCpu ? (long) (mb - MEM_PER_CPU) : 0L)
                .set("memPerNodeMb", perCpu || mb < 0 || mb >= NO_VAL64 ? 0L : (long) mb);
    }

    private static void share(RecordEditor<?> r, int value) {
        r.set(
                        "exclusive",
                        switch (value) {
                            case 0 -> "NODE";
                            case 2 -> "USER";
                            case 3 -> "MCS";
                            case 4 -> "TOPO";
                            default -> "SHARED";
                        })
                .set("oversubscribe", value == 1);
    }

    private static void switches(RecordEditor<?> r, long count, long waitS) {
        String wait =
                waitS > 0 ? String.format("@%d:%02d", waitS / SECONDS_PER_MINUTE, waitS % SECONDS_PER_MINUTE) : "";
        if (count > SWITCHES_MAX) {
            throw new Json.MalformedException(count + " is out of range");
        }
        r.set("switches", count == 0 ? "" : count + wait);
    }
}
