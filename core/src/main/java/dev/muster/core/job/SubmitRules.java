package dev.muster.core.job;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.command.Planner;
import dev.muster.core.command.Requests;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.limits.DefaultTimeLimit;
import dev.muster.core.limits.McsLabel;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.PreemptPolicy;
import dev.muster.core.reservation.ReservationRules;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.DescriptionInterner;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.step.SamplingInterval;
import dev.muster.core.tres.GpuRequest;
import dev.muster.core.tres.GresRequest;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Decides whether and as what a job enters the queue. */
public final class SubmitRules {
    /** Longer names and words are refused. */
    private static final int TEXT_BYTES_MAX = 1024;
    /** Priorities of priority/basic start below this and fall with every job, as Slurm's do. */
    public static final long PRIORITY_TOP = 4_294_901_760L;

    private final State state;
    private final DecisionTime now;
    private final Planner planner;
    private final AccountUse use;
    private final JobSubmit.Submissions submissions;

    public SubmitRules(
            State state, DecisionTime now, Planner planner, AccountUse use, JobSubmit.Submissions submissions) {
        this.submissions = submissions;
        this.use = use;
        this.state = state;
        this.now = now;
        this.planner = planner;
    }

    public Decision decide(Command.SubmitJob c) {
        Optional<Bytes> known = Requests.answered(state, c.requestId(), c.uid());
        if (known.isPresent()) {
            return Decision.of(List.of(), Codec.decode(known.get().toArray(), SubmitReply.class));
        }
        return switch (vet(c)) {
            case RefusedJob u -> u.why();
            case AcceptedJob f when c.testOnly() -> estimated(state.nextJobId(), f.desc());
            case AcceptedJob f -> accept(c, f);
        };
    }

    /** Verdict of the rules on a request: the job as it would be, or why it is refused. */
    sealed interface Verdict {}

    record AcceptedJob(JobDesc desc, List<Dependency> dependencies, Job.Array array) implements Verdict {}

    record RefusedJob(Decision.Rejected why) implements Verdict {
        RefusedJob(SlurmErrno errno) {
            this(Decision.reject(errno));
        }
    }

    Verdict vet(Command.SubmitJob c) {
        AccountRules accounts = new AccountRules(state);
        JobDesc asked;
        switch (JobSubmit.through(state, c.desc(), submissions, now)) {
            case JobSubmit.Stopped s -> {
                return new RefusedJob(s.why());
            }
            case JobSubmit.Passed p -> asked = p.desc();
        }
        if (asked.partition().startsWith(",")) {
            return new RefusedJob(SlurmErrno.INVALID_PARTITION_NAME); // all rules ask for the first of them
        }
        JobDesc desc;
        JobDesc placed =
                rerouted(withPartition(asked)).withCharge(asked.charge().asked(asked.partition()));
        switch (accounts.charge(placed.withPartition(PartitionLimits.takingJobs(placed.partition(), state))
                .withRequest(GresRequest.withLicenses(GresRequest.resolved(asked.request()), state)))) {
            case AccountRules.NotCharged u -> {
                return new RefusedJob(u.errno());
            }
            case AccountRules.ChargedJob f ->
                desc = PartitionLimits.withCpusForMemory(
                        GpuRequest.with(new DefaultTimeLimit(state, accounts).withDefault(f.desc()), state), state);
        }
        Optional<JobDesc> labelled = McsLabel.of(state.settings()).labelled(desc);
        if (labelled.isEmpty()) {
            return new RefusedJob(SlurmErrno.INVALID_MCS_LABEL);
        }
        boolean managed = state.settings().options().submission().managesSteps();
        desc = managed ? labelled.get().withExtras(labelled.get().extras().withStepMgr(true)) : labelled.get();
        Optional<Decision.Rejected> refusal = refusal(c, desc);
        if (refusal.isPresent()) {
            return new RefusedJob(refusal.get());
        }
        List<Dependency> dependencies;
        try {
            dependencies = Dependencies.parse(desc.timing().dependency(), state, 0);
        } catch (Dependencies.Refused e) {
            return new RefusedJob(e.why());
        }
        Optional<Job.Array> array = array(desc.timing().array());
        if (array.isEmpty()) {
            return new RefusedJob(SlurmErrno.INVALID_ARRAY);
        }
        JobDesc whole = desc;
        int tasks = Math.max(1, array.get().size());
        return accounts.admitted(desc, tasks, use)
                .<Verdict>map(d -> new AcceptedJob(d, dependencies, array.get()))
                .orElseGet(() -> new RefusedJob(accounts.refusal(whole, tasks, use)));
    }

    public Decision test(Command.TestJob c) {
        Optional<Job> job = state.jobs().find(c.jobId());
        if (job.isEmpty()) {
            return Decision.unknownJob();
        }
        if (!Access.mayChange(state, c.uid(), job.get())) {
            return Decision.reject(SlurmErrno.ACCESS_DENIED);
        }
        if (!job.get().isPending()) {
            return Decision.reject(SlurmErrno.JOB_NOT_PENDING);
        }
        return estimated(c.jobId(), job.get().desc());
    }

    private Decision estimated(int jobId, JobDesc desc) {
        return planner.estimate(state, now, desc)
                .<Decision>map(e -> Decision.of(
                        List.of(),
                        new SubmitReply(
                                jobId,
                                List.of(),
                                e.start(),
                                dev.muster.model.format.HostList.of(e.nodes()).compressed(),
                                e.cpus(),
                                e.partition())))
                .orElseGet(() -> Decision.reject(SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE));
    }

    private Decision accept(Command.SubmitJob c, AcceptedJob fit) {
        JobDesc desc = fit.desc();
        Job.Array array = fit.array();
        IdAllocator ids = new IdAllocator(state);
        int id = ids.jobId();
        Job job = job(
                c,
                fit,
                id,
                ids.sluid(),
                array.size() == 0
                        ? Job.Array.NONE
                        : new Job.Array(id, -1, array.pending(), array.maxRunning(), array.size()));
        AccountRules accounts = new AccountRules(state);
        if (c.immediate()
                && AccountRules.under(desc).stream()
                        .noneMatch(d ->
                                accounts.blocks(d, Allocation.NONE, d.timing().timeLimitMin(), use)
                                        == JobReason.NONE)) {
            return Decision.reject(SlurmErrno.ACCOUNTING_POLICY);
        }
        if (c.immediate()) {
            Optional<Planner.Estimate> estimate = planner.estimate(state, now, desc);
            if (job.eligibleTime() == 0) {
                return Decision.reject(SlurmErrno.CAN_NOT_START_IMMEDIATELY);
            }
            if (estimate.isEmpty() || estimate.get().start() > now.seconds()) {
                return Decision.reject(isBehind(desc) ? SlurmErrno.NOT_TOP_PRIORITY : SlurmErrno.NODES_BUSY);
            }
        }
        SubmitReply reply = new SubmitReply(id, List.of(), 0, "", 0, "");
        List<Change> changes = new ArrayList<>(ids.reservations());
        Map<String, Bytes> blobs = new TreeMap<>();
        blobs.put(desc.payload().scriptHash(), c.script());
        blobs.put(desc.payload().envHash(), c.environment());
        changes.addAll(Requests.stored(state, blobs));
        changes.add(new Change.JobSubmitted(job));
        Requests.remember(changes, c.requestId(), c.uid(), Bytes.of(Codec.encode(reply)));
        return Decision.of(changes, reply);
    }

    /** Tests whether an eligible job that was submitted earlier waits for nodes in the same partition. */
    private boolean isBehind(JobDesc desc) {
        return state.jobs().values().stream()
                .anyMatch(j -> j.isPending()
                        && j.eligibleTime() > 0
                        && !j.isHeld()
                        && j.desc().partition().equals(desc.partition()));
    }

    Job job(Command.SubmitJob c, AcceptedJob fit, int id, long sluid, Job.Array array) {
        JobDesc desc = fit.desc();
        List<Dependency> dependencies = fit.dependencies();
        JobDesc.Timing timing = desc.timing();
        boolean held = timing.hold() || timing.prioritySet() && timing.priority() == 0;
        long priority;
        if (held) {
            priority = 0;
        } else if (timing.prioritySet()) {
            priority = timing.priority();
        } else {
            priority = Math.max(1, PRIORITY_TOP - sluid - timing.nice());
        }

        boolean waits = timing.beginTime() > now.seconds() || !dependencies.isEmpty();
        JobReason reason;
        if (held) {
            reason = JobReason.JOB_HELD_USER;
        } else if (!dependencies.isEmpty()) {
            reason = JobReason.DEPENDENCY;
        } else if (waits) {
            reason = JobReason.BEGIN_TIME;
        } else {
            reason = JobReason.NONE;
        }

        return new Job(
                id,
                sluid,
                array,
                DescriptionInterner.desc(desc, state),
                JobState.PENDING,
                0,
                reason,
                "",
                priority,
                held ? c.uid() : -1,
                now.seconds(),
                waits || held ? 0 : now.seconds(),
                0,
                0,
                dependencies,
                Job.Run.NONE,
                Job.Het.NONE,
                0,
                "");
    }

    /** Returns the job in the partition that Alternate names, where its own takes no jobs. */
    private JobDesc rerouted(JobDesc desc) {
        JobDesc routed = desc;
        for (int i = 0; i < state.partitions().size(); i++) {
            Optional<Partition> p = state.partitions()
                    .find(routed.partition())
                    .filter(x -> !x.takesJobs() && !x.info().alternate().isEmpty());
            if (p.isEmpty()) {
                return routed;
            }
            routed = routed.withPartition(p.get().info().alternate());
        }
        return desc;
    }

    private JobDesc withPartition(JobDesc desc) {
        if (!desc.partition().isEmpty()) {
            return desc;
        }
        for (Partition p : state.partitions().values()) {
            if (p.info().isDefault()) {
                return desc.withPartition(p.name());
            }
        }
        return desc;
    }

    /** Returns the texts of the job that are stored unchanged and printed in lists. */
    private static Stream<String> texts(JobDesc d) {
        return Stream.of(
                d.name(),
                d.partition(),
                d.charge().account(),
                d.charge().qos(),
                d.charge().reservation(),
                d.charge().wckey(),
                d.extras().comment(),
                d.extras().adminComment(),
                d.extras().mailUser(),
                d.request().features(),
                d.request().licenses());
    }

    private Optional<Decision.Rejected> refusal(Command.SubmitJob c, JobDesc desc) {
        if (c.uid() != desc.owner().uid() && !Access.isSuperUser(state, c.uid())) {
            return refuse(SlurmErrno.USER_ID_MISSING);
        }
        if (desc.owner().uid() == 0 && state.settings().disableRootJobs()) {
            return refuse(SlurmErrno.USER_ID_MISSING);
        }
        if (texts(desc).anyMatch(t -> t.getBytes(StandardCharsets.UTF_8).length > TEXT_BYTES_MAX)) {
            return refuse(SlurmErrno.PATHNAME_TOO_LONG);
        }
        if (desc.partition().isEmpty()) {
            return refuse(SlurmErrno.DEFAULT_PARTITION_NOT_SET);
        }
        Optional<SlurmErrno> privileged = privilegeRefusal(c, desc);
        if (privileged.isPresent()) {
            return refuse(privileged.get());
        }
        if (c.desc().charge().wckey().startsWith("*")) {
            return refuse(SlurmErrno.INVALID_WCKEY); // so the default one is shown
        }
        if (desc.extras().warnReserve() && !new PreemptPolicy(state).isOn()) {
            return refuse(SlurmErrno.PREEMPTION_REQUIRED);
        }
        Optional<SlurmErrno> outside = new ReservationRules(state, now, planner).refusal(desc);
        if (outside.isPresent()) {
            return refuse(outside.get());
        }
        if (isTooLong(desc)) {
            return refuse(SlurmErrno.INVALID_TIME_MIN);
        }
        Optional<SlurmErrno> late = pastDeadline(desc.timing());
        if (late.isPresent()) {
            return refuse(late.get());
        }
        if (hasMaxJobs()) {
            return Optional.of(new Decision.Rejected(SlurmErrno.MAX_JOB_COUNT, "Resource temporarily unavailable"));
        }
        return SamplingInterval.refusal(state.settings(), desc.extras().acctgFreq(), desc.request())
                .or(() -> partitionRefusal(desc))
                .or(() -> planner.infeasible(state, desc));
    }

    /** Tests whether MaxJobCount jobs are active, or no job number is left. */
    private boolean hasMaxJobs() {
        int active = state.jobs().size() - state.ended().size();
        long numbers = (long) state.settings().maxJobId()
                - Math.max(1, state.settings().firstJobId());
        return active >= state.settings().maxJobCount() || state.jobs().size() >= numbers;
    }

    /**
     * Refuses what needs a right: a negative nice value and a priority need an operator, a reboot of the nodes needs an
     * administrator.
     */
    private Optional<SlurmErrno> privilegeRefusal(Command.SubmitJob c, JobDesc desc) {
        boolean operator = Access.isOperator(state, c.uid());
        if (desc.timing().nice() < 0 && !operator) {
            return Optional.of(SlurmErrno.INVALID_NICE);
        }
        if (desc.timing().prioritySet() && desc.timing().priority() != 0 && !operator) {
            return Optional.of(SlurmErrno.ACCESS_DENIED);
        }
        if (desc.extras().reboot() && !Access.isAdmin(state, c.uid())) {
            return Optional.of(SlurmErrno.ACCESS_DENIED);
        }
        return Optional.empty();
    }

    /** Tests whether the job's --time-min is longer than the MaxTime of each of its partitions. */
    private boolean isTooLong(JobDesc desc) {
        int minLimitMin = desc.timing().timeMinMin();
        return minLimitMin > 0
                && desc.partitionList().stream()
                        .allMatch(name -> state.partitions()
                                .find(name)
                                .filter(p -> p.info().maxTimeMin() >= 0
                                        && minLimitMin > p.info().maxTimeMin())
                                .isPresent());
    }

    /**
     * Refuses a deadline that has passed, or that the shortest run the job accepts would miss even if it began at once,
     * or when it may begin.
     */
    private Optional<SlurmErrno> pastDeadline(JobDesc.Timing t) {
        if (t.timeMinMin() > 0 && t.timeLimitMin() > 0 && t.timeMinMin() > t.timeLimitMin()) {
            return Optional.of(SlurmErrno.INVALID_TIME_MIN);
        }
        if (t.deadline() == 0) {
            return Optional.empty();
        }
        long begin = Math.max(now.seconds(), t.beginTime());
        if (t.timeMinMin() > 0 && begin + t.timeMinMin() * 60L > t.deadline()) {
            return Optional.of(SlurmErrno.INVALID_TIME_MIN);
        }
        boolean fixed = t.timeMinMin() == 0 && t.timeLimitMin() > 0;
        return t.deadline() <= now.seconds() || fixed && begin + t.timeLimitMin() * 60L > t.deadline()
                ? Optional.of(SlurmErrno.INVALID_TIME_LIMIT)
                : Optional.empty();
    }

    /**
     * Checks the partitions of a job: each one named must exist, and one of them must be open to the job;
     * EnforcePartLimits counts the limits of those.
     */
    private Optional<Decision.Rejected> partitionRefusal(JobDesc desc) {
        List<Partition> open = new ArrayList<>();
        Optional<SlurmErrno> closed = Optional.empty();
        for (String name : desc.partitionList()) {
            Optional<Partition> partition = state.partitions().find(name);
            if (partition.isEmpty()) {
                return refuse(SlurmErrno.INVALID_PARTITION_NAME);
            }
            Optional<SlurmErrno> why = whyClosed(desc, partition.get());
            if (why.isEmpty()) {
                open.add(partition.get());
            }
            closed = closed.or(() -> why);
        }
        return (open.isEmpty() ? closed : brokenLimit(desc, open)).map(Decision::reject);
    }

    /** Returns why no job of this kind may ever be in the partition's queue. */
    private Optional<SlurmErrno> whyClosed(JobDesc desc, Partition partition) {
        PartitionInfo info = partition.info();
        if (!partition.takesJobs()) {
            return Optional.of(SlurmErrno.PARTITION_NOT_AVAIL);
        }
        boolean root = desc.owner().uid() == 0;
        if (info.rootOnly() && !root || !PartitionLimits.mayEnter(desc, partition)) {
            return Optional.of(SlurmErrno.ACCESS_DENIED);
        }
        if (info.disableRootJobs() && root) {
            return Optional.of(SlurmErrno.USER_ID_MISSING);
        }
        if (desc.timing().timeLimitMin() == 0 && info.defaultTimeMin() == PartitionInfo.NO_TIME) {
            return Optional.of(SlurmErrno.INVALID_TIME_LIMIT);
        }
        return !enforcesLimits() && PartitionLimits.hasTooFewTasks(desc, partition, state)
                ? Optional.of(SlurmErrno.BAD_TASK_COUNT)
                : Optional.empty();
    }

    private boolean enforcesLimits() {
        return List.of("ALL", "ANY").contains(state.settings().enforcePartLimits());
    }

    /**
     * Returns the error of a broken partition limit: with ALL each partition's limits must hold, with ANY those of one
     * that is up; a partition that is down is no reason to refuse.
     */
    private Optional<SlurmErrno> brokenLimit(JobDesc desc, List<Partition> open) {
        if (!enforcesLimits()) {
            return Optional.empty();
        }
        List<SlurmErrno> broken = new ArrayList<>();
        for (Partition p : open) {
            Optional<SlurmErrno> limit = PartitionLimits.broken(desc, p, state)
                    .or(() -> PartitionLimits.hasTooFewTasks(desc, p, state)
                            ? Optional.of(SlurmErrno.INVALID_NODE_COUNT)
                            : Optional.empty());
            if (limit.isEmpty()
                    && p.isUp()
                    && state.settings().enforcePartLimits().equals("ANY")) {
                return Optional.empty();
            }
            limit.ifPresent(broken::add);
        }
        if (broken.isEmpty() || state.settings().enforcePartLimits().equals("ALL")) {
            return broken.stream().findFirst();
        }
        return Optional.of(
                broken.size() < open.size() ? SlurmErrno.REQUESTED_PART_CONFIG_UNAVAILABLE : broken.getLast());
    }

    private static Optional<Decision.Rejected> refuse(SlurmErrno errno) {
        return Optional.of(Decision.reject(errno));
    }

    /** Returns the array asked for: empty if the specification is bad; size 0 for none. */
    private Optional<Job.Array> array(String text) {
        if (text.isEmpty()) {
            return Optional.of(Job.Array.NONE);
        }
        List<IndexSet.Spec> spec = IndexSet.parseArray(
                text, Math.min(IndexSet.MAX_INDEX, state.settings().maxArraySize() - 1));
        if (spec.isEmpty()) {
            return Optional.empty();
        }
        IndexSet tasks = spec.getFirst().indexes();
        if (tasks.count() > state.settings().options().submission().arrayTasksMax()) {
            return Optional.empty();
        }
        return Optional.of(new Job.Array(0, -1, tasks, spec.getFirst().limit(), tasks.count()));
    }
}
