package dev.muster.cli.step;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.format.TaskRanges;
import dev.muster.cli.request.JobRequest;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.Cancel;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** A running step as srun sees it: streams, ends of tasks, signals, and the exit code. */
final class StepRun implements StepNode.Events {
    private static final int GATHER_MS = 60;
    private static final long ABORT_WINDOW_MS = 1_000;
    /** Time that a task has for its handler of SIGINT before SIGKILL. */
    private static final long NEXT_SIGNAL_MS = 100;

    private static final int TICK_MS = 100;
    private static final int STDOUT = 1;
    /** The signal of a task that could not open its files or terminal. */
    private static final int SETUP_FAILED = 53;
    /** Exit code that srun counts for a task whose node was lost. */
    private static final int LOST_CODE = 1;

    private static final int ABANDONED_CODE = 143;
    private static final int NOT_STARTED_CODE = 192;

    /**
     * Options of srun for a running step.
     *
     * @param eioSeconds EioTimeout: for streams that stay open after all tasks; 0 for ever
     * @param treeWidth nodes that are reached directly: where there are more, the others behind them
     */
    record Settings(
            boolean killOnBadExit,
            int waitSeconds,
            int eioSeconds,
            boolean quiet,
            int verbose,
            boolean disableStatus,
            boolean quitOnInterrupt,
            boolean pty,
            int treeWidth) {}

    /** The outputs of a component's tasks. */
    record Streams(TaskOutput out, TaskOutput err) {}

    /** The same end of several tasks of a node; tasks are counted within their component. */
    private record End(String node, int status, Group of) {}

    private final CommandContext context;
    private final Settings settings;
    private final String stepName;
    private final TaskOutput out;
    private final TaskOutput err;
    private final List<StepNode> nodes = new ArrayList<>();
    /**
     * Nodes of one component that share a connection. It is a class, not a record, so that maps compare it by identity.
     */
    private static final class Group {
        private final Json.Obj attach;
        /** {@code 4.0}, {@code 4.0+1}. */
        private final String name;
        /** The first rank in it. */
        private final int first;

        private final List<StepNode> nodes = new ArrayList<>();

        private Group(Json.Obj attach, String name, int first) {
            this.attach = attach;
            this.name = name;
            this.first = first;
        }

        private List<Integer> local(List<Integer> ranks) {
            return first == 0 ? ranks : ranks.stream().map(r -> r - first).toList();
        }
    }

    private final List<Group> groups = new ArrayList<>();
    private final Map<StepNode, Group> ofNode = new HashMap<>();
    private final Map<Integer, Streams> ofTask = new HashMap<>();
    private final Map<Integer, Integer> exits = new LinkedHashMap<>();
    private final Map<String, Integer> startedOn = new LinkedHashMap<>();
    private final Map<End, List<Integer>> gathered = new LinkedHashMap<>();
    private @Nullable StepInput input;
    private int onlyOut = IoFrame.ALL_TASKS;
    private boolean isAbortTold;
    private boolean launchFailed;
    /** -K ends the step because of a task. */
    private boolean badExit;

    private int onlyErr = IoFrame.ALL_TASKS;
    private int tasks;
    private int completeNodes;
    private int worst;
    private boolean killed;
    private boolean terminating;
    private long firstExitMs;
    private long allExitedMs;
    private long lastInterruptMs;
    private long gatheredMs;
    private boolean areEndsTold = true;
    /** After Ctrl-C the signals that ended tasks are printed with -v alone. */
    private boolean isInterrupted;

    private boolean endsJob;
    private boolean isInterrupting;
    private long interruptedMs;
    /** SLURM_SRUN_REDUCE_TASK_EXIT_MSG: equal ends are reported once; {@code reported} holds their statuses. */
    private final boolean reduced;

    private final Set<Integer> reported = new HashSet<>();
    /** How its tasks are signalled; null: by slurmctld. */
    private @Nullable IntConsumer signaller;

    private Canceller canceller;

    /** The way of a request to slurmctld about the step's tasks. */
    interface Canceller {
        void cancel(Json.Obj request) throws SlurmException;
    }

    StepRun(CommandContext context, Settings settings, String stepName, TaskOutput out, TaskOutput err) {
        this.context = context;
        this.settings = settings;
        this.stepName = stepName;
        this.out = out;
        this.err = err;
        String reduce = context.env("SLURM_SRUN_REDUCE_TASK_EXIT_MSG");
        reduced = Texts.isNumber(reduce) && !reduce.matches("0+");
        canceller = q -> context.host().controller().call("Cancel", q);
    }

    /** Sets the way of cancellations, for steps that are managed while slurmctld may be away. */
    void cancelBy(Canceller way) {
        canceller = way;
    }

    /** Connects a component that has streams of its own; see {@link #connect(List, Json.Obj, Map)}. */
    void connect(List<Json.Obj> shares, Json.Obj attach, Streams streams) {
        for (Json.Obj share : shares) {
            share.list("taskIds").forEach(rank -> ofTask.put(((Number) rank).intValue(), streams));
        }
        connect(shares, attach, Map.of());
    }

    private TaskOutput stream(int task, int stream) {
        Streams taskStreams = ofTask.get(task);
        if (stream == STDOUT) {
            if (taskStreams == null) {
                return out;
            }
            return taskStreams.out;
        }
        if (taskStreams == null) {
            return err;
        }
        return taskStreams.err;
    }

    /**
     * Connects to all nodes of the step.
     *
     * @param attach for each: job, attempt, step, token; positions to go on from
     */
    void connect(List<Json.Obj> shares, Json.Obj attach, Map<Long, Long> positions) {
        int id = attach.integer("stepId");
        Group group = new Group(
                attach, StepId.isComponent(id) ? attach.integer("jobId") + "." + StepId.name(id) : stepName, tasks);
        groups.add(group);
        for (Json.Obj share : shares) {
            List<Integer> ranks = new ArrayList<>();
            for (Object r : share.list("taskIds")) {
                ranks.add(((Number) r).intValue());
            }
            tasks += ranks.size();
            nodes.add(new StepNode(
                    context.host(),
                    share.text("node"),
                    share.text("address"),
                    share.integer("port"),
                    ranks,
                    attach,
                    positions,
                    this));
            group.nodes.add(nodes.getLast());
            ofNode.put(nodes.getLast(), group);
            if (settings.verbose > 0) {
                inform("launching StepId=" + group.name + " on host " + share.text("node") + ", " + ranks.size()
                        + " tasks: " + bracketed(group.local(ranks)));
            }
        }
    }

    private static String bracketed(List<Integer> ranks) {
        return ranks.size() == 1 ? TaskRanges.text(ranks) : "[" + TaskRanges.text(ranks) + "]";
    }

    List<StepNode> nodes() {
        return nodes;
    }

    void input(StepInput in) {
        input = in;
    }

    /** Follows the step to its end; srun's exit code. */
    int await() {
        for (Group group : groups) {
            for (List<StepNode> branch : LaunchTree.branches(group.nodes, settings.treeWidth)) {
                StepBranch.start(context.host(), group.attach, settings.treeWidth, branch);
            }
        }
        if (input != null) {
            context.host().startBackground("stdin", input);
        }
        synchronized (this) {
            // the job is cancelled before it is given back
            while (completeNodes < nodes.size() || isInterrupting) {
                try {
                    wait(TICK_MS);
                } catch (InterruptedException entry) {
                    terminate(); // the caller is gone
                    break;
                }
                tick();
            }
            report();
        }
        if (input != null) {
            input.stop();
        }
        if (killed && !isAbortTold || badExit) {
            groups.stream().map(g -> g.name).distinct().forEach(name -> inform("Force Terminated StepId=" + name));
        }
        return worst;
    }

    /** Prints a message that is not an error, unless --quiet. */
    private void inform(String sentence) {
        if (!settings.quiet) {
            context.info(sentence);
        }
    }

    private void tick() {
        long now = context.host().nowMs();
        if (!gathered.isEmpty() && now - gatheredMs >= GATHER_MS) {
            report();
        }
        if (exits.size() >= tasks && allExitedMs == 0) {
            allExitedMs = now;
        }
        if (settings.eioSeconds > 0
                && allExitedMs > 0
                && completeNodes < nodes.size()
                && now - allExitedMs >= settings.eioSeconds * 1000L) {
            exits.keySet().forEach(task -> {
                stream(task, STDOUT).end(task);
                stream(task, STDOUT + 1).end(task);
            });
            completeNodes = nodes.size();
            return;
        }
        boolean late = settings.waitSeconds > 0
                && firstExitMs > 0
                && !terminating
                && exits.size() < tasks
                && now - firstExitMs >= settings.waitSeconds * 1000L;
        if (late) {
            inform("First task exited " + settings.waitSeconds + "s ago");
            status();
            tellTerminating();
            kill();
        }
    }

    private void tellTerminating() {
        groups.reversed().stream().map(g -> g.name).distinct().forEach(name -> inform("Terminating StepId=" + name));
    }

    /** Ends the step at once. */
    private void kill() {
        if (!terminating) {
            terminating = true;
            ask(Signals.KILL);
        }
    }

    /** Shows one task's stdout and stderr only (sattach). */
    void onlyTasks(int outputTask, int errorTask) {
        onlyOut = outputTask;
        onlyErr = errorTask;
    }

    /** Leaves the step alone and goes. */
    synchronized void abandon() {
        completeNodes = nodes.size();
        notifyAll();
    }

    @Override
    public long output(StepNode node, int task, int stream, byte[] data, long end) {
        int only = stream == STDOUT ? onlyOut : onlyErr;
        if (only != IoFrame.ALL_TASKS && only != task) {
            return end;
        }
        TaskOutput to = stream(task, stream);
        return context.host().deliver(task, stream, () -> end - to.write(task, data));
    }

    @Override
    public long outputEnd(StepNode node, int task, int stream, long end) {
        return context.host().deliver(task, stream, () -> {
            stream(task, stream).end(task);
            return end;
        });
    }

    @Override
    public synchronized void started(StepNode node, int task) {
        int before = startedOn.merge(node.name, 1, Integer::sum);
        if (settings.verbose > 0 && before == node.tasks.size()) {
            inform("Node " + node.name + ", " + node.tasks.size() + " tasks started");
        }
    }

    @Override
    public synchronized void exited(StepNode node, int task, int waitStatus, boolean cancelled) {
        if (exits.putIfAbsent(task, waitStatus) != null) {
            return;
        }
        if (cancelled && !badExit) {
            aborted();
        }
        if (input != null) {
            input.taskGone(task);
        }
        if (firstExitMs == 0) {
            firstExitMs = context.host().nowMs();
        }
        ExitStatus status = ExitStatus.ofWaitStatus(waitStatus);
        worst = Math.max(worst, status.signal() == SETUP_FAILED ? 1 : status.shellCode());
        killed |= status.signal() == Signals.KILL || status.signal() == Signals.TERM;
        if (gathered.isEmpty()) {
            gatheredMs = context.host().nowMs();
        }
        Group group = group(node);
        gathered.computeIfAbsent(new End(node.name, waitStatus, group), entry -> new ArrayList<>())
                .add(task - group.first);
        if (!status.isSuccess() && settings.killOnBadExit && !terminating) {
            report();
            if (exits.size() < tasks) {
                badExit = true;
                tellTerminating();
                terminate();
            }
        }
        notifyAll();
    }

    /** The job was made for this step: an interrupt cancels it. */
    void endsJobToo() {
        endsJob = true;
    }

    /** Leaves the ends of tasks unreported: another command has its own words. */
    void endsUntold() {
        areEndsTold = false;
    }

    /** Tells how tasks ended, those of one node with the same end in one line. */
    private void report() {
        for (Map.Entry<End, List<Integer>> entry : gathered.entrySet()) {
            ExitStatus status = ExitStatus.ofWaitStatus(entry.getKey().status);
            String who = entry.getKey().node + ": " + (entry.getValue().size() > 1 ? "tasks " : "task ")
                    + TaskRanges.text(entry.getValue()) + ": ";
            if (settings.verbose > 0) {
                int count = entry.getValue().size();
                inform("Received task exit notification for " + count + (count > 1 ? " tasks" : " task") + " of StepId="
                        + entry.getKey().of.name
                        + String.format(java.util.Locale.ROOT, " (status=0x%04x).", entry.getKey().status));
            }
            if (!areEndsTold || reduced && !status.isSuccess() && !reported.add(entry.getKey().status)) {
                continue;
            }
            if (status.signal() == SETUP_FAILED) {
                entry.getValue()
                        .forEach(task -> context.error("task " + task + " launch failed: Slurmd could not connect IO"));
            } else if (status.signal() != 0) {
                tellSignal(who + Signals.text(status.signal()) + (status.core() ? " (core dumped)" : ""));
            } else if (status.code() != 0) {
                context.error(who + "Exited with exit code " + status.code());
            } else if (settings.verbose > 0) {
                inform(who + "Completed");
            }
        }
        gathered.clear();
    }

    private void tellSignal(String text) {
        if (!isInterrupted) {
            context.error(text);
        } else if (settings.verbose > 0) {
            inform(text);
        }
    }

    @Override
    public void inputLimit(StepNode node, int task, long limit) {
        if (input != null) {
            input.limit(node, task, limit);
        }
    }

    @Override
    public void connected(StepNode node) {
        if (input != null) {
            input.reconnected(node);
        }
    }

    private Group group(StepNode node) {
        return requireNonNull(ofNode.get(node), "every node belongs to a component");
    }

    @Override
    public synchronized void complete(StepNode node, String reason, boolean lost) {
        for (int task : node.tasks) {
            stream(task, STDOUT).end(task);
            stream(task, STDOUT + 1).end(task);
        }
        if (lost) {
            context.error(
                    "Node " + node.name + ": " + (reason.isEmpty() ? "does not answer, its tasks are lost" : reason));
            worst = Math.max(worst, LOST_CODE);
        } else if (!reason.isEmpty() && settings.verbose > 0) {
            inform("StepId=" + group(node).name + " ended on " + node.name + ": " + reason);
        }
        completeNodes++;
        notifyAll();
    }

    @Override
    public synchronized void notStarted(StepNode node, String detail, String error) {
        if (!detail.isEmpty()) {
            context.error(detail);
        }
        context.error("Task launch for StepId=" + group(node).name + " failed on node " + node.name + ": " + error);
        if (!launchFailed) {
            launchFailed = true;
            context.error("Application launch failed: " + error);
            if (nodes.size() > 1) {
                aborted();
            } else {
                isAbortTold = true;
                inform("Job step aborted");
            }
            worst = error.equals(SlurmErrno.PROLOG_FAILED.sentence())
                    ? SlurmErrno.PROLOG_FAILED.number() & 0xff
                    : NOT_STARTED_CODE;
            terminate();
        }
        completeNodes++;
        notifyAll();
    }

    /** Ends all that is left of the step. */
    void terminate() {
        if (!terminating) {
            terminating = true;
            ask(badExit ? Cancel.TASK_FAILURE : 0);
        }
    }

    /** Sends a signal to all tasks. */
    void signal(int number) {
        ask(number);
    }

    /** Signals go that way, not by slurmctld. */
    void signalBy(IntConsumer way) {
        signaller = way;
    }

    /**
     * Signals go by the controller, which knows all nodes of the step; on a thread of their own, because it may be
     * slow.
     */
    private void ask(int... signals) {
        context.host().startBackground("signal", () -> {
            for (int i = 0; i < signals.length && (i == 0 || context.host().pause(NEXT_SIGNAL_MS)); i++) {
                send(signals[i]);
            }
        });
    }

    private void interruptAndKill() {
        isInterrupting = true;
        context.host().startBackground("interrupt", () -> {
            try {
                send(Cancel.INTERRUPT);
                if (context.host().pause(NEXT_SIGNAL_MS)) {
                    send(Signals.KILL);
                    if (endsJob) {
                        send(stepName.substring(0, stepName.indexOf('.')), 0);
                    }
                }
            } finally {
                interrupted();
            }
        });
    }

    private synchronized void interrupted() {
        isInterrupting = false;
        notifyAll();
    }

    private void send(int signal) {
        if (signaller != null) {
            signaller.accept(Cancel.plain(signal));
            return;
        }
        send(stepName, signal);
    }

    private void send(String target, int signal) {
        Json.Obj query = new Json.Obj();
        query.put("requestId", context.host().requestId());
        query.put("jobs", List.of(target));
        JobRequest.put(query, "signal", signal);
        try {
            canceller.cancel(query);
        } catch (SlurmException entry) {
            // a signal may find that the one before has ended it
            if (entry.errno() != SlurmErrno.ALREADY_DONE.number() || !isInterrupted) {
                context.error("Unable to signal StepId=" + stepName + ": " + entry.getMessage());
            }
        }
    }

    void window(int rows, int columns) {
        byte[] size = {(byte) (rows >> 8), (byte) rows, (byte) (columns >> 8), (byte) columns};
        for (StepNode node : nodes) {
            node.send(new IoFrame('w', IoFrame.ALL_TASKS, 0, 0, size));
        }
    }

    /**
     * Ctrl-C: the first shows the states of the tasks, a second within a second goes to the tasks and ends the step, a
     * third ends srun.
     */
    synchronized void interrupt() {
        long now = context.host().nowMs();
        boolean again = now - lastInterruptMs < ABORT_WINDOW_MS;
        lastInterruptMs = now;
        if (!again && !settings.quitOnInterrupt && !settings.disableStatus) {
            inform("interrupt (one more within 1 sec to abort)");
            status();
            return;
        }
        if (!terminating) {
            groups.stream().map(g -> g.name).distinct().forEach(name -> inform("sending Ctrl-C to StepId=" + name));
        }
        if (!again && !settings.quitOnInterrupt) {
            signal(Signals.INT);
            return;
        }
        if (isKillDue(now)) {
            return;
        }
        inform("forcing job termination");
        isInterrupted = true;
        aborted();
        if (terminating) {
            leave();
        } else {
            terminating = true;
            interruptedMs = now;
            interruptAndKill();
        }
    }

    /**
     * SIGKILL and the cancellation follow within {@link #ABORT_WINDOW_MS}: srun does not leave before them, unless
     * slurmctld takes longer.
     */
    private boolean isKillDue(long nowMs) {
        return isInterrupting && nowMs - interruptedMs < ABORT_WINDOW_MS;
    }

    /** The user is not to wait for what is left of the step. */
    private void leave() {
        isInterrupting = false;
        worst = Math.max(worst, ABANDONED_CODE);
        completeNodes = nodes.size();
        notifyAll();
    }

    /** Continues the tasks after srun was stopped and continued. */
    void goOn() {
        inform("got SIGCONT");
        signal(Signals.CONT);
    }

    /** SIGQUIT ends the step. */
    void quit() {
        inform("Quit");
        forceEnd();
    }

    /** Says once that the step ends before its time. */
    private void aborted() {
        if (!isAbortTold) {
            isAbortTold = true;
            inform("Job step aborted: Waiting up to "
                    + context.host().settings().stepEndSeconds() + " seconds for job step to finish.");
        }
    }

    /** Asked to end: the step is ended; asked again, srun does not wait for it. */
    synchronized void forceEnd() {
        if (isKillDue(context.host().nowMs())) {
            return;
        }
        inform("forcing job termination");
        aborted();
        if (terminating) {
            leave();
        }
        kill();
    }

    /** {@code StepId=1.0 tasks 0-3: running}, {@code task 4: exited}, {@code task 5: exited abnormally}. */
    private void status() {
        for (String state : List.of("running", "exited abnormally", "exited")) {
            groups.forEach(g -> status(g, state));
        }
    }

    private void status(Group group, String state) {
        List<Integer> tasks = group.local(group.nodes.stream()
                .flatMap(n -> n.tasks.stream())
                .filter(t -> state(t).equals(state))
                .toList());
        if (!tasks.isEmpty()) {
            inform("StepId=" + group.name + (tasks.size() > 1 ? " tasks " : " task ") + TaskRanges.text(tasks) + ": "
                    + state);
        }
    }

    private String state(int task) {
        Integer status = exits.get(task);
        if (status == null) {
            return "running";
        }
        if (ExitStatus.ofWaitStatus(status).isSuccess()) {
            return "exited";
        }
        return "exited abnormally";
    }
}
