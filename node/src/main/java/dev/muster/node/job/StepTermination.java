package dev.muster.node.job;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.OrphanProcesses;
import dev.muster.node.os.Os;
import dev.muster.node.os.StepMessages;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.step.Launcher;
import dev.muster.node.step.NodeJob;
import dev.muster.node.step.NodeStep;
import dev.muster.node.step.StepWatch;

/**
 * Ends steps as Slurm does: SIGTERM, SIGKILL after KillWait, and a report about processes that survive it. Every method
 * runs on the {@link EventLoop}; {@link Jobs} calls it.
 */
final class StepTermination {
    private static final String UNKILLABLE = "Kill task failed";
    /**
     * Time that a slurmstepd has to kill its tasks before slurmd kills what is below it. The user may have stopped the
     * child for which slurmstepd waits.
     */
    private static final long DISOBEYED_MS = 3_000;
    /** A lingering srun still reports the tasks that were killed after KillWait. */
    private static final long LAST_WORDS_MS = 2_000;

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final JobSpool spool;
    private final UnacknowledgedReports reports;
    private final Hooks hooks;
    private final Launcher starter;

    StepTermination(
            Settings settings,
            DaemonLog log,
            EventLoop loop,
            JobSpool spool,
            UnacknowledgedReports reports,
            Hooks hooks,
            Launcher starter) {
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.spool = spool;
        this.reports = reports;
        this.hooks = hooks;
        this.starter = starter;
    }

    /** Sends SIGCONT and SIGTERM now, and SIGKILL after the wait to the processes that are left. */
    void end(NodeJob job, NodeStep step, int killWaitSeconds, String reason) {
        if (step.phase == NodeStep.Phase.ENDED || (step.ending && step.terminated)) {
            return;
        }
        if (step.endReason.isEmpty()) {
            step.endReason = reason;
        }
        if (killWaitSeconds <= 0) {
            if (!step.ending && !reason.isEmpty() && !reason.equals(Jobs.REASON_OUT_OF_MEMORY)) {
                step.whenRunning(() -> step.tellEnd(
                        StepMessages.cancelled(job.stepName(step.stepId), settings.nodeName(), reason, true)));
            }
            terminate(job, step);
            return;
        }
        if (step.ending) {
            return;
        }
        step.ending = true;
        step.whenRunning(() -> step.watch.filter(w -> !step.lingering).ifPresent(w -> {
            if (!reason.isEmpty()) {
                step.tellEnd(StepMessages.cancelled(job.stepName(step.stepId), settings.nodeName(), reason, false));
            }
            w.signal(StepWatch.EVERY_PROCESS, Os.SIGNAL_CONT);
            w.signal(StepWatch.reach(settings.confinement(), Os.SIGNAL_TERM), Os.SIGNAL_TERM);
        }));
        if (!step.cleaning && starter.hasContainer(step.directory)) {
            EventLoop.aside(() -> starter.stopContainers(step.directory));
        }
        loop.later(
                killWaitSeconds * 1000L,
                () -> loop.later(step.lingering ? LAST_WORDS_MS : 0, () -> terminate(job, step)));
    }

    /** Sends SIGKILL, and reports processes that survive it. */
    void terminate(NodeJob job, NodeStep step) {
        if (step.phase == NodeStep.Phase.ENDED || step.terminated) {
            return;
        }
        step.ending = true;
        step.terminated = true;
        step.whenRunning(() -> step.watch.ifPresent(w -> w.signal(StepWatch.TERMINATE, Os.SIGNAL_KILL)));
        loop.later(DISOBEYED_MS, () -> {
            if (step.phase != NodeStep.Phase.ENDED) {
                EventLoop.aside(() ->
                        spool.status(step.directory).ifPresent(s -> OrphanProcesses.killBelow(s.stepdPid(), settings)));
            }
        });
        loop.later(settings.unkillableSeconds() * 1000L, () -> {
            if (step.phase != NodeStep.Phase.ENDED) {
                log.error("[" + job.stepName(step.stepId) + "] processes do not end after SIGKILL");
                String why = UNKILLABLE + " (JobId=" + job.share.jobId() + " StepId="
                        + Integer.toUnsignedString(StepId.number(step.stepId)) + ")";
                reports.add(seq -> new NodeMessages.NodeTrouble(seq, why), () -> {});
                EventLoop.aside(() -> hooks.unkillable(job.share, StepId.name(StepId.number(step.stepId))));
            }
        });
    }
}
