package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.Terminal;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.option.MultiProg;
import dev.muster.cli.request.JobEnvironment;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.request.MpiKinds;
import dev.muster.json.Json;
import dev.muster.model.format.HostList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Makes the JSON of {@code StepDesc} from srun's options. */
final class StepRequest {
    private static final int CONFIG_BYTES_MAX = 16 << 20;
    /** Level of srun's messages without --verbose and --quiet. */
    private static final int LEVEL_INFO = 3;

    private final JobOptions o;
    private final List<String> program;
    private final boolean own;
    private boolean behindOthers;
    private final List<Json.Obj> shares;

    /**
     * Settles {@code --ntasks-per-node} of a step in an allocation: it is the number of tasks where only the nodes are
     * typed beside it, and is ignored, which is told, where more tasks are asked for than it lets the nodes have.
     */
    static void settleTasksPerNode(JobOptions o) throws UsageException {
        int each = o.integer(JobOption.NTASKS_PER_NODE);
        String nodes = o.text(JobOption.NODES);
        if (each == 0 || nodes.isEmpty()) {
            return;
        }
        int most = Integer.parseInt(nodes.substring(nodes.indexOf('-') + 1));
        if (o.typed(JobOption.NODES) && o.typed(JobOption.NTASKS_PER_NODE) && !o.typed(JobOption.NTASKS)) {
            o.set(JobOption.NTASKS, Integer.toString(each * most), JobOptions.Origin.COMMAND_LINE);
        } else if (o.integer(JobOption.NTASKS) > each * most) {
            ignoring(o, each, o.integer(JobOption.NTASKS), most);
            o.drop(JobOption.NTASKS_PER_NODE);
        }
    }

    private static void ignoring(JobOptions o, int each, int tasks, int nodes) {
        o.context()
                .err()
                .println(o.context().name() + ": warning: can't honor --ntasks-per-node set to " + each
                        + " which doesn't match the " + "requested tasks " + tasks
                        + " with the maximum number of requested nodes " + nodes + ". Ignoring --ntasks-per-node.");
    }

    /** Returns the option, else KillOnBadExit. */
    static boolean killOnBadExit(JobOptions o) {
        return o.has(JobOption.KILL_ON_BAD_EXIT)
                ? o.text(JobOption.KILL_ON_BAD_EXIT).equals("1")
                : o.context().host().settings().killOnBadExit == 1;
    }

    /** Returns the option, else WaitTime. */
    static int waitSeconds(JobOptions o) {
        return o.has(JobOption.WAIT_SECONDS)
                ? o.integer(JobOption.WAIT_SECONDS)
                : o.context().host().settings().waitTime;
    }

    /**
     * Makes it the request of a component behind others of one job: slurmctld says what they leave of the job's nodes.
     */
    StepRequest behindOthers() {
        behindOthers = true;
        return this;
    }

    /**
     * @param own the allocation was made for this step and has its name and size
     * @param shares of the allocation, one for each node
     */
    StepRequest(JobOptions options, List<String> program, boolean own, List<Json.Obj> shares) {
        this.o = options;
        this.program = program;
        this.own = own;
        this.shares = shares;
    }

    Json.Obj describe(StepFiles.Names names) throws UsageException {
        CommandContext c = o.context();
        JobRequest r = new JobRequest(o);
        Json.Obj s = new Json.Obj();
        // an MPI launcher starts and binds its tasks itself: it gets all of the job's resources and excludes no step
        boolean launcher = o.has(JobOption.EXTERNAL_LAUNCHER);
        s.put("name", name());
        s.put("request", resources(r));
        JobRequest.put(s, "overlap", o.has(JobOption.OVERLAP) || o.has(JobOption.INTERACTIVE) || launcher);
        JobRequest.put(s, "interactive", o.has(JobOption.INTERACTIVE));
        JobRequest.put(s, "wholeNodes", launcher || o.has(JobOption.WHOLE) || !o.has(JobOption.EXACT) && !exact());
        // 0 asks for something as well: the first node
        JobRequest.put(
                s,
                "relative",
                o.has(JobOption.RELATIVE) && o.number(JobOption.RELATIVE) == 0 ? -1 : o.number(JobOption.RELATIVE));
        JobRequest.put(s, "timeLimitMin", o.isTypedOrInherited(JobOption.TIME) || own ? o.number(JobOption.TIME) : 0);
        JobRequest.put(s, "cpuBind", launcher && !o.has(JobOption.CPU_BIND) ? "none" : o.text(JobOption.CPU_BIND));
        JobRequest.put(s, "debugLevel", Math.max(0, o.number(JobOption.SLURMD_DEBUG)));
        JobRequest.put(s, "waitForChildren", o.has(JobOption.WAIT_FOR_CHILDREN));
        JobRequest.put(s, "memBind", o.text(JobOption.MEM_BIND));
        String mpi = MpiKinds.of(o);
        JobRequest.put(s, "mpi", mpi);
        program(c, s);
        s.put("environment", JobEnvironment.entries(environment(mpi)));
        s.put("workDir", JobRequest.base64(r.workDir()));
        s.put("io", io(names));
        JobRequest.put(s, "resvPorts", o.number(JobOption.RESV_PORTS));
        JobRequest.put(s, "acctgFreq", o.text(JobOption.ACCTG_FREQ));
        JobRequest.put(s, "profile", o.text(JobOption.PROFILE));
        JobRequest.put(s, "oomKillStep", o.text(JobOption.OOM_KILL_STEP));
        JobRequest.put(s, "async", o.has(JobOption.ASYNC));
        JobRequest.put(s, "killOnBadExit", killOnBadExit(o));
        JobRequest.put(s, "noKill", o.text(JobOption.NO_KILL).equals("1"));
        JobRequest.put(s, "waitSeconds", waitSeconds(o));
        if (o.has(JobOption.PTY)) {
            terminal(s);
        }
        JobRequest.put(s, "preserveEnv", o.has(JobOption.PRESERVE_ENV));
        JobRequest.put(s, "taskProlog", JobRequest.base64(o.text(JobOption.TASK_PROLOG)));
        JobRequest.put(s, "taskEpilog", JobRequest.base64(o.text(JobOption.TASK_EPILOG)));
        JobRequest.put(s, "umask", o.umask());
        JobRequest.put(s, "immediateFail", o.has(JobOption.IMMEDIATE) ? Math.max(1, o.number(JobOption.IMMEDIATE)) : 0);
        JobRequest.put(s, "container", o.text(JobOption.CONTAINER));
        JobRequest.put(s, "containerId", o.text(JobOption.CONTAINER_ID));
        JobRequest.put(s, "cpuFreq", o.text(JobOption.CPU_FREQ));
        JobRequest.put(
                s, "awaitsCaller", !StepHooks.program(c, o, JobOption.PROLOG).isEmpty() && !o.has(JobOption.ASYNC));
        s.put("submitHost", c.host().hostName());
        s.put("submitPid", (long) c.host().pid());
        s.put("submitLine", JobRequest.base64(r.submitLine()));
        s.put("limits", r.limits());
        JobRequest.put(s, "tresBind", r.tresBind());
        return s;
    }

    private String name() throws UsageException {
        boolean named = own && o.has(JobOption.JOB_NAME) || o.typed(JobOption.JOB_NAME);
        return named ? o.text(JobOption.JOB_NAME) : Texts.baseName(program.getFirst());
    }

    private Map<String, String> environment(String mpi) throws UsageException {
        Map<String, String> env = JobEnvironment.exported(o);
        env.putAll(o.stepEnvironment());
        if (own) {
            JobEnvironment.addOptions(o, env);
        } else {
            JobEnvironment.addTyped(o, env);
        }
        if (!mpi.isEmpty()) {
            env.put("SLURM_MPI_TYPE", mpi);
        }
        if (o.has(JobOption.LABEL)) {
            env.put("SLURM_LABELIO", "1");
        }
        env.put("SLURM_UMASK", umask(o.umask()));
        env.put("SRUN_DEBUG", Integer.toString(LEVEL_INFO + o.verbose() - (o.has(JobOption.QUIET) ? 1 : 0)));
        env.put("SLURM_LAUNCH_NODE_IPADDR", o.context().host().address());
        return env;
    }

    private static void terminal(Json.Obj s) {
        int[] size = Terminal.size();
        s.put("pty", Boolean.TRUE);
        JobRequest.put(s, "ptyRows", Math.max(0, size[0]));
        JobRequest.put(s, "ptyColumns", Math.max(0, size[1]));
    }

    /**
     * Returns whether the step gets exactly the CPUs it asks for: it has CPUs per task or per core, or
     * {@code --exclusive} without a value. A value of {@code --exclusive} speaks of sharing the job's nodes only.
     */
    private boolean exact() {
        boolean alone = o.typed(JobOption.EXCLUSIVE)
                && o.text(JobOption.EXCLUSIVE).isEmpty()
                && !o.context().host().settings().launchParameters.contains("srun_exclusive_allocation");
        return o.has(JobOption.CPUS_PER_TASK) || alone || o.has(JobOption.THREADS_PER_CORE);
    }

    private static String umask(int mask) {
        String s = Integer.toOctalString(mask);
        return "0".repeat(Math.max(0, 4 - s.length())) + s;
    }

    /** {@code --gres=none}: nothing of what the job has. */
    private void noGres(Json.Obj q) {
        if (!o.text(JobOption.GRES).equalsIgnoreCase("none")
                || o.typed(JobOption.GPUS)
                || o.typed(JobOption.GPUS_PER_NODE)
                || o.typed(JobOption.GPUS_PER_TASK)
                || o.typed(JobOption.GPUS_PER_SOCKET)
                || o.typed(JobOption.TRES_PER_TASK)) {
            return;
        }
        q.put(
                "tresPerNode",
                o.context().host().settings().gresTypes.stream()
                        .map(name -> "gres/" + name + ":0")
                        .collect(Collectors.joining(",")));
        for (String asked : List.of("tresPerJob", "tresPerSocket", "tresPerTask")) {
            q.put(asked, "");
        }
    }

    private Json.Obj resources(JobRequest r) throws UsageException {
        Json.Obj q = r.resources();
        if (own) {
            wholeAllocation(q);
        } else {
            noGres(q);
            if (q.text("tresPerTask").contains("license/")) {
                o.context().error("Ignoring --tres-per-task license specification");
            }
        }
        limitNodesToTasks(q);
        tellFewer(q);
        allNodes(q);
        // without a word on tasks or nodes, each node that the GPUs needed runs a task
        boolean taskEachNode = own && !o.has(JobOption.NODES) && q.integer("tasks") == 0;
        if (taskEachNode) {
            q.put("nodesMin", r.listed());
        }
        int nodes = Math.max(taskEachNode ? shares.size() : 1, q.integer("nodesMin"));
        boolean isRange = q.integer("nodesMin") > 0 && q.integer("nodesMax") > nodes;
        if (isRange && !q.flag("useMinNodes")) {
            // of a range, as many as there are
            nodes = Math.max(nodes, Math.min(q.integer("nodesMax"), shares.size()));
            q.put("nodesMin", (long) (q.integer("tasks") > 0 ? Math.min(nodes, q.integer("tasks")) : nodes));
        }
        refuseTooManyNodes(q);
        if (!own) {
            ignoreTasksPerNode(q);
        }
        relative(q);
        if (q.integer("tasks") > 0) {
            return q;
        }
        q.put("tasks", taskCount(q, nodes));
        return q;
    }

    /** The number of tasks of a step that gives none. */
    private long taskCount(Json.Obj q, int nodes) throws UsageException {
        long tasks = (long) nodes * Math.max(1, q.integer("tasksPerNode"));
        boolean byCpus = o.has(JobOption.CPUS_PER_TASK) && q.integer("tasksPerNode") == 0;
        // a step that gives CPUs of a task gets as many tasks as fit
        return byCpus && !o.has(JobOption.OVERCOMMIT) ? Math.max(tasks, room(q)) : tasks;
    }

    /** A step that made its allocation gets all of it: what the allocation asked for is not asked for again. */
    private void wholeAllocation(Json.Obj q) {
        for (String asked : List.of(
                "tresPerNode", "tresPerJob", "tresPerSocket", "licenses", "network", "contiguous", "features")) {
            q.put(asked, "");
        }
        q.put("contiguous", Boolean.FALSE);
        boolean hasSome = HostList.parse(q.text("nodeList")) instanceof HostList.Parsed.Ok ok
                && ok.list().size() > shares.size();
        if (hasSome && !shares.isEmpty() && !q.text("distribution").startsWith("arbitrary")) {
            q.put("nodeList", "");
        }
        long planned = shares.stream().mapToLong(share -> share.number("tasks")).sum();
        boolean byGpus = q.number("tasksPerGpu") > 0 || !q.text("tresPerTask").isEmpty();
        if (q.integer("tasks") == 0 && q.integer("tasksPerNode") == 0 && byGpus && planned > 0) {
            q.put("tasks", planned);
        }
        q.put("tasksPerGpu", 0L);
    }

    /** Drops {@code --ntasks-per-node} where the nodes would not hold all tasks. */
    private void ignoreTasksPerNode(Json.Obj q) {
        int perNode = q.integer("tasksPerNode");
        int nodes = Math.max(q.integer("nodesMin"), shares.size());
        long most = (long) perNode * nodes;
        if (most > 0 && q.integer("tasks") > most) {
            ignoring(o, perNode, q.integer("tasks"), nodes);
            q.put("tasksPerNode", 0L);
        }
    }

    /** More nodes than tasks, or more nodes named than wanted: the step runs on fewer, which is told. */
    private void tellFewer(Json.Obj q) {
        String least = o.text(JobOption.NODES).split("[-,]")[0];
        long tasks = q.number("tasks");
        if (!own && o.has(JobOption.NTASKS) && tasks > 0 && !least.isEmpty() && Long.parseLong(least) > tasks) {
            o.context()
                    .info("warning: can't run " + tasks + " processes on " + least + " nodes, setting nnodes to "
                            + tasks);
        }
        long named = o.typed(JobOption.NODELIST) && HostList.parse(q.text("nodeList")) instanceof HostList.Parsed.Ok ok
                ? ok.list().names().stream().distinct().count()
                : 0;
        if (!own && o.typed(JobOption.NODES) && q.number("nodesMax") > 0 && named > q.number("nodesMax")) {
            o.context()
                    .error("Required nodelist includes more nodes than permitted by max-node count (" + named + " > "
                            + q.number("nodesMax") + "). Eliminating nodes from the nodelist.");
        }
    }

    /**
     * srun in a job that neither its options nor the job's variables give a number of nodes (srun --jobid=) runs on all
     * nodes of the job, or on one for each task where there are fewer tasks.
     */
    private void allNodes(Json.Obj q) {
        boolean named = !q.text("nodeList").isEmpty()
                || !q.text("excludeList").isEmpty()
                || o.has(JobOption.RELATIVE)
                || q.text("distribution").startsWith("arbitrary");
        if (!own && !named && !o.has(JobOption.NODES) && shares.size() > 1) {
            long nodes = q.number("tasks") > 0 ? Math.min(q.number("tasks"), shares.size()) : shares.size();
            q.put("nodesMin", nodes).put("nodesMax", nodes);
        }
    }

    /**
     * Requests the largest of several numbers of nodes that the allocation has, or with --use-min-nodes the smallest.
     */
    private void limitNodesToTasks(Json.Obj q) {
        String sizes = q.text("nodeSizes");
        if (sizes.isEmpty()) {
            return;
        }
        long fit = q.integer("nodesMin");
        for (String size : q.flag("useMinNodes") && !own ? new String[0] : sizes.split(",")) {
            fit = Integer.parseInt(size) <= shares.size() ? Integer.parseInt(size) : fit;
        }
        q.put("nodeSizes", "").put("nodesMin", fit).put("nodesMax", fit);
    }

    private long room(Json.Obj q) {
        int most = q.integer("nodesMax") > 0 ? q.integer("nodesMax") : Integer.MAX_VALUE;
        long tasks = 0;
        for (int i = o.integer(JobOption.RELATIVE), nodes = 0; i < shares.size() && nodes < most; i++, nodes++) {
            tasks += shares.get(i).integer("usableCpus") / o.integer(JobOption.CPUS_PER_TASK);
        }
        return tasks;
    }

    /** Refuses more nodes than the allocation has, in srun's words. */
    private void refuseTooManyNodes(Json.Obj q) throws UsageException {
        if (own || shares.isEmpty()) {
            return;
        }
        CommandContext c = o.context();
        int left = shares.size();
        if (!q.text("excludeList").isEmpty()
                && HostList.parse(q.text("excludeList")) instanceof HostList.Parsed.Ok ok) {
            Optional<String> both = (HostList.parse(q.text("nodeList")) instanceof HostList.Parsed.Ok with
                            ? with.list().names()
                            : List.<String>of())
                    .stream().filter(ok.list()::contains).findFirst();
            if (both.isPresent()) {
                throw new UsageException(
                        o.exitError(1),
                        List.of(
                                c.name() + ": error: Requested node " + both.get() + " is also in the excluded list.",
                                c.name() + ": error: Job not submitted."));
            }
            left = behindOthers
                    ? left
                    : (int) shares.stream()
                            .filter(s -> !ok.list().contains(s.text("node")))
                            .count();
        }
        if (left == 0) {
            throw c.bad(o.exitError(1), "Hostlist is empty!  Can't run job.");
        }
        if (q.integer("nodesMin") > left) {
            c.error("Only allocated " + left + " nodes asked for " + q.integer("nodesMin"));
            throw new UsageException(
                    o.exitError(1),
                    left == shares.size()
                            ? List.of()
                            : List.of(c.name() + ": error: Are required nodes explicitly excluded?"));
        }
    }

    private void relative(Json.Obj q) throws UsageException {
        int first = o.integer(JobOption.RELATIVE);
        if (o.has(JobOption.RELATIVE) && !own && (o.typed(JobOption.NODELIST) || o.typed(JobOption.EXCLUDE))) {
            throw o.context().bad(o.exitError(1), "-r,--relative not allowed with -w,--nodelist or -x,--exclude.");
        }
        int nodes = Math.max(1, q.integer("nodesMin"));
        nodes = q.integer("tasks") > 0 ? Math.min(nodes, q.integer("tasks")) : nodes;
        if (o.has(JobOption.RELATIVE) && !own && o.has(JobOption.NODES) && first + nodes > shares.size()) {
            String said = o.typed(JobOption.NODES) ? "--nodes" : "SLURM_JOB_NUM_NODES";
            throw o.context()
                    .bad(
                            o.exitError(1),
                            "--relative and " + said + " option incompatible with count of allocated nodes (" + first
                                    + "+" + nodes + ">" + shares.size() + ")");
        }
    }

    private void program(CommandContext c, Json.Obj s) throws UsageException {
        if (!o.has(JobOption.MULTI_PROG)) {
            s.put("arguments", JobEnvironment.base64All(o.has(JobOption.DEBUGGER_TEST) ? stopped(program) : program));
            return;
        }
        String path = program.getFirst();
        try {
            byte[] text = c.host().readFile(Texts.absolute(path, c.host().workDir()), CONFIG_BYTES_MAX);
            String lines = RawText.decode(text).replaceAll("\\\\\\s*\n", "");
            MultiProg.check(c, o, path, lines, s.obj("request").integer("tasks"));
            s.put("arguments", JobEnvironment.base64All(program.subList(1, program.size())));
            s.put("multiProg", JobRequest.base64(o.has(JobOption.DEBUGGER_TEST) ? MultiProg.stopped(lines) : lines));
        } catch (IOException e) {
            throw c.bad(o.exitError(1), "Could not open multi_prog config file " + path);
        }
    }

    /** The program behind a shell that stops itself first: a debugger attaches to the task and lets it go on. */
    private static List<String> stopped(List<String> program) {
        List<String> out = new ArrayList<>(List.of("/bin/sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"));
        out.addAll(program);
        return out;
    }

    private Json.Obj io(StepFiles.Names names) {
        Json.Obj io = new Json.Obj();
        if (o.has(JobOption.ASYNC)) {
            return asyncIo(io, names);
        }
        boolean pty = o.has(JobOption.PTY);
        JobRequest.put(io, "stdin", JobRequest.base64(stream(o.text(JobOption.INPUT), names)));
        JobRequest.put(io, "stdout", JobRequest.base64(pty ? "" : stream(o.text(JobOption.OUTPUT), names)));
        JobRequest.put(io, "stderr", JobRequest.base64(pty ? "" : stderr(names)));
        JobRequest.put(io, "openMode", o.text(JobOption.OPEN_MODE));
        JobRequest.put(io, "labelled", o.has(JobOption.LABEL));
        JobRequest.put(io, "unbuffered", o.has(JobOption.UNBUFFERED) || pty);
        return io;
    }

    /** Prepares a step without a terminal: all its streams are files that the nodes open. */
    private Json.Obj asyncIo(Json.Obj io, StepFiles.Names names) {
        String in = o.text(JobOption.INPUT);
        String out = o.text(JobOption.OUTPUT);
        String err = o.text(JobOption.ERROR);
        JobRequest.put(io, "stdin", JobRequest.base64(StepFiles.isMode(in) ? "none" : StepFiles.expand(in, names)));
        JobRequest.put(io, "stdout", JobRequest.base64(asyncFile(out, "slurm-%J.out", names)));
        JobRequest.put(io, "stderr", JobRequest.base64(asyncFile(err, "", names)));
        JobRequest.put(io, "openMode", o.text(JobOption.OPEN_MODE));
        JobRequest.put(io, "labelled", o.has(JobOption.LABEL));
        JobRequest.put(io, "unbuffered", o.has(JobOption.UNBUFFERED));
        return io;
    }

    /** @param standard the file where the option names none, "" for that of standard output */
    private static String asyncFile(String option, String standard, StepFiles.Names names) {
        if (StepFiles.isNone(option)) {
            return "none";
        }
        String file = StepFiles.isMode(option) ? standard : option;
        return file.isEmpty() ? "" : StepFiles.expand(file, names);
    }

    /** A word of the step's own, a pattern the node opens, or "" for what srun reads and writes itself. */
    private static String stream(String text, StepFiles.Names names) {
        if (StepFiles.isNone(text)) {
            return "none";
        }
        if (StepFiles.isAll(text)) {
            return "all";
        }
        if (StepFiles.isMode(text)) {
            return text;
        }
        if (StepFiles.isPerTask(text)) {
            return StepFiles.expand(text, names);
        }
        return "";
    }

    /** Not said: it follows a stdout that each task has for itself. */
    private String stderr(StepFiles.Names names) {
        String out = o.text(JobOption.OUTPUT);
        if (!o.has(JobOption.ERROR) && !StepFiles.isMode(out) && StepFiles.isPerTask(out)) {
            return StepFiles.expand(out, names);
        }
        return stream(o.text(JobOption.ERROR), names);
    }
}
