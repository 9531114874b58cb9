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

    private final JobOptions options;
    private final List<String> program;
    private final boolean ownAllocation;
    private boolean behindOthers;
    private final List<Json.Obj> shares;

    /**
     * Settles {@code --ntasks-per-node} of a step in an allocation: with only a number of nodes beside it, it sets the
     * number of tasks. It is ignored with a warning if more tasks are requested than it allows on the nodes.
     */
    static void settleTasksPerNode(JobOptions options) throws UsageException {
        int each = options.integer(JobOption.NTASKS_PER_NODE);
        String nodes = options.text(JobOption.NODES);
        if (each == 0 || nodes.isEmpty()) {
            return;
        }
        int maximum = Integer.parseInt(nodes.substring(nodes.indexOf('-') + 1));
        if (options.typed(JobOption.NODES)
                && options.typed(JobOption.NTASKS_PER_NODE)
                && !options.typed(JobOption.NTASKS)) {
            options.set(JobOption.NTASKS, Integer.toString(each * maximum), JobOptions.Origin.COMMAND_LINE);
        } else if (options.integer(JobOption.NTASKS) > each * maximum) {
            ignoring(options, each, options.integer(JobOption.NTASKS), maximum);
            options.drop(JobOption.NTASKS_PER_NODE);
        }
    }

    private static void ignoring(JobOptions options, int each, int tasks, int nodes) {
        options.context()
                .err()
                .println(options.context().name() + ": warning: can't honor --ntasks-per-node set to " + each
                        + " which doesn't match the " + "requested tasks " + tasks
                        + " with the maximum number of requested nodes " + nodes + ". Ignoring --ntasks-per-node.");
    }

    /** Returns the option, else KillOnBadExit. */
    static boolean killOnBadExit(JobOptions options) {
        return options.has(JobOption.KILL_ON_BAD_EXIT)
                ? options.text(JobOption.KILL_ON_BAD_EXIT).equals("1")
                : options.context().host().settings().killOnBadExit == 1;
    }

    /** Returns the option, else WaitTime. */
    static int waitSeconds(JobOptions options) {
        return options.has(JobOption.WAIT_SECONDS)
                ? options.integer(JobOption.WAIT_SECONDS)
                : options.context().host().settings().waitTime;
    }

    /**
     * Makes it the request of a component behind others of one job: slurmctld says what they leave of the job's nodes.
     */
    StepRequest behindOthers() {
        behindOthers = true;
        return this;
    }

    /**
     * @param ownAllocation the allocation was made for this step and has its name and size
     * @param shares of the allocation, one for each node
     */
    StepRequest(JobOptions options, List<String> program, boolean ownAllocation, List<Json.Obj> shares) {
        this.options = options;
        this.program = program;
        this.ownAllocation = ownAllocation;
        this.shares = shares;
    }

    Json.Obj describe(StepFiles.Names names) throws UsageException {
        CommandContext context = options.context();
        JobRequest request = new JobRequest(options);
        Json.Obj step = new Json.Obj();
        // an MPI launcher starts and binds its tasks itself: it gets all of the job's resources and excludes no step
        boolean launcher = options.has(JobOption.EXTERNAL_LAUNCHER);
        step.put("name", name());
        step.put("request", resources(request));
        nodeUse(step, launcher);
        JobRequest.put(
                step,
                "timeLimitMin",
                options.isTypedOrInherited(JobOption.TIME) || ownAllocation ? options.number(JobOption.TIME) : 0);
        JobRequest.put(
                step,
                "cpuBind",
                launcher && !options.has(JobOption.CPU_BIND) ? "none" : options.text(JobOption.CPU_BIND));
        JobRequest.put(step, "debugLevel", Math.max(0, options.number(JobOption.SLURMD_DEBUG)));
        JobRequest.put(step, "waitForChildren", options.has(JobOption.WAIT_FOR_CHILDREN));
        JobRequest.put(step, "memBind", options.text(JobOption.MEM_BIND));
        String mpi = MpiKinds.of(options);
        JobRequest.put(step, "mpi", mpi);
        program(context, step);
        step.put("environment", JobEnvironment.entries(environment(mpi)));
        step.put("workDir", JobRequest.base64(request.workDir()));
        step.put("io", io(names));
        JobRequest.put(step, "resvPorts", options.number(JobOption.RESV_PORTS));
        JobRequest.put(step, "acctgFreq", options.text(JobOption.ACCTG_FREQ));
        JobRequest.put(step, "profile", options.text(JobOption.PROFILE));
        JobRequest.put(step, "oomKillStep", options.text(JobOption.OOM_KILL_STEP));
        JobRequest.put(step, "async", options.has(JobOption.ASYNC));
        JobRequest.put(step, "killOnBadExit", killOnBadExit(options));
        JobRequest.put(step, "noKill", options.text(JobOption.NO_KILL).equals("1"));
        JobRequest.put(step, "waitSeconds", waitSeconds(options));
        if (options.has(JobOption.PTY)) {
            terminal(step);
        }
        JobRequest.put(step, "preserveEnv", options.has(JobOption.PRESERVE_ENV));
        JobRequest.put(step, "taskProlog", JobRequest.base64(options.text(JobOption.TASK_PROLOG)));
        JobRequest.put(step, "taskEpilog", JobRequest.base64(options.text(JobOption.TASK_EPILOG)));
        JobRequest.put(step, "umask", options.umask());
        JobRequest.put(
                step,
                "immediateFail",
                options.has(JobOption.IMMEDIATE) ? Math.max(1, options.number(JobOption.IMMEDIATE)) : 0);
        JobRequest.put(step, "container", options.text(JobOption.CONTAINER));
        JobRequest.put(step, "containerId", options.text(JobOption.CONTAINER_ID));
        JobRequest.put(step, "cpuFreq", options.text(JobOption.CPU_FREQ));
        JobRequest.put(
                step,
                "awaitsCaller",
                !StepHooks.program(context, options, JobOption.PROLOG).isEmpty() && !options.has(JobOption.ASYNC));
        step.put("submitHost", context.host().hostName());
        step.put("submitPid", (long) context.host().pid());
        step.put("submitLine", JobRequest.base64(request.submitLine()));
        step.put("limits", request.limits());
        JobRequest.put(step, "tresBind", request.tresBind());
        return step;
    }

    /** Describes which nodes of the allocation the step uses, and how it shares them. */
    private void nodeUse(Json.Obj step, boolean launcher) {
        JobRequest.put(
                step, "overlap", options.has(JobOption.OVERLAP) || options.has(JobOption.INTERACTIVE) || launcher);
        JobRequest.put(step, "interactive", options.has(JobOption.INTERACTIVE));
        JobRequest.put(
                step,
                "wholeNodes",
                launcher || options.has(JobOption.WHOLE) || !options.has(JobOption.EXACT) && !exact());
        // 0 asks for something as well: the first node
        JobRequest.put(
                step,
                "relative",
                options.has(JobOption.RELATIVE) && options.number(JobOption.RELATIVE) == 0
                        ? -1
                        : options.number(JobOption.RELATIVE));
    }

    private String name() throws UsageException {
        boolean named = ownAllocation && options.has(JobOption.JOB_NAME) || options.typed(JobOption.JOB_NAME);
        return named ? options.text(JobOption.JOB_NAME) : Texts.baseName(program.getFirst());
    }

    private Map<String, String> environment(String mpi) throws UsageException {
        Map<String, String> env = JobEnvironment.exported(options);
        env.putAll(options.stepEnvironment());
        if (ownAllocation) {
            JobEnvironment.addOptions(options, env);
        } else {
            JobEnvironment.addTyped(options, env);
        }
        if (!mpi.isEmpty()) {
            env.put("SLURM_MPI_TYPE", mpi);
        }
        if (options.has(JobOption.LABEL)) {
            env.put("SLURM_LABELIO", "1");
        }
        env.put("SLURM_UMASK", umask(options.umask()));
        env.put(
                "SRUN_DEBUG",
                Integer.toString(LEVEL_INFO + options.verbose() - (options.has(JobOption.QUIET) ? 1 : 0)));
        env.put("SLURM_LAUNCH_NODE_IPADDR", options.context().host().address());
        return env;
    }

    private static void terminal(Json.Obj step) {
        int[] size = Terminal.size();
        step.put("pty", Boolean.TRUE);
        JobRequest.put(step, "ptyRows", Math.max(0, size[0]));
        JobRequest.put(step, "ptyColumns", Math.max(0, size[1]));
    }

    /**
     * Returns whether the step gets exactly the CPUs it asks for: it has CPUs per task or per core, or
     * {@code --exclusive} without a value. A value of {@code --exclusive} speaks of sharing the job's nodes only.
     */
    private boolean exact() {
        boolean alone = options.typed(JobOption.EXCLUSIVE)
                && options.text(JobOption.EXCLUSIVE).isEmpty()
                && !options.context().host().settings().launchParameters.contains("srun_exclusive_allocation");
        return options.has(JobOption.CPUS_PER_TASK) || alone || options.has(JobOption.THREADS_PER_CORE);
    }

    private static String umask(int mask) {
        String text = Integer.toOctalString(mask);
        return "0".repeat(Math.max(0, 4 - text.length())) + text;
    }

    /** {@code --gres=none}: nothing of what the job has. */
    private void noGres(Json.Obj query) {
        if (!options.text(JobOption.GRES).equalsIgnoreCase("none")
                || options.typed(JobOption.GPUS)
                || options.typed(JobOption.GPUS_PER_NODE)
                || options.typed(JobOption.GPUS_PER_TASK)
                || options.typed(JobOption.GPUS_PER_SOCKET)
                || options.typed(JobOption.TRES_PER_TASK)) {
            return;
        }
        query.put(
                "tresPerNode",
                options.context().host().settings().gresTypes.stream()
                        .map(name -> "gres/" + name + ":0")
                        .collect(Collectors.joining(",")));
        for (String option : List.of("tresPerJob", "tresPerSocket", "tresPerTask")) {
            query.put(option, "");
        }
    }

    private Json.Obj resources(JobRequest request) throws UsageException {
        Json.Obj query = request.resources();
        if (ownAllocation) {
            wholeAllocation(query);
        } else {
            noGres(query);
            if (query.text("tresPerTask").contains("license/")) {
                options.context().error("Ignoring --tres-per-task license specification");
            }
        }
        limitNodesToTasks(query);
        tellFewer(query);
        allNodes(query);
        // without a word on tasks or nodes, each node that the GPUs needed runs a task
        boolean taskEachNode = ownAllocation && !options.has(JobOption.NODES) && query.integer("tasks") == 0;
        if (taskEachNode) {
            query.put("nodesMin", request.listed());
        }
        int nodes = Math.max(taskEachNode ? shares.size() : 1, query.integer("nodesMin"));
        boolean isRange = query.integer("nodesMin") > 0 && query.integer("nodesMax") > nodes;
        if (isRange && !query.flag("useMinNodes")) {
            // of a range, as many as there are
            nodes = Math.max(nodes, Math.min(query.integer("nodesMax"), shares.size()));
            query.put(
                    "nodesMin", (long) (query.integer("tasks") > 0 ? Math.min(nodes, query.integer("tasks")) : nodes));
        }
        refuseTooManyNodes(query);
        if (!ownAllocation) {
            ignoreTasksPerNode(query);
        }
        relative(query);
        if (query.integer("tasks") > 0) {
            return query;
        }
        query.put("tasks", taskCount(query, nodes));
        return query;
    }

    /** The number of tasks of a step that gives none. */
    private long taskCount(Json.Obj query, int nodes) throws UsageException {
        long tasks = (long) nodes * Math.max(1, query.integer("tasksPerNode"));
        boolean byCpus = options.has(JobOption.CPUS_PER_TASK) && query.integer("tasksPerNode") == 0;
        // a step that gives CPUs of a task gets as many tasks as fit
        return byCpus && !options.has(JobOption.OVERCOMMIT) ? Math.max(tasks, room(query)) : tasks;
    }

    /** A step that made its allocation gets all of it: what the allocation asked for is not asked for again. */
    private void wholeAllocation(Json.Obj query) {
        for (String option : List.of(
                "tresPerNode", "tresPerJob", "tresPerSocket", "licenses", "network", "contiguous", "features")) {
            query.put(option, "");
        }
        query.put("contiguous", Boolean.FALSE);
        boolean hasSome = HostList.parse(query.text("nodeList")) instanceof HostList.Parsed.Ok ok
                && ok.list().size() > shares.size();
        if (hasSome && !shares.isEmpty() && !query.text("distribution").startsWith("arbitrary")) {
            query.put("nodeList", "");
        }
        long planned = shares.stream().mapToLong(share -> share.number("tasks")).sum();
        boolean byGpus =
                query.number("tasksPerGpu") > 0 || !query.text("tresPerTask").isEmpty();
        if (query.integer("tasks") == 0 && query.integer("tasksPerNode") == 0 && byGpus && planned > 0) {
            query.put("tasks", planned);
        }
        query.put("tasksPerGpu", 0L);
    }

    /** Drops {@code --ntasks-per-node} where the nodes would not hold all tasks. */
    private void ignoreTasksPerNode(Json.Obj query) {
        int perNode = query.integer("tasksPerNode");
        int nodes = Math.max(query.integer("nodesMin"), shares.size());
        long maximum = (long) perNode * nodes;
        if (maximum > 0 && query.integer("tasks") > maximum) {
            ignoring(options, perNode, query.integer("tasks"), nodes);
            query.put("tasksPerNode", 0L);
        }
    }

    /**
     * Reports that the step runs on fewer nodes, because it has more nodes than tasks or names more nodes than it
     * requests.
     */
    private void tellFewer(Json.Obj query) {
        String least = options.text(JobOption.NODES).split("[-,]")[0];
        long tasks = query.number("tasks");
        if (!ownAllocation
                && options.has(JobOption.NTASKS)
                && tasks > 0
                && !least.isEmpty()
                && Long.parseLong(least) > tasks) {
            options.context()
                    .info("warning: can't run " + tasks + " processes on " + least + " nodes, setting nnodes to "
                            + tasks);
        }
        long named = options.typed(JobOption.NODELIST)
                        && HostList.parse(query.text("nodeList")) instanceof HostList.Parsed.Ok ok
                ? ok.list().names().stream().distinct().count()
                : 0;
        if (!ownAllocation
                && options.typed(JobOption.NODES)
                && query.number("nodesMax") > 0
                && named > query.number("nodesMax")) {
            options.context()
                    .error("Required nodelist includes more nodes than permitted by max-node count (" + named + " > "
                            + query.number("nodesMax") + "). Eliminating nodes from the nodelist.");
        }
    }

    /**
     * srun in a job that neither its options nor the job's variables give a number of nodes (srun --jobid=) runs on all
     * nodes of the job, or on one for each task where there are fewer tasks.
     */
    private void allNodes(Json.Obj query) {
        boolean named = !query.text("nodeList").isEmpty()
                || !query.text("excludeList").isEmpty()
                || options.has(JobOption.RELATIVE)
                || query.text("distribution").startsWith("arbitrary");
        if (!ownAllocation && !named && !options.has(JobOption.NODES) && shares.size() > 1) {
            long nodes = query.number("tasks") > 0 ? Math.min(query.number("tasks"), shares.size()) : shares.size();
            query.put("nodesMin", nodes).put("nodesMax", nodes);
        }
    }

    /**
     * Requests the largest of several numbers of nodes that the allocation has, or with --use-min-nodes the smallest.
     */
    private void limitNodesToTasks(Json.Obj query) {
        String sizes = query.text("nodeSizes");
        if (sizes.isEmpty()) {
            return;
        }
        long fit = query.integer("nodesMin");
        for (String size : query.flag("useMinNodes") && !ownAllocation ? new String[0] : sizes.split(",")) {
            fit = Integer.parseInt(size) <= shares.size() ? Integer.parseInt(size) : fit;
        }
        query.put("nodeSizes", "").put("nodesMin", fit).put("nodesMax", fit);
    }

    private long room(Json.Obj query) {
        int maximum = query.integer("nodesMax") > 0 ? query.integer("nodesMax") : Integer.MAX_VALUE;
        long tasks = 0;
        for (int i = options.integer(JobOption.RELATIVE), nodes = 0;
                i < shares.size() && nodes < maximum;
                i++, nodes++) {
            tasks += shares.get(i).integer("usableCpus") / options.integer(JobOption.CPUS_PER_TASK);
        }
        return tasks;
    }

    /** Refuses more nodes than the allocation has, in srun's words. */
    private void refuseTooManyNodes(Json.Obj query) throws UsageException {
        if (ownAllocation || shares.isEmpty()) {
            return;
        }
        CommandContext context = options.context();
        int remaining = shares.size();
        if (!query.text("excludeList").isEmpty()
                && HostList.parse(query.text("excludeList")) instanceof HostList.Parsed.Ok ok) {
            Optional<String> both = (HostList.parse(query.text("nodeList")) instanceof HostList.Parsed.Ok with
                            ? with.list().names()
                            : List.<String>of())
                    .stream().filter(ok.list()::contains).findFirst();
            if (both.isPresent()) {
                throw new UsageException(
                        options.exitError(1),
                        List.of(
                                context.name() + ": error: Requested node " + both.get()
                                        + " is also in the excluded list.",
                                context.name() + ": error: Job not submitted."));
            }
            remaining = behindOthers
                    ? remaining
                    : (int) shares.stream()
                            .filter(s -> !ok.list().contains(s.text("node")))
                            .count();
        }
        if (remaining == 0) {
            throw context.bad(options.exitError(1), "Hostlist is empty!  Can't run job.");
        }
        if (query.integer("nodesMin") > remaining) {
            context.error("Only allocated " + remaining + " nodes asked for " + query.integer("nodesMin"));
            throw new UsageException(
                    options.exitError(1),
                    remaining == shares.size()
                            ? List.of()
                            : List.of(context.name() + ": error: Are required nodes explicitly excluded?"));
        }
    }

    private void relative(Json.Obj query) throws UsageException {
        int first = options.integer(JobOption.RELATIVE);
        if (options.has(JobOption.RELATIVE)
                && !ownAllocation
                && (options.typed(JobOption.NODELIST) || options.typed(JobOption.EXCLUDE))) {
            throw options.context()
                    .bad(options.exitError(1), "-r,--relative not allowed with -w,--nodelist or -x,--exclude.");
        }
        int nodes = Math.max(1, query.integer("nodesMin"));
        nodes = query.integer("tasks") > 0 ? Math.min(nodes, query.integer("tasks")) : nodes;
        if (options.has(JobOption.RELATIVE)
                && !ownAllocation
                && options.has(JobOption.NODES)
                && first + nodes > shares.size()) {
            String source = options.typed(JobOption.NODES) ? "--nodes" : "SLURM_JOB_NUM_NODES";
            throw options.context()
                    .bad(
                            options.exitError(1),
                            "--relative and " + source + " option incompatible with count of allocated nodes (" + first
                                    + "+" + nodes + ">" + shares.size() + ")");
        }
    }

    private void program(CommandContext context, Json.Obj step) throws UsageException {
        if (!options.has(JobOption.MULTI_PROG)) {
            step.put(
                    "arguments",
                    JobEnvironment.base64All(options.has(JobOption.DEBUGGER_TEST) ? stopped(program) : program));
            return;
        }
        String path = program.getFirst();
        try {
            byte[] text =
                    context.host().readFile(Texts.absolute(path, context.host().workDir()), CONFIG_BYTES_MAX);
            String lines = RawText.decode(text).replaceAll("\\\\\\s*\n", "");
            MultiProg.check(context, options, path, lines, step.obj("request").integer("tasks"));
            step.put("arguments", JobEnvironment.base64All(program.subList(1, program.size())));
            step.put(
                    "multiProg",
                    JobRequest.base64(options.has(JobOption.DEBUGGER_TEST) ? MultiProg.stopped(lines) : lines));
        } catch (IOException e) {
            throw context.bad(options.exitError(1), "Could not open multi_prog config file " + path);
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
        if (options.has(JobOption.ASYNC)) {
            return asyncIo(io, names);
        }
        boolean pty = options.has(JobOption.PTY);
        JobRequest.put(io, "stdin", JobRequest.base64(stream(options.text(JobOption.INPUT), names)));
        JobRequest.put(io, "stdout", JobRequest.base64(pty ? "" : stream(options.text(JobOption.OUTPUT), names)));
        JobRequest.put(io, "stderr", JobRequest.base64(pty ? "" : stderr(names)));
        JobRequest.put(io, "openMode", options.text(JobOption.OPEN_MODE));
        JobRequest.put(io, "labelled", options.has(JobOption.LABEL));
        JobRequest.put(io, "unbuffered", options.has(JobOption.UNBUFFERED) || pty);
        return io;
    }

    /** Prepares a step without a terminal: all its streams are files that the nodes open. */
    private Json.Obj asyncIo(Json.Obj io, StepFiles.Names names) {
        String in = options.text(JobOption.INPUT);
        String out = options.text(JobOption.OUTPUT);
        String err = options.text(JobOption.ERROR);
        JobRequest.put(io, "stdin", JobRequest.base64(StepFiles.isMode(in) ? "none" : StepFiles.expand(in, names)));
        JobRequest.put(io, "stdout", JobRequest.base64(asyncFile(out, "slurm-%J.out", names)));
        JobRequest.put(io, "stderr", JobRequest.base64(asyncFile(err, "", names)));
        JobRequest.put(io, "openMode", options.text(JobOption.OPEN_MODE));
        JobRequest.put(io, "labelled", options.has(JobOption.LABEL));
        JobRequest.put(io, "unbuffered", options.has(JobOption.UNBUFFERED));
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

    /** Returns the file of stderr; without one, it follows a stdout that each task has for itself. */
    private String stderr(StepFiles.Names names) {
        String out = options.text(JobOption.OUTPUT);
        if (!options.has(JobOption.ERROR) && !StepFiles.isMode(out) && StepFiles.isPerTask(out)) {
            return StepFiles.expand(out, names);
        }
        return stream(options.text(JobOption.ERROR), names);
    }
}
