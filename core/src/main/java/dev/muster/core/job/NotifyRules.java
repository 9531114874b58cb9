package dev.muster.core.job;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import java.util.Optional;

/** {@code scontrol notify}: prints a message on the standard error of a job. The message is not stored. */
public final class NotifyRules {
    static final int TEXT_CHARS_MAX = 4096;

    private NotifyRules() {}

    /**
     * Sends a job a message. The reply is "salloc" if the job's client has to fetch the message, and "" if the job's
     * node prints it.
     */
    public static Decision notify(State state, Command.NotifyJob c) {
        Optional<Job> found = state.job(c.job().jobId(), c.job().task());
        if (found.isEmpty()) {
            return Decision.unknownJob();
        }
        Job job = found.get();
        if (!Access.mayChange(state, c.uid(), job)) {
            return Decision.reject(SlurmErrno.USER_ID_MISSING);
        }
        if (job.state().isTerminal()) {
            return Decision.reject(SlurmErrno.ALREADY_DONE);
        }
        if (c.text().length() > TEXT_CHARS_MAX) {
            return Decision.reject(SlurmErrno.PATHNAME_TOO_LONG);
        }
        if (job.desc().kind() == JobDesc.Kind.ALLOCATION) {
            return Decision.of(List.of(), "salloc");
        }
        if (job.state() != JobState.RUNNING) {
            return Decision.reject(SlurmErrno.DISABLED);
        }
        for (Step step : job.run().steps()) {
            boolean reads = job.desc().kind() == JobDesc.Kind.BATCH ? step.isBatch() : step.isAsked();
            if (reads && step.state() == Step.State.RUNNING) {
                return Decision.of(
                        List.of(),
                        "",
                        List.of(new Decision.Direct(
                                step.nodes().getFirst().node(),
                                new NodeMessages.Notify(job.id(), job.attempt(), step.id(), c.text()))));
            }
        }
        return Decision.reject(SlurmErrno.TRANSITION_STATE_NO_UPDATE);
    }
}
