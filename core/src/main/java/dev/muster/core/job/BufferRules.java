package dev.muster.core.job;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Decides when a burst buffer goes from one stage to the next. */
public final class BufferRules {
    static final String PRE_RUN_FAILED = "Burst buffer pre_run error";

    private final State state;
    private final DecisionTime now;

    public BufferRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
    }

    /** Brings the data of the most urgent jobs that could run, as far as the pools reach. */
    public void stageIn(List<Change> changes, IdAllocator ids) {
        if (state.buffers().byJob().size() == 0) {
            return;
        }
        List<Job> waiting = new ArrayList<>();
        for (BurstBuffer b : state.buffers().byJob().values()) {
            if (b.stage() == BurstBuffer.Stage.PENDING) {
                state.jobs()
                        .find(b.jobId())
                        .filter(j -> j.isPending() && !j.isHeld() && j.eligibleTime() > 0)
                        .ifPresent(waiting::add);
            }
        }
        waiting.sort(Comparator.comparingLong(Job::priority).reversed().thenComparingLong(Job::sluid));
        BurstBuffer.All all = state.buffers();
        for (Job job : waiting) {
            BurstBuffer b = all.byJob().at(job.id());
            if (job.isArrayRecord()) {
                nextTasks(job, changes, ids);
            } else if (all.has(b)) {
                BurstBuffer taken = b.taken(now.seconds());
                all = all.with(taken);
                changes.add(new Change.BufferChanged(taken));
            }
        }
    }

    /**
     * Makes jobs of their own of some of an array's tasks ahead of their start: each task has a burst buffer of its
     * own.
     */
    private void nextTasks(Job array, List<Change> changes, IdAllocator ids) {
        int maxStaging = state.settings().options().buffers().arrayStageMax();
        long ready = state.tasksOf(array.id()).stream().filter(Job::isPending).count();
        for (int task = array.array().pending().first();
                task >= 0 && ready < maxStaging;
                task = array.array().pending().next(task + 1)) {
            int id = ids.forTask(array);
            changes.add(
                    new Change.ArrayTaskSplit(array.id(), task, id, id == array.id() ? array.sluid() : ids.sluid()));
            ready++;
        }
    }

    /** Applies the report of the site's script about a stage. */
    public Decision done(Command.BufferStage c) {
        Optional<BurstBuffer> found = state.buffers()
                .byJob()
                .find(c.jobId())
                .filter(b -> b.round() == c.round() && b.words().isEmpty()
                        || b.round() == c.round() && b.stage().isTeardown());
        if (found.isEmpty()) {
            return Decision.of(List.of(), "");
        }
        BurstBuffer b = found.get();
        List<Change> changes = new ArrayList<>();
        switch (b.stage()) {
            case STAGING_IN -> {
                BurstBuffer sized = c.size() > 0 ? b.sized(c.size()) : b;
                if (c.success()) {
                    changes.add(new Change.BufferChanged(sized.at(BurstBuffer.Stage.STAGED_IN, now.seconds())));
                } else {
                    changes.add(new Change.PriorityChanged(
                            b.jobId(), 0, state.settings().slurmUid(), JobReason.BURST_BUFFER_OPERATION, c.words()));
                    changes.add(new Change.BufferChanged(afterFailedStage(b, c.words())));
                }
            }
            case POST_RUN ->
                changes.add(new Change.BufferChanged(
                        c.success()
                                ? b.at(BurstBuffer.Stage.STAGING_OUT, now.seconds())
                                : afterFailedStage(b, c.words())));
            case STAGING_OUT ->
                changes.add(new Change.BufferChanged(
                        c.success() ? b.tornDown(false, now.seconds()) : afterFailedStage(b, c.words())));
            case TEARDOWN, TEARDOWN_FAIL -> {
                if (!c.success() && b.tries() + 1 < BurstBuffer.TRIES_MAX) {
                    changes.add(new Change.BufferChanged(b.failedTeardown(c.words(), now.seconds())));
                } else {
                    boolean waits = state.jobs()
                            .find(b.jobId())
                            .filter(j -> j.state() == JobState.PENDING)
                            .isPresent();
                    changes.add(new Change.BufferChanged(
                            waits ? b.anew(now.seconds()) : b.at(BurstBuffer.Stage.COMPLETE, now.seconds())));
                }
            }
            case PENDING, STAGED_IN, PRE_RUN, RUNNING, COMPLETE -> {}
        }
        return Decision.of(changes, "");
    }

    /** Returns the buffer after a failed stage: torn down with Flags=TeardownFailure, otherwise kept for inspection. */
    private BurstBuffer afterFailedStage(BurstBuffer b, String words) {
        return state.settings().options().buffers().tearsDownFailed()
                ? b.tornDown(false, now.seconds())
                : b.stuck(words);
    }

    /**
     * Ends the start of a job whose buffer did not become ready on its nodes: it is held until an operator releases it.
     */
    public Change failedBeforeStart(Job job) {
        return job.desc().kind() == JobDesc.Kind.BATCH && job.mayRequeue(state.settings())
                ? new Change.JobRequeued(
                        job.id(), true, JobReason.BURST_BUFFER_OPERATION, PRE_RUN_FAILED, 0, now.seconds(), false)
                : new Change.JobEnded(
                        job.id(),
                        JobState.FAILED,
                        JobReason.BURST_BUFFER_OPERATION,
                        PRE_RUN_FAILED,
                        ExitStatus.exited(1),
                        now.seconds());
    }

    /** {@code scancel --hurry} of a job that is over: what it wrote is let go. */
    static Optional<Change> hurry(State state, Job job, DecisionTime now) {
        return state.buffers()
                .byJob()
                .find(job.id())
                .filter(b -> b.stage().isOut() && job.has(JobFlag.STAGE_OUT))
                .map(b -> new Change.BufferChanged(b.tornDown(true, now.seconds())));
    }

    /** Returns the change by which a job that is released after its stage-in failed has it tried again. */
    static Optional<Change> again(State state, Job job, DecisionTime now) {
        return state.buffers()
                .byJob()
                .find(job.id())
                .filter(b ->
                        b.stage() == BurstBuffer.Stage.STAGING_IN && !b.words().isEmpty())
                .map(b -> new Change.BufferChanged(b.taken(now.seconds())));
    }
}
