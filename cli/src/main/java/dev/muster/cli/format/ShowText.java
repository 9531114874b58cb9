package dev.muster.cli.format;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.Durations;
import dev.muster.model.format.MemorySize;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.CpuFreq;
import java.util.List;
import java.util.Optional;

/** Writes the records of {@code scontrol show}: {@code Key=Value} lines, or one line with {@code -o}. */
public final class ShowText {
    private final CommandContext context;
    private final boolean oneLine;
    private final long now;
    private StringBuilder text = new StringBuilder(0);

    public ShowText(CommandContext context, boolean oneLine, long now) {
        this.context = context;
        this.oneLine = oneLine;
        this.now = now;
    }

    private void begin() {
        text = new StringBuilder(1024);
    }

    private ShowText add(String key, String value) {
        if (!text.isEmpty() && text.charAt(text.length() - 1) != ' ') {
            text.append(' ');
        }
        text.append(key).append('=').append(value);
        return this;
    }

    /** Reports whether the job ended before it had nodes. */
    private static boolean isStartless(Json.Obj job) {
        return job.text("nodes").isEmpty() && !JobRows.isPending(job);
    }

    private ShowText add(String key, long value) {
        return add(key, Long.toString(value));
    }

    private ShowText flag(String key, boolean value) {
        return add(key, value ? "YES" : "NO");
    }

    private void line() {
        text.append(oneLine ? " " : "\n   ");
    }

    private String end() {
        return oneLine ? text.toString().stripTrailing() : text.append('\n').toString();
    }

    private String time(Json.Obj o, String field, String none) {
        return JobRows.time(o, field, none, context.host().zone(), context.env("SLURM_TIME_FORMAT"), now);
    }

    private static String orNull(Json.Obj o, String field) {
        return JobRows.orNull(o.text(field));
    }

    private static String limit(int minutes, String none) {
        return minutes == 0 ? none : Durations.fullMinutes(minutes);
    }

    /** A partition's: 0 where it has none, so that none at all is another number. */
    private static String defaultTime(int minutes) {
        return minutes == PartitionInfo.NO_TIME ? Durations.fullMinutes(0) : limit(minutes, "NONE");
    }

    public String job(Json.Obj job, boolean details) {
        begin();
        add("JobId", job.integer("jobId"));
        if (job.integer("arrayJobId") != 0) {
            add("ArrayJobId", job.integer("arrayJobId"));
            String tasks = JobRows.arrayTasks(job);
            add(
                    "ArrayTaskId",
                    tasks.isEmpty()
                            ? Integer.toString(JobRows.taskId(job))
                            : JobRows.cut(tasks, JobRows.indexesShown(context)));
            if (job.integer("arrayMaxRunning") != 0) {
                add("ArrayTaskThrottle", job.integer("arrayMaxRunning"));
            }
        }
        boolean component = job.integer("hetJobId") != 0;
        if (component) {
            add("HetJobId", job.integer("hetJobId")).add("HetJobOffset", job.integer("hetOffset"));
        }
        add("JobName", job.text("name"));
        line();
        if (details) {
            add("SLUID", Sluid.text(job.number("sluid")));
            line();
        }
        if (component) {
            add("HetJobIdSet", job.text("hetJobIdSet"));
            line();
        }
        add("UserId", job.text("userName") + "(" + job.integer("userId") + ")");
        add("GroupId", job.text("groupName") + "(" + job.integer("groupId") + ")");
        add("MCS_label", JobRows.orNA(job.text("mcsLabel")));
        line();
        add("Priority", job.number("priority")).add("Nice", job.number("nice")).add("Account", orNull(job, "account"));
        add("QOS", orNull(job, "qos"));
        if (context.host().settings().trackWckey) {
            add("WCKey", job.text("wckey"));
        }
        line();
        add("JobState", JobRows.stateLong(job))
                .add("Reason", JobRows.reason(job).replace(' ', '_'))
                .add("Dependency", orNull(job, "dependency"));
        line();
        jobTimes(job, details);
        line();
        jobPlace(job);
        if (details) {
            jobDetails(job);
        }
        jobNeeds(job);
        jobFiles(job);
        return end();
    }

    private void jobTimes(Json.Obj job, boolean details) {
        Json.Obj exit = job.obj("exit");
        add("Requeue", job.flag("requeue") ? 1 : 0).add("Restarts", job.number("restarts"));
        add("BatchFlag", job.flag("batch") ? 1 : 0).add("Reboot", job.flag("reboot") ? 1 : 0);
        add("ExitCode", exit.integer("code") + ":" + exit.integer("signal"));
        line();
        if (job.flag("expedite")) {
            add("ExpeditedRequeue", "Yes");
            line();
        }
        Json.Obj derived = job.obj("derivedExit");
        if (details) {
            add("DerivedExitCode", derived.integer("code") + ":" + derived.integer("signal"));
            line();
        }
        add("RunTime", Durations.full(JobRows.used(job)));
        add("TimeLimit", Durations.fullMinutes(job.integer("timeLimitMin")));
        add("TimeMin", job.integer("timeMinMin") == 0 ? "N/A" : Durations.fullMinutes(job.integer("timeMinMin")));
        line();
        add("SubmitTime", time(job, "submitTime", "Unknown")).add("EligibleTime", time(job, "eligibleTime", "Unknown"));
        line();
        add("AccrueTime", time(job, "accrueTime", "Unknown"));
        line();
        add("StartTime", time(job, "startTime", "Unknown")).add("EndTime", time(job, "endTime", "Unknown"));
        add("Deadline", time(job, "deadline", "N/A"));
        line();
        if (job.number("preemptEligibleTime") != 0) {
            add("PreemptEligibleTime", time(job, "preemptEligibleTime", "None"))
                    .add("PreemptTime", time(job, "preemptTime", "None"));
            line();
        }
        if (!job.text("cronSpec").isEmpty()) {
            add("CronJob", "Yes").add("CrontabSpec", '"' + job.text("cronSpec") + '"');
            line();
        }
        add("SuspendTime", time(job, "suspendTime", "None")).add("SecsPreSuspend", job.number("preSuspendSeconds"));
        add("LastSchedEval", time(job, "lastSchedEval", "Unknown"))
                .add("Scheduler", job.flag("backfilled") ? "Backfill" : "Main");
    }

    private void jobPlace(Json.Obj job) {
        add("Partition", job.text("partition"));
        add("AllocNode:Sid", job.text("submitHost") + ":" + job.integer("submitPid"));
        line();
        add("ReqNodeList", orNull(job, "nodeListRequested")).add("ExcNodeList", orNull(job, "excludeList"));
        line();
        add("NodeList", job.text("nodes"));
        if (!job.text("schedNodes").isEmpty()) {
            add("SchedNodeList", job.text("schedNodes"));
        }
        line();
        if (!job.text("batchFeatures").isEmpty()) {
            add("BatchFeatures", job.text("batchFeatures"));
        }
        if (!job.text("batchHost").isEmpty()) {
            add("BatchHost", job.text("batchHost"));
        }
        if (!job.text("batchFeatures").isEmpty() || !job.text("batchHost").isEmpty()) {
            line();
        }
        if (job.flag("stepMgr")) {
            add("StepMgrEnabled", "Yes");
            line();
        }
        int nodes = job.integer("nodeCount");
        int maximum = job.integer("nodeCountMax");
        add("NumNodes", JobRows.isPending(job) && maximum > 0 ? nodes + "-" + maximum : Integer.toString(nodes));
        add("NumCPUs", job.number("cpus"))
                .add("NumTasks", isStartless(job) ? "N/A" : Long.toString(job.number("tasks")));
        add("CPUs/Task", Math.max(1, job.number("cpusPerTask")));
        add(
                "ReqB:S:C:T",
                "0:0:" + JobRows.orStar(job.integer("coresPerSocket")) + ":"
                        + JobRows.orStar(job.integer("threadsPerCore")));
        line();
        add("ReqTRES", orNull(job, "tresRequested"));
        line();
        add("AllocTRES", orNull(job, "tresAlloc"));
        line();
        add("Socks/Node", JobRows.orStar(job.integer("socketsPerNode")));
        add(
                "NtasksPerN:B:S:C",
                job.integer("tasksPerNode") + ":0:" + JobRows.orStar(job.integer("tasksPerSocket")) + ":"
                        + JobRows.orStar(job.integer("tasksPerCore")));
        int threads = job.integer("threadSpec");
        int cores = job.integer("coreSpec");
        if (threads > 0) {
            add("ThreadSpec", threads);
        } else {
            add("CoreSpec", cores < 0 ? "0" : JobRows.orStar(cores));
        }
        line();
    }

    private void jobDetails(Json.Obj job) {
        List<Json.Obj> shares = job.objects("details");
        add("JOB_GRES", orNull(job, "gresTotal"));
        line();
        for (Json.Obj d : shares) {
            text.append(oneLine ? "" : "  ");
            add("Nodes", d.text("nodes")).add("CPU_IDs", d.text("cpuIds")).add("Mem", d.number("memoryMb"));
            add("GRES", d.text("gres"));
            line();
        }
    }

    private void jobNeeds(Json.Obj job) {
        add("MinCPUsNode", Math.max(1, Math.max(job.number("cpusPerNodeMin"), job.number("cpusPerTask"))));
        if (job.number("memPerCpuMb") != 0) {
            add("MinMemoryCPU", MemorySize.print(job.number("memPerCpuMb")));
        } else if (job.text("memPerTres").isEmpty()) {
            add("MinMemoryNode", MemorySize.print(job.number("memPerNodeMb")));
        }
        add("MinTmpDiskNode", MemorySize.print(job.number("tmpDiskMb")));
        line();
        add("Features", orNull(job, "features"));
        if (!job.text("prefer").isEmpty()) {
            add("Prefer", job.text("prefer"));
        }
        add("DelayBoot", Durations.fullMinutes(job.integer("delayBootMin")));
        line();
        if (job.integer("segment") > 0) {
            add("SegmentSize", job.integer("segment"));
            line();
        }
        for (String kind : List.of("Spread", "Consolidate")) {
            if (job.flag(Texts.lower(kind) + "Segments")) {
                add(kind + "Segments", "Yes");
                line();
            }
        }
        if (!job.text("reservation").isEmpty()) {
            add("Reservation", job.text("reservation"));
            line();
        }
        add("OverSubscribe", JobRows.oversubscribe(job));
        add("Exclusive", job.text("exclusiveUse"));
        add("Contiguous", job.flag("contiguous") ? 1 : 0).add("Licenses", orNull(job, "licenses"));
        add("LicensesAlloc", orNull(job, "licensesAlloc"));
        add("Network", orNull(job, "network"));
        line();
    }

    private void jobFiles(Json.Obj job) {
        add("Command", orNull(job, "command"));
        line();
        if (!job.text("submitLine").isEmpty()) {
            add("SubmitLine", job.text("submitLine"));
            line();
        }
        add("WorkDir", job.text("workDir"));
        optional(job, "adminComment", "AdminComment");
        optional(job, "comment", "Comment");
        if (job.flag("batch")) {
            line();
            add("StdErr", job.flag("ownStderr") ? job.text("stderr") : "");
            line();
            add("StdIn", job.text("stdin"));
            line();
            add("StdOut", job.text("stdout"));
        }
        CpuFreq.parse(job.text("cpuFreq")).ifPresent(this::frequency);
        optional(job, "switches", "Switches");
        optional(job, "burstBuffer", "BurstBuffer");
        optional(job, "burstBufferState", "BurstBufferState");
        optional(job, "container", "Container");
        optional(job, "containerId", "ContainerID");
        optional(job, "containerType", "ContainerType");
        optional(job, "cpusPerTres", "CpusPerTres");
        optional(job, "memPerTres", "MemPerTres");
        optional(job, "tresBind", "TresBind");
        optional(job, "tresFreq", "TresFreq");
        optional(job, "tresPerJob", "TresPerJob");
        optional(job, "tresPerNode", "TresPerNode");
        optional(job, "tresPerSocket", "TresPerSocket");
        optional(job, "tresPerTask", "TresPerTask");
        if (job.integer("tasksPerGpu") > 0) {
            line();
            add("NtasksPerTRES", Integer.toString(job.integer("tasksPerGpu")));
        }
        wishes(job.texts("wishes"));
        if (!job.text("mailType").isEmpty() && !job.text("mailType").equals("NONE")) {
            line();
            add("MailUser", job.text("mailUser").isEmpty() ? job.text("userName") : job.text("mailUser"))
                    .add("MailType", job.text("mailType"));
        }
        optional(job, "extra", "Extra");
    }

    /** Prints a job's wishes on one line with nothing between them, as Slurm does. */
    private void wishes(List<String> all) {
        StringBuilder out = new StringBuilder();
        for (String[] row : new String[][] {
            {"GRES_BINDING_ENFORCED", "GresEnforceBind=Yes"},
            {"GRES_BINDING_DISABLED", "GresEnforceBind=No"},
            {"KILL_INVALID_DEPENDENCY", "KillOInInvalidDependent=Yes"},
            {"NO_KILL_INVALID_DEPENDENCY", "KillOInInvalidDependent=No"},
            {"SPREAD_JOB", "SpreadJob=Yes"}
        }) {
            out.append(all.contains(row[0]) ? row[1] : "");
        }
        if (!out.isEmpty()) {
            line();
            text.append(out);
        }
    }

    private void frequency(CpuFreq f) {
        line();
        frequencies(f);
    }

    private void frequencies(CpuFreq frequency) {
        if (!frequency.min().isEmpty()) {
            add("CPU_min_freq", frequency.min());
        }
        if (!frequency.max().isEmpty()) {
            add("CPU_max_freq", frequency.max());
        }
        if (!frequency.governor().isEmpty()) {
            add("Governor", frequency.governor());
        }
    }

    private void optional(Json.Obj o, String field, String key) {
        if (!o.text(field).isEmpty()) {
            line();
            add(key, o.text(field));
        }
    }

    public String node(Json.Obj node, boolean details) {
        begin();
        add("NodeName", node.text("name"));
        if (!node.text("architecture").isEmpty()) {
            add("Arch", node.text("architecture"));
        }
        if (!node.text("cpuBind").isEmpty()) {
            add("CpuBind", node.text("cpuBind"));
        }
        add("CoresPerSocket", node.number("coresPerSocket"));
        text.append(' ');
        line();
        add("CPUAlloc", node.number("cpusAllocated")).add("CPUEfctv", node.number("cpusEffective"));
        add("CPUTot", node.number("cpus")).add("CPULoad", NodeRows.load(node));
        line();
        add("AvailableFeatures", orNull(node, "features"));
        line();
        add("ActiveFeatures", orNull(node, "activeFeatures"));
        line();
        add("Gres", orNull(node, "gres"));
        line();
        if (details) {
            add("GresDrain", node.text("gresDrain").isEmpty() ? "N/A" : node.text("gresDrain"));
            line();
        }
        if (details && !node.text("gresUsed").isEmpty()) {
            add("GresUsed", node.text("gresUsed"));
            line();
        }
        add("NodeAddr", node.text("address"))
                .add("NodeHostName", node.text("hostname"))
                .add("Port", node.number("port"));
        if (!node.text("version").isEmpty()) {
            add("Version", node.text("version"));
        }
        line();
        if (!node.text("operatingSystem").isEmpty()) {
            add("OS", node.text("operatingSystem"));
            text.append(' ');
            line();
        }
        nodeState(node);
        return end();
    }

    private void nodeState(Json.Obj node) {
        add("RealMemory", node.number("memoryMb")).add("AllocMem", node.number("memoryAllocatedMb"));
        add("FreeMem", node.number("memoryFreeMb") == 0 ? "N/A" : Long.toString(node.number("memoryFreeMb")));
        add("Sockets", node.number("sockets")).add("Boards", Math.max(1, node.number("boards")));
        line();
        nodeSpecialization(node);
        add("State", NodeRows.stateFull(node)).add("ThreadsPerCore", node.number("threadsPerCore"));
        add("TmpDisk", node.number("tmpDiskMb")).add("Weight", node.number("weight"));
        int owner = node.integer("owner");
        add("Owner", owner <= 0 ? "N/A" : context.host().userName(owner) + "(" + owner + ")");
        add("MCS_label", JobRows.orNA(node.text("mcsLabel")));
        line();
        if (!NodeRows.nextState(node).isEmpty()) {
            add("NextState", NodeRows.nextState(node));
            line();
        }
        List<String> partitions = node.texts("partitions");
        if (!partitions.isEmpty()) {
            add("Partitions", String.join(",", partitions));
            text.append(' ');
            line();
        }
        add("BootTime", time(node, "bootTime", "None")).add("SlurmdStartTime", time(node, "slurmdStartTime", "None"));
        line();
        add("LastBusyTime", time(node, "lastBusy", "Unknown"))
                .add("ResumeAfterTime", time(node, "resumeAfter", "None"))
                .add("SuspendTime", node.text("suspendTime").matches("[0-9]+") ? node.text("suspendTime") : "INFINITE");
        line();
        add("CfgTRES", node.text("tresConfigured"));
        line();
        add("AllocTRES", node.text("tresAllocated"));
        line();
        add("CurrentWatts", node.flag("metered") ? node.number("watts") : 0)
                .add("AveWatts", node.flag("metered") ? node.number("averageWatts") : 0);
        if (!node.text("reason").isEmpty()) {
            line();
            add(
                    "Reason",
                    node.text("reason") + " [" + node.text("reasonUser") + "@" + time(node, "reasonTime", "Unknown")
                            + "]");
        }
        optional(node, "comment", "Comment");
        optional(node, "extra", "Extra");
        optional(node, "reservation", "ReservationName");
        if (!node.text("instanceId").isEmpty() || !node.text("instanceType").isEmpty()) {
            line();
            add("InstanceId", node.text("instanceId")).add("InstanceType", node.text("instanceType"));
        }
        optional(node, "topology", "Topology");
    }

    /** Cores and memory that jobs cannot have. */
    private void nodeSpecialization(Json.Obj node) {
        if (node.integer("coreSpecCount") != 0 || node.number("memSpecLimitMb") != 0) {
            if (node.integer("coreSpecCount") != 0) {
                add("CoreSpecCount", node.number("coreSpecCount"));
            }
            if (!node.text("cpuSpecList").isEmpty()) {
                add("CPUSpecList", node.text("cpuSpecList"));
            }
            if (node.number("memSpecLimitMb") != 0) {
                add("MemSpecLimit", node.number("memSpecLimitMb"));
            }
            line();
        }
        if (!node.text("restrictedCores").isEmpty()) {
            add("RestrictedCoresPerGPU", node.text("restrictedCores"));
            line();
        }
    }

    public String partition(Json.Obj partition) {
        begin();
        add("PartitionName", partition.text("name"));
        line();
        add("AllowGroups", orAll(partition, "allowGroups"));
        if (partition.text("denyAccounts").isEmpty()
                || !orAll(partition, "allowAccounts").equalsIgnoreCase("ALL")) {
            add("AllowAccounts", orAll(partition, "allowAccounts"));
        } else {
            add("DenyAccounts", partition.text("denyAccounts"));
        }
        if (partition.text("denyQos").isEmpty() || !orAll(partition, "allowQos").equalsIgnoreCase("ALL")) {
            add("AllowQos", orAll(partition, "allowQos"));
        } else {
            add("DenyQos", partition.text("denyQos"));
        }
        line();
        add("AllocNodes", orAll(partition, "allocNodes"));
        if (!partition.text("alternate").isEmpty()) {
            add("Alternate", partition.text("alternate"));
        }
        flag("Default", partition.flag("isDefault"));
        if (!partition.text("cpuBind").isEmpty()) {
            add("CpuBind", partition.text("cpuBind") + " ");
        }
        add("QoS", JobRows.orNA(partition.text("qos")));
        line();
        add("DefaultTime", defaultTime(partition.integer("defaultTimeMin")));
        flag("DisableRootJobs", partition.flag("disableRootJobs"));
        add("Exclusive", exclusive(partition));
        add("GraceTime", partition.number("graceTimeSeconds"));
        flag("Hidden", partition.flag("hidden"));
        line();
        add("MaxNodes", partition.number("maxNodes") == 0 ? "0" : orUnlimited(partition.number("maxNodes")));
        add("MaxTime", Durations.fullMinutes(partition.integer("maxTimeMin")));
        add("MinNodes", partition.number("minNodes")).flag("LLN", partition.flag("leastLoadedNodes"));
        add("MaxCPUsPerNode", cpusMax(partition.number("maxCpusPerNode")));
        add("MaxCPUsPerSocket", cpusMax(partition.number("maxCpusPerSocket")));
        line();
        if (!partition.text("nodeSets").isEmpty()) {
            add("NodeSets", partition.text("nodeSets"));
            line();
        }
        add("Nodes", orNull(partition, "nodes"));
        line();
        partitionPolicy(partition);
        return end();
    }

    private static String exclusive(Json.Obj partition) {
        if (partition.flag("exclusiveTopo")) {
            return "TOPO";
        }
        if (partition.flag("exclusiveUser")) {
            return "USER";
        }
        return partition.flag("exclusiveNode")
                        || partition.text("overSubscribe").equals("EXCLUSIVE")
                ? "NODE"
                : "NO";
    }

    private void partitionPolicy(Json.Obj partition) {
        add("PriorityJobFactor", partition.number("priorityJobFactor"))
                .add("PriorityTier", partition.number("priorityTier"));
        flag("RootOnly", partition.flag("rootOnly")).flag("ReqResv", partition.flag("requireReservation"));
        add(
                "OverSubscribe",
                partition.text("overSubscribe").matches("|EXCLUSIVE") ? "NO" : partition.text("overSubscribe"));
        line();
        add("OverTimeLimit", overTimeLimit(partition.integer("overTimeLimitMin")));
        add("PreemptMode", partition.text("preemptMode").isEmpty() ? "OFF" : partition.text("preemptMode"));
        line();
        add("State", partition.text("state"))
                .add("TotalCPUs", partition.number("totalCpus"))
                .add("TotalNodes", partition.number("totalNodes"));
        add(
                "SelectTypeParameters",
                partition.text("selectTypeParameters").isEmpty() ? "NONE" : partition.text("selectTypeParameters"));
        line();
        add("JobDefaults", orNull(partition, "jobDefaults"));
        line();
        if (partition.number("defMemPerCpuMb") != 0) {
            add("DefMemPerCPU", partition.number("defMemPerCpuMb"));
        } else {
            add("DefMemPerNode", orUnlimited(partition.number("defMemPerNodeMb")));
        }
        if (partition.number("maxMemPerCpuMb") != 0) {
            add("MaxMemPerCPU", partition.number("maxMemPerCpuMb"));
        } else {
            add("MaxMemPerNode", orUnlimited(partition.number("maxMemPerNodeMb")));
        }
        line();
        add("TRES", orNull(partition, "tres"));
        optional(partition, "tresBillingWeights", "TRESBillingWeights");
        optional(partition, "topology", "Topology");
        if (!partition.text("suspendTime").isEmpty() || partition.flag("powerDownOnIdle")) {
            line();
            add("ResumeTimeout", orGlobal(partition, "resumeTimeout"))
                    .add("SuspendTimeout", orGlobal(partition, "suspendTimeout"));
            add("SuspendTime", orGlobal(partition, "suspendTime"))
                    .flag("PowerDownOnIdle", partition.flag("powerDownOnIdle"));
        }
    }

    private static String overTimeLimit(int minutes) {
        if (minutes < 0) {
            return "NONE";
        }
        return minutes == PartitionInfo.OVER_UNLIMITED ? "UNLIMITED" : Integer.toString(minutes);
    }

    private static String orGlobal(Json.Obj partition, String field) {
        return partition.text(field).isEmpty() ? "GLOBAL" : partition.text(field);
    }

    private static String orAll(Json.Obj partition, String field) {
        return partition.text(field).isEmpty() ? "ALL" : partition.text(field);
    }

    /** A bound of CPUs as the controller keeps it: below -1 for none at all. */
    public static String cpusMax(long stored) {
        if (stored < -1) {
            return "0";
        }
        return orUnlimited(stored == 0 ? -1 : stored);
    }

    public static String orUnlimited(long n) {
        return n <= 0 || n >= 0xffff_fffeL || n == Integer.MAX_VALUE ? "UNLIMITED" : Long.toString(n);
    }

    public String step(Json.Obj step) {
        begin();
        add("StepId", StepRows.id(step)).add("UserId", step.number("userId"));
        add("StartTime", time(step, "startTime", "Unknown"));
        add("TimeLimit", limit(step.integer("timeLimitMin"), "UNLIMITED"));
        line();
        add("State", step.text("state"))
                .add("Partition", step.text("partition"))
                .add("NodeList", step.text("nodes"));
        line();
        add("Nodes", step.number("nodeCount")).add("CPUs", step.number("cpus")).add("Tasks", step.number("tasks"));
        add("Name", step.text("name")).add("Network", orNull(step, "network"));
        line();
        add("TRES", orNull(step, "tresAlloc"));
        line();
        add("ResvPorts", orNull(step, "resvPorts"));
        line();
        Optional<CpuFreq> frequency = CpuFreq.parse(step.text("cpuFreq"));
        frequency.ifPresentOrElse(this::frequencies, () -> add("CPUFreqReq", "Default"));
        if (!step.text("distribution").isEmpty()) {
            add("Dist", step.text("distribution"));
        }
        line();
        add(
                "SrunHost:Pid",
                step.text("submitHost").isEmpty()
                        ? "(null):0"
                        : step.text("submitHost") + ":" + step.integer("submitPid"));
        optional(step, "container", "Container");
        optional(step, "containerId", "ContainerID");
        optional(step, "tresPerNode", "TresPerNode");
        optional(step, "submitLine", "SubmitLine");
        return end();
    }
}
