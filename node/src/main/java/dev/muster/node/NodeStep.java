package dev.muster.node;

import dev.muster.model.ExitStatus;
import dev.muster.model.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** One step on this node, from its launch to the acknowledged report. Belongs to the node's thread. */
final class NodeStep {
    enum Phase { STARTING, RUNNING, ENDED }

    /** How a start went. @param error "" when the step runs; detail: what is said before */
    record Begin(String detail, String error) {
        static final Begin GOOD = new Begin("", "");
    }

    /** Completed when it is known. */
    final CompletableFuture<Begin> begun = new CompletableFuture<>();
    /** {@code --acctg-freq=0}. */
    static final int NEVER = -1;
    /** A step that is over sooner is not reported as begun. Milliseconds. */
    static final long LAUNCH_TOLD_MS = 500;
    /** So many nodes of a wide step report it as begun in the same millisecond. */
    private static final int LAUNCHES_TOLD_PER_MS = 10;

    final int stepId;
    final Path directory;
    Phase phase = Phase.STARTING;
    Optional<StepWatch> watch = Optional.empty();
    /** Why the node or the controller ended it; "" while nobody did. */
    String endReason = "";
    boolean ending;
    boolean terminated;
    /** stepd is done with it, and what its containers leave is being removed. */
    boolean cleaning;
    long endingSinceNs;
    /** srun's credential for this step's io stream; "" where nobody may attach. */
    String ioToken = "";
    /** Between two looks at its tasks; 0: as its job says, {@link #NEVER}. */
    int sampleSeconds;
    /** A signal that came before there was anybody to send it to. */
    final List<Runnable> whenRunning = new ArrayList<>();
    /** How long after its begin that is reported. */
    long launchToldMs = LAUNCH_TOLD_MS;
    /** Connections of srun and sattach: while one is there, unread output may wait longer. */
    int relays;
    /** Read by threads beside the node's: nothing of it is left to be reached. */
    volatile boolean over;
    /** Its tasks speak PMI, and the helper of another node is to be reached from here. */
    boolean hasMpiParent;
    /** A task asked for the end of the whole step, and the controller has been told. */
    boolean aborted;
    /** srun has heard the end of it. */
    boolean endTold;
    /** The exits of the step's tasks are reported; its lingering processes relay other steps or handle SIGTERM. */
    boolean lingering;

    /** SLURM_STEP_KILLED_MSG_NODE_ID names another node of the step: that one tells of its end. */
    private boolean endUntold;

    /** What its launch says of it. */
    void asked(Launch launch) {
        ioToken = launch.ioToken();
        launchToldMs = LAUNCH_TOLD_MS + launch.nodeIndex() / LAUNCHES_TOLD_PER_MS;
        hasMpiParent = !launch.mpi().isEmpty() && launch.nodeIndex() > 0;
        sampleSeconds = SettingsReader.taskSeconds(launch.step().acctgFreq()).stream().map(s -> s == 0 ? NEVER : s).sum();
        String teller = isAsked() ? SpecBuilder.variable(launch.environment(), "SLURM_STEP_KILLED_MSG_NODE_ID", "") : "";
        endUntold = teller.matches("[0-9]{1,6}") && Integer.parseInt(teller) != launch.nodeIndex();
    }

    /** Whether its tasks' standard error is told why they are ended. */
    boolean tells(String reason) {
        return !reason.isEmpty() && !endUntold;
    }

    NodeStep(int stepId, Path directory) {
        this.stepId = stepId;
        this.directory = directory;
    }

    boolean isExternal() {
        return stepId == NodeMessages.STEP_EXTERN;
    }

    boolean isBatch() {
        return stepId == NodeMessages.STEP_BATCH;
    }

    boolean isAsked() {
        return StepId.isAsked(stepId);
    }

    void whenRunning(Runnable work) {
        switch (phase) {
            case STARTING -> whenRunning.add(work);
            case RUNNING -> work.run();
            case ENDED -> { }
        }
    }

    /** Returns the step's usage; zeros if it cannot be read. */
    NodeMessages.Usage used(Launcher launcher, Optional<StatusFile> status) {
        try {
            return launcher.used(directory, status);
        } catch (RuntimeException e) {
            Faults.report(e);
            return NodeMessages.Usage.NONE;
        }
    }

    /** Why it ends: because somebody said so, else as its stepd has it. */
    String reason(StatusFile status) {
        return endReason.isEmpty() ? status.reason() : endReason;
    }

    /** A signal for the whole job reaches its steps; the batch step only when asked for, or to be killed. */
    boolean isMeant(NodeMessages.Signal order) {
        if (order.stepId() != Integer.MIN_VALUE) {
            return stepId == order.stepId();
        }
        if (isExternal()) {
            return false;
        }
        if (order.batchShell() && !order.full()) {
            return isBatch();
        }
        return !isBatch() || order.full() || order.signal() == Os.SIGNAL_KILL;
    }

    /** Exits by rank; a task whose end nobody saw was killed. */
    static Map<String, ExitStatus> exits(Optional<StatusFile> status) {
        Map<String, ExitStatus> out = new TreeMap<>();
        status.ifPresent(s -> s.tasks().forEach(t ->
                out.put(Integer.toString(t.rank()), t.ended() ? t.exit() : ExitStatus.signaled(Os.SIGNAL_KILL))));
        return out;
    }
}
