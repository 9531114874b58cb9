package dev.muster.core.limits;

import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.HostList;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.ResourceRequest;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** A partition's limits on one job. */
public final class PartitionLimits {
    private PartitionLimits() {}

    /**
     * Returns the limit the job runs under: a job that may be shorter (--time-min) still gets its full time where it
     * fits.
     */
    public static int runMin(JobDesc desc, Partition partition) {
        int limit = timeLimitMin(desc, partition);
        int maxMin = partition.info().maxTimeMin();
        return maxMin >= 0 && desc.timing().timeMinMin() > 0 && (limit < 0 || limit > maxMin) ? maxMin : limit;
    }

    /**
     * Returns the job under those of its QOS that the partition admits and that nothing keeps back; under its first
     * where all are.
     */
    public static List<Job> under(Job job, Partition partition, State state, Predicate<Job> isFree) {
        if (job.desc().charge().qos().indexOf(',') < 0) {
            return List.of(job);
        }
        List<Job> free = job.desc().charge().eachQos().stream()
                .filter(q -> admits(partition.info(), q))
                .map(job::underQos)
                .filter(j -> reason(j.desc(), partition, state) == JobReason.NONE)
                .filter(isFree)
                .toList();
        return free.isEmpty() ? List.of(job.underQos(job.desc().charge().firstQos())) : free;
    }

    /**
     * Returns the minutes for which the job may begin where its whole time would not fit ({@code --time-min}); -1 if it
     * is to have all of it.
     */
    public static int shortestMin(JobDesc desc, int limitMin, Settings settings) {
        int minLimitMin = desc.timing().timeMinMin();
        return minLimitMin > 0 && (limitMin < 0 || minLimitMin < limitMin) && !SoftLimit.has(desc, settings)
                ? minLimitMin
                : -1;
    }

    /** Returns the minutes the job would get in this partition; -1 for no limit. */
    public static int timeLimitMin(JobDesc desc, Partition partition) {
        int asked = desc.timing().timeLimitMin();
        if (asked != 0) {
            return asked;
        }
        int standard = partition.info().defaultTimeMin();
        return standard != 0 && standard != PartitionInfo.NO_TIME
                ? standard
                : partition.info().maxTimeMin();
    }

    /**
     * Returns the tick at which the time of a job that starts is up, by its limit or its deadline; -1 for never.
     *
     * @param readyS until its nodes have come up, at most: its limit does not pass before
     */
    public static long endTick(JobDesc.Timing timing, int limitMin, int readyS, DecisionTime now) {
        long byLimit = limitMin < 0 ? -1 : now.tickMs() + limitMin * 60_000L + readyS * 1000L;
        if (timing.deadline() <= 0) {
            return byLimit;
        }
        long byDeadline = now.tickMs() + Math.max(0, timing.deadline() - now.seconds()) * 1000;
        return byLimit < 0 ? byDeadline : Math.min(byLimit, byDeadline);
    }

    /**
     * Memory that a job is given, in mebibytes: at most one of the three.
     *
     * @param perNodeMb 0 if memory is not set per node
     * @param perCpuMb 0 if memory is not set per CPU
     * @param all every node's whole memory
     */
    public record Memory(long perNodeMb, long perCpuMb, boolean all) {}

    /**
     * Tests whether the job may use all memory that there is, and neither it nor its partition says how much that is to
     * be.
     */
    public static boolean saysNoMemory(ResourceRequest r, Memory memory) {
        return memory.perNodeMb() == 0 && memory.perCpuMb() == 0 && r.memPerGpuMb() == 0;
    }

    /**
     * Returns the memory that the job asks for; where it says nothing, the partition's default, else the cluster's,
     * else, where memory is allocated, all memory of the node.
     */
    public static Memory memory(ResourceRequest r, Partition partition, Settings settings) {
        if (r.memPerNodeMb() > 0 || r.memPerCpuMb() > 0 || r.memAll() || r.memPerGpuMb() > 0) {
            return new Memory(r.memPerNodeMb(), r.memPerCpuMb(), r.memAll());
        }
        long perCpu = first(partition.info().defMemPerCpuMb(), Math.max(0, settings.defMemPerCpuMb()));
        long perNode =
                perCpu > 0 ? 0 : first(partition.info().defMemPerNodeMb(), Math.max(0, settings.defMemPerNodeMb()));
        return new Memory(perNode, perCpu, partition.consumesMemory(settings) && perCpu == 0 && perNode == 0);
    }

    /**
     * MaxMemPerCPU: a job that asks for more memory than its CPUs may have gets more CPUs, per task where it asks per
     * CPU, per node where it asks per node. By the first of its partitions.
     */
    public static JobDesc withCpusForMemory(JobDesc desc, State state) {
        ResourceRequest r = desc.request();
        Optional<Partition> partition = state.partitions().find(desc.firstPartition());
        long maxPerCpuMb = partition
                .map(p -> first(p.info().maxMemPerCpuMb(), state.settings().maxMemPerCpuMb()))
                .orElse(0L);
        if (maxPerCpuMb <= 0 || r.memPerGpuMb() > 0) {
            return desc;
        }
        Memory memory = memory(r, partition.get(), state.settings());
        long perNode = memory.all()
                ? partition.get().nodes().stream()
                        .findFirst()
                        .flatMap(n -> state.nodes().find(n))
                        .map(n -> Math.min(n.spec().memoryMb(), n.spec().cpus() * maxPerCpuMb))
                        .orElse(0L)
                : memory.perNodeMb();
        long times = SaturatingMath.dividedUp(r.memPerCpuMb(), maxPerCpuMb);
        if (times <= 1 && perNode <= maxPerCpuMb) {
            return desc;
        }
        ResourceRequest out = times > 1 ? r.withMemPerCpuMb(SaturatingMath.dividedUp(r.memPerCpuMb(), times)) : r;
        int perTask = times > 1
                ? SaturatingMath.toInt(SaturatingMath.times(Math.max(1, r.cpusPerTask()), times))
                : r.cpusPerTask();
        int perNodeMin = r.cpusPerNodeMin();
        if (perNode > maxPerCpuMb) {
            long cpus = SaturatingMath.dividedUp(perNode, maxPerCpuMb);
            int onNode = Math.max(1, r.tasksPerNode() > 0 ? r.tasksPerNode() : r.tasks() / Math.max(1, r.nodesMin()));
            perTask = Math.max(
                    Math.max(1, r.cpusPerTask()), SaturatingMath.toInt(SaturatingMath.dividedUp(cpus, onNode)));
            perNodeMin = Math.max(perNodeMin, SaturatingMath.times(perTask, onNode));
        }
        return desc.withRequest(out.withCpus(perTask, perNodeMin, askedBefore(r, perTask)));
    }

    /**
     * CPUs per task that the job requested before its memory raised them: -1 for none, 0 if memory did not raise them.
     */
    private static int askedBefore(ResourceRequest r, int perTask) {
        if (perTask <= r.cpusPerTask()) {
            return r.cpusPerTaskAsked();
        }
        return r.cpusPerTask() > 0 ? r.cpusPerTask() : -1;
    }

    /**
     * Returns the memory that the job asks for in the first of its partitions, as {@link #memory(ResourceRequest,
     * Partition, Settings)}.
     */
    public static Memory memory(State state, Job job) {
        return memory(state, job.desc());
    }

    public static Memory memory(State state, JobDesc desc) {
        ResourceRequest r = desc.request();
        return state.partitions()
                .find(desc.firstPartition())
                .map(p -> memory(r, p, state.settings()))
                .orElse(new Memory(r.memPerNodeMb(), r.memPerCpuMb(), r.memAll()));
    }

    /** OverTimeLimit: minutes that a job and its steps may run on beyond their limits; -1 for ever. */
    public static int overTimeMin(State state, Job job) {
        int own = state.partitions()
                .find(job.desc().partition())
                .map(p -> p.info().overTimeLimitMin())
                .filter(m -> m >= 0)
                .orElse(state.settings().overTimeLimitMin());
        return own == PartitionInfo.OVER_UNLIMITED ? -1 : own;
    }

    /**
     * Returns the limit of a job that starts now: no longer than its deadline allows where it may be shorter (no limit
     * said, or --time-min).
     */
    public static int byDeadline(JobDesc.Timing timing, int limitMin, long nowSeconds) {
        boolean flexible = timing.timeLimitMin() <= 0 || timing.timeMinMin() > 0;
        if (timing.deadline() == 0 || !flexible) {
            return limitMin;
        }
        int left = (int) Math.max(1, Math.min(Integer.MAX_VALUE, (timing.deadline() - nowSeconds) / 60));
        return limitMin < 0 ? left : Math.min(limitMin, left);
    }

    /** Tests whether less than a minute is left to the job's deadline, which is too little for a limit. */
    public static boolean isTooLate(JobDesc.Timing timing, long nowSeconds) {
        return timing.deadline() > 0 && timing.deadline() - nowSeconds < 60;
    }

    /** Returns the limit that the job breaks, if any. */
    public static Optional<SlurmErrno> broken(JobDesc desc, Partition partition, State state) {
        return switch (reason(desc, partition, state)) {
            case PARTITION_TIME_LIMIT -> Optional.of(SlurmErrno.INVALID_TIME_LIMIT);
            case PARTITION_NODE_LIMIT -> Optional.of(SlurmErrno.INVALID_NODE_COUNT);
            case MAX_MEM_PER_LIMIT -> Optional.of(SlurmErrno.INVALID_TASK_MEMORY);
            case ACCOUNT_NOT_ALLOWED -> Optional.of(SlurmErrno.INVALID_ACCOUNT);
            case QOS_NOT_ALLOWED -> Optional.of(SlurmErrno.INVALID_QOS);
            case PARTITION_CONFIG -> Optional.of(SlurmErrno.JOB_MISSING_REQUIRED_PARTITION_GROUP);
            default -> Optional.empty();
        };
    }

    /** Returns the nodes that a job of the partition has at least: MinNodes, unless its QOS lifts that. */
    public static int minNodes(JobDesc desc, Partition partition, State state) {
        int minNodes = partition.info().minNodes();
        return minNodes > 1 && QosRules.has(state, desc, QosRules.MIN_NODES) ? 1 : minNodes;
    }

    /**
     * Tests whether the job has too few tasks: it says how many it has, and the partition or the job asks for more
     * nodes than that; 26.05 has no nodes without tasks.
     */
    public static boolean hasTooFewTasks(JobDesc desc, Partition partition, State state) {
        ResourceRequest r = desc.request();
        return r.tasks() > 0 && r.tasks() < Math.max(r.nodesMin(), minNodes(desc, partition, state));
    }

    /** Tests for the reasons for which a job must wait although nodes may be free: {@link #reason}. */
    public static boolean isOfPartition(JobReason reason) {
        return switch (reason) {
            case PARTITION_TIME_LIMIT,
                    PARTITION_NODE_LIMIT,
                    PARTITION_DOWN,
                    PARTITION_INACTIVE,
                    MAX_MEM_PER_LIMIT,
                    ACCOUNT_NOT_ALLOWED,
                    QOS_NOT_ALLOWED,
                    PARTITION_CONFIG -> true;
            default -> false;
        };
    }

    /** Compares the shortest time that the job accepts with MaxTime; 0 means that it sets none. */
    private static boolean exceedsMaxTime(JobDesc desc, Partition partition) {
        int maxMin = partition.info().maxTimeMin();
        int timeMin = desc.timing().timeMinMin();
        int shortestMin = timeMin > 0 ? timeMin : desc.timing().timeLimitMin();
        return maxMin >= 0 && (shortestMin < 0 || shortestMin > maxMin);
    }

    private static boolean exceedsMaxNodes(JobDesc desc, Partition partition) {
        int maxNodes = partition.info().maxNodes();
        int nodes = Math.max(desc.request().nodesMin(), desc.request().nodesMax());
        return maxNodes >= 0 && Math.max(1, nodes) > maxNodes;
    }

    /**
     * Returns why the job must wait in this partition although nodes may be free; NONE if it need not. Its QOS may lift
     * some of the limits.
     */
    public static JobReason reason(JobDesc desc, Partition partition, State state) {
        if (!partition.isUp()) {
            return partition.info().state().equals("INACTIVE")
                    ? JobReason.PARTITION_INACTIVE
                    : JobReason.PARTITION_DOWN;
        }
        if (!admitsGroups(partition.info(), desc.owner(), state)) {
            return JobReason.PARTITION_CONFIG;
        }
        if (!admitsAccount(partition.info(), desc.charge().account(), state)) {
            return JobReason.ACCOUNT_NOT_ALLOWED;
        }
        if (desc.charge().eachQos().stream().noneMatch(q -> admits(partition.info(), q))) {
            return JobReason.QOS_NOT_ALLOWED;
        }
        if (exceedsMaxTime(desc, partition) && !QosRules.has(state, desc, QosRules.TIME_LIMIT)) {
            return JobReason.PARTITION_TIME_LIMIT;
        }
        if (exceedsMaxNodes(desc, partition) && !QosRules.has(state, desc, QosRules.MAX_NODES)) {
            return JobReason.PARTITION_NODE_LIMIT;
        }
        int nodesMax = desc.request().nodesMax();
        if (nodesMax > 0 && nodesMax < minNodes(desc, partition, state)) {
            return JobReason.PARTITION_NODE_LIMIT;
        }
        long maxMemory =
                first(partition.info().maxMemPerNodeMb(), state.settings().maxMemPerNodeMb());
        return maxMemory > 0 && desc.request().memPerNodeMb() > maxMemory
                ? JobReason.MAX_MEM_PER_LIMIT
                : JobReason.NONE;
    }

    /** Tests whether a job comes to the partition as it may, whatever EnforcePartLimits says. */
    public static boolean mayEnter(JobDesc desc, Partition partition) {
        PartitionInfo info = partition.info();
        return !(info.requireReservation() && desc.charge().reservation().isEmpty())
                && allows(info.allocNodes(), desc.payload().submitHost());
    }

    /** Tests whether AllowGroups admits the owner; root and SlurmUser are of all groups. */
    public static boolean admitsGroups(PartitionInfo info, Identity owner, State state) {
        return !restricts(info.allowGroups())
                || owner.uid() == 0
                || owner.uid() == state.settings().slurmUid()
                || info.allowGids().stream()
                        .anyMatch(g -> owner.gid() == g || owner.gids().contains(g));
    }

    /**
     * Returns whether AllowGroups admits a user.
     *
     * @param member whether the user is in the group with this number
     */
    public static boolean admitsGroups(PartitionInfo info, IntPredicate member) {
        return !restricts(info.allowGroups()) || info.allowGids().stream().anyMatch(member::test);
    }

    /**
     * A job's list of partitions without those that take no jobs, unless none of them does; a name without a partition
     * stays.
     */
    public static String takingJobs(String partitions, State state) {
        List<String> open = Stream.of(partitions.split(",", -1))
                .filter(p ->
                        state.partitions().find(p).filter(x -> !x.takesJobs()).isEmpty())
                .toList();
        return open.isEmpty() ? partitions : String.join(",", open);
    }

    /**
     * Tests whether the partition admits the account, which stands for those below it. The lists count where
     * AccountingStorageEnforce has associations: other accounts are not checked.
     */
    public static boolean admitsAccount(PartitionInfo info, String account, State state) {
        if (!restricts(info.allowAccounts()) && info.denyAccounts().isEmpty()
                || !state.settings()
                        .options()
                        .accounting()
                        .enforcement()
                        .has(AccountingEnforcement.Word.ASSOCIATIONS)) {
            return true;
        }
        Accounts known = state.accounts();
        return restricts(info.allowAccounts())
                ? known.isUnder(account, a -> names(info.allowAccounts(), a))
                : !known.isUnder(account, a -> names(info.denyAccounts(), a));
    }

    /** Returns the refusal by the first of a job's partitions that does not admit its account or QOS; "" if all do. */
    public static String notAdmitted(JobDesc desc, State state, boolean byQos) {
        for (String name : desc.partitionList()) {
            Optional<PartitionInfo> info = state.partitions().find(name).map(Partition::info);
            String own = byQos ? desc.charge().firstQos() : desc.charge().account();
            boolean admitted =
                    info.isEmpty() || (byQos ? admits(info.get(), own) : admitsAccount(info.get(), own, state));
            if (!admitted) {
                String allows = byQos ? info.get().allowQos() : info.get().allowAccounts();
                String denies = byQos ? info.get().denyQos() : info.get().denyAccounts();
                if (byQos && state.accounts().qos(own).isEmpty()) {
                    return "Job's QOS not known, so it can't use this partition (" + name
                            + (restricts(allows) ? " allows " + allows : " denies " + denies) + ")";
                }
                return "Job's " + (byQos ? "QOS" : "account") + " not permitted to use this partition (" + name
                        + (restricts(allows) ? " allows " + allows + " not " : " denies " + denies + " including ")
                        + own + ")";
            }
        }
        return "";
    }

    /** Tests whether jobs of a QOS ("" for none) may run there. */
    public static boolean admits(PartitionInfo info, String qos) {
        return restricts(info.allowQos()) ? allows(info.allowQos(), qos) : !names(info.denyQos(), qos);
    }

    public static boolean restricts(String list) {
        return !list.isEmpty() && !list.equalsIgnoreCase("ALL");
    }

    private static boolean allows(String list, String name) {
        return !restricts(list) || names(list, name);
    }

    private static boolean names(String list, String name) {
        if (list.isEmpty() || name.isEmpty()) {
            return false;
        }
        return HostList.parse(list) instanceof HostList.Parsed.Ok ok
                && ok.list().names().stream().anyMatch(n -> n.equalsIgnoreCase(name));
    }

    private static long first(long a, long b) {
        return a > 0 ? a : b;
    }
}
