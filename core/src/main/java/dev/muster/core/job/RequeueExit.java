package dev.muster.core.job;

import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Applies RequeueExit and RequeueExitHold, which requeue a job by the exit code of its batch script. */
public final class RequeueExit {

    private RequeueExit() {}

    /**
     * Returns the records of a job's end: ended, or requeued where the configuration names the code, the job may be
     * requeued and nothing but its script ended it.
     */
    public static List<Change> over(State state, Job job, ExitStatus exit, String why, DecisionTime now) {
        Optional<Preemption> goes = state.preempted().find(job.id()).filter(p -> p.endTick() > 0);
        if (goes.isPresent()) {
            // a victim of preemption: whether it ended for that or by itself cannot be told
            return goes.get().mode() == Preemption.Mode.REQUEUE
                    ? yielded(state, job, now)
                    : List.of(
                            new Change.JobEnded(job.id(), JobState.PREEMPTED, JobReason.NONE, "", exit, now.seconds()));
        }
        if (ExpeditedRequeue.isAsked(job) && !exit.isSuccess() && !why.equals("TimeLimit")) {
            return ExpeditedRequeue.failed(job, exit, now);
        }
        if (job.desc().kind() != JobDesc.Kind.BATCH
                || !why.isEmpty()
                || exit.signal() != 0
                || !job.mayRequeue(state.settings())) {
            return List.of(JobRules.over(job, exit, why, now));
        }
        if (state.settings().options().requeue().holdExits().contains(exit.code())) {
            return List.of(
                    delayed(state, job, now),
                    new Change.JobRequeued(job.id(), true, JobReason.JOB_HELD_USER, "", 0, now.seconds(), true, exit));
        }
        return state.settings().options().requeue().exits().contains(exit.code())
                ? later(state, job, exit, now)
                : List.of(JobRules.over(job, exit, why, now));
    }

    /**
     * Sends a job back to the queue to make room; in one entry, after a time of grace as well: its nodes tell its user
     * why.
     */
    public static List<Change> yielded(State state, Job job, DecisionTime now) {
        List<Change> out =
                new ArrayList<>(List.of(new Change.JobPreempted(job.id(), now.seconds(), Preemption.Mode.REQUEUE, 0)));
        out.addAll(later(state, job, now));
        return out;
    }

    /**
     * Sends a job back to the queue, where it waits a while: what fails at once would otherwise fail as fast as nodes
     * can start it.
     */
    public static List<Change> later(State state, Job job, DecisionTime now) {
        return later(state, job, ExitStatus.NONE, now);
    }

    private static List<Change> later(State state, Job job, ExitStatus exit, DecisionTime now) {
        return List.of(
                delayed(state, job, now),
                new Change.JobRequeued(
                        job.id(),
                        false,
                        JobReason.NONE,
                        "",
                        Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid()),
                        now.seconds(),
                        false,
                        exit));
    }

    /**
     * Returns the change that sets the time before which a requeued job does not start, even if it is released earlier.
     */
    static Change delayed(State state, Job job, DecisionTime now) {
        // one second more, as in Slurm: a run starts after its submission, which is the time of the requeue
        long delayS = 1 + state.settings().options().requeue().delayS();
        long begin = Math.max(job.desc().timing().beginTime(), now.seconds() + delayS);
        return new Change.DescriptionChanged(job.id(), UpdateRules.beginningAt(job.desc(), begin));
    }
}
