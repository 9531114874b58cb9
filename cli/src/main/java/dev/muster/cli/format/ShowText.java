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
    private final CommandContext c;
    private final boolean oneLine;
    private final long now;
    private StringBuilder b = new StringBuilder(0);

    public ShowText(CommandContext c, boolean oneLine, long now) {
        this.c = c;
        this.oneLine = oneLine;
        this.now = now;
    }

    private void begin() {
        b = new StringBuilder(1024);
    }

    private ShowText add(String key, String value) {
        if (!b.isEmpty() && b.charAt(b.length() - 1) != ' ') {
            b.append(' ');
        }
        b.append(key).append('=').append(value);
        return this;
    }

    /** Reports whether the job ended before it had nodes. */
    private static boolean isStartless(Json.Obj j) {
        return j.text("nodes").isEmpty() && !JobRows.isPending(j);
    }

    private ShowText add(String key, long value) {
        return add(key, Long.toString(value));
    }

    private ShowText flag(String key, boolean value) {
        return add(key, value ? "YES" : "NO");
    }

    private void line() {
        b.append(oneLine ? " " : "\n   ");
    }

    private String end() {
        return oneLine ? b.toString().stripTrailing() : b.append('\n').toString();
    }

    private String time(Json.Obj o, String field, String none) {
        return JobRows.time(o, field, none, c.host().zone(), c.env("SLURM_TIME_FORMAT"), now);
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

    public String job(Json.Obj j, boolean details) {
        begin();
        add("JobId", j.integer("jobId"));
        if (j.integer("arrayJobId") != 0) {
            add("ArrayJobId", j.integer("arrayJobId"));
            String tasks = JobRows.arrayTasks(j);
            add(
                    "ArrayTaskId",
                    tasks.isEmpty()
                            ? Integer.toString(JobRows.taskId(j))
                            : JobRows.cut(tasks, JobRows.indexesShown(c)));
            if (j.integer("arrayMaxRunning") != 0) {
                add("ArrayTaskThrottle", j.integer("arrayMaxRunning"));
            }
        }
        boolean component = j.integer("hetJobId") != 0;
        if (component) {
            add("HetJobId", j.integer("hetJobId")).add("HetJobOffset", j.integer("hetOffset"));
        }
        add("JobName", j.text("name"));
        line();
        if (details) {
            add("SLUID", Sluid.text(j.number("sluid")));
            line();
        }
        if (component) {
            add("HetJobIdSet", j.text("hetJobIdSet"));
            line();
        }
        add("UserId", j.text("userName") + "(" + j.integer("userId") + ")");
        add("GroupId", j.text("groupName") + "(" + j.integer("groupId") + ")");
        add("MCS_label", JobRows.orNA(j.text("mcsLabel")));
        line();
        add("Priority", j.number("priority")).add("Nice", j.number("nice")).add("Account", orNull(j, "account"));
        add("QOS", orNull(j, "qos"));
        if (c.host().settings().trackWckey) {
            add("WCKey", j.text("wckey"));
        }
        line();
        add("JobState", JobRows.stateLong(j))
                .add("Reason", JobRows.reason(j).replace(' ', '_'))
                .add("Dependency", orNull(j, "dependency"));
        line();
        jobTimes(j, details);
        line();
        jobPlace(j);
        if (details) {
            jobDetails(j);
        }
        jobNeeds(j);
        jobFiles(j);
        return end();
    }

    private void jobTimes(Json.Obj j, boolean details) {
        Json.Obj exit = j.obj("exit");
        add("Requeue", j.flag("requeue") ? 1 : 0).add("Restarts", j.number("restarts"));
        add("BatchFlag", j.flag("batch") ? 1 : 0).add("Reboot", j.flag("reboot") ? 1 : 0);
        add("ExitCode", exit.integer("code") + ":" + exit.integer("signal"));
        line();
        if (j.flag("expedite")) {
            add("ExpeditedRequeue", "Yes");
            line();
        }
        Json.Obj derived = j.obj("derivedExit");
        if (details) {
            add("DerivedExitCode", derived.integer("code") + ":" + derived.integer("signal"));
            line();
        }
        add("RunTime", Durations.full(JobRows.used(j)));
        add("TimeLimit", Durations.fullMinutes(j.integer("timeLimitMin")));
        add("TimeMin", j.integer("timeMinMin") == 0 ? "N/A" : Durations.fullMinutes(j.integer("timeMinMin")));
        line();
        add("SubmitTime", time(j, "submitTime", "Unknown")).add("EligibleTime", time(j, "eligibleTime", "Unknown"));
        line();
        add("AccrueTime", time(j, "accrueTime", "Unknown"));
        line();
        add("StartTime", time(j, "startTime", "Unknown")).add("EndTime", time(j, "endTime", "Unknown"));
        add("Deadline", time(j, "deadline", "N/A"));
        line();
        if (j.number("preemptEligibleTime") != 0) {
            add("PreemptEligibleTime", time(j, "preemptEligibleTime", "None"))
                    .add("PreemptTime", time(j, "preemptTime", "None"));
            line();
        }
        if (!j.text("cronSpec").isEmpty()) {
            add("CronJob", "Yes").add("CrontabSpec", '"' + j.text("cronSpec") + '"');
            line();
        }
        add("SuspendTime", time(j, "suspendTime", "None")).add("SecsPreSuspend", j.number("preSuspendSeconds"));
        add("LastSchedEval", time(j, "lastSchedEval", "Unknown"))
                .add("Scheduler", j.flag("backfilled") ? "Backfill" : "Main");
    }

    private void jobPlace(Json.Obj j) {
        add("Partition", j.text("partition"));
        add("AllocNode:Sid", j.text("submitHost") + ":" + j.integer("submitPid"));
        line();
        add("ReqNodeList", orNull(j, "nodeListRequested")).add("ExcNodeList", orNull(j, "excludeList"));
        line();
        add("NodeList", j.text("nodes"));
        if (!j.text("schedNodes").isEmpty()) {
            add("SchedNodeList", j.text("schedNodes"));
        }
        line();
        if (!j.text("batchFeatures").isEmpty()) {
            add("BatchFeatures", j.text("batchFeatures"));
        }
        if (!j.text("batchHost").isEmpty()) {
            add("BatchHost", j.text("batchHost"));
        }
        if (!j.text("batchFeatures").isEmpty() || !j.text("batchHost").isEmpty()) {
            line();
        }
        if (j.flag("stepMgr")) {
            add("StepMgrEnabled", "Yes");
            line();
        }
        int nodes = j.integer("nodeCount");
        int most = j.integer("nodeCountMax");
        add("NumNodes", JobRows.isPending(j) && most > 0 ? nodes + "-" + most : Integer.toString(nodes));
        add("NumCPUs", j.number("cpus")).add("NumTasks", isStartless(j) ? "N/A" : Long.toString(j.number("tasks")));
        add("CPUs/Task", Math.max(1, j.number("cpusPerTask")));
        add(
                "ReqB:S:C:T",
                "0:0:" + JobRows.orStar(j.integer("coresPerSocket")) + ":"
                        + JobRows.orStar(j.integer("threadsPerCore")));
        line();
        add("ReqTRES", orNull(j, "tresRequested"));
        line();
        add("AllocTRES", orNull(j, "tresAlloc"));
        line();
        add("Socks/Node", JobRows.orStar(j.integer("socketsPerNode")));
        add(
                "NtasksPerN:B:S:C",
                j.integer("tasksPerNode") + ":0:" + JobRows.orStar(j.integer("tasksPerSocket")) + ":"
                        + JobRows.orStar(j.integer("tasksPerCore")));
        int threads = j.integer("threadSpec");
        int cores = j.integer("coreSpec");
        if (threads > 0) {
            add("ThreadSpec", threads);
        } else {
            add("CoreSpec", cores < 0 ? "0" : JobRows.orStar(cores));
        }
        line();
    }

    private void jobDetails(Json.Obj j) {
        List<Json.Obj> shares = j.objects("details");
        add("JOB_GRES", orNull(j, "gresTotal"));
        line();
        for (Json.Obj d : shares) {
            b.append(oneLine ? "" : "  ");
            add("Nodes", d.text("nodes")).add("CPU_IDs", d.text("cpuIds")).add("Mem", d.number("memoryMb"));
            add("GRES", d.text("gres"));
            line();
        }
    }

    private void jobNeeds(Json.Obj j) {
        add("MinCPUsNode", Math.max(1, Math.max(j.number("cpusPerNodeMin"), j.number("cpusPerTask"))));
        if (j.number("memPerCpuMb") != 0) {
            add("MinMemoryCPU", MemorySize.print(j.number("memPerCpuMb")));
        } else if (j.text("memPerTres").isEmpty()) {
            add("MinMemoryNode", MemorySize.print(j.number("memPerNodeMb")));
        }
        add("MinTmpDiskNode", MemorySize.print(j.number("tmpDiskMb")));
        line();
        add("Features", orNull(j, "features"));
        if (!j.text("prefer").isEmpty()) {
            add("Prefer", j.text("prefer"));
        }
        add("DelayBoot", Durations.fullMinutes(j.integer("delayBootMin")));
        line();
        if (j.integer("segment") > 0) {
            add("SegmentSize", j.integer("segment"));
            line();
        }
        for (String kind : List.of("Spread", "Consolidate")) {
            if (j.flag(Texts.lower(kind) + "Segments")) {
                add(kind + "Segments", "Yes");
                line();
            }
        }
        if (!j.text("reservation").isEmpty()) {
            add("Reservation", j.text("reservation"));
            line();
        }
        add("OverSubscribe", JobRows.oversubscribe(j));
        add("Exclusive", j.text("exclusiveUse"));
        add("Contiguous", j.flag("contiguous") ? 1 : 0).add("Licenses", orNull(j, "licenses"));
        add("LicensesAlloc", orNull(j, "licensesAlloc"));
        add("Network", orNull(j, "network"));
        line();
    }

    private void jobFiles(Json.Obj j) {
        add("Command", orNull(j, "command"));
        line();
        if (!j.text("submitLine").isEmpty()) {
            add("SubmitLine", j.text("submitLine"));
            line();
        }
        add("WorkDir", j.text("workDir"));
        optional(j, "adminComment", "AdminComment");
        optional(j, "comment", "Comment");
        if (j.flag("batch")) {
            line();
            add("StdErr", j.flag("ownStderr") ? j.text("stderr") : "");
            line();
            add("StdIn", j.text("stdin"));
            line();
            add("StdOut", j.text("stdout"));
        }
        CpuFreq.parse(j.text("cpuFreq")).ifPresent(this::frequency);
        optional(j, "switches", "Switches");
        optional(j, "burstBuffer", "BurstBuffer");
        optional(j, "burstBufferState", "BurstBufferState");
        optional(j, "container", "Container");
        optional(j, "containerId", "ContainerID");
        optional(j, "containerType", "ContainerType");
        optional(j, "cpusPerTres", "CpusPerTres");
        optional(j, "memPerTres", "MemPerTres");
        optional(j, "tresBind", "TresBind");
        optional(j, "tresFreq", "TresFreq");
        optional(j, "tresPerJob", "TresPerJob");
        optional(j, "tresPerNode", "TresPerNode");
        optional(j, "tresPerSocket", "TresPerSocket");
        optional(j, "tresPerTask", "TresPerTask");
        if (j.integer("tasksPerGpu") > 0) {
            line();
            add("NtasksPerTRES", Integer.toString(j.integer("tasksPerGpu")));
        }
        wishes(j.texts("wishes"));
        if (!j.text("mailType").isEmpty() && !j.text("mailType").equals("NONE")) {
            line();
            add("MailUser", j.text("mailUser").isEmpty() ? j.text("userName") : j.text("mailUser"))
                    .add("MailType", j.text("mailType"));
        }
        optional(j, "extra", "Extra");
    }

    /** Prints a job's wishes on one line with nothing between them, as Slurm does. */
    private void wishes(List<String> all) {
        StringBuilder out = new StringBuilder();
        for (String[] w : new String[][] {
            {"GRES_BINDING_ENFORCED", "GresEnforceBind=Yes"},
            {"GRES_BINDING_DISABLED", "GresEnforceBind=No"},
            {"KILL_INVALID_DEPENDENCY", "KillOInInvalidDependent=Yes"},
            {"NO_KILL_INVALID_DEPENDENCY", "KillOInInvalidDependent=No"},
            {"SPREAD_JOB", "SpreadJob=Yes"}
        }) {
            out.append(all.contains(w[0]) ? w[1] : "");
        }
        if (!out.isEmpty()) {
            line();
            b.append(out);
        }
    }

    private void frequency(CpuFreq f) {
        line();
        frequencies(f);
    }

    private void frequencies(CpuFreq f) {
        if (!f.min().isEmpty()) {
            add("CPU_min_freq", f.min());
        }
        if (!f.max().isEmpty()) {
            add("CPU_max_freq", f.max());
        }
        if (!f.governor().isEmpty()) {
            add("Governor", f.governor());
        }
    }

    private void optional(Json.Obj o, String field, String key) {
        if (!o.text(field).isEmpty()) {
            line();
            add(key, o.text(field));
        }
    }

    public String node(Json.Obj n, boolean details) {
        begin();
        add("NodeName", n.text("name"));
        if (!n.text("architecture").isEmpty()) {
            add("Arch", n.text("architecture"));
        }
        if (!n.text("cpuBind").isEmpty()) {
            add("CpuBind", n.text("cpuBind"));
        }
        add("CoresPerSocket", n.number("coresPerSocket"));
        b.append(' ');
        line();
        add("CPUAlloc", n.number("cpusAllocated")).add("CPUEfctv", n.number("cpusEffective"));
        add("CPUTot", n.number("cpus")).add("CPULoad", NodeRows.load(n));
        line();
        add("AvailableFeatures", orNull(n, "features"));
        line();
        add("ActiveFeatures", orNull(n, "activeFeatures"));
        line();
        add("Gres", orNull(n, "gres"));
        line();
        if (details) {
            add("GresDrain", n.text("gresDrain").isEmpty() ? "N/A" : n.text("gresDrain"));
            line();
        }
        if (details && !n.text("gresUsed").isEmpty()) {
            add("GresUsed", n.text("gresUsed"));
            line();
        }
        add("NodeAddr", n.text("address"))
                .add("NodeHostName", n.text("hostname"))
                .add("Port", n.number("port"));
        if (!n.text("version").isEmpty()) {
            add("Version", n.text("version"));
        }
        line();
        if (!n.text("operatingSystem").isEmpty()) {
            add("OS", n.text("operatingSystem"));
            b.append(' ');
            line();
        }
        nodeState(n);
        return end();
    }

    private void nodeState(Json.Obj n) {
        add("RealMemory", n.number("memoryMb")).add("AllocMem", n.number("memoryAllocatedMb"));
        add("FreeMem", n.number("memoryFreeMb") == 0 ? "N/A" : Long.toString(n.number("memoryFreeMb")));
        add("Sockets", n.number("sockets")).add("Boards", Math.max(1, n.number("boards")));
        line();
        nodeSpecialization(n);
        add("State", NodeRows.stateFull(n)).add("ThreadsPerCore", n.number("threadsPerCore"));
        add("TmpDisk", n.number("tmpDiskMb")).add("Weight", n.number("weight"));
        int owner = n.integer("owner");
        add("Owner", owner <= 0 ? "N/A" : c.host().userName(owner) + "(" + owner + ")");
        add("MCS_label", JobRows.orNA(n.text("mcsLabel")));
        line();
        if (!NodeRows.nextState(n).isEmpty()) {
            add("NextState", NodeRows.nextState(n));
            line();
        }
        List<String> partitions = n.texts("partitions");
        if (!partitions.isEmpty()) {
            add("Partitions", String.join(",", partitions));
            b.append(' ');
            line();
        }
        add("BootTime", time(n, "bootTime", "None")).add("SlurmdStartTime", time(n, "slurmdStartTime", "None"));
        line();
        add("LastBusyTime", time(n, "lastBusy", "Unknown"))
                .add("ResumeAfterTime", time(n, "resumeAfter", "None"))
                .add("SuspendTime", n.text("suspendTime").matches("[0-9]+") ? n.text("suspendTime") : "INFINITE");
        line();
        add("CfgTRES", n.text("tresConfigured"));
        line();
        add("AllocTRES", n.text("tresAllocated"));
        line();
        add("CurrentWatts", n.flag("metered") ? n.number("watts") : 0)
                .add("AveWatts", n.flag("metered") ? n.number("averageWatts") : 0);
        if (!n.text("reason").isEmpty()) {
            line();
            add(
                    "Reason",
                    n.text("reason") + " [" + n.text("reasonUser") + "@" + time(n, "reasonTime", "Unknown") + "]");
        }
        optional(n, "comment", "Comment");
        optional(n, "extra", "Extra");
        optional(n, "reservation", "ReservationName");
        if (!n.text("instanceId").isEmpty() || !n.text("instanceType").isEmpty()) {
            line();
            add("InstanceId", n.text("instanceId")).add("InstanceType", n.text("instanceType"));
        }
        optional(n, "topology", "Topology");
    }

    /** Cores and memory that jobs cannot have. */
    private void nodeSpecialization(Json.Obj n) {
        if (n.integer("coreSpecCount") != 0 || n.number("memSpecLimitMb") != 0) {
            if (n.integer("coreSpecCount") != 0) {
                add("CoreSpecCount", n.number("coreSpecCount"));
            }
            if (!n.text("cpuSpecList").isEmpty()) {
                add("CPUSpecList", n.text("cpuSpecList"));
            }
            if (n.number("memSpecLimitMb") != 0) {
                add("MemSpecLimit", n.number("memSpecLimitMb"));
            }
            line();
        }
        if (!n.text("restrictedCores").isEmpty()) {
            add("RestrictedCoresPerGPU", n.text("restrictedCores"));
            line();
        }
    }

    public String partition(Json.Obj p) {
        begin();
        add("PartitionName", p.text("name"));
        line();
        add("AllowGroups", orAll(p, "allowGroups"));
        if (p.text("denyAccounts").isEmpty() || !orAll(p, "allowAccounts").equalsIgnoreCase("ALL")) {
            add("AllowAccounts", orAll(p, "allowAccounts"));
        } else {
            add("DenyAccounts", p.text("denyAccounts"));
        }
        if (p.text("denyQos").isEmpty() || !orAll(p, "allowQos").equalsIgnoreCase("ALL")) {
            add("AllowQos", orAll(p, "allowQos"));
        } else {
            add("DenyQos", p.text("denyQos"));
        }
        line();
        add("AllocNodes", orAll(p, "allocNodes"));
        if (!p.text("alternate").isEmpty()) {
            add("Alternate", p.text("alternate"));
        }
        flag("Default", p.flag("isDefault"));
        if (!p.text("cpuBind").isEmpty()) {
            add("CpuBind", p.text("cpuBind") + " ");
        }
        add("QoS", JobRows.orNA(p.text("qos")));
        line();
        add("DefaultTime", defaultTime(p.integer("defaultTimeMin")));
        flag("DisableRootJobs", p.flag("disableRootJobs"));
        add("Exclusive", exclusive(p));
        add("GraceTime", p.number("graceTimeSeconds"));
        flag("Hidden", p.flag("hidden"));
        line();
        add("MaxNodes", p.number("maxNodes") == 0 ? "0" : orUnlimited(p.number("maxNodes")));
        add("MaxTime", Durations.fullMinutes(p.integer("maxTimeMin")));
        add("MinNodes", p.number("minNodes")).flag("LLN", p.flag("leastLoadedNodes"));
        add("MaxCPUsPerNode", cpusMax(p.number("maxCpusPerNode")));
        add("MaxCPUsPerSocket", cpusMax(p.number("maxCpusPerSocket")));
        line();
        if (!p.text("nodeSets").isEmpty()) {
            add("NodeSets", p.text("nodeSets"));
            line();
        }
        add("Nodes", orNull(p, "nodes"));
        line();
        partitionPolicy(p);
        return end();
    }

    private static String exclusive(Json.Obj p) {
        if (p.flag("exclusiveTopo")) {
            return "TOPO";
        }
        if (p.flag("exclusiveUser")) {
            return "USER";
        }
        return p.flag("exclusiveNode") || p.text("overSubscribe").equals("EXCLUSIVE") ? "NODE" : "NO";
    }

    private void partitionPolicy(Json.Obj p) {
        add("PriorityJobFactor", p.number("priorityJobFactor")).add("PriorityTier", p.number("priorityTier"));
        flag("RootOnly", p.flag("rootOnly")).flag("ReqResv", p.flag("requireReservation"));
        add("OverSubscribe", p.text("overSubscribe").matches("|EXCLUSIVE") ? "NO" : p.text("overSubscribe"));
        line();
        add("OverTimeLimit", overTimeLimit(p.integer("overTimeLimitMin")));
        add("PreemptMode", p.text("preemptMode").isEmpty() ? "OFF" : p.text("preemptMode"));
        line();
        add("State", p.text("state")).add("TotalCPUs", p.number("totalCpus")).add("TotalNodes", p.number("totalNodes"));
        add("SelectTypeParameters", p.text("selectTypeParameters").isEmpty() ? "NONE" : p.text("selectTypeParameters"));
        line();
        add("JobDefaults", orNull(p, "jobDefaults"));
        line();
        if (p.number("defMemPerCpuMb") != 0) {
            add("DefMemPerCPU", p.number("defMemPerCpuMb"));
        } else {
            add("DefMemPerNode", orUnlimited(p.number("defMemPerNodeMb")));
        }
        if (p.number("maxMemPerCpuMb") != 0) {
            add("MaxMemPerCPU", p.number("maxMemPerCpuMb"));
        } else {
            add("MaxMemPerNode", orUnlimited(p.number("maxMemPerNodeMb")));
        }
        line();
        add("TRES", orNull(p, "tres"));
        optional(p, "tresBillingWeights", "TRESBillingWeights");
        optional(p, "topology", "Topology");
        if (!p.text("suspendTime").isEmpty() || p.flag("powerDownOnIdle")) {
            line();
            add("ResumeTimeout", orGlobal(p, "resumeTimeout")).add("SuspendTimeout", orGlobal(p, "suspendTimeout"));
            add("SuspendTime", orGlobal(p, "suspendTime")).flag("PowerDownOnIdle", p.flag("powerDownOnIdle"));
        }
    }

    private static String overTimeLimit(int minutes) {
        if (minutes < 0) {
            return "NONE";
        }
        return minutes == PartitionInfo.OVER_UNLIMITED ? "UNLIMITED" : Integer.toString(minutes);
    }

    private static String orGlobal(Json.Obj p, String field) {
        return p.text(field).isEmpty() ? "GLOBAL" : p.text(field);
    }

    private static String orAll(Json.Obj p, String field) {
        return p.text(field).isEmpty() ? "ALL" : p.text(field);
    }

    /** A bound of CPUs as the controller keeps it: below -1 for none at all. */
    public static String cpusMax(long kept) {
        if (kept < -1) {
            return "0";
        }
        return orUnlimited(kept == 0 ? -1 : kept);
    }

    public static String orUnlimited(long n) {
        return n <= 0 || n >= 0xffff_fffeL || n == Integer.MAX_VALUE ? "UNLIMITED" : Long.toString(n);
    }

    public String step(Json.Obj s) {
        begin();
        add("StepId", StepRows.id(s)).add("UserId", s.number("userId"));
        add("StartTime", time(s, "startTime", "Unknown"));
        add("TimeLimit", limit(s.integer("timeLimitMin"), "UNLIMITED"));
        line();
        add("State", s.text("state")).add("Partition", s.text("partition")).add("NodeList", s.text("nodes"));
        line();
        add("Nodes", s.number("nodeCount")).add("CPUs", s.number("cpus")).add("Tasks", s.number("tasks"));
        add("Name", s.text("name")).add("Network", orNull(s, "network"));
        line();
        add("TRES", orNull(s, "tresAlloc"));
        line();
        add("ResvPorts", orNull(s, "resvPorts"));
        line();
        Optional<CpuFreq> frequency = CpuFreq.parse(s.text("cpuFreq"));
        frequency.ifPresentOrElse(this::frequencies, () -> add("CPUFreqReq", "Default"));
        if (!s.text("distribution").isEmpty()) {
            add("Dist", s.text("distribution"));
        }
        line();
        add(
                "SrunHost:Pid",
                s.text("submitHost").isEmpty() ? "(null):0" : s.text("submitHost") + ":" + s.integer("submitPid"));
        optional(s, "container", "Container");
        optional(s, "containerId", "ContainerID");
        optional(s, "tresPerNode", "TresPerNode");
        optional(s, "submitLine", "SubmitLine");
        return end();
    }
}
