package dev.muster.core.job;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Change;
import dev.muster.core.state.Crontab;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.step.StepPart;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.Cancel;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.api.JobMessages.JobError;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Cancel, signal, hold, release, requeue, suspend, resume. Each takes jobs as users name them and answers per job. */
public final class JobRules {
    private static final int SIGKILL = 9;
    private static final int SIGTERM = 15;
    private static final int SIGCONT = 18;
    private static final int SIGSTOP = 19;
    /** Reason for the end of a step with a failed task. The step was not cancelled. */
    private static final String TASK_FAILURE = "TaskFailure";

    private static final long CLOCKS_MS = 1_000;

    private final State state;
    private final DecisionTime now;
    private final IdAllocator ids;
    private final List<Change> changes = new ArrayList<>();
    private final List<Decision.Direct> direct = new ArrayList<>();
    private final List<String> done = new ArrayList<>();
    private final List<JobError> errors = new ArrayList<>();
    /** Tasks that have left an array's pending record so far, by the record and the task. */
    private final Map<Long, Job> split = new HashMap<>();

    private final Set<Integer> met = new HashSet<>();

    public JobRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
        this.ids = new IdAllocator(state);
    }

    /** Does something with one job that exists and that the caller may change. */
    private interface Action {
        /**
         * Returns the error to report, or empty.
         *
         * @param component the request names one component of a heterogeneous job, not the whole job
         */
        Optional<SlurmErrno> on(Job job, boolean component);
    }

    /**
     * Settings of a request about the jobs that it names.
     *
     * @param whole one component stands for the whole heterogeneous job if SchedulerParameters has whole_hetjob
     * @param byTasks the error for an array of another user names the array's tasks
     * @param each errors are reported by task of an array, tasks that have ended included
     */
    private record ReferencePolicy(boolean whole, boolean byTasks, boolean each, SlurmErrno denial) {}

    private Decision each(int uid, List<Command.JobRef> refs, ReferencePolicy treatment, Action action) {
        boolean together =
                treatment.whole && state.settings().options().submission().wholeHetJobs();
        Set<Integer> seenHetJobs = new HashSet<>();
        Map<String, TaskOutcomes> arrays = new LinkedHashMap<>();
        for (Command.JobRef ref : refs) {
            List<Job> forbidden = named(ref).stream()
                    .filter(j -> !Access.mayChange(state, uid, j))
                    .toList();
            if (!forbidden.isEmpty()) {
                deny(ref, forbidden, treatment);
                continue;
            }
            Optional<TaskOutcomes> tasks = treatment.each && isOfArray(ref)
                    ? Optional.of(arrays.computeIfAbsent(ref.text(), t -> new TaskOutcomes(ref.jobId())))
                    : Optional.empty();
            List<Job> targets = targets(ref, treatment.each);
            if (targets.isEmpty()) {
                tasks.ifPresentOrElse(
                        t -> t.put(IndexSet.of(ref.task()), Optional.of(Decision.reject(SlurmErrno.INVALID_JOB_ID))),
                        () -> error(ref, SlurmErrno.INVALID_JOB_ID));
            }
            if (together && !targets.isEmpty() && targets.getFirst().isHet()) {
                boolean first = seenHetJobs.add(targets.getFirst().het().jobId());
                targets = first ? state.members(targets.getFirst()) : List.of();
            }
            for (Job job : targets) {
                if (!met.add(job.id())) {
                    done.add(ref.text()); // named before, by itself or with others
                    continue;
                }
                boolean component =
                        job.isHet() && !together && ref.jobId() != job.het().jobId();
                report(ref, job, tasks, action.on(job, component));
            }
        }
        arrays.values().forEach(a -> errors.addAll(a.told()));
        changes.addAll(0, ids.reservations());
        return Decision.of(changes, new CancelReply(List.copyOf(done), List.copyOf(errors)), direct);
    }

    /** Reports once that the caller may not change what it named: all tasks of a name that means several share it. */
    private void deny(Command.JobRef ref, List<Job> forbidden, ReferencePolicy treatment) {
        String text = treatment.byTasks ? tasksOf(ref, forbidden) : ref.text();
        JobError error = new JobError(text, treatment.denial.number(), treatment.denial.sentence());
        if (!errors.contains(error)) {
            errors.add(error);
        }
    }

    /** @param tasks collects the outcomes of an array's tasks; empty where each job reports by itself */
    private void report(Command.JobRef ref, Job job, Optional<TaskOutcomes> tasks, Optional<SlurmErrno> outcome) {
        tasks.ifPresent(t -> t.put(TaskOutcomes.of(job), outcome.map(Decision::reject)));
        outcome.filter(w -> tasks.isEmpty()).ifPresent(w -> error(ref, w));
        if (outcome.isEmpty()) {
            done.add(ref.text());
        }
    }

    private boolean isOfArray(Command.JobRef ref) {
        return ref.task() >= 0
                || state.jobs()
                        .find(ref.jobId())
                        .filter(j -> j.array().jobId() == j.id())
                        .isPresent();
    }

    private void error(Command.JobRef ref, SlurmErrno errno) {
        errors.add(new JobError(ref.text(), errno.number(), errno.sentence()));
    }

    /** 7_1-3 for an array, and what was named for anything else. */
    static String tasksOf(Command.JobRef ref, List<Job> jobs) {
        IndexSet tasks = IndexSet.empty();
        for (Job j : jobs) {
            tasks = tasks.union(TaskOutcomes.of(j));
        }
        return ref.task() >= 0 || tasks.isEmpty()
                ? ref.text().replaceAll("[\\[\\]]", "")
                : ref.jobId() + "_" + tasks.compact();
    }

    /** Returns the jobs that the name means, before any task is split off. */
    private List<Job> named(Command.JobRef ref) {
        if (!ref.tasks().isEmpty()) {
            List<Job> out = new ArrayList<>(state.jobs().find(ref.jobId()).filter(Job::isArrayRecord).stream()
                    .toList());
            IndexSet left = ref.tasks()
                    .minus(
                            out.isEmpty()
                                    ? IndexSet.empty()
                                    : out.getFirst().array().pending());
            for (int t = left.first(); t >= 0; t = left.next(t + 1)) {
                state.job(ref.jobId(), t).ifPresent(out::add);
            }
            return out;
        }
        return ref.task() < 0
                ? targets(ref, false)
                : state.job(ref.jobId(), ref.task()).map(List::of).orElse(List.of());
    }

    /**
     * Returns the jobs that a reference means: a plain number means the job, every task of the array or every
     * component; a task of the pending record is split off first.
     *
     * @param over tasks that are over are meant as well, beside others
     */
    private List<Job> targets(Command.JobRef ref, boolean over) {
        if (!ref.tasks().isEmpty()) {
            return targetsOfRecord(ref.jobId(), ref.tasks());
        }
        if (ref.task() < 0) {
            List<Job> all = new ArrayList<>(state.tasksOf(ref.jobId()));
            all.removeIf(t -> t.state().isTerminal() && !over);
            Optional<Job> own = state.jobs().find(ref.jobId());
            if (own.isPresent() && own.get().isHetLeader()) {
                return state.members(own.get());
            }
            own.ifPresent(j -> {
                if (all.isEmpty() || over || !j.state().isTerminal()) {
                    all.add(j);
                }
            });
            return all;
        }
        return state.job(ref.jobId(), ref.task())
                .map(j -> List.of(single(j, ref.task())))
                .orElse(List.of());
    }

    /**
     * Returns the waiting record as a whole where all that wait in it are meant; each other task by itself, wherever it
     * is by now.
     */
    private List<Job> targetsOfRecord(int jobId, IndexSet tasks) {
        Optional<Job> record = state.jobs().find(jobId).filter(Job::isArrayRecord);
        IndexSet pending = record.map(r -> r.array().pending()).orElse(IndexSet.empty());
        boolean whole = record.isPresent() && pending.minus(tasks).isEmpty();
        List<Job> out = new ArrayList<>(whole ? List.of(record.get()) : List.of());
        IndexSet single = whole ? tasks.minus(pending) : tasks;
        for (int t = single.first(); t >= 0; t = single.next(t + 1)) {
            int task = t;
            state.job(jobId, t).ifPresent(j -> out.add(single(j, task)));
        }
        return out;
    }

    private Job single(Job job, int task) {
        Job before = split.get((long) job.id() << 32 | task);
        if (!job.isArrayRecord() || met.contains(job.id()) || before != null) {
            return before == null ? job : before;
        }
        int id = ids.forTask(job);
        long sluid = id == job.id() ? job.sluid() : ids.sluid();
        changes.add(new Change.ArrayTaskSplit(job.id(), task, id, sluid));
        Job own = id == job.id()
                ? job.with(new Job.Array(
                        id,
                        task,
                        IndexSet.empty(),
                        job.array().maxRunning(),
                        job.array().size()))
                : job.splitOff(id, sluid, task);
        split.put((long) job.id() << 32 | task, own);
        return own;
    }

    // ---- cancel and signal

    public Decision cancel(Command.CancelJobs c) {
        if (!c.adminComment().isEmpty() && !Access.isOperator(state, c.uid())) {
            return Decision.reject(SlurmErrno.ACCESS_DENIED);
        }
        List<Command.JobRef> plain = new ArrayList<>();
        for (Command.JobRef ref : c.jobs()) {
            if (ref.step() == Command.JobRef.NO_STEP) {
                plain.add(ref);
            } else {
                step(c, ref);
            }
        }
        ReferencePolicy treatment = new ReferencePolicy(c.signal() == 0, false, false, SlurmErrno.ACCESS_DENIED);
        return each(c.uid(), plain, treatment, (job, component) -> cancel(job, component, c));
    }

    private Optional<SlurmErrno> cancel(Job job, boolean component, Command.CancelJobs c) {
        if (!c.states().isEmpty() && !c.states().contains(job.state())) {
            return Optional.empty();
        }
        // with batchOnly only the script is killed; the job ends with its script
        boolean script = c.batchOnly() && job.state() != JobState.PENDING;
        boolean ends = c.signal() == 0 && !script || c.signal() == SIGKILL && !c.batchOnly() && !c.full();
        if (!ends) {
            return signal(job, c);
        }
        if (!c.cron() && Crontab.runs(state.crontabs(), job) && needsCronFlag()) {
            return Optional.of(SlurmErrno.CRON_JOB);
        }
        if (component && job.state() == JobState.PENDING && !c.parts()) {
            return Optional.of(SlurmErrno.NOT_WHOLE_HET_JOB);
        }
        return end(job, c);
    }

    /** Tests for ScronParameters=explicit_scancel: a job of scrontab is cancelled only with {@code scancel --cron}. */
    private boolean needsCronFlag() {
        return state.settings().options().users().explicitCronCancel();
    }

    /** Cancels a step in each component that it runs in. */
    private void step(Command.CancelJobs c, Command.JobRef ref) {
        List<StepPart> meant = state
                .job(ref.jobId(), ref.task())
                .map(j -> j.isHetLeader() ? state.members(j) : List.of(j))
                .orElse(List.of())
                .stream()
                .flatMap(j -> j.steps(ref.step()).stream().map(s -> new StepPart(j, s)))
                .toList();
        List<StepPart> running = meant.stream()
                .filter(p -> p.step().state() == Step.State.RUNNING)
                .toList();
        if (meant.isEmpty()) {
            error(ref, SlurmErrno.INVALID_JOB_ID);
        } else if (running.isEmpty()) {
            step(c, ref, meant.getFirst());
        } else {
            running.forEach(p -> step(c, ref, p));
        }
    }

    private void step(Command.CancelJobs c, Command.JobRef ref, StepPart part) {
        Job job = part.job();
        Step step = part.step();
        if (!Access.mayChange(state, c.uid(), job)) {
            error(ref, SlurmErrno.ACCESS_DENIED);
        } else if (step.state() == Step.State.ENDED || !job.state().isActive() || isOverLimit(job)) {
            // srun that is told to end with its job asks for this: its tasks have KillWait after SIGTERM all the same
            error(ref, SlurmErrno.ALREADY_DONE);
        } else {
            done.add(ref.text());
            stop(job, step, c);
        }
    }

    /** Ends or signals a step: a queued step at once, any other by its nodes. */
    private void stop(Job job, Step step, Command.CancelJobs c) {
        boolean failure = c.signal() == Cancel.TASK_FAILURE;
        boolean ends = failure || c.signal() == 0 || c.signal() == SIGKILL;
        if (step.isQueued()) {
            if (ends || c.signal() == SIGTERM) {
                changes.add(new Change.StepEnding(job.id(), step.id(), Step.CANCELLED_BY + c.uid(), true));
                changes.add(new Change.StepEnded(job.id(), step.id(), now.seconds()));
            }
        } else if (ends) {
            String reason;
            if (failure) {
                reason = TASK_FAILURE;
            } else if (step.isInterrupted()) {
                reason = step.ending();
            } else {
                reason = Step.CANCELLED_BY + c.uid();
            }
            changes.add(new Change.StepEnding(job.id(), step.id(), reason, c.signal() == SIGKILL));
        } else if (c.signal() == Cancel.INTERRUPT) {
            changes.add(new Change.StepEnding(job.id(), step.id(), Step.INTERRUPTED_BY + c.uid(), false));
        } else {
            toParts(job, step, c.signal());
        }
    }

    /**
     * Tests whether the job has reached its limit. Its nodes end it by their own clocks, which may be
     * {@link #CLOCKS_MS} before slurmctld does.
     */
    private boolean isOverLimit(Job job) {
        int graceMin = PartitionLimits.overTimeMin(state, job);
        return job.run().limitTickMs() >= 0
                && graceMin >= 0
                && now.tickMs() >= job.run().limitTickMs() + graceMin * 60_000L - CLOCKS_MS;
    }

    private void toParts(Job job, Step step, int signal) {
        for (Step.Part part : step.nodes()) {
            if (!part.done()) {
                direct.add(new Decision.Direct(
                        part.node(),
                        new NodeMessages.Signal(job.id(), job.attempt(), step.id(), signal, false, false)));
            }
        }
    }

    private Optional<SlurmErrno> end(Job job, Command.CancelJobs c) {
        int uid = c.uid();
        if (job.state().isTerminal()) {
            Optional<Change> hurried = c.hurry() ? BufferRules.hurry(state, job, now) : Optional.empty();
            hurried.ifPresent(changes::add);
            return hurried.isPresent() || job.has(JobFlag.STAGE_OUT)
                    ? Optional.empty()
                    : Optional.of(SlurmErrno.ALREADY_DONE);
        }
        if (job.state() == JobState.PENDING) {
            if (job.has(JobFlag.COMPLETING)) {
                return Optional.of(SlurmErrno.TRANSITION_STATE_NO_UPDATE);
            }
            comment(job, c.adminComment());
            changes.add(new Change.PendingJobEnded(job.id(), JobState.CANCELLED, job.reason(), by(uid), now.seconds()));
        } else {
            comment(job, c.adminComment());
            changes.add(new Change.JobEnded(
                    job.id(),
                    JobState.CANCELLED,
                    JobReason.NONE,
                    by(uid),
                    job.run().exit(),
                    now.seconds()));
            if (c.hurry()) {
                state.buffers()
                        .byJob()
                        .find(job.id())
                        .ifPresent(b -> changes.add(new Change.BufferChanged(b.tornDown(true, now.seconds()))));
            }
        }
        return Optional.empty();
    }

    private void comment(Job job, String words) {
        if (!words.isEmpty()) {
            changes.add(new Change.DescriptionChanged(
                    job.id(), job.desc().withExtras(job.desc().extras().withAdminComment(words))));
        }
    }

    /** Returns the text kept with a cancelled job: sacct prints {@code CANCELLED by UID}. */
    static String by(int uid) {
        return "by " + uid;
    }

    private Optional<SlurmErrno> signal(Job job, Command.CancelJobs c) {
        if (c.signal() == Cancel.TASK_FAILURE || c.signal() == Cancel.INTERRUPT) {
            return Optional.of(SlurmErrno.NOT_SUPPORTED);
        }
        if (job.state() == JobState.PENDING) {
            return Optional.of(c.parts() ? SlurmErrno.TRANSITION_STATE_NO_UPDATE : SlurmErrno.JOB_PENDING);
        }
        if (!job.state().isActive()) {
            return Optional.of(SlurmErrno.ALREADY_DONE);
        }
        if (c.signal() == SIGSTOP || c.signal() == SIGCONT) {
            changes.add(new Change.JobStopped(job.id(), c.signal() == SIGSTOP));
        }
        int signal = c.signal() == 0 ? SIGKILL : c.signal();
        // a heterogeneous job has one script, whichever of its components is named
        Job scripts = c.batchOnly() && job.isHet()
                ? state.jobs().find(job.het().jobId()).orElse(job)
                : job;
        for (Step step : scripts.run().steps()) {
            if (step.state() != Step.State.RUNNING || !isSignalled(step, c)) {
                continue;
            }
            if (step.isBatch()) {
                direct.add(new Decision.Direct(
                        step.nodes().getFirst().node(),
                        new NodeMessages.Signal(
                                scripts.id(), scripts.attempt(), Step.BATCH, signal, c.batchOnly(), c.full())));
            } else {
                toParts(job, step, signal);
            }
        }
        return Optional.empty();
    }

    /**
     * Tests whether the step gets the signal: the batch script does with {@code --batch} or {@code --full}, srun's
     * steps do without --batch.
     */
    private static boolean isSignalled(Step step, Command.CancelJobs c) {
        return step.isBatch() ? c.batchOnly() || c.full() : step.isAsked() && !c.batchOnly();
    }

    // ---- hold, requeue, suspend

    public Decision hold(Command.HoldJobs c) {
        return each(
                c.uid(),
                c.jobs(),
                new ReferencePolicy(true, true, true, SlurmErrno.USER_ID_MISSING),
                (job, component) -> {
                    if (job.state().isTerminal()) {
                        return Optional.of(SlurmErrno.JOB_FINISHED);
                    }
                    // one that runs goes on, and waits held should it come back to the queue
                    if (c.hold()) {
                        JobReason reason = c.asUser()
                                        || !Access.isOperator(state, c.uid())
                                                && c.uid() == job.desc().owner().uid()
                                ? JobReason.JOB_HELD_USER
                                : JobReason.JOB_HELD_ADMIN;
                        changes.add(new Change.PriorityChanged(job.id(), 0, c.uid(), reason, ""));
                        changes.addAll(Eligibility.held(state, job));
                        return Optional.empty();
                    }
                    if (job.reason() == JobReason.JOB_HELD_ADMIN && !Access.isOperator(state, c.uid())) {
                        return Optional.of(SlurmErrno.ACCESS_DENIED);
                    }
                    release(job);
                    return Optional.empty();
                });
    }

    private void release(Job job) {
        boolean set = job.desc().timing().prioritySet();
        if (!job.isHeld() && !(set && job.isPending())) {
            return;
        }
        if (set) {
            changes.add(new Change.DescriptionChanged(job.id(), UpdateRules.withComputedPriority(job.desc())));
        }
        JobReason reason;
        if (!Dependency.fulfilled(job.dependencies())) {
            reason = JobReason.DEPENDENCY;
        } else if (job.desc().timing().beginTime() > now.seconds()) {
            reason = JobReason.BEGIN_TIME;
        } else {
            reason = JobReason.NONE;
        }

        long priority = Math.max(
                1, SubmitRules.PRIORITY_TOP - job.sluid() - job.desc().timing().nice());
        changes.add(new Change.PriorityChanged(job.id(), priority, -1, reason, ""));
        changes.addAll(Eligibility.released(state, job, now));
        BufferRules.again(state, job, now).ifPresent(changes::add);
    }

    public Decision requeue(Command.RequeueJobs c) {
        ReferencePolicy treatment = new ReferencePolicy(false, true, true, SlurmErrno.ACCESS_DENIED);
        return each(c.uid(), c.jobs(), treatment, (job, component) -> {
            if (component) {
                return Optional.of(SlurmErrno.NOT_HET_JOB_LEADER);
            }
            if (c.incomplete() && !job.state().isActive()) {
                return Optional.empty();
            }
            if (job.isHet() && !job.isHetLeader()) {
                // the components go where the leader goes
                return Optional.empty();
            }
            if (state.members(job).stream().anyMatch(j -> j.has(JobFlag.COMPLETING))) {
                return Optional.of(SlurmErrno.TRANSITION_STATE_NO_UPDATE);
            }
            Optional<JobDesc> nextRun = CronRules.next(state, job, now);
            if (nextRun.isPresent()
                    && (job.state() == JobState.PENDING || job.state().isActive())) {
                skipRun(job, nextRun.get(), c);
                return Optional.empty();
            }
            return requeue(job, c);
        });
    }

    /** Lets a job of scrontab skip the time that it waits for, or ends its run; it waits for the next time. */
    private void skipRun(Job job, JobDesc nextRun, Command.RequeueJobs c) {
        changes.add(new Change.DescriptionChanged(job.id(), nextRun));
        changes.add(
                job.state() == JobState.PENDING
                        ? new Change.JobEligible(job.id(), 0)
                        : requeued(job, c.hold(), JobReason.NONE, c.special()));
    }

    private Optional<SlurmErrno> requeue(Job job, Command.RequeueJobs c) {
        boolean batch = job.desc().kind() == JobDesc.Kind.BATCH;
        if (batch && !job.mayRequeue(state.settings())) {
            return Optional.of(SlurmErrno.DISABLED);
        }
        if (!batch || !job.state().isActive() && !job.state().isTerminal()) {
            return Optional.of(job.state() == JobState.PENDING ? SlurmErrno.JOB_PENDING : SlurmErrno.BATCH_ONLY);
        }
        if (c.hold() || c.special()) {
            JobReason reason = c.hold() ? JobReason.JOB_REQUEUED_IN_HELD : JobReason.JOB_REQUEUED_IN_SPECIAL_EXIT;
            changes.add(RequeueExit.delayed(state, job, now));
            changes.add(requeued(job, true, reason, c.special()));
        } else {
            changes.addAll(RequeueExit.later(state, job, now));
        }
        return Optional.empty();
    }

    private Change requeued(Job job, boolean hold, JobReason reason, boolean special) {
        long priority = Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid());
        return new Change.JobRequeued(job.id(), hold, reason, "", priority, now.seconds(), special);
    }

    public Decision suspend(Command.SuspendJobs c) {
        return each(
                c.uid(),
                c.jobs(),
                new ReferencePolicy(false, false, true, SlurmErrno.ACCESS_DENIED),
                (job, component) -> {
                    if (component) {
                        return Optional.of(SlurmErrno.NOT_WHOLE_HET_JOB);
                    }
                    if (job.state() == JobState.PENDING) {
                        return Optional.of(SlurmErrno.JOB_PENDING);
                    }
                    if (job.state().isTerminal()) {
                        return Optional.of(SlurmErrno.ALREADY_DONE);
                    }
                    if (c.suspend() && job.state() == JobState.SUSPENDED) {
                        return Optional.empty();
                    }
                    if (!c.suspend() && job.state() != JobState.SUSPENDED) {
                        return Optional.of(SlurmErrno.JOB_NOT_SUSPENDED);
                    }
                    if (c.suspend()) {
                        changes.add(new Change.JobSuspended(job.id(), now.seconds()));
                    } else {
                        Job.Run run = job.run();
                        long left = run.limitMin() < 0 ? -1 : run.limitMin() * 60_000L - run.preSuspendMs();
                        changes.add(
                                new Change.JobResumed(job.id(), now.seconds(), left < 0 ? -1 : now.tickMs() + left));
                    }
                    return Optional.empty();
                });
    }

    /** Ends an interactive allocation whose client is done. */
    public Decision complete(Command.CompleteAllocation c) {
        Optional<Job> found = state.jobs().find(c.jobId());
        if (found.isEmpty()) {
            return Decision.unknownJob();
        }
        Job job = found.get();
        if (!Access.mayChange(state, c.uid(), job)) {
            return Decision.reject(SlurmErrno.ACCESS_DENIED);
        }
        if (job.state().isTerminal()) {
            return Decision.reject(SlurmErrno.ALREADY_DONE);
        }
        if (job.state() == JobState.PENDING) {
            return Decision.of(
                    List.of(new Change.PendingJobEnded(
                            job.id(), JobState.CANCELLED, job.reason(), by(c.uid()), now.seconds())),
                    "");
        }
        return Decision.of(List.of(over(job, c.exit(), "", now)), "");
    }

    /** Ends an allocation whose command is silent, whatever runs in it; where only root submits, root sees to it. */
    public Decision inactive(Command.EndInactive c) {
        return state.jobs()
                .find(c.jobId())
                .filter(j -> j.attempt() == c.attempt() && mayBeInactive(state, j))
                .map(j -> Decision.of(
                        List.of(new Change.JobEnded(
                                j.id(),
                                JobState.TIMEOUT,
                                JobReason.INACTIVE_LIMIT,
                                "",
                                j.run().exit(),
                                now.seconds())),
                        ""))
                .orElseGet(() -> Decision.of(List.of(), ""));
    }

    /** Ends an allocation whose command is gone, as if the command had failed. */
    public Decision unclaimed(Command.EndUnclaimed c) {
        return state.jobs()
                .find(c.jobId())
                .filter(j -> j.attempt() == c.attempt() && j.state() == JobState.RUNNING)
                .map(j -> Decision.of(List.of(over(j, ExitStatus.exited(1), "", now)), ""))
                .orElseGet(() -> Decision.of(List.of(), ""));
    }

    static boolean mayBeInactive(State state, Job job) {
        return job.state() == JobState.RUNNING
                && job.desc().kind() != JobDesc.Kind.BATCH
                && !job.desc().extras().noShell()
                && state.partitions()
                        .find(job.desc().partition())
                        .filter(p -> p.info().rootOnly())
                        .isEmpty();
    }

    /** Returns the record for a job whose own work has ended with this status. */
    static Change.JobEnded over(Job job, ExitStatus exit, String why, DecisionTime now) {
        Optional<String> interruptedBy = job.desc().kind() != JobDesc.Kind.RUN
                ? Optional.empty()
                : job.run().steps().stream()
                        .filter(Step::isInterrupted)
                        .findFirst()
                        .flatMap(Step::endedBy);
        JobState end = switch (why) {
            case "TimeLimit" -> JobState.TIMEOUT;
            case "OutOfMemory" -> JobState.OUT_OF_MEMORY;
            case "NodeFail" -> JobState.NODE_FAIL;
            // srun may say how its task ended before the node does
            default -> {
                if (interruptedBy.isPresent()) {
                    yield JobState.CANCELLED;
                }
                if (exit.isOutOfMemory()) {
                    yield JobState.OUT_OF_MEMORY;
                }
                if (exit.isSuccess()) {
                    yield JobState.COMPLETED;
                }
                yield JobState.FAILED;
            }
        };
        JobReason reason = switch (end) {
            case TIMEOUT -> JobReason.TIME_LIMIT;
            case OUT_OF_MEMORY -> JobReason.OUT_OF_MEMORY;
            case NODE_FAIL -> JobReason.NODE_DOWN;
            case FAILED -> {
                if (why.equals("StepdKilled")) {
                    yield JobReason.STEPD_KILLED;
                }
                if (exit.signal() != 0) {
                    yield JobReason.RAISED_SIGNAL;
                }
                yield JobReason.NON_ZERO_EXIT_CODE;
            }
            case PENDING, RUNNING, SUSPENDED, COMPLETED, CANCELLED, PREEMPTED, BOOT_FAIL, DEADLINE -> JobReason.NONE;
        };
        // srun also cancels the job of an interrupted step, unless the job has ended before
        return end == JobState.CANCELLED
                ? new Change.JobEnded(
                        job.id(),
                        end,
                        reason,
                        "by " + interruptedBy.orElseThrow(),
                        job.run().exit(),
                        now.seconds())
                : new Change.JobEnded(job.id(), end, reason, "", exit, now.seconds());
    }
}
