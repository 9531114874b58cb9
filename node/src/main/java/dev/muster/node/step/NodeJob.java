package dev.muster.node.step;

import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** One attempt of a job on this node. Belongs to the node's thread. */
public final class NodeJob {
    /** Longest wait for the batch script's signals to be sent before the other steps of the job have theirs. */
    private static final long BATCH_FIRST_MS = 300;

    private static final String START = "SLURM_JOB_START_TIME=";

    public enum Phase {
        /** The node has its share, and no step yet that the prolog would have to run for. */
        KNOWN,
        /** The prolog runs. */
        PREPARING,
        /** Steps may start. */
        READY,
        /** The controller wants it gone: no step starts any more. */
        ENDING,
        /** No process is left; the epilog runs. */
        EPILOG,
        /** Reported as done, until that is acknowledged. */
        DONE
    }

    public JobShare share;
    public final Map<Integer, NodeStep> steps = new TreeMap<>();
    /** Steps that could not be started: srun is still to hear of it. */
    public final Map<Integer, NodeStep> notStarted = new TreeMap<>();
    /** Launches that wait for the prolog. */
    public final List<Launch> waiting = new ArrayList<>();

    public Phase phase = Phase.PREPARING;
    public int killWaitSeconds;
    public String endReason = "";
    public String epilogError = "";
    public boolean epilogRan;
    /** When its time is up, milliseconds since 1970; 0 for never. */
    public long deadlineMs;
    /** Counts changes of the time limit, so that an older timer finds itself out of date. */
    public int limitVersion;
    /** Counts suspensions and resumptions, so that a delayed stop of an earlier one has no effect. */
    private int suspendVersion;

    public NodeJob(JobShare share) {
        this.share = share;
        this.killWaitSeconds = share.killWaitSeconds();
    }

    /**
     * Stops or resumes all steps. With a grace time, a step that catches SIGTSTP gets that signal first and is stopped
     * when the grace time is over; all other steps are stopped at once.
     */
    public void suspend(boolean stop, int graceS, BiConsumer<Long, Runnable> later) {
        int version = ++suspendVersion;
        if (!stop) {
            toAll(StepWatch.EVERY_PROCESS, Os.SIGNAL_CONT);
        } else if (graceS <= 0) {
            toAll(StepWatch.EVERY_PROCESS, Os.SIGNAL_STOP);
        } else {
            toAll(StepWatch.SUSPEND, Os.SIGNAL_TSTP);
            later.accept(graceS * 1000L, () -> {
                if (suspendVersion == version) {
                    toAll(StepWatch.EVERY_PROCESS, Os.SIGNAL_STOP);
                }
            });
        }
    }

    /** Answers a launch that waited for a failed prolog: srun may be waiting as well. */
    public void never(Launch launch, String why) {
        NodeStep step = steps.remove(launch.stepId());
        if (step != null) {
            notStarted.put(step.stepId, step);
            step.begun.complete(new NodeStep.Begin("", why));
        }
    }

    /**
     * Ends all steps. The batch script has its signals before the steps that it started, so that it does not go on with
     * the command behind an srun that has ended already.
     */
    public void endSteps(String reason, EventLoop loop, Consumer<NodeStep> end) {
        List<NodeStep> all = steps.values().stream()
                .filter(s -> !s.isExternal() && s.phase != NodeStep.Phase.ENDED)
                .toList();
        all.stream().filter(s -> s.endReason.isEmpty()).forEach(s -> s.endReason = reason);
        Optional<NodeStep> batch = all.stream()
                .filter(s -> s.isBatch() && s.phase == NodeStep.Phase.RUNNING)
                .findFirst();
        batch.ifPresent(end);
        Runnable endOthers =
                () -> all.stream().filter(s -> s != batch.orElse(null)).forEach(end);
        Optional<StepWatch> watch = batch.flatMap(s -> s.watch);
        if (watch.isEmpty()) {
            endOthers.run();
            return;
        }
        watch.get().afterSent(() -> loop.post(endOthers));
        loop.later(BATCH_FIRST_MS, endOthers);
    }

    private void toAll(int mode, int signal) {
        steps.values().stream()
                .filter(s -> !s.isExternal())
                .forEach(s -> s.whenRunning(() -> s.watch.ifPresent(w -> w.signal(mode, signal))));
    }

    public int jobId() {
        return share.jobId();
    }

    /** Returns the name of an attempt of a job: {@code 12.1}. */
    public static String key(int jobId, int attempt) {
        return jobId + "." + attempt;
    }

    public int attempt() {
        return share.attempt();
    }

    /** Returns the attempt's start time as sent by slurmctld, in seconds since 1970; "" if absent. */
    public String start() {
        return share.environment().stream()
                .filter(v -> v.startsWith(START))
                .map(v -> v.substring(START.length()))
                .findFirst()
                .orElse("");
    }

    public boolean hasLiveSteps() {
        return steps.values().stream().anyMatch(s -> s.phase != NodeStep.Phase.ENDED);
    }

    public boolean hasLiveStepsBesideExternal() {
        return steps.values().stream().anyMatch(s -> !s.isExternal() && s.phase != NodeStep.Phase.ENDED);
    }

    /**
     * Returns what the job's file keeps: by step why it is ended, and behind {@code token.} the secret of its streams.
     */
    public Map<String, String> stepReasons() {
        Map<String, String> out = new TreeMap<>();
        for (NodeStep step : steps.values()) {
            if (!step.endReason.isEmpty()) {
                out.put(Integer.toString(step.stepId), step.endReason);
            }
            if (!step.ioToken.isEmpty()) {
                out.put("token." + step.stepId, step.ioToken);
            }
        }
        return out;
    }

    public boolean isEnding() {
        return phase.compareTo(Phase.ENDING) >= 0;
    }

    public String name() {
        return "job " + jobId() + (attempt() > 1 ? " attempt " + attempt() : "");
    }

    /**
     * Whether a step's tasks are looked at in a second; in second 0 all are.
     *
     * @param ofNode seconds between two samples, if the job asks for no other interval
     */
    boolean isLookedAt(NodeStep step, int second, int ofNode) {
        int asked;
        if (step.sampleSeconds != 0) {
            asked = step.sampleSeconds;
        } else if (share.sampleSeconds() > 0) {
            asked = share.sampleSeconds();
        } else {
            asked = ofNode;
        }

        return second == 0 || asked > 0 && second % asked == 0 && !step.isExternal();
    }

    /** The shortest that the job or one of its steps asked for; 0 for none. */
    int sampleSeconds() {
        return steps.values().stream()
                .mapToInt(s -> s.sampleSeconds)
                .filter(s -> s > 0)
                .min()
                .orElse(share.sampleSeconds());
    }

    /** The step's name in messages and logs: {@code 12.0}, {@code 12.batch}. */
    public String stepName(int stepId) {
        return jobId() + "." + StepId.name(stepId);
    }
}
