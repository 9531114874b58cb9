package dev.muster.core.job;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.Ids;
import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.McsLabel;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.Priorities;
import dev.muster.core.reservation.ReservationRules;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Job;
import dev.muster.core.state.LicenseRequest;
import dev.muster.core.state.Now;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.tres.Keyword;
import dev.muster.core.tres.Licenses;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.format.Durations;
import dev.muster.model.format.MemorySize;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.NodeCounts;
import dev.muster.model.job.StepId;
import dev.muster.model.json.Codec;
import dev.muster.model.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** scontrol update job: keys lower case, values as typed. */
public final class UpdateRules {
    private final State state;
    private final Now now;
    private final Planner planner;
    private final List<Change> changes = new ArrayList<>();

    public UpdateRules(State state, Now now, Planner planner) {
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
                && state.settings()
                        .options()
                        .getOrDefault(Settings.BURST_BUFFER, "")
                        .isEmpty()) {
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
            // what there is not is not there for any of the tasks
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
        changes.addAll(0, alone);
        return Decision.of(changes, new CancelReply(List.of(), ofArray ? outcomes.told() : List.of()));
    }

    /** What makes a task that waits with others a job of its own: before all other changes. */
    private final List<Change> alone = new ArrayList<>();

    /**
     * The job; of a heterogeneous one all components, of an array all tasks, of a task that waits with others that
     * alone.
     *
     * @param task -1 where none is named
     */
    private List<Job> meant(int task, Job found) {
        if (task >= 0 && found.isArrayRecord()) {
            Ids ids = new Ids(state);
            int id = ids.forTask(found);
            long sluid = id == found.id() ? found.sluid() : ids.sluid();
            alone.addAll(ids.reservations());
            alone.add(new Change.ArrayTaskSplit(found.id(), task, id, sluid));
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

    /** The key that says: the steps of this job, not the job. */
    private static final String STEPS = "stepid";

    /** Of a step, or of all the steps that a job has now, only the time limit can be another. */
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
        Json.Obj desc = Json.object(Codec.encode(job.desc()));
        for (Map.Entry<String, String> change : JobUpdateKeys.whole(c.changes()).entrySet()) {
            Optional<Decision.Rejected> refused = one(job, desc, change.getKey(), change.getValue(), c.uid());
            if (refused.isPresent()) {
                return refused;
            }
        }
        JobDesc bound = Codec.bind(desc, JobDesc.class);
        JobDesc after = bound.withRequest(bound.request()
                .withLicenses(Licenses.resolved(state, bound.request().licenses())));
        Set<String> changed = JobUpdateKeys.whole(c.changes()).keySet();
        if (changed.contains("qos") && !changed.contains("timelimit")) {
            after = new AccountRules(state).limitedByQos(after);
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

    private Optional<Decision.Rejected> one(Job job, Json.Obj desc, String key, String value, int uid) {
        // an administrator's comment is no operator's
        boolean admin = key.equals("admincomment") ? Access.isAdmin(state, uid) : Access.isOperator(state, uid);
        boolean spec = key.equals("corespec") || key.equals("threadspec");
        if (spec && !state.settings().options().containsKey(Settings.SPEC_USAGE)) {
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
            case "licenses" -> licences(job, desc, value, admin);
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

    private Optional<Decision.Rejected> shrink(Job job, Json.Obj desc, String value, boolean named) {
        if (state.settings().options().containsKey("disable_job_shrink")) {
            return refuse(SlurmErrno.NOT_SUPPORTED);
        }
        return named
                ? Shrinking.toList(job, value, desc, now.seconds(), changes)
                : Shrinking.toCount(job, value, desc, now.seconds(), changes);
    }

    /**
     * What must hold of a job's account, partition, reservation and times when it is submitted must hold when they
     * change.
     */
    private Optional<Decision.Rejected> newTerms(Job job, JobDesc after, int uid) {
        JobDesc before = job.desc();
        if (after.timing().timeMinMin() > 0
                && after.timing().timeLimitMin() > 0
                && after.timing().timeMinMin() > after.timing().timeLimitMin()) {
            return refuse(SlurmErrno.INVALID_TIME_MIN);
        }
        if (after.timing().deadline() != before.timing().deadline()
                && after.timing().deadline() > 0
                && after.timing().deadline() <= now.seconds()) {
            return refuse(SlurmErrno.INVALID_TIME_VALUE);
        }
        if (!after.partition().equals(before.partition())) {
            for (String name : after.partition().split(",")) {
                if (!PartitionLimits.mayEnter(after, state.partitions().at(name))) {
                    return refuse(SlurmErrno.ACCESS_DENIED);
                }
            }
        }
        if (after.request().tasks() != before.request().tasks()
                && state.partitions()
                        .find(after.partition().split(",")[0])
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
                                instanceof AccountRules.Unfit u
                ? refuse(u.errno())
                : Optional.empty();
    }

    /** Charged as before, to the same ones. */
    private static boolean isCharged(JobDesc before, JobDesc after) {
        return before.charge().equals(after.charge()) && before.partition().equals(after.partition());
    }

    private JobDesc charged(JobDesc before, JobDesc desc, int uid) {
        return new AccountRules(state).charge(desc, anyQos(before, desc, uid)) instanceof AccountRules.Fit f
                ? f.desc()
                : desc;
    }

    /** Operators give a job a QOS that its association lacks, and the job keeps it whatever else of it changes. */
    private boolean anyQos(JobDesc before, JobDesc after, int uid) {
        return Access.isOperator(state, uid)
                || after.charge().qos().equals(before.charge().qos())
                        && after.charge().account().equals(before.charge().account());
    }

    private static Optional<Decision.Rejected> text(Json.Obj desc, String path, String value) {
        put(desc, path, value);
        return Optional.empty();
    }

    /** The same job, not before that time. */
    static JobDesc beginningAt(JobDesc desc, long seconds) {
        Json.Obj out = Json.object(Codec.encode(desc));
        put(out, "timing.beginTime", seconds);
        return Codec.bind(out, JobDesc.class);
    }

    /** Returns the description with a computed priority in place of a set one. */
    static JobDesc withComputedPriority(JobDesc desc) {
        Json.Obj out = Json.object(Codec.encode(desc));
        put(out, "timing.prioritySet", false);
        put(out, "timing.priority", 0L);
        return Codec.bind(out, JobDesc.class);
    }

    private static Optional<Decision.Rejected> mailType(Json.Obj desc, String value) {
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
        put(
                desc,
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

    static void put(Json.Obj desc, String path, Object value) {
        desc.putAt(path, value);
    }

    /** {@code +5} and {@code -5} change it by so much. Only an administrator may lengthen a running job. */
    private Optional<Decision.Rejected> timeLimit(Job job, Json.Obj desc, String value, boolean admin) {
        boolean relative = value.startsWith("+")
                || value.startsWith("-") && value.length() > 1 && Character.isDigit(value.charAt(1));
        OptionalLong parsed = Durations.parseMinutes(relative ? value.substring(1) : value);
        if (parsed.isEmpty()) {
            return refuse(SlurmErrno.INVALID_TIME_LIMIT);
        }
        int current =
                job.state() == JobState.PENDING ? plannedMin(job) : job.run().limitMin();
        if (relative && current < 0) {
            // nothing can be added to a time that has no end, nor taken away
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.INVALID_TIME_LIMIT, "Cannot increment/decrement TimeLimit when set to UNLIMITED."));
        }
        int limit =
                (int) (relative ? current + (value.startsWith("+") ? 1 : -1) * parsed.getAsLong() : parsed.getAsLong());
        if (relative && limit <= 0) {
            return value.startsWith("+")
                    ? refuse(SlurmErrno.INVALID_TIME_LIMIT)
                    : Optional.of(new Decision.Rejected(
                            SlurmErrno.TIME_LIMIT_DECREMENT,
                            SlurmErrno.TIME_LIMIT_DECREMENT.sentence() + " (" + parsed.getAsLong() + " > " + current
                                    + ")"));
        }
        if (job.state().isActive()) {
            boolean longer = limit < 0 && current >= 0 || limit > current && current >= 0;
            if (longer && !admin) {
                return refuse(SlurmErrno.ACCESS_DENIED);
            }
            long ran = job.run().preSuspendMs()
                    + (job.state() == JobState.RUNNING
                            ? now.tickMs() - job.run().sinceTickMs()
                            : 0);
            changes.add(new Change.LimitChanged(
                    job.id(), limit, limit < 0 ? -1 : now.tickMs() + limit * 60_000L - ran, false));
        }
        put(desc, "timing.timeLimitMin", (long) limit);
        return Optional.empty();
    }

    private int plannedMin(Job job) {
        Optional<Partition> first =
                state.partitions().find(job.desc().partition().split(",")[0]);
        return first.map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                .orElse(job.desc().timing().timeLimitMin());
    }

    /** When a running job is to end: a time limit by another name, exact to the second. */
    private Optional<Decision.Rejected> endTime(Job job, Json.Obj desc, String value, boolean admin) {
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
        put(desc, "timing.timeLimitMin", (long) minutes);
        return Optional.empty();
    }

    /** So many in all: as many for each task as that makes. */
    private static Optional<Decision.Rejected> cpus(Job job, Json.Obj desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        int dash = value.indexOf('-');
        OptionalLong least = UpdateFields.number(dash < 0 ? value : value.substring(0, dash));
        OptionalLong most = dash < 0 ? least : UpdateFields.number(value.substring(dash + 1));
        int tasks = Math.max(1, job.desc().request().tasks());
        if (least.isEmpty() || most.isEmpty() || least.getAsLong() < 1 || most.getAsLong() < least.getAsLong()) {
            return refuse(SlurmErrno.INVALID_CPU_COUNT);
        }
        if (least.getAsLong() % tasks != 0) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.INVALID_CPU_COUNT,
                    "NumCPUs must be a multiple of the job's " + tasks
                            + " tasks; set NumTasks and CPUsPerTask instead"));
        }
        put(desc, "request.cpusPerTask", least.getAsLong() / tasks);
        return Optional.empty();
    }

    /** Numbers above mean no priority. */
    private static final long PRIORITY_MOST = 4_294_967_293L;

    private Optional<Decision.Rejected> priority(Job job, Json.Obj desc, String value, boolean admin, int uid) {
        OptionalLong n = value.equalsIgnoreCase("INFINITE") ? OptionalLong.of(-1) : UpdateFields.number(value);
        if (n.isEmpty() && value.length() <= 10 && value.chars().allMatch(Character::isDigit) && !value.isEmpty()) {
            n = OptionalLong.of(Long.parseLong(value));
        }
        if (n.isEmpty() || n.getAsLong() > PRIORITY_MOST) {
            return refuse(SlurmErrno.ERROR);
        }
        if (n.getAsLong() == 0) {
            changes.add(new Change.PriorityChanged(
                    job.id(),
                    0,
                    uid,
                    uid == job.desc().owner().uid() && !admin ? JobReason.JOB_HELD_USER : JobReason.JOB_HELD_ADMIN,
                    ""));
            changes.addAll(Eligibility.held(state, job));
            return Optional.empty();
        }
        if (n.getAsLong() > 0 && !admin) {
            boolean more = n.getAsLong() > new Priorities(state, now.seconds()).of(job);
            if (more || Priorities.isActive(state.settings())) {
                return refuse(more ? SlurmErrno.ACCESS_DENIED : SlurmErrno.PRIORITY_NOT_PERSISTENT);
            }
        }
        if (n.getAsLong() > 0 && job.isHeld()) {
            return refuse(SlurmErrno.JOB_HELD);
        }
        // set by hand it stands, and there is no nice; INFINITE lets it be computed again
        put(desc, "timing.nice", 0L);
        put(desc, "timing.prioritySet", n.getAsLong() > 0);
        put(desc, "timing.priority", Math.max(0, n.getAsLong()));
        long p = n.getAsLong() < 0 ? Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid()) : n.getAsLong();
        changes.add(new Change.PriorityChanged(job.id(), p, -1, job.isHeld() ? JobReason.NONE : job.reason(), ""));
        if (job.isHeld()) {
            changes.addAll(Eligibility.released(state, job, now));
        }
        return Optional.empty();
    }

    /** Of a job that runs an administrator may have others, as far as there are some left. */
    private Optional<Decision.Rejected> licences(Job job, Json.Obj desc, String value, boolean admin) {
        put(desc, "request.licenses", value);
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

    /** From now on it grows older as if it had just become eligible. */
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

    /** How many seconds it waits for as few switches as it wants. */
    private static Optional<Decision.Rejected> switchWait(Job job, Json.Obj desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        if (UpdateFields.number(value).isEmpty()) {
            return refuse(SlurmErrno.INVALID_TIME_VALUE);
        }
        String count = job.desc().request().switches().split("@")[0];
        put(desc, "request.switches", (count.isEmpty() ? "0" : count) + "@" + Durations.full(Long.parseLong(value)));
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> siteFactor(Json.Obj desc, String value, boolean admin) {
        if (!admin) {
            return refuse(SlurmErrno.ACCESS_DENIED);
        }
        if (!value.matches("[-+]?[0-9]{1,10}") || Math.abs(Long.parseLong(value)) > Integer.MAX_VALUE) {
            return refuse(SlurmErrno.ERROR);
        }
        put(desc, "timing.siteFactor", Long.parseLong(value));
        return Optional.empty();
    }

    /** Nice without a number. */
    private static final int NICE = 100;

    private Optional<Decision.Rejected> nice(Job job, Json.Obj desc, String value, boolean admin) {
        if (desc.obj("timing").flag("prioritySet") && Priorities.isActive(state.settings())) {
            return Optional.empty(); // nothing is taken off what was set by hand
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
        put(desc, "timing.nice", (long) nice);
        return Optional.empty();
    }

    private Optional<Decision.Rejected> partition(Job job, Json.Obj desc, String value) {
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
        put(desc, "partition", open);
        return Optional.empty();
    }

    /** The edge has turned the text into seconds since 1970. */
    private Optional<Decision.Rejected> startTime(Job job, Json.Obj desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        long begin;
        try {
            begin = Long.parseLong(value);
        } catch (NumberFormatException e) {
            return refuse(SlurmErrno.INVALID_TIME_VALUE);
        }
        put(desc, "timing.beginTime", begin);
        changes.addAll(Eligibility.from(state, job, begin > now.seconds() ? 0 : job.eligibleTime()));
        if (begin > now.seconds() && !job.isHeld()) {
            changes.add(new Change.PriorityChanged(job.id(), job.priority(), -1, JobReason.BEGIN_TIME, ""));
        }
        return Optional.empty();
    }

    private Optional<Decision.Rejected> dependency(Job job, Json.Obj desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        try {
            changes.add(new Change.DependenciesChanged(job.id(), Dependencies.parse(value, state, job.id())));
        } catch (Dependencies.Refused e) {
            return refuse(e.why());
        }
        put(desc, "timing.dependency", value);
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

    private static Optional<Decision.Rejected> requeue(Json.Obj desc, String value) {
        if (!value.equals("0") && !value.equals("1")) {
            return refuse(SlurmErrno.ERROR);
        }
        put(desc, "timing.requeue", value.equals("1") ? "YES" : "NO");
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> nodes(Job job, Json.Obj desc, String value) {
        if (!job.isPending()) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        Optional<NodeCounts> counts =
                NodeCounts.parse(value, n -> UpdateFields.number(n).orElse(-1));
        if (counts.isEmpty() || counts.get().least() == 0) {
            return refuse(SlurmErrno.INVALID_NODE_COUNT);
        }
        put(desc, "request.nodesMin", (long) counts.get().least());
        put(desc, "request.nodesMax", (long) counts.get().most());
        put(desc, "request.nodeSizes", counts.get().sizes());
        return Optional.empty();
    }

    private static Optional<Decision.Rejected> memory(
            Job job, Json.Obj desc, String key, String value, List<Change> changes) {
        OptionalLong mb = MemorySize.parseMb(value);
        boolean perNode = key.equals("minmemorynode");
        if (!job.isPending() && (mb.isEmpty() || !lower(job, mb.getAsLong(), perNode, changes))) {
            return refuse(SlurmErrno.JOB_NOT_PENDING);
        }
        if (mb.isEmpty()) {
            return refuse(SlurmErrno.INVALID_TASK_MEMORY);
        }
        put(desc, "request.memPerNodeMb", perNode ? mb.getAsLong() : 0L);
        put(desc, "request.memPerCpuMb", perNode ? 0L : mb.getAsLong());
        return Optional.empty();
    }

    /** A job that runs may give memory back: less on no node than nothing, and nowhere more than it has. */
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
