package dev.muster.node.step;

import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.node.config.SettingsReader;
import dev.muster.node.os.Os;
import dev.muster.node.os.StepMessages;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.node.spool.StatusFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One step on this node, from its launch to the acknowledged report. Belongs to the node's thread. */
public final class NodeStep {
    public enum Phase {
        STARTING,
        RUNNING,
        ENDED
    }

    /**
     * How a start went.
     *
     * @param error "" when the step runs; detail: what is said before
     */
    public record Begin(String detail, String error) {
        public static final Begin GOOD = new Begin("", "");
    }

    /** Completed when it is known. */
    public final CompletableFuture<Begin> begun = new CompletableFuture<>();
    /** {@code --acctg-freq=0}. */
    static final int NEVER = -1;
    /** A step that is over sooner is not reported as begun. Milliseconds. */
    static final long LAUNCH_TOLD_MS = 500;
    /** Nodes of a wide step that report it as begun in the same millisecond. */
    private static final int LAUNCHES_TOLD_PER_MS = 10;

    public final int stepId;
    public final Path directory;
    public Phase phase = Phase.STARTING;
    public Optional<StepWatch> watch = Optional.empty();
    /** Why the node or the controller ended it; "" if neither did. */
    public String endReason = "";

    public boolean ending;
    public boolean terminated;
    /** stepd is done with it, and what its containers leave is being removed. */
    public boolean cleaning;

    long endingSinceNs;
    /** srun's credential for this step's io stream; "" if no srun may attach. */
    public String ioToken = "";
    /** Between two looks at its tasks; 0: as its job says, {@link #NEVER}. */
    int sampleSeconds;
    /** A signal that came before there was anybody to send it to. */
    public final List<Runnable> whenRunning = new ArrayList<>();
    /** How long after its begin that is reported. */
    public long launchToldMs = LAUNCH_TOLD_MS;
    /** Connections of srun and sattach: while one is there, unread output may wait longer. */
    public int relays;
    /** Read by threads beside the node's: nothing of it is left to be reached. */
    public volatile boolean over;
    /** Its tasks speak PMI, and the helper of another node is to be reached from here. */
    public boolean hasMpiParent;
    /** A task asked for the end of the whole step, and the controller has been told. */
    public boolean aborted;
    /** srun has heard the end of it. */
    public boolean endTold;
    /** The exits of the step's tasks are reported; its lingering processes relay other steps or handle SIGTERM. */
    public boolean lingering;

    /** The step's own time limit ends it: srun does not call that an abort. */
    public boolean limited;

    private static final Pattern LEADING_NUMBER = Pattern.compile("\\s*([+-]?[0-9]{1,9})");

    /**
     * Another node of the step tells of its end: its first node, or the one that SLURM_STEP_KILLED_MSG_NODE_ID names.
     */
    private boolean endUntold;

    /** Takes the settings of the step's launch. */
    public void asked(Launch launch) {
        ioToken = launch.ioToken();
        launchToldMs = LAUNCH_TOLD_MS + launch.nodeIndex() / LAUNCHES_TOLD_PER_MS;
        hasMpiParent = !launch.mpi().isEmpty() && launch.nodeIndex() > 0;
        sampleSeconds = SettingsReader.taskSeconds(launch.step().acctgFreq()).stream()
                .map(s -> s == 0 ? NEVER : s)
                .sum();
        endUntold = isAsked()
                && leadingNumber(SpecBuilder.variable(launch.environment(), "SLURM_STEP_KILLED_MSG_NODE_ID", ""))
                        != launch.nodeIndex();
    }

    /**
     * Makes slurmstepd note why the step ends, for srun to tell, and print it where this node is the one that tells.
     *
     * @param text see {@link StepMessages#cancelled}
     */
    public void tellEnd(String text) {
        watch.ifPresent(w -> w.end(text, !endUntold, !limited));
    }

    /** Reads a number as C's atoi does: 0 for text that does not begin with one. */
    private static long leadingNumber(String text) {
        Matcher number = LEADING_NUMBER.matcher(text);
        return number.lookingAt() ? Long.parseLong(number.group(1)) : 0;
    }

    public NodeStep(int stepId, Path directory) {
        this.stepId = stepId;
        this.directory = directory;
    }

    public boolean isExternal() {
        return stepId == NodeMessages.STEP_EXTERN;
    }

    public boolean isBatch() {
        return stepId == NodeMessages.STEP_BATCH;
    }

    /**
     * Returns whether a batch step whose slurmstepd was killed is a failed launch: no task can have run, and nothing
     * has asked for its end.
     */
    public boolean hasNeverRun(Optional<StatusFile> last) {
        return isBatch()
                && endReason.isEmpty()
                && last.filter(status -> !status.begun()).isPresent();
    }

    public boolean isAsked() {
        return StepId.isAsked(stepId);
    }

    public void whenRunning(Runnable work) {
        switch (phase) {
            case STARTING -> whenRunning.add(work);
            case RUNNING -> work.run();
            case ENDED -> {}
        }
    }

    /** Returns the step's usage; zeros if it cannot be read. */
    public NodeMessages.Usage used(Launcher launcher, Optional<StatusFile> status) {
        try {
            return launcher.used(directory, status);
        } catch (RuntimeException e) {
            UnexpectedErrors.report(e);
            return NodeMessages.Usage.NONE;
        }
    }

    /** Why it ends: the reason of the order to end it, else that of its slurmstepd. */
    public String reason(StatusFile status) {
        return endReason.isEmpty() ? status.reason() : endReason;
    }

    /** A signal for the whole job reaches its steps; the batch step only when asked for, or to be killed. */
    public boolean isMeant(NodeMessages.Signal order) {
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

    /** Exits by rank; a task without a known end was killed. */
    public static Map<String, ExitStatus> exits(Optional<StatusFile> status) {
        Map<String, ExitStatus> out = new TreeMap<>();
        status.ifPresent(s -> s.tasks()
                .forEach(t -> out.put(
                        Integer.toString(t.rank()), t.ended() ? t.exit() : ExitStatus.signaled(Os.SIGNAL_KILL))));
        return out;
    }

    /**
     * Returns whether output is still relayed, or srun has not heard of the end.
     *
     * @param late the wait for srun is over
     */
    public boolean isUsed(boolean late) {
        return !late && !ioToken.isEmpty() && !endTold || relays > 0;
    }
}
