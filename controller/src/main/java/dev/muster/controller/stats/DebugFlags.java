package dev.muster.controller.stats;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Change;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * Lines that DebugFlags adds to the controller's log: what the records say, by subject. Lines begin with the flag, as
 * Slurm's do.
 */
public final class DebugFlags {
    /** Flags with an effect. */
    private static final List<String> WRITTEN = List.of(
            "Agent",
            "AuditRPCs",
            "AuditTLS",
            "Dependency",
            "Gres",
            "Priority",
            "SelectType",
            "Steps",
            "TLS",
            "TraceJobs");

    private final DaemonLog log;
    private volatile List<String> on = List.of();

    public DebugFlags(DaemonLog log) {
        this.log = log;
    }

    /** Takes the flags of a new configuration. Says which of them write nothing. */
    public void set(List<String> flags) {
        on = List.copyOf(new TreeSet<>(flags));
        List<String> silent = new ArrayList<>(on);
        silent.removeAll(WRITTEN);
        if (!silent.isEmpty() && silent.size() < 30) {
            log.info("warning: DebugFlags: nothing is written for " + String.join(",", silent) + " in this version");
        }
    }

    /** @param change {@code +Name} or {@code -Name}, names with commas, checked by the caller */
    public void change(String change) {
        TreeSet<String> flags = new TreeSet<>(on);
        List<String> names = List.of(change.substring(1).split(","));
        if (change.startsWith("-")) {
            flags.removeAll(names);
        } else {
            flags.addAll(names);
        }
        set(List.copyOf(flags));
    }

    public List<String> on() {
        return on;
    }

    public boolean has(String flag) {
        return on.contains(flag);
    }

    private void line(String flag, String text) {
        if (has(flag)) {
            log.info(flag.toUpperCase(Locale.ROOT) + ": " + text);
        }
    }

    public void direct(List<Decision.Direct> messages) {
        if (has("Agent")) {
            messages.forEach(m -> line("Agent", m.message().getClass().getSimpleName() + " to " + m.node()));
        }
    }

    /** @param after the state that the record led to */
    public void tell(Change change, State after) {
        if (on.isEmpty()) {
            return;
        }
        switch (change) {
            case Change.StepStarted c ->
                line(
                        "Steps",
                        step(c.jobId(), c.step().id()) + " created on "
                                + String.join(
                                        ",",
                                        c.step().nodes().stream()
                                                .map(p -> p.node() + ":" + p.cpus())
                                                .toList()));
            case Change.StepLaunched c -> line("Steps", step(c.jobId(), c.stepId()) + " runs on " + c.node());
            case Change.StepPartEnded c ->
                line(
                        "Steps",
                        step(c.jobId(), c.stepId()) + " ended on " + c.node() + " with " + c.exit()
                                + (c.reason().isEmpty() ? "" : " (" + c.reason() + ")"));
            case Change.StepEnding c -> line("Steps", step(c.jobId(), c.stepId()) + " is told to end: " + c.reason());
            case Change.StepEnded c -> line("Steps", step(c.jobId(), c.stepId()) + " is over");
            case Change.DependenciesChanged c -> line("Dependency", "JobId=" + c.jobId() + " " + c.dependencies());
            case Change.JobEligible c -> line("Dependency", "JobId=" + c.jobId() + " is eligible");
            case Change.PriorityChanged c -> line("Priority", "JobId=" + c.jobId() + " priority " + c.priority());
            case Change.JobSubmitted c -> trace(c.job().id(), after);
            case Change.JobEnded c -> trace(c.jobId(), after);
            case Change.PendingJobEnded c -> trace(c.jobId(), after);
            case Change.JobRequeued c -> trace(c.jobId(), after);
            case Change.NodeReleased c -> trace(c.jobId(), after);
            case Change.JobStarted c -> {
                c.allocation().nodes().forEach(s -> {
                    line(
                            "SelectType",
                            "JobId=" + c.jobId() + " takes cores " + s.cores().ranges() + " (" + s.cpus()
                                    + " CPUs) and " + s.memoryMb() + "M of " + s.node());
                    s.gres()
                            .forEach((name, devices) -> line(
                                    "Gres",
                                    "JobId=" + c.jobId() + " takes " + name + " " + devices.ranges() + " of "
                                            + s.node()));
                });
                trace(c.jobId(), after);
            }
            default -> {}
        }
    }

    private void trace(int jobId, State after) {
        if (has("TraceJobs")) {
            after.jobs()
                    .find(jobId)
                    .ifPresent(j -> line(
                            "TraceJobs",
                            "JobId=" + j.displayId() + " State=" + j.state() + " NodeCnt="
                                    + j.run().allocation().nodes().stream()
                                            .filter(s -> !s.released())
                                            .count()));
        }
    }

    private static String step(int jobId, int stepId) {
        return "StepId=" + jobId + "." + StepId.name(stepId);
    }
}
