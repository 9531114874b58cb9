package dev.muster.core.timer;

import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.command.Planner;
import dev.muster.core.index.DueIndex;
import dev.muster.core.job.CronRules;
import dev.muster.core.job.Dependencies;
import dev.muster.core.job.Eligibility;
import dev.muster.core.limits.AccrueRules;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.UsageRules;
import dev.muster.core.node.NodeUpdates;
import dev.muster.core.node.PowerRules;
import dev.muster.core.partition.PartitionRules;
import dev.muster.core.preempt.GangRules;
import dev.muster.core.preempt.PreemptRules;
import dev.muster.core.reservation.ReservationRules;
import dev.muster.core.state.AnsweredRequest;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.step.StepRules;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Decides what time and other jobs' ends bring about. */
public final class DeadlineRules {
    /** Answers of requests are kept this long. */
    static final long ANSWERS_KEPT_MS = 600_000;

    static final int ANSWERS_MAX = 200_000;
    /** Milliseconds of jobs' run time that a restart forgets at most. */
    static final long UNRECORDED_MS = 10_000;

    private static final int SLICE = Decision.CHANGES_MAX / 4;
    /**
     * Seconds that jobs of a missing partition are kept, whatever MinJobAge says: it may take days until a typing
     * mistake is noticed.
     */
    private static final long LOST_PARTITION_S = 7 * 86_400;

    private final State state;
    private final DecisionTime now;
    private final DueIndex dueIndex;
    private final IdAllocator ids;
    private final Planner planner;
    private final List<Change> changes = new ArrayList<>();
    private final List<Decision.Direct> direct = new ArrayList<>();

    public DeadlineRules(State state, DecisionTime now, DueIndex dueIndex, Planner planner) {
        this.planner = planner;
        this.state = state;
        this.now = now;
        this.dueIndex = dueIndex;
        this.ids = new IdAllocator(state);
    }

    /** Decides what is due. The reply says whether more is due at once. */
    public Decision due(TriggerEvents happened) {
        for (int id : dueIndex.overLimit(now.tickMs(), SLICE)) {
            overLimit(state.jobs().at(id));
        }
        for (int id : dueIndex.stepsOverLimit(now.seconds(), SLICE)) {
            stepsOverLimit(state.jobs().at(id));
        }
        for (int id : dueIndex.toWarn(now.tickMs(), Integer.MAX_VALUE)) {
            warn(state.jobs().at(id));
        }
        List<Integer> late = dueIndex.pastDeadline(now.seconds(), SLICE);
        for (int id : late) {
            changes.add(new Change.PendingJobEnded(id, JobState.DEADLINE, JobReason.DEADLINE, "", now.seconds()));
        }
        settle(late);
        new ReservationRules(state, now, planner).due(changes);
        new UsageRules(state, now).due(changes);
        new AccrueRules(state, now).due(changes, SLICE);
        new PreemptRules(state, now, changes, direct).due();
        new GangRules(state, now).due(changes);
        new TriggerRules(state).due(happened, now, changes);
        new PowerRules(state, now).due(changes, direct, planner, dueIndex);
        for (String node : dueIndex.toResume(now.seconds())) {
            changes.addAll(new NodeUpdates(state, now).resumed(state.nodes().at(node)));
        }
        beginSteps();
        purge(new CronRules(state, now).due(changes));
        forgetAnswers();
        if (changes.isEmpty() && dueIndex.isAnyRunning() && now.tickMs() - state.tickMs() >= UNRECORDED_MS) {
            changes.add(new Change.TimePassed());
        }
        return decided();
    }

    /** Decides what becomes due in the middle of a second. The reply is as that of {@link #due}. */
    public Decision urgent() {
        settle(List.of());
        if (dueIndex.takeTurns()) {
            new GangRules(state, now).due(changes);
        }
        beginSteps();
        return decided();
    }

    private Decision decided() {
        changes.addAll(0, ids.reservations());
        return Decision.of(changes, changes.size() >= SLICE, direct);
    }

    private void settle(List<Integer> late) {
        for (int id : dueIndex.unsettled(now.seconds(), SLICE)) {
            state.jobs().find(id).filter(j -> !late.contains(j.id())).ifPresent(this::settle);
            dueIndex.settled(id);
        }
    }

    private void beginSteps() {
        for (int id : dueIndex.stepsToBegin(SLICE)) {
            state.jobs()
                    .find(id)
                    .flatMap(job -> new StepRules(state, now, planner).next(job))
                    .ifPresent(changes::add);
        }
    }

    /** {@code --signal=[B:]sig@time}: to the steps, or with B to the batch shell alone. */
    private void warn(Job job) {
        JobDesc.Extras e = job.desc().extras();
        for (Step step : job.run().steps()) {
            boolean meant = e.warnBatchOnly() ? step.isBatch() : step.isAsked();
            for (Step.Part part : step.nodes()) {
                if (meant && step.state() == Step.State.RUNNING && !part.done()) {
                    direct.add(new Decision.Direct(
                            part.node(),
                            new NodeMessages.Signal(
                                    job.id(), job.attempt(), step.id(), e.warnSignal(), e.warnBatchOnly(), false)));
                }
            }
        }
    }

    /** Ends a job at its limit and the minutes of OverTimeLimit. The nodes enforce the limit on their own as well. */
    private void overLimit(Job job) {
        long deadline = job.desc().timing().deadline();
        if (deadline > 0 && now.seconds() >= deadline) {
            changes.add(new Change.JobEnded(
                    job.id(),
                    JobState.DEADLINE,
                    JobReason.DEADLINE,
                    "",
                    job.run().exit(),
                    now.seconds()));
            return;
        }
        int grace = PartitionLimits.overTimeMin(state, job);
        boolean waits = state.members(job).stream()
                .anyMatch(
                        j -> j.has(JobFlag.CONFIGURING) && j.run().allocation().awaitsNodes());
        if (waits || grace < 0 || now.tickMs() < job.run().limitTickMs() + grace * 60_000L) {
            return;
        }
        changes.add(new Change.JobEnded(
                job.id(), JobState.TIMEOUT, JobReason.TIME_LIMIT, "", job.run().exit(), now.seconds()));
    }

    /** Ends steps that are over their limit. Time that the job was suspended does not count. */
    private void stepsOverLimit(Job job) {
        long ranMs = job.run().preSuspendMs() + now.tickMs() - job.run().sinceTickMs();
        long suspended = Math.max(0, now.seconds() - job.run().startTime() - ranMs / 1000 - 1);
        int grace = PartitionLimits.overTimeMin(state, job);
        for (Step step : job.run().steps()) {
            if (grace >= 0
                    && step.isLimited()
                    && now.seconds() >= step.startTime() + (step.desc().timeLimitMin() + grace) * 60L + suspended) {
                changes.add(new Change.StepEnding(job.id(), step.id(), JobReason.TIME_LIMIT.word(), false));
            }
        }
    }

    private void settle(Job job) {
        if (!job.isPending() || job.eligibleTime() != 0) {
            return;
        }
        if (job.isArrayRecord() && job.dependencies().stream().anyMatch(d -> d.kind() == Dependency.Kind.AFTERCORR)) {
            byTask(job);
            return;
        }
        List<Dependency> settled = Dependencies.settle(state, job, now, dueIndex);
        if (!settled.equals(job.dependencies())) {
            changes.add(new Change.DependenciesChanged(job.id(), settled));
        }
        if (Dependencies.hopeless(settled)) {
            hopeless(job);
        } else if (Dependency.fulfilled(settled)) {
            dependenciesFulfilled(job);
        } else if (job.reason() != JobReason.DEPENDENCY && !job.isHeld()) {
            // an update gave the job its dependency only now
            reason(job, JobReason.DEPENDENCY);
        }
    }

    private void dependenciesFulfilled(Job job) {
        if (job.desc().timing().beginTime() <= now.seconds() && !job.isHeld()) {
            changes.addAll(Eligibility.from(state, job, now.seconds()));
            if (job.reason() == JobReason.DEPENDENCY || job.reason() == JobReason.BEGIN_TIME) {
                reason(job, JobReason.NONE);
            }
        } else if (job.reason() == JobReason.DEPENDENCY) {
            reason(job, JobReason.BEGIN_TIME);
        }
    }

    private void reason(Job job, JobReason reason) {
        changes.add(new Change.PriorityChanged(job.id(), job.priority(), job.holdUid(), reason, ""));
    }

    /**
     * Makes jobs of their own of the array's tasks that need not wait any more: each waits for the task with its
     * number.
     */
    private void byTask(Job array) {
        int count = 0;
        for (int task = array.array().pending().first();
                task >= 0 && count < SLICE;
                task = array.array().pending().next(task + 1)) {
            Job one = array.splitOff(array.id(), array.sluid(), task);
            List<Dependency> settled = Dependencies.settle(state, one, now, dueIndex);
            boolean ready = Dependency.fulfilled(settled)
                    && array.desc().timing().beginTime() <= now.seconds()
                    && !array.isHeld();
            if (ready || Dependencies.hopeless(settled)) {
                count++;
                int id = ids.forTask(array);
                changes.add(new Change.ArrayTaskSplit(
                        array.id(), task, id, id == array.id() ? array.sluid() : ids.sluid()));
                changes.add(new Change.DependenciesChanged(id, settled));
                Job own = array.splitOff(id, array.sluid(), task);
                if (ready) {
                    changes.add(new Change.JobEligible(id, now.seconds()));
                    changes.add(new Change.PriorityChanged(id, array.priority(), array.holdUid(), JobReason.NONE, ""));
                } else {
                    hopeless(own);
                }
            }
        }
    }

    private void hopeless(Job job) {
        boolean kill = switch (job.desc().timing().killOnInvalidDependency()) {
            case YES -> true;
            case NO -> false;
            case UNSET -> state.settings().options().submission().killsInvalidDependency();
        };
        if (kill) {
            changes.add(new Change.PendingJobEnded(
                    job.id(), JobState.CANCELLED, JobReason.DEPENDENCY_NEVER_SATISFIED, "", now.seconds()));
        } else if (job.reason() != JobReason.DEPENDENCY_NEVER_SATISFIED && !job.isHeld()) {
            changes.add(new Change.PriorityChanged(
                    job.id(), job.priority(), job.holdUid(), JobReason.DEPENDENCY_NEVER_SATISFIED, ""));
        }
    }

    /**
     * Forgets ended jobs MinJobAge after their end; an array's own record only after its tasks. 0 keeps them for ever.
     */
    private void purge(Set<Integer> kept) {
        long age = state.settings().minJobAgeS();
        if (age <= 0) {
            return;
        }
        UsageRules usage = new UsageRules(state, now);
        int count = 0;
        for (Map.Entry<Long, Integer> e : state.ended().entries()) {
            if ((e.getKey() >>> 32) + age > now.seconds() || count >= SLICE || !usage.charged(e.getKey() >>> 32)) {
                return;
            }
            Job job = state.jobs().at(e.getValue());
            if (!job.has(JobFlag.COMPLETING)
                    && !kept.contains(job.id())
                    && !isBuffered(job)
                    && !mayComeBack(job)
                    && !(job.array().jobId() == job.id()
                            && !state.tasksOf(job.id()).isEmpty())) {
                changes.add(new Change.JobPurged(job.id()));
                count++;
            }
        }
    }

    /** Tests whether the job's partition is missing, so that the job goes on when it is configured again. */
    private boolean mayComeBack(Job job) {
        return PartitionRules.isLost(job)
                && !state.partitions().has(job.desc().firstPartition())
                && now.seconds() < job.run().endTime() + LOST_PARTITION_S;
    }

    private boolean isBuffered(Job job) {
        return state.buffers()
                .byJob()
                .find(job.id())
                .filter(b -> b.stage() != BurstBuffer.Stage.COMPLETE)
                .isPresent();
    }

    private void forgetAnswers() {
        // Keys are random, so age is found by looking: at most once a minute, and at once when there are too many.
        boolean tooMany = state.answers().size() > ANSWERS_MAX;
        if (state.answers().size() == 0 || !tooMany && now.seconds() % 60 != 0) {
            return;
        }
        List<String> old = new ArrayList<>();
        for (Map.Entry<String, AnsweredRequest> a : state.answers().entries()) {
            if (a.getValue().tickMs() + ANSWERS_KEPT_MS < now.tickMs()
                    || tooMany && old.size() < state.answers().size() / 2) {
                old.add(a.getKey());
            }
        }
        if (!old.isEmpty()) {
            changes.add(new Change.AnswersForgotten(old));
        }
    }
}
