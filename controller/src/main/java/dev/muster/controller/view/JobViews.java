package dev.muster.controller.view;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.PreemptPolicy;
import dev.muster.core.limits.Priorities;
import dev.muster.core.limits.PriorityFlags;
import dev.muster.core.limits.TresCounts;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.api.JobMessages.JobInfo;
import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.job.ResourceRequest;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Jobs and steps as queries show them. */
public final class JobViews {
    /** Fields of {@link JobInfo} that have to be computed, which is done only for queries that ask for them. */
    private enum Costly {
        ACCRUE_TIME("accrueTime"),
        ASSOC_ID("assocId"),
        BURST_BUFFER_STATE("burstBufferState"),
        COMMAND("command"),
        CRON_SPEC("cronSpec"),
        DEPENDENCY("dependency"),
        END_TIME("endTime"),
        EXCLUSIVE_USE("exclusiveUse"),
        GRES_TOTAL("gresTotal"),
        MAIL_USER("mailUser"),
        MEM_PER_CPU_MB("memPerCpuMb"),
        MEM_PER_NODE_MB("memPerNodeMb"),
        NODE_COUNT("nodeCount"),
        OVERSUBSCRIBE("oversubscribe"),
        PREEMPT_TIME("preemptTime"),
        PARTITION_PRIORITIES("partitionPriorities"),
        PREEMPT_ELIGIBLE_TIME("preemptEligibleTime"),
        PRIORITY("priority"),
        REASON("reason"),
        REASON_TEXT("reasonText"),
        SCHED_NODES("schedNodes"),
        START_TIME("startTime"),
        STDERR("stderr"),
        STDERR_PATTERN("stderrPattern"),
        STDIN("stdin"),
        STDIN_PATTERN("stdinPattern"),
        STDOUT("stdout"),
        STDOUT_PATTERN("stdoutPattern"),
        SUBMIT_LINE("submitLine"),
        TIME_LIMIT_MIN("timeLimitMin"),
        TRES_ALLOC("tresAlloc"),
        TRES_PER_TASK("tresPerTask"),
        TRES_REQUESTED("tresRequested"),
        WISHES("wishes"),
        WORK_DIR("workDir");

        private final String field;

        Costly(String field) {
            this.field = field;
        }
    }

    private final State state;
    private final Scheduler planner;
    private final long tickMs;
    private final long now;
    private final String mailDomain;
    private final Set<Costly> wanted = EnumSet.noneOf(Costly.class);
    private final JobReasons reasons;
    private @Nullable Priorities priorities;
    /** Priorities by the second in which jobs ended that never began: many are cancelled in the same second. */
    private final Map<Long, Priorities> then = new HashMap<>();

    private @Nullable PreemptPolicy policy;

    public JobViews(State state, Scheduler planner, DecisionTime now, String mailDomain) {
        this(state, planner, now, mailDomain, Set.of());
    }

    /**
     * @param fields those of {@link JobInfo} that are wanted, empty for all; others that cost something are left at
     *     their defaults
     */
    public JobViews(State state, Scheduler planner, DecisionTime now, String mailDomain, Set<String> fields) {
        for (Costly costly : Costly.values()) {
            if (fields.isEmpty() || fields.contains(costly.field)) {
                wanted.add(costly);
            }
        }
        this.state = state;
        this.planner = planner;
        this.tickMs = now.tickMs();
        this.now = now.seconds();
        this.mailDomain = mailDomain;
        this.reasons = new JobReasons(state, planner, now.seconds());
    }

    public JobReason reason(Job job) {
        return reasons.of(job);
    }

    private String bufferState(Job job) {
        return state.buffers().byJob().find(job.id()).map(b -> b.stage().word()).orElse("");
    }

    static List<String> flags(Job job) {
        List<String> out = new ArrayList<>();
        for (JobFlag flag : JobFlag.values()) {
            // that a job came back is told while its last attempt is being cleaned up; later it is pending like any
            // other
            if (job.has(flag) && (flag != JobFlag.REQUEUED || job.has(JobFlag.COMPLETING))) {
                out.add(flag.name());
            }
        }
        return out;
    }

    /**
     * Returns the time at which the job became or will become eligible; 0 for a job that is held or depends on others.
     */
    static long eligible(Job job) {
        return job.eligibleTime() > 0 ? job.eligibleTime() : job.desc().timing().beginTime();
    }

    private long accrueTime(Job job) {
        if (PriorityFlags.growAlways(state.settings())) {
            return job.submitTime();
        }
        long since = Priorities.accrueTime(state, job);
        boolean later = job.isPending()
                && (job.reason() == JobReason.BEGIN_TIME
                        || job.restarts() > 0 && job.desc().timing().beginTime() > now);
        // where limits are kept to it is set when the time has come
        boolean limited = state.settings().options().accounting().enforcement().has(AccountingEnforcement.Word.LIMITS);
        if (limited && since > now) {
            return 0;
        }
        if (since == 0 && later && !limited) {
            return eligible(job);
        }
        return since;
    }

    private long priority(Job job) {
        if (job.state() == JobState.SUSPENDED
                && state.preempted().find(job.id()).isEmpty()) {
            return 0; // suspended by hand: its turn in a gang does not resume it
        }
        // a job that never started keeps its last priority
        boolean waited = job.state().isTerminal() && job.run().startTime() == 0;
        boolean changes = waited
                || job.state() == JobState.PENDING
                || job.state().isActive() && PriorityFlags.ofRunning(state.settings());
        if (!changes || Priorities.isFixed(job) || job.isHeld() || !Priorities.isActive(state.settings())) {
            return job.priority();
        }
        if (waited) {
            return then.computeIfAbsent(job.run().endTime(), end -> new Priorities(state, end))
                    .of(job);
        }
        var queued = planner.priority(job.id());
        if (queued.isPresent()) {
            return queued.getAsLong();
        }
        priorities = priorities == null ? new Priorities(state, now) : priorities;
        return priorities.of(job);
    }

    private List<String> partitionPriorities(Job job) {
        if (job.state() != JobState.PENDING
                || job.desc().partition().indexOf(',') < 0
                || !Priorities.isActive(state.settings())) {
            return List.of();
        }
        priorities = priorities == null ? new Priorities(state, now) : priorities;
        List<String> out = new ArrayList<>();
        for (String name : job.desc().partitionList()) {
            out.add(name + "=" + (job.isHeld() ? 0 : priorities.of(job, name)));
        }
        return out;
    }

    long runSeconds(Job job) {
        Job.Run r = job.run();
        if (r.startTime() == 0) {
            return 0;
        }
        if (job.state() == JobState.RUNNING) {
            return (r.preSuspendMs() + tickMs - r.sinceTickMs()) / 1000;
        }
        return job.state() == JobState.SUSPENDED ? r.preSuspendMs() / 1000 : Math.max(0, r.endTime() - r.startTime());
    }

    /** Returns the expected end of a waiting job: its planned start and its limit, if both are known. */
    private long endTime(Job job, long planned) {
        long start = Math.max(
                planned,
                job.desc().timing().beginTime() > now ? job.desc().timing().beginTime() : 0);
        int limit = limitMin(job);
        return start > 0 && limit > 0 ? start + limit * 60L : 0;
    }

    private long endTime(Job job) {
        Job.Run r = job.run();
        if (r.endTime() > 0 || r.startTime() == 0 || r.limitMin() < 0) {
            return r.endTime();
        }
        Optional<Preemption> goes = state.preempted().find(job.id()).filter(p -> p.endTick() > 0);
        if (goes.isPresent()) {
            return now + Math.max(0, goes.get().endTick() - tickMs) / 1000;
        }
        // time spent suspended is not charged: the end moves by it, as by what PrologSlurmctld took
        boolean wasSuspended = r.suspendTime() > 0;
        return wasSuspended ? now + Math.max(0, r.limitMin() * 60L - runSeconds(job)) : r.plannedEnd();
    }

    static int tasks(Job job) {
        ResourceRequest r = job.desc().request();
        return r.tasks() > 0 ? r.tasks() : Math.max(1, r.tasksPerNode()) * TresCounts.nodes(job);
    }

    /**
     * Returns the CPUs that each of its nodes must have for it: for all of its --ntasks-per-node, unless the job is one
     * task.
     */
    private static int cpusPerNode(ResourceRequest r) {
        int tasks = r.tasks() == 1 || GresRequest.overcommits(r) ? 1 : Math.max(1, r.tasksPerNode());
        return Math.max(
                r.cpusPerNodeMin(),
                tasks * Math.max(1, r.cpusPerTaskAsked() == 0 ? cpusPerTask(r) : r.cpusPerTaskTyped()));
    }

    private String mailUser(JobDesc d) {
        String user = d.extras().mailUser();
        if (!user.isEmpty() || d.extras().mailType().isEmpty()) {
            return user;
        }
        return d.owner().user() + (mailDomain.isEmpty() ? "" : "@" + mailDomain);
    }

    private int limitMin(Job job) {
        if (job.run().startTime() > 0) {
            return job.run().limitMin();
        }
        int asked = job.desc().timing().timeLimitMin();
        return asked != 0
                ? asked
                : state.partitions()
                        .find(job.desc().firstPartition())
                        .map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                        .orElse(-1);
    }

    /** Returns the nodes of a job that is over that are not done with it yet. */
    private static Optional<HostList> leaving(Job job) {
        if (!job.has(JobFlag.COMPLETING)) {
            return Optional.empty();
        }
        List<String> names = job.run().allocation().nodes().stream()
                .filter(s -> !s.released())
                .map(Allocation.Share::node)
                .toList();
        return names.isEmpty() ? Optional.empty() : Optional.of(HostList.of(names));
    }

    private static final String ARBITRARY = "arbitrary";

    /**
     * Returns the nodes as Slurm lists them whichever way they were said; in their own order stay those that tasks are
     * laid out over.
     */
    private static String inOrder(String list) {
        return list.indexOf(',') >= 0 && list.indexOf('{') < 0 && HostList.parse(list) instanceof HostList.Parsed.Ok ok
                ? ok.list().distinct().sorted().compressed()
                : list;
    }

    /**
     * Returns the number of its nodes; for a waiting job, of the least nodes that it needs if they have the most CPUs
     * in its partition.
     */
    private int nodes(Job job) {
        int requested = TresCounts.nodes(job);
        if (listed(job) > 0) {
            return Math.max(requested, listed(job));
        }
        if (job.state() != JobState.PENDING
                || GresRequest.overcommits(job.desc().request())) {
            return requested;
        }
        long cpus = TresCounts.cpus(job);
        int maxCpus = 0;
        for (String name : state.partitions()
                .find(job.desc().firstPartition())
                .map(p -> p.nodes())
                .orElse(List.of())) {
            maxCpus = Math.max(
                    maxCpus, state.nodes().find(name).map(n -> n.spec().cpus()).orElse(0));
            if ((long) maxCpus * requested >= cpus) {
                return requested;
            }
        }
        int bound = job.desc().request().nodesMax() > 0
                ? Math.max(requested, job.desc().request().nodesMax())
                : Integer.MAX_VALUE;
        return maxCpus == 0 ? requested : (int) Math.min(bound, (cpus + maxCpus - 1) / maxCpus);
    }

    /** Returns the number of nodes in the list of a pending job that asks for no number of them; 0 without a list. */
    private static int listed(Job job) {
        String nodes = job.desc().request().nodeList();
        return job.state() == JobState.PENDING
                        && job.desc().request().nodesMin() == 0
                        && !nodes.isEmpty()
                        && HostList.parse(nodes) instanceof HostList.Parsed.Ok ok
                ? ok.list().names().size()
                : 0;
    }

    private static final PartitionLimits.Memory NO_MEMORY = new PartitionLimits.Memory(0, 0, false);

    /** Returns the most nodes that a job may get: its maximum, or one for each task. */
    private static int mostNodes(ResourceRequest r) {
        return r.nodesMax() > 0 ? r.nodesMax() : Math.max(1, Math.max(r.nodesMin(), r.tasks()));
    }

    private boolean wants(Costly field) {
        return wanted.contains(field);
    }

    /**
     * The part of an array that a row shows.
     *
     * @param task its index if it is one task, else -1
     * @param tasks of several that wait
     * @param others further records of waiting tasks, for their reasons
     */
    private record Row(int task, String tasks, List<Job> others) {
        static Row of(int task) {
            return new Row(task, "", List.of());
        }
    }

    /**
     * Returns the row of all tasks that wait together; the last task of an array from which others have started is a
     * task like those.
     */
    private Row whole(Job job) {
        IndexSet waiting = job.array().pending();
        if (!job.isArrayRecord()) {
            return Row.of(job.array().task());
        }
        boolean last = job.array().size() > 1
                && waiting.count() == 1
                && (!state.isAnyTaskOf(job.id(), t -> true)
                        || state.isAnyTaskOf(
                                job.id(), t -> t.attempt() > 0 || !t.state().isTerminal()));
        return last ? Row.of(waiting.first()) : new Row(-1, waiting.compact(), List.of());
    }

    /** @param task -1, or one index of an array's pending record shown as a row of its own */
    public JobInfo info(Job job, int task, boolean details) {
        return info(job, task >= 0 ? Row.of(task) : whole(job), details);
    }

    /**
     * Returns the row of several tasks.
     *
     * @param others waiting records with tasks of their own
     */
    public JobInfo info(Job job, IndexSet tasks, List<Job> others, boolean details) {
        return info(job, new Row(-1, tasks.compact(), others), details);
    }

    /** @param planned start by the scheduler's plan, 0 for none */
    private long startTime(Job job, long planned) {
        if (job.run().startTime() > 0) {
            return job.run().startTime();
        }
        if (job.state().isTerminal()) {
            return job.run().endTime();
        }
        long begin = job.desc().timing().beginTime();
        return begin > now ? begin : planned;
    }

    private long shownEnd(Job job, long planned) {
        return job.state() == JobState.PENDING ? endTime(job, planned) : endTime(job);
    }

    private static String hostList(Allocation shown) {
        return shown.isEmpty() ? "" : shown.hostList();
    }

    private int shownNodes(Job job) {
        return wants(Costly.NODE_COUNT) ? nodes(job) : 0;
    }

    private int assocId(JobDesc d) {
        return state.accounts()
                .assoc(d.owner().user(), d.charge().account(), d.firstPartition())
                .map(AssocPolicy::id)
                .orElse(0);
    }

    private JobInfo info(Job job, Row row, boolean details) {
        JobDesc d = job.desc();
        ResourceRequest r = d.request();
        Job.Run run = job.run();
        Allocation a = run.allocation();
        boolean showsNodes = job.state() != JobState.PENDING || job.has(JobFlag.COMPLETING);
        long planned = job.state() == JobState.PENDING && (wants(Costly.START_TIME) || wants(Costly.END_TIME))
                ? planner.plannedStart(job.id())
                : 0;
        PartitionLimits.Memory memory = wants(Costly.MEM_PER_NODE_MB) || wants(Costly.MEM_PER_CPU_MB)
                ? PartitionLimits.memory(state, job)
                : NO_MEMORY;
        Allocation shown = showsNodes ? a : Allocation.NONE;
        Optional<HostList> leaving = leaving(job);
        int cpus = TresCounts.cpus(job);
        JobPaths.Paths files = wants(Costly.STDIN) || wants(Costly.STDOUT) || wants(Costly.STDERR)
                ? JobPaths.expanded(job)
                : JobPaths.Paths.NONE;
        JobPaths.Paths patterns =
                wants(Costly.STDIN_PATTERN) || wants(Costly.STDOUT_PATTERN) || wants(Costly.STDERR_PATTERN)
                        ? JobPaths.patterns(job)
                        : JobPaths.Paths.NONE;
        return new JobInfo(
                job.id(),
                job.array().jobId(),
                row.task,
                row.tasks,
                job.array().maxRunning(),
                job.het().jobId(),
                job.het().offset(),
                d.name(),
                d.owner().uid(),
                d.owner().user(),
                d.owner().gid(),
                d.owner().group(),
                d.charge().account(),
                d.charge().qos(),
                d.charge().wckey(),
                partitions(d.partition()),
                d.charge().reservation(),
                job.state().name(),
                flags(job),
                wants(Costly.REASON) ? reasons.of(job).word() : "",
                !wants(Costly.REASON_TEXT) ? "" : reasons.text(job, row.others),
                wants(Costly.PRIORITY) ? priority(job) : 0,
                d.timing().nice(),
                !wants(Costly.DEPENDENCY) ? "" : Dependency.print(job.dependencies()),
                job.restarts(),
                requeues(d),
                d.kind() == JobDesc.Kind.BATCH,
                job.isHeld(),
                job.shownExit(),
                run.derivedExit(),
                job.submitTime(),
                eligible(job),
                wants(Costly.ACCRUE_TIME) ? accrueTime(job) : 0,
                startTime(job, planned),
                wants(Costly.END_TIME) ? shownEnd(job, planned) : 0,
                run.suspendTime(),
                run.preSuspendMs() / 1000,
                runSeconds(job),
                d.timing().deadline(),
                wants(Costly.PREEMPT_TIME) ? preemptTime(job) : 0,
                wants(Costly.PREEMPT_ELIGIBLE_TIME) ? preemptEligibleTime(job) : 0,
                lastLook(job),
                wants(Costly.TIME_LIMIT_MIN) ? limitMin(job) : 0,
                d.timing().timeMinMin(),
                d.timing().delayBootMin(),
                d.payload().submitHost(),
                d.payload().submitPid(),
                leaving.isPresent() ? leaving.get().compressed() : hostList(shown),
                !wants(Costly.SCHED_NODES) ? "" : schedNodes(job),
                shown.isEmpty() ? "" : shown.ofScript().node(),
                leaving.isPresent() ? leaving.get().size() : shownNodes(job),
                Math.max(
                        mostNodes(r),
                        shown.isEmpty() ? listed(job) : shown.nodes().size()),
                cpus,
                cpus,
                tasks(job),
                cpusPerTask(r),
                r.tasksPerNode(),
                r.tasksPerSocket(),
                r.tasksPerCore() == 0 && state.settings().selects("CR_ONE_TASK_PER_CORE") ? 1 : r.tasksPerCore(),
                cpusPerNode(r),
                memory.perNodeMb(),
                memory.perCpuMb(),
                r.tmpDiskMb(),
                r.features(),
                r.prefer(),
                r.distribution().startsWith(ARBITRARY) ? r.nodeList() : inOrder(r.nodeList()),
                inOrder(r.excludeList()),
                r.exclusive() == ResourceRequest.Exclusive.SHARED
                        ? ""
                        : r.exclusive().name(),
                wants(Costly.OVERSUBSCRIBE) ? oversubscribe(state, job) : "",
                r.contiguous(),
                r.overcommit(),
                r.socketsPerNode(),
                r.coresUsed(),
                r.threadsUsed(),
                r.coreSpec(),
                r.threadSpec(),
                r.licenses(),
                r.network(),
                switches(r),
                r.tresPerNode(),
                r.tresPerJob(),
                !wants(Costly.TRES_PER_TASK) ? "" : perTask(r),
                r.tresPerSocket(),
                !wants(Costly.TRES_REQUESTED) ? "" : TresText.requested(state, job),
                !wants(Costly.TRES_ALLOC) || shown.isEmpty() ? "" : TresText.allocated(state, job, shown),
                !wants(Costly.COMMAND) ? "" : command(d),
                !wants(Costly.WORK_DIR) ? "" : d.files().workDir().text(),
                files.stdin().text(),
                files.stdout().text(),
                files.stderr().text(),
                d.extras().comment(),
                d.extras().adminComment(),
                d.extras().extra(),
                !wants(Costly.MAIL_USER) ? "" : mailUser(d),
                d.extras().mailType(),
                d.extras().container(),
                d.extras().mcsLabel(),
                d.extras().burstBuffer(),
                !wants(Costly.BURST_BUFFER_STATE) ? "" : bufferState(job),
                !wants(Costly.SUBMIT_LINE) ? "" : d.payload().submitLine().text(),
                job.shownSluid(),
                details && !shown.isEmpty() ? AllocationView.details(state, shown) : List.of(),
                !wants(Costly.GRES_TOTAL) ? "" : TresText.gresTotal(state, shown),
                idSet(job),
                shown.licenses(),
                !wants(Costly.EXCLUSIVE_USE) ? "" : exclusiveUse(state, job),
                d.extras().tresBind(),
                r.cpusPerGpu() > 0 ? "gres/gpu:" + r.cpusPerGpu() : "",
                r.memPerGpuMb() > 0 ? "gres/gpu:" + r.memPerGpuMb() : "",
                d.extras().cpuFreq(),
                d.extras().tresFreq(),
                shown.backfilled(),
                !wants(Costly.CRON_SPEC) ? "" : dev.muster.core.state.Crontab.when(state.crontabs(), job),
                d.extras().containerId(),
                patterns.stdin().text(),
                patterns.stdout().text(),
                patterns.stderr().text(),
                d.timing().expedite(),
                wants(Costly.ASSOC_ID) ? assocId(d) : 0,
                d.extras().stepMgr(),
                r.segment(),
                r.spreadSegments(),
                r.consolidateSegments(),
                d.extras().containerType(),
                d.extras().memUpdateMargin(),
                d.extras().memUpdateMin(),
                d.extras().reboot(),
                d.extras().profile(),
                d.extras().batchFeatures(),
                r.tasksPerGpu(),
                job.failedNode(),
                wants(Costly.WISHES) ? wishes(job, d) : List.of(),
                wants(Costly.PARTITION_PRIORITIES) ? partitionPriorities(job) : List.of(),
                !d.files().stderr().isEmpty());
    }

    /** Returns requests without a field of their own, in the words of the REST API. */
    private static List<String> wishes(Job job, JobDesc d) {
        List<String> out = new ArrayList<>();
        ResourceRequest r = d.request();
        flag(out, "EXACT_TASK_COUNT_REQUESTED", r.tasks() > 0);
        flag(out, "EXACT_CPU_COUNT_REQUESTED", r.cpusPerTaskTyped() > 0);
        for (String unnamed : d.charge().defaulted().split(",")) {
            flag(out, "USING_DEFAULT_" + unnamed, !unnamed.isEmpty());
        }
        flag(out, "JOB_WAS_RUNNING", job.state() == JobState.RUNNING || job.state() == JobState.SUSPENDED);
        flag(
                out,
                "EXACT_MEMORY_REQUESTED",
                r.memAll() || r.memPerNodeMb() > 0 || r.memPerCpuMb() > 0 || r.memPerGpuMb() > 0);
        flag(out, "PARTITION_ASSIGNED", d.partition().indexOf(',') < 0);
        flag(out, "JOB_IMPLICIT_MAX_NODES", r.tasks() > 0 && r.nodesMin() == 0);
        switch (d.timing().killOnInvalidDependency()) {
            case YES -> out.add("KILL_INVALID_DEPENDENCY");
            case NO -> out.add("NO_KILL_INVALID_DEPENDENCY");
            case UNSET -> {}
        }
        if (d.request().gresFlags().contains("enforce-binding")) {
            out.add("GRES_BINDING_ENFORCED");
        } else if (d.request().gresFlags().contains("disable-binding")) {
            out.add("GRES_BINDING_DISABLED");
        }
        if (d.request().spread()) {
            out.add("SPREAD_JOB");
        }
        if (d.request().useMinNodes()) {
            out.add("PREFER_MINIMUM_NODE_COUNT");
        }
        return out;
    }

    private static void flag(List<String> out, String word, boolean set) {
        if (set) {
            out.add(word);
        }
    }

    /** {@code gres/gpu:a100:2,cpu:1} → {@code gres/gpu:a100=2,cpu=1}, as only what is per task is shown. */
    static String perTask(ResourceRequest r) {
        boolean named = r.tresPerTask().startsWith("cpu") || r.tresPerTask().contains(",cpu");
        String cpus = named || r.cpusPerTaskTyped() == 0 ? "" : "cpu=" + r.cpusPerTask();
        if (cpus.isEmpty()) {
            return r.tresPerTask();
        }
        if (r.tresPerTask().isEmpty()) {
            return cpus;
        }
        return cpus + "," + r.tresPerTask();
    }

    /** Returns --cpus-per-task, or the CPUs that --cpus-per-gpu implies for a task's GPUs. */
    private static int cpusPerTask(ResourceRequest r) {
        return r.cpusPerTask() > 0 ? r.cpusPerTask() : r.cpusPerGpu() * GresRequest.gpus(r.tresPerTask());
    }

    /** Returns exclusive use as the job asked for it, else by the rule of its partition. */
    static String exclusiveUse(State state, Job job) {
        ResourceRequest.Exclusive asked = job.desc().request().exclusive();
        String rule = state.partitions()
                .find(job.desc().firstPartition())
                .map(dev.muster.core.state.Partition::exclusive)
                .orElse("NO");
        // a partition of whole nodes is stricter than nodes of one user or one label
        boolean weaker = asked == ResourceRequest.Exclusive.USER || asked == ResourceRequest.Exclusive.MCS;
        return asked == ResourceRequest.Exclusive.SHARED
                        || weaker && rule.equals("NODE") && job.run().startTime() > 0
                ? rule
                : asked.name();
    }

    /**
     * Returns OverSubscribe as jobs show it. A running job shows its partition's rule before its own request: NO for
     * EXCLUSIVE, YES for FORCE with more than one job. A pending job shows its request first. OK means that others may
     * share without the job having asked for it.
     */
    static String oversubscribe(State state, Job job) {
        Optional<dev.muster.core.state.Partition> partition =
                state.partitions().find(job.desc().firstPartition());
        String rule = partition.map(p -> p.info().overSubscribe()).orElse("NO");
        if (job.run().startTime() > 0 && partition.isPresent()) {
            if (partition.get().exclusive().equals("NODE")) {
                return "NO";
            }
            if (rule.startsWith("FORCE") && partition.get().jobsPerCore(false) > 1) {
                return "YES";
            }
        }
        if (job.desc().request().oversubscribe()) {
            return "YES";
        }
        boolean whole = job.desc().request().exclusive() == ResourceRequest.Exclusive.NODE;
        return !whole && (rule.startsWith("FORCE") || rule.startsWith("YES")) ? "OK" : "NO";
    }

    /** {@code 12-14,20}. */
    private static String idSet(Job job) {
        StringBuilder out = new StringBuilder();
        List<Integer> ids = job.het().members();
        for (int i = 0; i < ids.size(); ) {
            int j = i;
            while (j + 1 < ids.size() && ids.get(j + 1) == ids.get(j) + 1) {
                j++;
            }
            out.append(out.isEmpty() ? "" : ",").append(ids.get(i)).append(j > i ? "-" + ids.get(j) : "");
            i = j + 1;
        }
        return out.toString();
    }

    /** Returns several partitions in the order in which they are tried: the highest tier first. */
    private String partitions(String named) {
        if (named.indexOf(',') < 0) {
            return named;
        }
        List<String> names = new ArrayList<>(List.of(named.split(",")));
        names.sort(java.util.Comparator.comparingInt((String name) -> state.partitions()
                        .find(name)
                        .map(p -> p.info().priorityTier())
                        .orElse(1))
                .reversed());
        return String.join(",", names);
    }

    private String schedNodes(Job job) {
        List<String> nodes = job.state() == JobState.PENDING ? planner.plannedNodes(job.id()) : List.of();
        return nodes.isEmpty() ? "" : HostList.of(nodes).compressed();
    }

    /**
     * Returns the time at which the scheduler last considered the job; every pass considers every eligible job. That of
     * a job that is over stays as it is, whatever slurmctld does since.
     */
    private long lastLook(Job job) {
        if (job.run().startTime() > 0) {
            return job.run().startTime();
        }
        if (job.state().isTerminal()) {
            boolean waited =
                    job.eligibleTime() > 0 && job.eligibleTime() <= job.run().endTime() && !job.isHeld();
            return waited ? job.run().endTime() : job.submitTime();
        }
        boolean passed = job.eligibleTime() > 0 && planner.lastPass() >= job.eligibleTime() && !job.isHeld();
        // no pass has: it was looked at when it came
        return passed ? planner.lastPass() : job.submitTime();
    }

    private boolean requeues(JobDesc d) {
        return switch (d.timing().requeue()) {
            case UNSET -> state.settings().requeueJobs();
            case YES -> true;
            case NO -> false;
        };
    }

    /** Returns the number of switches with the time that the job really waits for them. */
    private String switches(ResourceRequest r) {
        return r.switches().isEmpty()
                ? ""
                : r.switches().split("@")[0] + "@" + Durations.full(TresCounts.switchWait(r, state.settings()));
    }

    /** Returns the program or the script's file, without its arguments (release 26.05; older ones showed them). */
    private static String command(JobDesc d) {
        return d.payload().arguments().isEmpty()
                ? ""
                : d.payload().arguments().getFirst().text();
    }

    /** Modes in which a job stays on its nodes: its PreemptTime is None. */
    private static final List<Preemption.Mode> SUSPENDING = List.of(Preemption.Mode.GANG, Preemption.Mode.SUSPEND);

    private long preemptTime(Job job) {
        return state.preempted()
                .find(job.id())
                .filter(p -> !SUSPENDING.contains(p.mode()))
                .map(Preemption::time)
                .orElse(0L);
    }

    /** Returns the second from which a job that was started may be preempted; 0 where preemption is off. */
    private long preemptEligibleTime(Job job) {
        policy = policy == null ? new PreemptPolicy(state) : policy;
        return policy.isOn() && job.run().startTime() > 0 && job.state() != JobState.PENDING
                ? policy.eligibleFrom(job)
                : 0;
    }
}
