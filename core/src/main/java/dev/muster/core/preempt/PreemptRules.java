package dev.muster.core.preempt;

import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.index.AffectedEntities;
import dev.muster.core.job.RequeueExit;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Applies preemption to its victims, and ends what was preempted when its grace is over. */
public final class PreemptRules {
    private static final int SIGTERM = 15;
    private static final int SIGCONT = 18;

    private final State state;
    private final DecisionTime now;
    private final List<Change> changes;
    private final List<Decision.Direct> direct;
    /** Components of heterogeneous jobs that have been told already. */
    private final Set<Integer> yields = new HashSet<>();

    public PreemptRules(State state, DecisionTime now, List<Change> changes, List<Decision.Direct> direct) {
        this.state = state;
        this.now = now;
        this.changes = changes;
        this.direct = direct;
    }

    /**
     * Preempts a job: at once, or with a grace time, at whose beginning the job is warned and until whose end it goes
     * on.
     */
    public void preempt(Planner.Preempt p) {
        Job job = state.jobs().at(p.jobId());
        boolean ends = p.mode() != Preemption.Mode.SUSPEND && p.mode() != Preemption.Mode.GANG;
        long end = p.graceS() > 0 && ends ? now.tickMs() + p.graceS() * 1000L : 0;
        if (end == 0 && p.mode() == Preemption.Mode.REQUEUE) {
            end(job, p.mode());
            return;
        }
        if (job.isHet() && p.mode() == Preemption.Mode.SUSPEND) {
            stopTogether(job);
            return;
        }
        changes.add(new Change.JobPreempted(job.id(), now.seconds(), p.mode(), end));
        if (end == 0) {
            end(job, p.mode());
            return;
        }
        JobDesc.Extras e = job.desc().extras();
        boolean own = state.settings().options().preemption().sendsUserSignal() && e.warnSignal() > 0;
        boolean script = own && e.warnBatchOnly();
        for (Job member : state.members(job)) {
            signal(member, SIGCONT, script);
            signal(member, own ? e.warnSignal() : SIGTERM, script);
        }
    }

    /**
     * Signals the tasks of steps, and not the batch script, which has that to come; or with {@code --signal=B:…} the
     * script's shell alone.
     */
    private void signal(Job job, int signal, boolean script) {
        for (Step step : job.run().steps()) {
            for (Step.Part part : step.nodes()) {
                if (step.state() == Step.State.RUNNING && (script ? step.isBatch() : step.isAsked()) && !part.done()) {
                    direct.add(new Decision.Direct(
                            part.node(),
                            new NodeMessages.Signal(job.id(), job.attempt(), step.id(), signal, script, false)));
                }
            }
        }
    }

    private void end(Job job, Preemption.Mode mode) {
        if (job.isHet() && mode != Preemption.Mode.SUSPEND && mode != Preemption.Mode.GANG) {
            endTogether(job, mode);
            return;
        }
        endAlone(job, mode);
    }

    /**
     * Ends a component and all others with it if it is the first; where that has ended before, each goes by itself.
     * Once, also if several are to go.
     */
    private void endTogether(Job job, Preemption.Mode mode) {
        List<Job> members =
                state.members(job).stream().filter(j -> j.state().isActive()).toList();
        List<Integer> ids = members.stream().map(Job::id).toList();
        if (changes.stream()
                .anyMatch(c -> (c instanceof Change.JobEnded || c instanceof Change.JobRequeued)
                        && AffectedEntities.jobs(c).stream().anyMatch(ids::contains))) {
            return;
        }
        for (Job member :
                members.getFirst().isHetLeader() || mode == Preemption.Mode.REQUEUE ? members.subList(0, 1) : members) {
            endAlone(member, mode);
        }
    }

    /** Suspends all components that run, once, also where several are to make room. */
    private void stopTogether(Job job) {
        for (Job member : state.members(job)) {
            boolean stops =
                    changes.stream().anyMatch(c -> c instanceof Change.JobSuspended s && s.jobId() == member.id());
            if (member.state() == JobState.RUNNING && !stops) {
                changes.add(new Change.JobPreempted(member.id(), now.seconds(), Preemption.Mode.SUSPEND, 0));
                changes.add(new Change.JobSuspended(member.id(), now.seconds()));
            } else if (GangRules.awaitsTurn(state, member) && yields.add(member.id())) {
                changes.add(new Change.JobPreempted(member.id(), now.seconds(), Preemption.Mode.SUSPEND, 0));
            }
        }
    }

    private void endAlone(Job job, Preemption.Mode mode) {
        switch (mode) {
            case SUSPEND, GANG -> {
                // a job that waits for its turn stops waiting for it and leaves its cores
                if (job.state() != JobState.SUSPENDED) {
                    changes.add(new Change.JobSuspended(job.id(), now.seconds()));
                }
            }
            case REQUEUE -> changes.addAll(RequeueExit.yielded(state, job, now));
            case CANCEL, OFF ->
                changes.add(new Change.JobEnded(
                        job.id(), JobState.PREEMPTED, JobReason.NONE, "", ExitStatus.signaled(SIGTERM), now.seconds()));
        }
    }

    /** Resumes a suspended job whose cores are free again. */
    public void resume(int jobId) {
        changes.add(resumed(state.jobs().at(jobId), now));
    }

    /** Returns the change that resumes a job: it has the rest of its time limit. */
    static Change resumed(Job job, DecisionTime now) {
        Job.Run run = job.run();
        long left = run.limitMin() < 0 ? -1 : Math.max(0, run.limitMin() * 60_000L - run.preSuspendMs());
        return new Change.JobResumed(job.id(), now.seconds(), left < 0 ? -1 : now.tickMs() + left);
    }

    /** Ends the jobs whose grace is over. */
    public void due() {
        for (Preemption p : state.preempted().values()) {
            if (p.endTick() > 0 && now.tickMs() >= p.endTick()) {
                state.jobs().find(p.jobId()).filter(j -> j.state().isActive()).ifPresent(j -> end(j, p.mode()));
            }
        }
    }
}
