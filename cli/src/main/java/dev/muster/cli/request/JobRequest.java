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
    private final JobOptions o;

    public JobRequest(JobOptions options) {
        this.o = options;
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
        put(job, "partition", partitions(o));
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
        String nodes = o.text(JobOption.NODES);
        long least;
        if (nodes.isEmpty()) {
            least = listed();
        } else {
            least = Long.parseLong(nodes.indexOf('-') < 0 ? nodes : nodes.substring(0, nodes.indexOf('-')));
        }

        if (!nodes.isEmpty() && request.number("nodesMax") == 0) {
            String verb;
            if (o.command() == 'B') {
                verb = "Batch job submission failed: ";
            } else if (o.command() == 'A') {
                verb = "Job submit/allocate failed: ";
            } else {
                verb = "Unable to allocate resources: ";
            }

            throw o.context().bad(o.exitError(1), verb + SlurmErrno.INVALID_NODE_COUNT.sentence());
        }
        if (o.has(JobOption.NTASKS) && request.number("tasks") > 0 && least > request.number("tasks")) {
            o.context()
                    .info("warning: can't run " + request.number("tasks") + " processes on " + least
                            + " nodes, setting nnodes to " + request.number("tasks"));
        }
    }

    /** Names the owner if another user was requested. slurmctld takes the caller's identity otherwise. */
    private Json.Obj owner() {
        Json.Obj owner = new Json.Obj();
        boolean other = o.has(JobOption.UID) || o.has(JobOption.GID);
        if (other) {
            owner.put(
                    "uid",
                    o.has(JobOption.UID)
                            ? o.number(JobOption.UID)
                            : (long) o.context().host().uid());
            put(owner, "gid", o.number(JobOption.GID));
            // a number of 0 alone means that nothing was said
            put(owner, "user", owner.number("uid") == 0 ? "root" : "");
            put(owner, "group", o.has(JobOption.GID) && o.number(JobOption.GID) == 0 ? "root" : "");
        }
        return owner;
    }

    private Json.Obj charge() {
        Json.Obj c = new Json.Obj();
        put(c, "account", o.text(JobOption.ACCOUNT));
        put(c, "qos", o.text(JobOption.QOS));
        put(c, "wckey", o.text(JobOption.WCKEY));
        put(c, "reservation", o.text(JobOption.RESERVATION));
        return c;
    }

    /** Returns whether the option requests 0, which stands for all memory of the nodes. */
    private boolean asksNothingOf(JobOption memory) throws UsageException {
        return o.has(memory) && o.number(memory) == 0;
    }

    public Json.Obj resources() throws UsageException {
        Json.Obj r = new Json.Obj();
        nodes(r);
        put(r, "tasks", o.has(JobOption.NTASKS) ? o.number(JobOption.NTASKS) : byGeometry(r));
        put(r, "cpusPerTask", cpusPerTask());
        put(r, "tasksPerNode", o.number(JobOption.NTASKS_PER_NODE));
        put(r, "tasksPerSocket", o.number(JobOption.NTASKS_PER_SOCKET));
        put(r, "tasksPerCore", o.number(JobOption.NTASKS_PER_CORE));
        put(r, "tasksPerGpu", o.number(JobOption.NTASKS_PER_GPU));
        put(r, "cpusPerNodeMin", o.number(JobOption.MINCPUS));
        put(r, "cpusPerGpu", o.number(JobOption.CPUS_PER_GPU));
        put(r, "memPerNodeMb", o.number(JobOption.MEM));
        put(r, "memPerCpuMb", o.number(JobOption.MEM_PER_CPU));
        put(r, "memPerGpuMb", o.number(JobOption.MEM_PER_GPU));
        put(r, "memAll", asksNothingOf(JobOption.MEM) || asksNothingOf(JobOption.MEM_PER_CPU));
        put(r, "tmpDiskMb", o.number(JobOption.TMP));
        tres(r);
        put(r, "features", o.text(JobOption.CONSTRAINT));
        put(r, "prefer", o.text(JobOption.PREFER));
        put(r, "nodeList", joined(o.text(JobOption.NODELIST), o.text(JobOption.NODEFILE)));
        hostFile(r);
        put(r, "excludeList", o.text(JobOption.EXCLUDE));
        if (o.has(JobOption.EXCLUSIVE)) {
            r.put("exclusive", exclusive());
        }
        put(
                r,
                "oversubscribe",
                o.has(JobOption.OVERSUBSCRIBE) || o.text(JobOption.EXCLUSIVE).equals("oversubscribe"));
        put(r, "overcommit", o.has(JobOption.OVERCOMMIT));
        put(r, "contiguous", o.has(JobOption.CONTIGUOUS));
        put(r, "spread", o.has(JobOption.SPREAD_JOB));
        put(r, "useMinNodes", o.has(JobOption.USE_MIN_NODES));
        geometry(r);
        // 0 asks for something as well: the specialised cores
        put(
                r,
                "coreSpec",
                o.has(JobOption.CORE_SPEC) && o.number(JobOption.CORE_SPEC) == 0 ? -1 : o.number(JobOption.CORE_SPEC));
        put(r, "threadSpec", o.number(JobOption.THREAD_SPEC));
        String both = o.text(JobOption.LICENSES).isEmpty()
                        || o.text(JobOption.RESOURCES).isEmpty()
                ? ""
                : ",";
        put(r, "licenses", o.text(JobOption.LICENSES) + both + o.text(JobOption.RESOURCES));
        put(r, "network", o.text(JobOption.NETWORK));
        put(r, "switches", o.text(JobOption.SWITCHES));
        put(r, "segment", o.number(JobOption.SEGMENT));
        put(r, "spreadSegments", o.has(JobOption.SPREAD_SEGMENTS));
        put(r, "consolidateSegments", o.has(JobOption.CONSOLIDATE_SEGMENTS));
        put(r, "gresFlags", o.text(JobOption.GRES_FLAGS));
        put(r, "hint", o.text(JobOption.HINT));
        return r;
    }

    private long cpusPerTask() throws UsageException {
        if (o.has(JobOption.CPUS_PER_TASK) && !cpusInTres()) {
            return o.number(JobOption.CPUS_PER_TASK);
        }
        return o.typed(JobOption.CPUS_PER_GPU) && !o.typed(JobOption.TRES_PER_TASK) ? 0 : tresNumber("cpu");
    }

    private void tres(Json.Obj r) throws UsageException {
        put(r, "tresPerNode", joined(gresList(o.text(JobOption.GRES)), gpus(JobOption.GPUS_PER_NODE)));
        put(r, "tresPerJob", gpus(JobOption.GPUS));
        String perTask = tresPerTask();
        put(
                r,
                "tresPerTask",
                joined(GpuCheck.areGpusIn(perTask) ? "" : TresPerTask.of(0, gpus(JobOption.GPUS_PER_TASK)), perTask));
        put(r, "tresPerSocket", gpus(JobOption.GPUS_PER_SOCKET));
    }

    /** Places tasks by SLURM_HOSTFILE, which overrides -m, unless an option names the nodes. */
    private void hostFile(Json.Obj r) throws UsageException {
        String distribution = o.text(JobOption.DISTRIBUTION);
        String path = o.context().env("SLURM_HOSTFILE");
        boolean fromFile = !path.isEmpty() && !o.has(JobOption.NODELIST) && !o.has(JobOption.NODEFILE);
        if (fromFile) {
            distribution = "arbitrary";
            r.put("nodeList", HostFile.read(o.context(), path));
        }
        if (distribution.equals("arbitrary")) {
            arbitrary(r, fromFile);
        }
        String planeSize = o.context().env("SLURM_DIST_PLANESIZE");
        if (distribution.startsWith("plane")
                && !distribution.startsWith("plane=")
                && Digits.parseNumber(planeSize) > 0) {
            distribution = "plane=" + planeSize;
        }
        put(r, "distribution", distribution);
    }

    /** Counts tasks and nodes of an arbitrary distribution by its list of nodes. */
    private void arbitrary(Json.Obj r, boolean fromFile) throws UsageException {
        if (o.typed(JobOption.NODES)) {
            throw o.context().bad(o.exitError(1), "--nodes is incompatible with --distribution=arbitrary");
        }
        if (r.text("nodeList").isEmpty() && (o.command() != 'R' || o.typed(JobOption.DISTRIBUTION))) {
            throw o.context()
                    .bad(
                            o.exitError(1),
                            "With Arbitrary distribution you need to specify a nodelist or hostfile with the "
                                    + "-w option");
        }
        List<String> hosts = HostFile.names(r.text("nodeList"));
        if (fromFile && o.typed(JobOption.NTASKS) && o.number(JobOption.NTASKS) > hosts.size()) {
            throw new UsageException(
                    o.exitError(1),
                    List.of(
                            o.context().name() + ": error: Too few NodeNames in Slurm Hostfile",
                            o.context().name() + ": error: Failure getting NodeNames from hostfile"));
        }
        if (!hosts.isEmpty()) {
            put(r, "tasks", o.typed(JobOption.NTASKS) ? o.number(JobOption.NTASKS) : hosts.size());
            long used = hosts.stream().limit(r.number("tasks")).distinct().count();
            put(r, "nodesMin", used);
            put(r, "nodesMax", used);
        }
    }

    private void nodes(Json.Obj r) {
        String nodes = o.text(JobOption.NODES);
        if (nodes.isEmpty()) {
            // of the nodes that are named no more than there are tasks; otherwise all, and others if these are too few
            long most = o.number(JobOption.NTASKS) < listed() ? o.number(JobOption.NTASKS) : 0;
            put(r, "nodesMin", most);
            put(r, "nodesMax", most);
            return;
        }
        int dash = nodes.indexOf('-');
        long least = Long.parseLong(dash < 0 ? nodes : nodes.substring(0, dash));
        long most = Long.parseLong(dash < 0 ? nodes : nodes.substring(dash + 1));
        long tasks = o.has(JobOption.NTASKS) ? o.number(JobOption.NTASKS) : 0;
        boolean idle = tasks > 0 && least > tasks;
        put(r, "nodesMin", idle ? tasks : least);
        put(r, "nodesMax", idle ? tasks : most);
        put(r, "nodeSizes", idle ? "" : o.nodeSizes());
    }

    /**
     * Returns the number of named nodes, which is the size of a job without --nodes; 0 for a step, which has the nodes
     * of its job.
     */
    public long listed() {
        String list = joined(o.text(JobOption.NODELIST), o.text(JobOption.NODEFILE));
        boolean step = o.command() == 'R' && o.has(JobOption.JOBID) && !o.has(JobOption.TEST_ONLY);
        return step || o.text(JobOption.DISTRIBUTION).equals("arbitrary")
                ? 0
                : HostFile.names(list).stream().distinct().count();
    }

    private static final JobOption[] GEOMETRY = {
        JobOption.SOCKETS_PER_NODE, JobOption.CORES_PER_SOCKET, JobOption.THREADS_PER_CORE
    };
    /** Hints that stand for one thread of each core. */
    private static final List<String> ONE_THREAD = List.of("nomultithread", "compute_bound", "memory_bound");

    /**
     * Counts the tasks of a job that says nothing else of them: one for each socket, core or thread that it names.
     * Numbers of -B count whatever the job says of its nodes, those of options of their own where it says how many
     * nodes it wants.
     */
    private long byGeometry(Json.Obj r) {
        boolean whole = o.has(JobOption.EXTRA_NODE_INFO);
        long nodes;
        if (o.text(JobOption.NODES).isEmpty()) {
            nodes = listed();
        } else if (r.number("nodesMin") == r.number("nodesMax")) {
            nodes = r.number("nodesMin");
        } else {
            nodes = 0;
        }

        boolean counts = ONE_THREAD.contains(o.text(JobOption.HINT))
                || Stream.of(GEOMETRY).anyMatch(o::has);
        if (o.command() == 'R' || o.has(JobOption.NTASKS_PER_NODE) || !whole && (nodes == 0 || !counts)) {
            return 0;
        }
        List<String> parts = Texts.split(o.text(JobOption.EXTRA_NODE_INFO), ':');
        long each = 1;
        for (int i = 0; i < GEOMETRY.length; i++) {
            if (o.has(GEOMETRY[i])) {
                each *= Math.max(1, o.number(GEOMETRY[i]));
            } else if (i < parts.size() && !parts.get(i).equals("*")) {
                each *= Long.parseLong(parts.get(i));
            }
        }
        return Math.min(Integer.MAX_VALUE, Math.max(1, r.number("nodesMin") > 0 ? r.number("nodesMin") : nodes) * each);
    }

    private String exclusive() {
        return switch (o.text(JobOption.EXCLUSIVE)) {
            case "user" -> "USER";
            case "mcs" -> "MCS";
            case "topo" -> "TOPO";
            case "oversubscribe" -> "SHARED";
            default -> "NODE";
        };
    }

    private void geometry(Json.Obj r) {
        List<String> parts = Texts.split(o.text(JobOption.EXTRA_NODE_INFO), ':');
        String[] fields = {"socketsPerNode", "coresPerSocket", "threadsPerCore"};
        for (int i = 0; i < fields.length; i++) {
            if (o.has(GEOMETRY[i])) {
                put(r, fields[i], o.number(GEOMETRY[i]));
            } else if (i < parts.size() && !parts.get(i).equals("*")) {
                put(r, fields[i], Long.parseLong(parts.get(i)));
            }
        }
    }

    /** Returns the named partitions, without empty ones; "" for the default partition. */
    private static String partitions(JobOptions o) {
        return String.join(",", Texts.split(o.text(JobOption.PARTITION), ','));
    }

    /** {@code gpu:2,nic:1} → {@code gres/gpu:2,gres/nic:1}; a name that is missing in the list asks for nothing. */
    static String gresList(String text) {
        StringBuilder b = new StringBuilder();
        for (String item : Texts.split(text, ',')) {
            if (!text.equalsIgnoreCase("none")) {
                b.append(b.isEmpty() ? "" : ",")
                        .append(item.startsWith("gres/") ? "" : "gres/")
                        .append(item);
            }
        }
        return b.toString();
    }

    private String gpus(JobOption option) {
        StringBuilder b = new StringBuilder();
        for (String item : Texts.split(o.text(option), ',')) {
            b.append(b.isEmpty() ? "" : ",").append("gres/gpu:").append(item);
        }
        return b.toString();
    }

    /** Said here and now with --tres-per-task: what the job's environment has of CPUs per task is older. */
    private boolean cpusInTres() {
        return o.typed(JobOption.TRES_PER_TASK) && !o.typed(JobOption.CPUS_PER_TASK) && tresNumber("cpu") > 0;
    }

    private static final Pattern OF_TASK = Pattern.compile("(cpu|mem|gres[/:]|license[/:]).*|.*[/:=].*");

    /** A variable of it tells again what others tell of CPUs and GPUs. */
    private String tresPerTask() {
        // a bare word that names no resource asks for nothing
        String all = Texts.split(o.text(JobOption.TRES_PER_TASK), ',').stream()
                .filter(OF_TASK.asMatchPredicate())
                .collect(Collectors.joining(","));
        if (o.typed(JobOption.TRES_PER_TASK) || o.command() != 'R') {
            return all;
        }
        List<String> out = new ArrayList<>(Texts.split(all, ','));
        out.removeIf(item -> item.startsWith("cpu") || o.has(JobOption.GPUS_PER_TASK) && item.startsWith("gres/gpu"));
        return String.join(",", out);
    }

    /** The number of one kind in {@code --tres-per-task}, 0 if it is not there. */
    private long tresNumber(String kind) {
        for (String item : Texts.split(o.text(JobOption.TRES_PER_TASK), ',')) {
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
        if (o.has(JobOption.DEADLINE)
                && o.has(JobOption.BEGIN)
                && o.number(JobOption.DEADLINE) < o.number(JobOption.BEGIN)) {
            throw o.context().bad(o.exitError(1), "Incompatible begin and deadline time specification");
        }
        Json.Obj t = new Json.Obj();
        // none is what 0 means, and not that nothing was said
        put(
                t,
                "timeLimitMin",
                o.has(JobOption.TIME) && o.number(JobOption.TIME) == 0
                        ? Durations.UNLIMITED
                        : o.number(JobOption.TIME));
        put(t, "timeMinMin", o.number(JobOption.TIME_MIN));
        put(t, "beginTime", o.number(JobOption.BEGIN));
        put(t, "deadline", o.number(JobOption.DEADLINE));
        put(t, "dependency", o.text(JobOption.DEPENDENCY));
        put(t, "array", o.text(JobOption.ARRAY).matches("[, ]*") ? "" : o.text(JobOption.ARRAY));
        put(t, "nice", o.number(JobOption.NICE));
        put(t, "hold", o.has(JobOption.HOLD));
        // 0 is what a value without a number reads as: it asks for nothing, and does not hold the job
        put(t, "prioritySet", o.number(JobOption.PRIORITY) > 0);
        put(t, "priority", o.number(JobOption.PRIORITY));
        put(t, "expedite", o.text(JobOption.REQUEUE).equals("expedite"));
        put(t, "requeue", yesOrNo(o.has(JobOption.REQUEUE), o.has(JobOption.NO_REQUEUE)));
        String kill = o.text(JobOption.KILL_ON_INVALID_DEP);
        put(t, "killOnInvalidDependency", yesOrNo(kill.equals("yes"), kill.equals("no")));
        put(t, "delayBootMin", o.number(JobOption.DELAY_BOOT));
        return t;
    }

    /** "" leaves the choice to slurm.conf. */
    private static String yesOrNo(boolean yes, boolean no) {
        if (yes) {
            return "YES";
        }
        return no ? "NO" : "";
    }

    public String workDir() {
        String cwd = o.context().host().workDir();
        return o.has(JobOption.CHDIR) ? Texts.absolute(o.text(JobOption.CHDIR), cwd) : cwd;
    }

    private Json.Obj files() {
        Json.Obj f = new Json.Obj();
        put(f, "workDir", base64(workDir()));
        if (o.command() == 'B') {
            put(f, "stdin", base64(file(JobOption.INPUT)));
            put(f, "stdout", base64(file(JobOption.OUTPUT)));
            put(f, "stderr", base64(file(JobOption.ERROR)));
            put(f, "openMode", o.text(JobOption.OPEN_MODE));
        }
        return f;
    }

    /** Returns the file of an option; {@code none} stands for /dev/null. */
    private String file(JobOption option) {
        String name = o.text(option);
        return name.equals("none") ? "/dev/null" : name;
    }

    private Json.Obj extras() {
        Json.Obj e = new Json.Obj();
        put(e, "comment", o.text(JobOption.COMMENT));
        put(e, "extra", o.text(JobOption.EXTRA));
        put(e, "cluster", o.text(JobOption.CLUSTERS));
        put(e, "mailUser", o.text(JobOption.MAIL_USER));
        put(e, "mailType", o.text(JobOption.MAIL_TYPE));
        put(e, "signal", o.text(JobOption.SIGNAL));
        put(e, "container", o.text(JobOption.CONTAINER));
        put(e, "containerId", o.text(JobOption.CONTAINER_ID));
        put(e, "x11", o.display());
        // sbatch has the lines of --bbf in its script
        put(
                e,
                "burstBuffer",
                o.has(JobOption.BBF) && o.command() != 'B' ? o.text(JobOption.BBF) : o.text(JobOption.BB));
        put(e, "mcsLabel", o.text(JobOption.MCS_LABEL));
        put(e, "batchFeatures", o.text(JobOption.BATCH));
        put(e, "acctgFreq", o.text(JobOption.ACCTG_FREQ));
        put(e, "cpuFreq", o.text(JobOption.CPU_FREQ));
        put(e, "tresBind", tresBind());
        String gpuFreq = o.text(JobOption.GPU_FREQ);
        put(e, "tresFreq", gpuFreq.isEmpty() ? "" : "gpu:" + gpuFreq);
        put(e, "profile", o.text(JobOption.PROFILE));
        put(e, "noKill", o.text(JobOption.NO_KILL).equals("1"));
        put(e, "waitAllNodes", o.text(JobOption.WAIT_ALL_NODES).equals("1"));
        put(e, "reboot", o.has(JobOption.REBOOT));
        put(e, "oomKillStep", o.text(JobOption.OOM_KILL_STEP));
        put(e, "getUserEnv", o.has(JobOption.GET_USER_ENV));
        put(e, "stepMgr", o.has(JobOption.STEPMGR));
        put(e, "noShell", o.has(JobOption.NO_SHELL));
        put(e, "containerType", o.text(JobOption.CONTAINER_TYPE));
        put(e, "resvPorts", o.command() == 'R' ? 0 : o.number(JobOption.RESV_PORTS));
        MemUpdate.parse(o.text(JobOption.MEM_UPDATE)).ifPresent(m -> {
            put(e, "memUpdateMargin", m.margin());
            put(e, "memUpdateMin", m.delayMin());
        });
        SignalSpec.parse(o.text(JobOption.SIGNAL), o.command()).ifPresent(s -> {
            put(e, "warnSignal", s.signal());
            put(e, "warnSeconds", s.seconds());
            put(e, "warnBatchOnly", s.batchOnly());
            put(e, "warnReserve", s.reserve());
        });
        return e;
    }

    public String tresBind() {
        return GpuBinding.of(o);
    }

    private Json.Obj payload(List<String> arguments) {
        Json.Obj p = new Json.Obj();
        if (!arguments.isEmpty()) {
            p.put("arguments", JobEnvironment.base64All(arguments));
        }
        Host host = o.context().host();
        put(p, "submitHost", host.hostName());
        put(p, "submitPid", host.pid());
        put(p, "submitLine", base64(submitLine()));
        put(p, "umask", o.umask());
        p.put("limits", limits());
        return p;
    }

    /** Returns the command line as accounting shows it. */
    public String submitLine() {
        List<String> words = new ArrayList<>(List.of(o.context().program()));
        words.addAll(o.context().args());
        return String.join(" ", words);
    }

    /** Returns the limits to set in the job: those that {@code --propagate} names, else those of the configuration. */
    public Json.Obj limits() {
        Json.Obj out = new Json.Obj();
        ClientConf conf = o.context().host().settings();
        boolean asked = o.has(JobOption.PROPAGATE);
        String wanted = asked ? Texts.upper(o.text(JobOption.PROPAGATE)) : conf.propagateLimits;
        List<String> except = asked ? List.of() : Texts.split(conf.propagateLimitsExcept, ',');
        if (wanted.equals("NONE") || except.contains("ALL")) {
            return out;
        }
        List<String> names = Texts.split(wanted, ',');
        boolean all = names.isEmpty() || names.contains("ALL") || !except.isEmpty();
        for (Map.Entry<String, Long> e : o.context().host().limits().entrySet()) {
            if ((all || names.contains(e.getKey())) && !except.contains(e.getKey())) {
                out.put(e.getKey(), e.getValue());
            }
        }
        return out;
    }
}
