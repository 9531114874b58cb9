package dev.muster.core.job;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.DefaultTimeLimit;
import dev.muster.core.limits.McsLabel;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.Priorities;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.reservation.ReservationRules;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.tres.Keyword;
import dev.muster.core.tres.Licenses;
import dev.muster.json.RecordEditor;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.format.Durations;
import dev.muster.model.format.MemorySize;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.NodeCounts;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** scontrol update job: keys lower case, values as typed. */
public final class UpdateRules {
    private final State state;
    private final DecisionTime now;
    private final Planner planner;
    private final List<Change> changes = new ArrayList<>();

    public UpdateRules(State state, DecisionTime now, Planner planner) {
        this.state = state;
        this.now = now;
        this.planner = planner;
    }

    public Decision update(Command.UpdateJob c) {
        Optional<Job> found = state.job(c.job().jobId(), c.job().task());
        if (found.isEmpty()) {
            return Decision.unknownJob();
        }
        if (c.job().step() != Command.JobRef.NO_STEP || c.changes().containsKey(STEPS)) {
            return updateSteps(c, found.get());
        }
        if (c.changes().containsKey("burstbuffer")
                && state.settings().options().buffers().kind().isEmpty()) {
            return Decision.reject(SlurmErrno.NOT_SUPPORTED);
        }
        if (c.changes().containsKey("burstbuffer")) {
            return new Decision.Rejected(
                    SlurmErrno.NOT_SUPPORTED, "A job keeps the burst buffer that it was submitted with");
        }
        boolean ofArray =
                c.job().task() < 0 && found.get().array().jobId() == found.get().id();
        List<Job> jobs = meant(c.job().task(), found.get());
        TaskOutcomes outcomes = new TaskOutcomes(found.get().id());
        for (Job job : jobs) {
            List<Change> before = List.copyOf(changes);
            Optional<Decision.Rejected> refused =
                    Access.mayChange(state, c.uid(), job) ? update(c, job) : refuse(SlurmErrno.USER_ID_MISSING);
            // a key that is not supported is refused for all tasks alike
            if (refused.isPresent() && (!ofArray || refused.get().errno() == SlurmErrno.NOT_SUPPORTED)) {
                return refused.get();
            }
            if (refused.isPresent()) {
                // the other tasks do not depend on it
                changes.clear();
                changes.addAll(before);
            }
            outcomes.put(TaskOutcomes.of(job), refused);
        }
        changes.addAll(0, splits);
        return Decision.of(changes, new CancelReply(List.of(), ofArray ? outcomes.told() : List.of()));
    }

    /** Changes that split a task off its array's record; they come before all other changes. */
    private final List<Change> splits = new ArrayList<>();

    /**
     * Returns the jobs that an update means: the job; of a heterogeneous one all components, of an array all tasks, of
     * a task that waits with others that alone.
     *
     * @param task -1 where none is named
     */
    private List<Job> meant(int task, Job found) {
        if (task >= 0 && found.isArrayRecord()) {
            IdAllocator ids = new IdAllocator(state);
            int id = ids.forTask(found);
            long sluid = id == found.id() ? found.sluid() : ids.sluid();
            splits.addAll(ids.reservations());
            splits.add(new Change.ArrayTaskSplit(found.id(), task, id, sluid));
            return List.of(found.splitOff(id, sluid, task));
        }
        if (found.isHetLeader() && !found.state().isTerminal()) {
            return state.members(found).stream()
                    .filter(j -> !j.state().isTerminal())
                    .toList();
        }
        if (task < 0 && found.array().jobId() == found.id()) {
            List<Job> all = new ArrayList<>(state.tasksOf(found.id()));
            all.removeIf(t -> t.id() == found.id());
            all.addFirst(found);
            return all;
        }
        return List.of(found);
    }

    /** The key that makes the update one of the job's steps, not of the job. */
    private static final String STEPS = "stepid";

    /** Updates a step, or all running steps of a job; only the time limit can change. */
    private Decision updateSteps(Command.UpdateJob c, Job job) {
        if (!Access.mayChange(state, c.uid(), job)) {
            return Decision.reject(SlurmErrno.USER_ID_MISSING);
        }
        boolean all = c.job().step() == Command.JobRef.NO_STEP;
        List<Step> meant = job.run().steps().stream()
                .filter(s -> s.state() == Step.State.RUNNING
                        && s.id() >= 0
                        && (all || StepId.means(c.job().step(), s.id())))
                .toList();
        if (meant.isEmpty()) {
            return Decision.reject(
                    all && !job.state().isTerminal() ? SlurmErrno.INVALID_JOB_STATE : SlurmErrno.INVALID_JOB_ID);
        }
        for (Map.Entry<String, String> change :
                Keyword.whole(c.changes(), List.of("timelimit", STEPS)).entrySet()) {
            switch (change.getKey()) {
                case STEPS -> {}
                case "timelimit" -> {
                    OptionalLong minutes = Durations.parseMinutes(change.getValue());
                    if (minutes.isEmpty() || minutes.getAsLong() == 0 || minutes.getAsLong() > Integer.MAX_VALUE) {
                        return Decision.reject(SlurmErrno.INVALID_TIME_LIMIT);
                    }
                    meant.forEach(s -> changes.add(
                            new Change.StepLimitChanged(job.id(), s.id(), (int) Math.max(0, minutes.getAsLong()))));
                }
                default -> {
                    return new Decision.Rejected(
                            SlurmErrno.NOT_SUPPORTED,
                            "Updating " + change.getKey() + " of a step is not supported by this version of Muster");
                }
            }
        }
        return Decision.of(changes, new CancelReply(List.of(), List.of()));
    }

    private Optional<Decision.Rejected> update(Command.UpdateJob c, Job job) {
        if (job.state().isTerminal()) {
            return refuse(SlurmErrno.JOB_FINISHED);
        }
        RecordEditor<JobDesc> desc = RecordEditor.of(job.desc());
        for (Map.Entry<String, String> change : JobUpdateKeys.whole(c.changes()).entrySet()) {
            Optional<Decision.Rejected> refused = one(job, desc, change.getKey(), change.getValue(), c.uid());
            if (refused.isPresent()) {
                return refused;
            }
        }
        JobDesc bound = desc.record();
        JobDesc after = bound.withRequest(bound.request()
                .withLicenses(Licenses.resolved(state, bound.request().licenses())));
        Set<String> changed = JobUpdateKeys.whole(c.changes()).keySet();
        if (changed.contains("qos") && !changed.contains("timelimit")) {
            after = new DefaultTimeLimit(state, new AccountRules(state)).ofQos(after);
        }
        if (changed.contains(UpdateFields.MCS_LABEL)) {
            Optional<JobDesc> labelled = McsLabel.of(state.settings()).relabelled(job.desc(), after);
            if (labelled.isEmpty()) {
                return refuse(SlurmErrno.INVALID_MCS_LABEL);
            }
            after = labelled.get();
        }
        if (!after.equals(job.desc())) {
            Optional<Decision.Rejected> impossible =
                    job.isPending() ? planner.infeasible(state, after) : Optional.empty();
            if (impossible.isPresent()) {
                return impossible;
            }
            Optional<Decision.Rejected> unfit = newTerms(job, after, c.uid());
            if (unfit.isPresent()) {
                return unfit;
            }
            changes.addFirst(new Change.DescriptionChanged(job.id(), charged(job.desc(), after, c.uid())));
        }
        return Optional.empty();
    }

    private static final List<String> MAIL_TYPES = List.of(
            "NONE",
            "ARRAY_TASKS",
            "INVALID_DEPEND",
            "BEGIN",
            "END",
            "FAIL",
            "REQUEUE",
            "STAGE_OUT",
            "TIME_LIMIT_50",
            "TIME_LIMIT_80",
            "TIME_LIMIT_90",
            "TIME_LIMIT");

    private Optional<Decision.Rejected> one(Job job, RecordEditor<JobDesc> desc, String key, String value, int uid) {
        // an administrator's comment is no operator's
        boolean admin = key.equals("admincomment") ? Access.isAdmin(state, uid) : Access.isOperator(state, uid);
        boolean spec = key.equals("corespec") || key.equals("threadspec");
        if (spec && !state.settings().options().requests().specUsage()) {
            return refuse(SlurmErrno.ACCESS_DENIED);
        }
        if (UpdateFields.has(key)) {
            return UpdateFields.set(job, desc, key, value, admin);
        }
        return switch (key) {
            case "timelimit" -> timeLimit(job, desc, value, admin);
            case "priority" -> priority(job, desc, value, admin, uid);
            case "sitefactor" -> siteFactor(desc, value, admin);
            case "nice" -> nice(job, desc, value, admin);
            case "partition" -> partition(job, desc, value);
            case "mailtype" -> mailType(desc, value);
            case "endtime" -> endTime(job, desc, value, admin);
            case "numcpus" -> cpus(job, desc, value);
            case "starttime", "eligibletime" -> startTime(job, desc, value);
            case "dependency" -> dependency(job, desc, value);
            case "arraytaskthrottle" -> throttle(job, value);
            case "requeue" -> requeue(desc, value);
            case "numnodes", "reqnodes" ->
                job.state().isActive() ? shrink(job, desc, value, false) : nodes(job, desc, value);
            case "nodelist" ->
                job.state().isActive() ? shrink(job, desc, value, true) : text(desc, "request.nodeList", value);
            case "minmemorynode", "minmemorycpu" -> memory(job, desc, key, value, changes);
            case "licenses" -> licenses(job, desc, value, admin);
            case "resetaccruetime" -> accrueAnew(job, value);
            case "wait-for-switch" -> switchWait(job, desc, value);
            // of jobs of a federation, which this one is not
            case "clusters", "clusterfeatures" -> refuse(SlurmErrno.ERROR);
            case "hold" -> refuse(SlurmErrno.NOT_SUPPORTED);
            default ->
                Optional.of(new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED,
                        "Updating " + key + " of a job is not supported by this version of Muster"));
        };
    }

    private Optional<Decision.Rejected> shrink(Job job, RecordEditor<JobDesc> desc, String value, boolean named) {
        if (!state.settings().options().requests().shrinks()) {
            return refuse(SlurmErrno.NOT_SUPPORTED);
        }
        return named
                ? JobShrinkRules.toList(job, value, desc, now.seconds(), changes)
                : JobShrinkRules.toCount(job, value, desc, now.seconds(), changes);
    }

    /** Applies the rules of submission to a changed account, partition, reservation or time. */
    private Optional<Decision.Rejected> newTerms(Job job, JobDesc after, int uid) {
        JobDesc before = job.desc();
        Optional<SlurmErrno> wrongTime = wrongTime(before.timing(), after.timing());
        if (wrongTime.isPresent()) {
            return refuse(wrongTime.get());
        }
        if (!after.partition().equals(before.partition())) {
            for (String name : after.partitionList()) {
                if (!PartitionLimits.mayEnter(after, state.partitions().at(name))) {
                    return refuse(SlurmErrno.ACCESS_DENIED);
                }
            }
        }
        if (after.request().tasks() != before.request().tasks()
                && state.partitions()
                        .find(after.firstPartition())
                        .filter(p -> PartitionLimits.hasTooFewTasks(after, p, state))
                        .isPresent()) {
            return refuse(SlurmErrno.BAD_TASK_COUNT);
        }
        if (!after.charge().reservation().equals(before.charge().reservation())) {
            Optional<SlurmErrno> outside = new ReservationRules(state, now, planner).refusal(after);
            if (outside.isPresent()) {
                return refuse(outside.get());
            }
        }
        if (!after.charge().account().equalsIgnoreCase(before.charge().account())
                && uid != before.owner().uid()
                && !Access.isOperator(state, uid)
                && !Access.isCoordinator(state, uid, after.charge().account())) {
            return refuse(SlurmErrno.USER_ID_MISSING);
        }
        return !isCharged(before, after)
                        && new AccountRules(state).charge(after, anyQos(before, after, uid))
                                instanceof AccountRules.NotCharged u
                ? refuse(u.errno())
                : Optional.empty();
    }

    private Optional<SlurmErrno> wrongTime(JobDesc.Timing before, JobDesc.Timing after) {
        if (after.timeMinMin() > 0 && after.timeLimitMin() > 0 && after.timeMinMin() > after.timeLimitMin()) {
            return Optional.of(SlurmErrno.INVALID_TIME_MIN);
        }
        if (after.deadline() != before.deadline() && after.deadline() > 0 && after.deadline() <= now.seconds()) {
            return Optional.of(SlurmErrno.INVALID_TIME_VALUE);
        }
        return Optional.empty();
    }

    /** Tests whether the change leaves account, QOS and partition as they are. */
    private static boolean isCharged(JobDesc before, JobDesc after) {
        return before.charge().equals(after.charge()) && before.partition().equals(after.partition());
    }

    private JobDesc charged(JobDesc before, JobDesc desc, int uid) {
        return new AccountRules(state).charge(desc, anyQos(before, desc, uid)) instanceof AccountRules.ChargedJob f
                ? f.desc()
                : desc;
    }

    /**
     * Tests whether the job may have any QOS: operators give a job one that its association lacks, and the job keeps it
     * whatever else of it changes.
     */
    private boolean anyQos(JobDesc before, JobDesc after, int uid) {
        return Access.isOperator(state, uid)
                || after.charge().qos().equals(before.charge().qos())
                        && after.charge().account().equals(before.charge().account());
    }

    private static Optional<Decision.Rejected> text(RecordEditor<JobDesc> desc, String path, String value) {
        desc.set(path, value);
        return Optional.empty();
    }

    /** Returns the description with a begin time, in seconds since 1970. */
    static JobDesc beginningAt(JobDesc desc, long seconds) {
        return desc.withTiming(desc.timing().withBeginTime(seconds));
    }

    /** Returns the description with a computed priority in place of a set one. */
    static JobDesc withComputedPriority(JobDesc desc) {
        return desc.withTiming(desc.timing().withComputedPriority());
    }

    private static Optional<Decision.Rejected> mailType(RecordEditor<JobDesc> desc, String value) {
        List<String> words = new ArrayList<>();
        for (String word : value.toUpperCase(java.util.Locale.ROOT).split(",")) {
            if (word.equals("ALL")) {
                words.addAll(List.of("INVALID_DEPEND", "BEGIN", "END", "FAIL", "REQUEUE", "STAGE_OUT"));
            } else if (MAIL_TYPES.contains(word)) {
                words.add(word);
            }
        }
        if (words.isEmpty()) {
            return Optional.of(new Decision.Rejected(SlurmErrno.ERROR, "Invalid MailType: " + value));
        }
        desc.set(
                "extras.mailType",
                words.contains("NONE")
                        ? ""
                        : String.join(
                                ",", MAIL_TYPES.stream().filter(words::contains).toList()));
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> refuse(SlurmErrno errno) {
        return Optional.of(Decision.reject(errno));
    }

    /** {@code +5} and {@code -5} change it by five minutes. Only an administrator may lengthen a running job. */
    private Optional<Decision.Rejected> timeLimit(Job job, RecordEditor<JobDesc> desc, String value, boolean admin) {
        boolean longer = value.startsWith("+");
        boolean shorter = value.startsWith("-") && value.length() > 1 && Character.isDigit(value.charAt(1));
        OptionalLong parsed = Durations.parseMinutes(longer || shorter ? value.substring(1) : value);
        if (parsed.isEmpty()) {
            return refuse(SlurmErrno.INVALID_TIME_LIMIT);
        }
        long minutes = parsed.getAsLong();
        int current =
                job.state() == JobState.PENDING ? plannedMin(job) : job.run().limitMin();
        int limit = (int) minutes;
        if (longer || shorter) {
            limit = (int) (longer ? current + minutes : current - minutes);
            Optional<Decision.Rejected> impossible = impossibleStep(current, limit, minutes, longer);
            if (impossible.isPresent()) {
                return impossible;
            }
        }
        if (job.state().isActive()) {
            if (!admin && isExtended(current, limit)) {
                return refuse(SlurmErrno.ACCESS_DENIED);
            }
            changes.add(new Change.LimitChanged(job.id(), limit, limit < 0 ? -1 : endTick(job, limit), false));
        }
        desc.set("timing.timeLimitMin", (long) limit);
        return Optional.empty();
    }

    private static boolean isExtended(int beforeMin, int afterMin) {
        return beforeMin >= 0 && (afterMin < 0 || afterMin > beforeMin);
    }

    /** Refuses a change by an amount that is impossible: of an unlimited time any, of a limited one to nothing. */
    private static Optional<Decision.Rejected> impossibleStep(int current, int limit, long minutes, boolean longer) {
        if (current < 0) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.INVALID_TIME_LIMIT, "Cannot increment/decrement TimeLimit when set to UNLIMITED."));
        }
        if (limit > 0) {
            return Optional.empty();
        }
        if (longer) {
            return refuse(SlurmErrno.INVALID_TIME_LIMIT);
        }
        return Optional.of(new Decision.Rejected(
                SlurmErrno.TIME_LIMIT_DECREMENT,
                SlurmErrno.TIME_LIMIT_DECREMENT.sentence() + " (" + minutes + " > " + current + ")"));
    }

    /** Returns the tick at which a running or suspended job reaches the limit; time spent suspended does not count. */
    private long endTick(Job job, int limitMin) {
        long ranMs = job.run().preSuspendMs();
        if (job.state() == JobState.RUNNING) {
            ranMs += now.tickMs() - job.run().sinceTickMs();
        }
        return now.tickMs() + limitMin * 60_000L - ranMs;
    }

    private int plannedMin(Job job) {
        Optional<Partition> first = state.partitions().find(job.desc().firstPartition());
        return first.map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                .orElse(job.desc().timing().timeLimitMin());
    }

    /** Sets the time at which a running job is to end: a time limit by another name, exact to the second. */
    private Optional<Decision.Rejected> endTime(Job job, RecordEditor<JobDesc> desc, String value, boolean admin) {
        if (!job.state().isActive()) {
            return refuse(SlurmErrno.JOB_NOT_RUNNING);
        }
        long left = value.matches("[0-9]{1,12}") ? Long.parseLong(value) - now.seconds() : 0;
        if (left <= 0 || left > Integer.MAX_VALUE) {
            return refuse(SlurmErrno.INVALID_TIME_VALUE);
        }
        if (!admin
                && job.run().limitTickMs() >= 0
                && now.tickMs() + left * 1000 > job.run().limitTickMs()) {
            return refuse(SlurmErrno.ACCESS_DENIED);
        }
        int minutes = (int) ((now.seconds() + left - job.run().startTime() + 59) / 60);
        changes.add(new Change.LimitChanged(job.id(), minutes, now.tickMs() + left * 1000, false));
        desc.set("timing.timeLimitMin", (long) minutes);
        return Optional.empty();
    }

    /** Sets the CPUs per task so that the job's tasks have the given number of CPUs together. */
    private static Optional<Decision.Rejected> cpus(Job job, RecordEditor<JobDesc> desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        int dash = value.indexOf('-');
        OptionalLong minCpus = UpdateFields.number(dash < 0 ? value : value.substring(0, dash));
        OptionalLong maxCpus = dash < 0 ? minCpus : UpdateFields.number(value.substring(dash + 1));
        int tasks = Math.max(1, job.desc().request().tasks());
        if (minCpus.isEmpty()
                || maxCpus.isEmpty()
                || minCpus.getAsLong() < 1
                || maxCpus.getAsLong() < minCpus.getAsLong()) {
            return refuse(SlurmErrno.INVALID_CPU_COUNT);
        }
        if (minCpus.getAsLong() % tasks != 0) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.INVALID_CPU_COUNT,
                    "NumCPUs must be a multiple of the job's " + tasks
                            + " tasks; set NumTasks and CPUsPerTask instead"));
        }
        desc.set("request.cpusPerTask", minCpus.getAsLong() / tasks);
        return Optional.empty();
    }

    /** Slurm keeps the two numbers above it for NO_VAL and INFINITE. */
    private static final long PRIORITY_MAX = 4_294_967_293L;

    /** Returns the number, -1 for INFINITE; empty if it is neither. */
    private static OptionalLong parsePriority(String value) {
        if (value.equalsIgnoreCase("INFINITE")) {
            return OptionalLong.of(-1);
        }
        OptionalLong n = UpdateFields.number(value);
        if (n.isEmpty() && value.length() <= 10 && value.chars().allMatch(Character::isDigit) && !value.isEmpty()) {
            n = OptionalLong.of(Long.parseLong(value));
        }
        return n.isPresent() && n.getAsLong() <= PRIORITY_MAX ? n : OptionalLong.empty();
    }

    private Optional<Decision.Rejected> priority(
            Job job, RecordEditor<JobDesc> desc, String value, boolean admin, int uid) {
        OptionalLong parsed = parsePriority(value);
        if (parsed.isEmpty()) {
            return refuse(SlurmErrno.ERROR);
        }
        long n = parsed.getAsLong();
        if (n == 0) {
            changes.add(new Change.PriorityChanged(
                    job.id(),
                    0,
                    uid,
                    uid == job.desc().owner().uid() && !admin ? JobReason.JOB_HELD_USER : JobReason.JOB_HELD_ADMIN,
                    ""));
            changes.addAll(Eligibility.held(state, job));
            return Optional.empty();
        }
        if (n > 0 && !admin) {
            boolean more = n > new Priorities(state, now.seconds()).of(job);
            if (more || Priorities.isActive(state.settings())) {
                return refuse(more ? SlurmErrno.ACCESS_DENIED : SlurmErrno.PRIORITY_NOT_PERSISTENT);
            }
        }
        if (n > 0 && job.isHeld()) {
            return refuse(SlurmErrno.JOB_HELD);
        }
        // a priority set by hand has no nice value; INFINITE lets the priority be computed again
        desc.set("timing.nice", 0L);
        desc.set("timing.prioritySet", n > 0);
        desc.set("timing.priority", Math.max(0, n));
        long p = n < 0 ? Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid()) : n;
        changes.add(new Change.PriorityChanged(job.id(), p, -1, job.isHeld() ? JobReason.NONE : job.reason(), ""));
        if (job.isHeld()) {
            changes.addAll(Eligibility.released(state, job, now));
        }
        return Optional.empty();
    }

    /** Changes the licenses of a running job: an administrator may, as far as the cluster has enough left. */
    private Optional<Decision.Rejected> licenses(Job job, RecordEditor<JobDesc> desc, String value, boolean admin) {
        desc.set("request.licenses", value);
        if (job.isPending()) {
            return Optional.empty();
        }
        if (!admin) {
            return refuse(SlurmErrno.ACCESS_DENIED);
        }
        if (job.state() != JobState.RUNNING && job.state() != JobState.SUSPENDED) {
            return refuse(SlurmErrno.JOB_NOT_PENDING_NOR_RUNNING);
        }
        Optional<LicenseRequest.Wanted> wanted = LicenseRequest.parse(Licenses.resolved(state, value));
        boolean right = wanted.isPresent()
                && !Licenses.hasEqualsSign(value)
                && !wanted.get().any();
        return right && Licenses.leaves(state, job, wanted.get().items())
                ? Optional.empty()
                : refuse(SlurmErrno.INVALID_LICENSES);
    }

    /** Restarts the job's age as if it had just become eligible. */
    private Optional<Decision.Rejected> accrueAnew(Job job, String value) {
        if (!value.isEmpty()) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.NOT_SUPPORTED,
                    "Updating resetaccruetime of a job is not supported by this version of Muster"));
        }
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        if (job.eligibleTime() > 0 && job.accrueTime() != Job.KEPT_YOUNG) {
            changes.add(new Change.AccrualChanged(job.id(), -now.seconds()));
        }
        return Optional.empty();
    }

    /** Sets the seconds that the job waits for its --switches count. */
    private static Optional<Decision.Rejected> switchWait(Job job, RecordEditor<JobDesc> desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        if (UpdateFields.number(value).isEmpty()) {
            return refuse(SlurmErrno.INVALID_TIME_VALUE);
        }
        String count = job.desc().request().switches().split("@")[0];
        desc.set("request.switches", (count.isEmpty() ? "0" : count) + "@" + Durations.full(Long.parseLong(value)));
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> siteFactor(RecordEditor<JobDesc> desc, String value, boolean admin) {
        if (!admin) {
            return refuse(SlurmErrno.ACCESS_DENIED);
        }
        if (!value.matches("[-+]?[0-9]{1,10}") || Math.abs(Long.parseLong(value)) > Integer.MAX_VALUE) {
            return refuse(SlurmErrno.ERROR);
        }
        desc.set("timing.siteFactor", Long.parseLong(value));
        return Optional.empty();
    }

    /** Nice without a number. */
    private static final int NICE = 100;

    private Optional<Decision.Rejected> nice(Job job, RecordEditor<JobDesc> desc, String value, boolean admin) {
        if (desc.flag("timing.prioritySet") && Priorities.isActive(state.settings())) {
            return Optional.empty(); // nice does not lower a priority that was set by hand
        }
        int nice;
        try {
            nice = value.isEmpty() ? NICE : Integer.parseInt(value);
        } catch (NumberFormatException e) {
            return refuse(SlurmErrno.INVALID_NICE);
        }
        if (nice < 0 && !admin) {
            return refuse(SlurmErrno.ACCESS_DENIED);
        }
        if (job.isPending() && !job.isHeld()) {
            changes.add(new Change.PriorityChanged(
                    job.id(), Math.max(1, job.priority() + job.desc().timing().nice() - nice), -1, job.reason(), ""));
        }
        desc.set("timing.nice", (long) nice);
        return Optional.empty();
    }

    private Optional<Decision.Rejected> partition(Job job, RecordEditor<JobDesc> desc, String value) {
        if (!job.isPending()) {
            return value.equals(job.desc().partition()) ? Optional.empty() : refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        for (String name : value.split(",")) {
            if (!state.partitions().has(name)) {
                return refuse(SlurmErrno.INVALID_PARTITION_NAME);
            }
        }
        String open = PartitionLimits.takingJobs(value, state);
        if (state.partitions().find(open).filter(p -> !p.takesJobs()).isPresent()) {
            return refuse(SlurmErrno.PARTITION_NOT_AVAIL);
        }
        desc.set("partition", open);
        return Optional.empty();
    }

    /** Sets the start time of a job, which the edge has turned into seconds since 1970. */
    private Optional<Decision.Rejected> startTime(Job job, RecordEditor<JobDesc> desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        long begin;
        try {
            begin = Long.parseLong(value);
        } catch (NumberFormatException e) {
            return refuse(SlurmErrno.INVALID_TIME_VALUE);
        }
        desc.set("timing.beginTime", begin);
        changes.addAll(Eligibility.from(state, job, begin > now.seconds() ? 0 : job.eligibleTime()));
        if (begin > now.seconds() && !job.isHeld()) {
            changes.add(new Change.PriorityChanged(job.id(), job.priority(), -1, JobReason.BEGIN_TIME, ""));
        }
        return Optional.empty();
    }

    private Optional<Decision.Rejected> dependency(Job job, RecordEditor<JobDesc> desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        try {
            changes.add(new Change.DependenciesChanged(job.id(), Dependencies.parse(value, state, job.id())));
        } catch (Dependencies.Refused e) {
            return refuse(e.why());
        }
        desc.set("timing.dependency", value);
        changes.addAll(Eligibility.from(state, job, 0));
        return Optional.empty();
    }

    private Optional<Decision.Rejected> throttle(Job job, String value) {
        OptionalLong n = UpdateFields.number(value);
        if (n.isEmpty() || job.array().jobId() == 0) {
            return refuse(SlurmErrno.NOT_SUPPORTED);
        }
        changes.add(new Change.ArrayLimitChanged(job.id(), (int) n.getAsLong()));
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> requeue(RecordEditor<JobDesc> desc, String value) {
        if (!value.equals("0") && !value.equals("1")) {
            return refuse(SlurmErrno.ERROR);
        }
        desc.set("timing.requeue", value.equals("1") ? JobDesc.Choice.YES : JobDesc.Choice.NO);
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> nodes(Job job, RecordEditor<JobDesc> desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        Optional<NodeCounts> counts =
                NodeCounts.parse(value, n -> UpdateFields.number(n).orElse(-1));
        if (counts.isEmpty() || counts.get().least() == 0) {
            return refuse(SlurmErrno.INVALID_NODE_COUNT);
        }
        desc.set("request.nodesMin", (long) counts.get().least());
        desc.set("request.nodesMax", (long) counts.get().most());
        desc.set("request.nodeSizes", counts.get().sizes());
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> memory(
            Job job, RecordEditor<JobDesc> desc, String key, String value, List<Change> changes) {
        OptionalLong mb = MemorySize.parseMb(value);
        boolean perNode = key.equals("minmemorynode");
        if (!job.isPending() && (mb.isEmpty() || !lower(job, mb.getAsLong(), perNode, changes))) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        if (mb.isEmpty()) {
            return refuse(SlurmErrno.INVALID_TASK_MEMORY);
        }
        desc.set("request.memPerNodeMb", perNode ? mb.getAsLong() : 0L);
        desc.set("request.memPerCpuMb", perNode ? 0L : mb.getAsLong());
        return Optional.empty();
    }

    /**
     * Lowers the memory of a running job, which may give some back: less on no node than nothing, and nowhere more than
     * it has.
     */
    private static boolean lower(Job job, long mb, boolean perNode, List<Change> changes) {
        Map<String, Long> after = new java.util.TreeMap<>();
        for (Allocation.Share s : job.run().allocation().nodes()) {
            long here = perNode ? mb : mb * s.cpus();
            if (here <= 0 || here > s.memoryMb() || s.released()) {
                return false;
            }
            after.put(s.node(), here);
        }
        if (job.state() != JobState.RUNNING || job.has(dev.muster.model.job.JobFlag.CONFIGURING)) {
            return false;
        }
        changes.add(new Change.JobMemoryLowered(job.id(), after));
        return true;
    }
}
