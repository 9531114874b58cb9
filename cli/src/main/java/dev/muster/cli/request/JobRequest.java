package dev.muster.cli.request;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SignalSpec;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.HostFile;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.option.MemUpdate;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.job.TresPerTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes the JSON of {@code JobDesc} and its parts from checked options. It leaves out defaults, which the codec adds.
 */
public final class JobRequest {
    private final JobOptions options;

    public JobRequest(JobOptions options) {
        this.options = options;
    }

    public static void put(Json.Obj to, String name, String value) {
        if (!value.isEmpty()) {
            to.put(name, value);
        }
    }

    public static void put(Json.Obj to, String name, long value) {
        if (value != 0) {
            to.put(name, value);
        }
    }

    public static void put(Json.Obj to, String name, boolean value) {
        if (value) {
            to.put(name, Boolean.TRUE);
        }
    }

    public static void put(Json.Obj to, String name, Json.Obj value) {
        if (!value.fields().isEmpty()) {
            to.put(name, value);
        }
    }

    public static String base64(String text) {
        return RawText.bytes(text).base64();
    }

    /**
     * The whole {@code JobDesc}.
     *
     * @param arguments of the script, its own name first; empty for none
     */
    public Json.Obj job(String kind, String name, List<String> arguments) throws UsageException {
        Json.Obj job = new Json.Obj();
        job.put("kind", kind);
        put(job, "name", name);
        put(job, "partition", partitions(options));
        put(job, "owner", owner());
        put(job, "charge", charge());
        Json.Obj request = resources();
        warnOfIdleNodes(request);
        put(job, "request", request);
        put(job, "timing", timing());
        put(job, "files", files());
        put(job, "extras", extras());
        put(job, "payload", payload(arguments));
        return job;
    }

    /** Warns if a request has more nodes than tasks. */
    private void warnOfIdleNodes(Json.Obj request) throws UsageException {
        String nodes = options.text(JobOption.NODES);
        long minimum;
        if (nodes.isEmpty()) {
            minimum = listed();
        } else {
            minimum = Long.parseLong(nodes.indexOf('-') < 0 ? nodes : nodes.substring(0, nodes.indexOf('-')));
        }

        if (!nodes.isEmpty() && request.number("nodesMax") == 0) {
            String verb;
            if (options.command() == 'B') {
                verb = "Batch job submission failed: ";
            } else if (options.command() == 'A') {
                verb = "Job submit/allocate failed: ";
            } else {
                verb = "Unable to allocate resources: ";
            }

            throw options.context().bad(options.exitError(1), verb + SlurmErrno.INVALID_NODE_COUNT.sentence());
        }
        if (options.has(JobOption.NTASKS) && request.number("tasks") > 0 && minimum > request.number("tasks")) {
            options.context()
                    .info("warning: can't run " + request.number("tasks") + " processes on " + minimum
                            + " nodes, setting nnodes to " + request.number("tasks"));
        }
    }

    /** Names the owner if another user was requested. slurmctld takes the caller's identity otherwise. */
    private Json.Obj owner() {
        Json.Obj owner = new Json.Obj();
        boolean other = options.has(JobOption.UID) || options.has(JobOption.GID);
        if (other) {
            owner.put(
                    "uid",
                    options.has(JobOption.UID)
                            ? options.number(JobOption.UID)
                            : (long) options.context().host().uid());
            put(owner, "gid", options.number(JobOption.GID));
            // a number of 0 alone means unset
            put(owner, "user", owner.number("uid") == 0 ? "root" : "");
            put(owner, "group", options.has(JobOption.GID) && options.number(JobOption.GID) == 0 ? "root" : "");
        }
        return owner;
    }

    private Json.Obj charge() {
        Json.Obj c = new Json.Obj();
        put(c, "account", options.text(JobOption.ACCOUNT));
        put(c, "qos", options.text(JobOption.QOS));
        put(c, "wckey", options.text(JobOption.WCKEY));
        put(c, "reservation", options.text(JobOption.RESERVATION));
        return c;
    }

    /** Returns whether the option requests 0, which stands for all memory of the nodes. */
    private boolean asksNothingOf(JobOption memory) throws UsageException {
        return options.has(memory) && options.number(memory) == 0;
    }

    public Json.Obj resources() throws UsageException {
        Json.Obj resources = new Json.Obj();
        nodes(resources);
        put(
                resources,
                "tasks",
                options.has(JobOption.NTASKS) ? options.number(JobOption.NTASKS) : byGeometry(resources));
        put(resources, "cpusPerTask", cpusPerTask());
        put(resources, "tasksPerNode", options.number(JobOption.NTASKS_PER_NODE));
        put(resources, "tasksPerSocket", options.number(JobOption.NTASKS_PER_SOCKET));
        put(resources, "tasksPerCore", options.number(JobOption.NTASKS_PER_CORE));
        put(resources, "tasksPerGpu", options.number(JobOption.NTASKS_PER_GPU));
        put(resources, "cpusPerNodeMin", options.number(JobOption.MINCPUS));
        put(resources, "cpusPerGpu", options.number(JobOption.CPUS_PER_GPU));
        put(resources, "memPerNodeMb", options.number(JobOption.MEM));
        put(resources, "memPerCpuMb", options.number(JobOption.MEM_PER_CPU));
        put(resources, "memPerGpuMb", options.number(JobOption.MEM_PER_GPU));
        put(resources, "memAll", asksNothingOf(JobOption.MEM) || asksNothingOf(JobOption.MEM_PER_CPU));
        put(resources, "tmpDiskMb", options.number(JobOption.TMP));
        tres(resources);
        put(resources, "features", options.text(JobOption.CONSTRAINT));
        put(resources, "prefer", options.text(JobOption.PREFER));
        put(resources, "nodeList", joined(options.text(JobOption.NODELIST), options.text(JobOption.NODEFILE)));
        hostFile(resources);
        put(resources, "excludeList", options.text(JobOption.EXCLUDE));
        if (options.has(JobOption.EXCLUSIVE)) {
            resources.put("exclusive", exclusive());
        }
        put(
                resources,
                "oversubscribe",
                options.has(JobOption.OVERSUBSCRIBE)
                        || options.text(JobOption.EXCLUSIVE).equals("oversubscribe"));
        put(resources, "overcommit", options.has(JobOption.OVERCOMMIT));
        put(resources, "contiguous", options.has(JobOption.CONTIGUOUS));
        put(resources, "spread", options.has(JobOption.SPREAD_JOB));
        put(resources, "useMinNodes", options.has(JobOption.USE_MIN_NODES));
        geometry(resources);
        // 0 asks for something as well: the specialised cores
        put(
                resources,
                "coreSpec",
                options.has(JobOption.CORE_SPEC) && options.number(JobOption.CORE_SPEC) == 0
                        ? -1
                        : options.number(JobOption.CORE_SPEC));
        put(resources, "threadSpec", options.number(JobOption.THREAD_SPEC));
        String both = options.text(JobOption.LICENSES).isEmpty()
                        || options.text(JobOption.RESOURCES).isEmpty()
                ? ""
                : ",";
        put(resources, "licenses", options.text(JobOption.LICENSES) + both + options.text(JobOption.RESOURCES));
        put(resources, "network", options.text(JobOption.NETWORK));
        put(resources, "switches", options.text(JobOption.SWITCHES));
        put(resources, "segment", options.number(JobOption.SEGMENT));
        put(resources, "spreadSegments", options.has(JobOption.SPREAD_SEGMENTS));
        put(resources, "consolidateSegments", options.has(JobOption.CONSOLIDATE_SEGMENTS));
        put(resources, "gresFlags", options.text(JobOption.GRES_FLAGS));
        put(resources, "hint", options.text(JobOption.HINT));
        return resources;
    }

    private long cpusPerTask() throws UsageException {
        if (options.has(JobOption.CPUS_PER_TASK) && !cpusInTres()) {
            return options.number(JobOption.CPUS_PER_TASK);
        }
        return options.typed(JobOption.CPUS_PER_GPU) && !options.typed(JobOption.TRES_PER_TASK) ? 0 : tresNumber("cpu");
    }

    private void tres(Json.Obj resources) throws UsageException {
        put(resources, "tresPerNode", joined(gresList(options.text(JobOption.GRES)), gpus(JobOption.GPUS_PER_NODE)));
        put(resources, "tresPerJob", gpus(JobOption.GPUS));
        String perTask = tresPerTask();
        put(
                resources,
                "tresPerTask",
                joined(GpuCheck.areGpusIn(perTask) ? "" : TresPerTask.of(0, gpus(JobOption.GPUS_PER_TASK)), perTask));
        put(resources, "tresPerSocket", gpus(JobOption.GPUS_PER_SOCKET));
    }

    /** Places tasks by SLURM_HOSTFILE, which overrides -m, unless an option names the nodes. */
    private void hostFile(Json.Obj resources) throws UsageException {
        String distribution = options.text(JobOption.DISTRIBUTION);
        String path = options.context().env("SLURM_HOSTFILE");
        boolean fromFile = !path.isEmpty() && !options.has(JobOption.NODELIST) && !options.has(JobOption.NODEFILE);
        if (fromFile) {
            distribution = "arbitrary";
            resources.put("nodeList", HostFile.read(options.context(), path));
        }
        if (distribution.equals("arbitrary")) {
            arbitrary(resources, fromFile);
        }
        String planeSize = options.context().env("SLURM_DIST_PLANESIZE");
        if (distribution.startsWith("plane")
                && !distribution.startsWith("plane=")
                && Digits.parseNumber(planeSize) > 0) {
            distribution = "plane=" + planeSize;
        }
        put(resources, "distribution", distribution);
    }

    /** Counts tasks and nodes of an arbitrary distribution by its list of nodes. */
    private void arbitrary(Json.Obj resources, boolean fromFile) throws UsageException {
        if (options.typed(JobOption.NODES)) {
            throw options.context().bad(options.exitError(1), "--nodes is incompatible with --distribution=arbitrary");
        }
        if (resources.text("nodeList").isEmpty()
                && (options.command() != 'R' || options.typed(JobOption.DISTRIBUTION))) {
            throw options.context()
                    .bad(
                            options.exitError(1),
                            "With Arbitrary distribution you need to specify a nodelist or hostfile with the "
                                    + "-w option");
        }
        List<String> hosts = HostFile.names(resources.text("nodeList"));
        if (fromFile && options.typed(JobOption.NTASKS) && options.number(JobOption.NTASKS) > hosts.size()) {
            throw new UsageException(
                    options.exitError(1),
                    List.of(
                            options.context().name() + ": error: Too few NodeNames in Slurm Hostfile",
                            options.context().name() + ": error: Failure getting NodeNames from hostfile"));
        }
        if (!hosts.isEmpty()) {
            put(resources, "tasks", options.typed(JobOption.NTASKS) ? options.number(JobOption.NTASKS) : hosts.size());
            long used =
                    hosts.stream().limit(resources.number("tasks")).distinct().count();
            put(resources, "nodesMin", used);
            put(resources, "nodesMax", used);
        }
    }

    private void nodes(Json.Obj resources) {
        String nodes = options.text(JobOption.NODES);
        if (nodes.isEmpty()) {
            // of the nodes that are named no more than there are tasks; otherwise all, and others if these are too few
            long maximum = options.number(JobOption.NTASKS) < listed() ? options.number(JobOption.NTASKS) : 0;
            put(resources, "nodesMin", maximum);
            put(resources, "nodesMax", maximum);
            return;
        }
        int dash = nodes.indexOf('-');
        long minimum = Long.parseLong(dash < 0 ? nodes : nodes.substring(0, dash));
        long maximum = Long.parseLong(dash < 0 ? nodes : nodes.substring(dash + 1));
        long tasks = options.has(JobOption.NTASKS) ? options.number(JobOption.NTASKS) : 0;
        boolean idle = tasks > 0 && minimum > tasks;
        put(resources, "nodesMin", idle ? tasks : minimum);
        put(resources, "nodesMax", idle ? tasks : maximum);
        put(resources, "nodeSizes", idle ? "" : options.nodeSizes());
    }

    /**
     * Returns the number of named nodes, which is the size of a job without --nodes; 0 for a step, which has the nodes
     * of its job.
     */
    public long listed() {
        String list = joined(options.text(JobOption.NODELIST), options.text(JobOption.NODEFILE));
        boolean step = options.command() == 'R' && options.has(JobOption.JOBID) && !options.has(JobOption.TEST_ONLY);
        return step || options.text(JobOption.DISTRIBUTION).equals("arbitrary")
                ? 0
                : HostFile.names(list).stream().distinct().count();
    }

    private static final JobOption[] GEOMETRY = {
        JobOption.SOCKETS_PER_NODE, JobOption.CORES_PER_SOCKET, JobOption.THREADS_PER_CORE
    };
    /** Hints that stand for one thread of each core. */
    private static final List<String> ONE_THREAD = List.of("nomultithread", "compute_bound", "memory_bound");

    /**
     * Counts the tasks of a job without a number of tasks: one for each socket, core or thread that it requests.
     * Numbers of -B always count; numbers of separate options count only with a number of nodes.
     */
    private long byGeometry(Json.Obj resources) {
        boolean whole = options.has(JobOption.EXTRA_NODE_INFO);
        long nodes;
        if (options.text(JobOption.NODES).isEmpty()) {
            nodes = listed();
        } else if (resources.number("nodesMin") == resources.number("nodesMax")) {
            nodes = resources.number("nodesMin");
        } else {
            nodes = 0;
        }

        boolean counts = ONE_THREAD.contains(options.text(JobOption.HINT))
                || Stream.of(GEOMETRY).anyMatch(options::has);
        if (options.command() == 'R' || options.has(JobOption.NTASKS_PER_NODE) || !whole && (nodes == 0 || !counts)) {
            return 0;
        }
        List<String> parts = Texts.split(options.text(JobOption.EXTRA_NODE_INFO), ':');
        long each = 1;
        for (int i = 0; i < GEOMETRY.length; i++) {
            if (options.has(GEOMETRY[i])) {
                each *= Math.max(1, options.number(GEOMETRY[i]));
            } else if (i < parts.size() && !parts.get(i).equals("*")) {
                each *= Long.parseLong(parts.get(i));
            }
        }
        return Math.min(
                Integer.MAX_VALUE,
                Math.max(1, resources.number("nodesMin") > 0 ? resources.number("nodesMin") : nodes) * each);
    }

    private String exclusive() {
        return switch (options.text(JobOption.EXCLUSIVE)) {
            case "user" -> "USER";
            case "mcs" -> "MCS";
            case "topo" -> "TOPO";
            case "oversubscribe" -> "SHARED";
            default -> "NODE";
        };
    }

    private void geometry(Json.Obj resources) {
        List<String> parts = Texts.split(options.text(JobOption.EXTRA_NODE_INFO), ':');
        String[] fields = {"socketsPerNode", "coresPerSocket", "threadsPerCore"};
        for (int i = 0; i < fields.length; i++) {
            if (options.has(GEOMETRY[i])) {
                put(resources, fields[i], options.number(GEOMETRY[i]));
            } else if (i < parts.size() && !parts.get(i).equals("*")) {
                put(resources, fields[i], Long.parseLong(parts.get(i)));
            }
        }
    }

    /** Returns the named partitions, without empty ones; "" for the default partition. */
    private static String partitions(JobOptions options) {
        return String.join(",", Texts.split(options.text(JobOption.PARTITION), ','));
    }

    /** {@code gpu:2,nic:1} → {@code gres/gpu:2,gres/nic:1}; a name that is missing in the list asks for nothing. */
    static String gresList(String text) {
        StringBuilder out = new StringBuilder();
        for (String item : Texts.split(text, ',')) {
            if (!text.equalsIgnoreCase("none")) {
                out.append(out.isEmpty() ? "" : ",")
                        .append(item.startsWith("gres/") ? "" : "gres/")
                        .append(item);
            }
        }
        return out.toString();
    }

    private String gpus(JobOption option) {
        StringBuilder text = new StringBuilder();
        for (String item : Texts.split(options.text(option), ',')) {
            text.append(text.isEmpty() ? "" : ",").append("gres/gpu:").append(item);
        }
        return text.toString();
    }

    /** Whether --tres-per-task sets CPUs; it overrides CPUs per task of the job's environment. */
    private boolean cpusInTres() {
        return options.typed(JobOption.TRES_PER_TASK)
                && !options.typed(JobOption.CPUS_PER_TASK)
                && tresNumber("cpu") > 0;
    }

    private static final Pattern OF_TASK = Pattern.compile("(cpu|mem|gres[/:]|license[/:]).*|.*[/:=].*");

    /** A variable of it tells again what others tell of CPUs and GPUs. */
    private String tresPerTask() {
        // a bare word that names no resource asks for nothing
        String all = Texts.split(options.text(JobOption.TRES_PER_TASK), ',').stream()
                .filter(OF_TASK.asMatchPredicate())
                .collect(Collectors.joining(","));
        if (options.typed(JobOption.TRES_PER_TASK) || options.command() != 'R') {
            return all;
        }
        List<String> out = new ArrayList<>(Texts.split(all, ','));
        out.removeIf(
                item -> item.startsWith("cpu") || options.has(JobOption.GPUS_PER_TASK) && item.startsWith("gres/gpu"));
        return String.join(",", out);
    }

    /** The number of one kind in {@code --tres-per-task}, 0 if it is not there. */
    private long tresNumber(String kind) {
        for (String item : Texts.split(options.text(JobOption.TRES_PER_TASK), ',')) {
            if (item.startsWith(kind + "=") || item.startsWith(kind + ":")) {
                return Math.max(0, Digits.parseNumber(item.substring(kind.length() + 1)));
            }
        }
        return 0;
    }

    private static String joined(String a, String b) {
        if (a.isEmpty()) {
            return b;
        }
        if (b.isEmpty()) {
            return a;
        }
        return a + "," + b;
    }

    private Json.Obj timing() throws UsageException {
        if (options.has(JobOption.DEADLINE)
                && options.has(JobOption.BEGIN)
                && options.number(JobOption.DEADLINE) < options.number(JobOption.BEGIN)) {
            throw options.context().bad(options.exitError(1), "Incompatible begin and deadline time specification");
        }
        Json.Obj timing = new Json.Obj();
        // 0 means none, not unset
        put(
                timing,
                "timeLimitMin",
                options.has(JobOption.TIME) && options.number(JobOption.TIME) == 0
                        ? Durations.UNLIMITED
                        : options.number(JobOption.TIME));
        put(timing, "timeMinMin", options.number(JobOption.TIME_MIN));
        put(timing, "beginTime", options.number(JobOption.BEGIN));
        put(timing, "deadline", options.number(JobOption.DEADLINE));
        put(timing, "dependency", options.text(JobOption.DEPENDENCY));
        put(timing, "array", options.text(JobOption.ARRAY).matches("[, ]*") ? "" : options.text(JobOption.ARRAY));
        put(timing, "nice", options.number(JobOption.NICE));
        put(timing, "hold", options.has(JobOption.HOLD));
        // 0 is what a value without a number reads as: it asks for nothing, and does not hold the job
        put(timing, "prioritySet", options.number(JobOption.PRIORITY) > 0);
        put(timing, "priority", options.number(JobOption.PRIORITY));
        put(timing, "expedite", options.text(JobOption.REQUEUE).equals("expedite"));
        put(timing, "requeue", yesOrNo(options.has(JobOption.REQUEUE), options.has(JobOption.NO_REQUEUE)));
        String kill = options.text(JobOption.KILL_ON_INVALID_DEP);
        put(timing, "killOnInvalidDependency", yesOrNo(kill.equals("yes"), kill.equals("no")));
        put(timing, "delayBootMin", options.number(JobOption.DELAY_BOOT));
        return timing;
    }

    /** "" leaves the choice to slurm.conf. */
    private static String yesOrNo(boolean yes, boolean no) {
        if (yes) {
            return "YES";
        }
        return no ? "NO" : "";
    }

    public String workDir() {
        String cwd = options.context().host().workDir();
        return options.has(JobOption.CHDIR) ? Texts.absolute(options.text(JobOption.CHDIR), cwd) : cwd;
    }

    private Json.Obj files() {
        Json.Obj files = new Json.Obj();
        put(files, "workDir", base64(workDir()));
        if (options.command() == 'B') {
            put(files, "stdin", base64(file(JobOption.INPUT)));
            put(files, "stdout", base64(file(JobOption.OUTPUT)));
            put(files, "stderr", base64(file(JobOption.ERROR)));
            put(files, "openMode", options.text(JobOption.OPEN_MODE));
        }
        return files;
    }

    /** Returns the file of an option; {@code none} stands for /dev/null. */
    private String file(JobOption option) {
        String name = options.text(option);
        return name.equals("none") ? "/dev/null" : name;
    }

    private Json.Obj extras() {
        Json.Obj extras = new Json.Obj();
        put(extras, "comment", options.text(JobOption.COMMENT));
        put(extras, "extra", options.text(JobOption.EXTRA));
        put(extras, "cluster", options.text(JobOption.CLUSTERS));
        put(extras, "mailUser", options.text(JobOption.MAIL_USER));
        put(extras, "mailType", options.text(JobOption.MAIL_TYPE));
        put(extras, "signal", options.text(JobOption.SIGNAL));
        put(extras, "container", options.text(JobOption.CONTAINER));
        put(extras, "containerId", options.text(JobOption.CONTAINER_ID));
        put(extras, "x11", options.display());
        // sbatch has the lines of --bbf in its script
        put(
                extras,
                "burstBuffer",
                options.has(JobOption.BBF) && options.command() != 'B'
                        ? options.text(JobOption.BBF)
                        : options.text(JobOption.BB));
        put(extras, "mcsLabel", options.text(JobOption.MCS_LABEL));
        put(extras, "batchFeatures", options.text(JobOption.BATCH));
        put(extras, "acctgFreq", options.text(JobOption.ACCTG_FREQ));
        put(extras, "cpuFreq", options.text(JobOption.CPU_FREQ));
        put(extras, "tresBind", tresBind());
        String gpuFreq = options.text(JobOption.GPU_FREQ);
        put(extras, "tresFreq", gpuFreq.isEmpty() ? "" : "gpu:" + gpuFreq);
        put(extras, "profile", options.text(JobOption.PROFILE));
        put(extras, "noKill", options.text(JobOption.NO_KILL).equals("1"));
        put(extras, "waitAllNodes", options.text(JobOption.WAIT_ALL_NODES).equals("1"));
        put(extras, "reboot", options.has(JobOption.REBOOT));
        put(extras, "oomKillStep", options.text(JobOption.OOM_KILL_STEP));
        put(extras, "getUserEnv", options.has(JobOption.GET_USER_ENV));
        put(extras, "stepMgr", options.has(JobOption.STEPMGR));
        put(extras, "noShell", options.has(JobOption.NO_SHELL));
        put(extras, "containerType", options.text(JobOption.CONTAINER_TYPE));
        put(extras, "resvPorts", options.command() == 'R' ? 0 : options.number(JobOption.RESV_PORTS));
        MemUpdate.parse(options.text(JobOption.MEM_UPDATE)).ifPresent(m -> {
            put(extras, "memUpdateMargin", m.margin());
            put(extras, "memUpdateMin", m.delayMin());
        });
        SignalSpec.parse(options.text(JobOption.SIGNAL), options.command()).ifPresent(s -> {
            put(extras, "warnSignal", s.signal());
            put(extras, "warnSeconds", s.seconds());
            put(extras, "warnBatchOnly", s.batchOnly());
            put(extras, "warnReserve", s.reserve());
        });
        return extras;
    }

    public String tresBind() {
        return GpuBinding.of(options);
    }

    private Json.Obj payload(List<String> arguments) {
        Json.Obj partition = new Json.Obj();
        if (!arguments.isEmpty()) {
            partition.put("arguments", JobEnvironment.base64All(arguments));
        }
        Host host = options.context().host();
        put(partition, "submitHost", host.hostName());
        put(partition, "submitPid", host.pid());
        put(partition, "submitLine", base64(submitLine()));
        put(partition, "umask", options.umask());
        partition.put("limits", limits());
        return partition;
    }

    /** Returns the command line as accounting shows it. */
    public String submitLine() {
        List<String> words = new ArrayList<>(List.of(options.context().program()));
        words.addAll(options.context().args());
        return String.join(" ", words);
    }

    /** Returns the limits to set in the job: those that {@code --propagate} names, else those of the configuration. */
    public Json.Obj limits() {
        Json.Obj out = new Json.Obj();
        ClientConf conf = options.context().host().settings();
        boolean propagates = options.has(JobOption.PROPAGATE);
        String wanted = propagates ? Texts.upper(options.text(JobOption.PROPAGATE)) : conf.propagateLimits;
        List<String> except = propagates ? List.of() : Texts.split(conf.propagateLimitsExcept, ',');
        if (wanted.equals("NONE") || except.contains("ALL")) {
            return out;
        }
        List<String> names = Texts.split(wanted, ',');
        boolean all = names.isEmpty() || names.contains("ALL") || !except.isEmpty();
        for (Map.Entry<String, Long> extras : options.context().host().limits().entrySet()) {
            if ((all || names.contains(extras.getKey())) && !except.contains(extras.getKey())) {
                out.put(extras.getKey(), extras.getValue());
            }
        }
        return out;
    }
}
