package dev.muster.cli.format;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import dev.muster.model.format.Durations;
import dev.muster.model.format.MemorySize;
import dev.muster.model.format.Sluid;

/** Columns of squeue: letter of {@code -o}, names of {@code -O}, heading, and the fields of a job that they need. */
public enum JobField {
    ACCOUNT('a', "account", "ACCOUNT", "account"),
    ACCRUE_TIME(0, "accruetime", "ACCRUE_TIME", "accrueTime"),
    ADMIN_COMMENT(0, "admin_comment", "ADMIN_COMMENT", "adminComment"),
    ALLOC_NODES(0, "allocnodes", "ALLOC_NODES", "submitHost"),
    ALLOC_SID(0, "allocsid", "ALLOC_SID", "submitPid"),
    ARRAY_JOB_ID('F', "arrayjobid", "ARRAY_JOB_ID", ""),
    ARRAY_TASK_ID('K', "arraytaskid", "ARRAY_TASK_ID", ""),
    ASSOC_ID(0, "associd", "ASSOC_ID", ""),
    BATCH_FLAG(0, "batchflag", "BATCH_FLAG", "batch"),
    EXEC_HOST('B', "batchhost", "EXEC_HOST", "batchHost,nodes"),
    BOARDS(0, "boardspernode", "BOARDS_PER_NODE", ""),
    BURST_BUFFER(0, "burstbuffer", "BURST_BUFFER", "burstBuffer"),
    BURST_BUFFER_STATE(0, "burstbufferstate", "BURST_BUFFER_STATE", "burstBufferState"),
    CLUSTER(0, "cluster", "CLUSTER", ""),
    CLUSTER_FEATURE(0, "clusterfeature", "CLUSTER_FEATURES", ""),
    COMMAND('o', "command", "COMMAND", "command"),
    COMMENT('k', "comment", "COMMENT", "comment"),
    CONTAINER(0, "container", "CONTAINER", "container"),
    CONTAINER_ID(0, "containerid", "CONTAINER_ID", "containerId"),
    CONTAINER_TYPE(0, "containertype", "CONTAINER_TYPE", "containerType"),
    CONTIGUOUS('O', "contiguous", "CONTIGUOUS", "contiguous"),
    CORE_SPEC('X', "corespec", "CORE_SPEC", "coreSpec"),
    CORES('I', "cores", "CORES_PER_SOCKET", "coresPerSocket"),
    CRON_JOB(0, "cronjob", "CRON_JOB", "cronSpec"),
    CPUS('C', "numcpus", "CPUS", "cpus"),
    CPUS_PER_TASK(0, "cpus-per-task", "CPUS_PER_TASK", "cpusPerTask"),
    CPUS_PER_TRES(0, "cpus-per-tres", "CPUS_PER_TRES", "cpusPerTres"),
    DEADLINE(0, "deadline", "DEADLINE", "deadline"),
    DELAY_BOOT(0, "delayboot", "DELAY_BOOT", "delayBootMin"),
    DEPENDENCY('E', "dependency", "DEPENDENCY", "dependency"),
    DERIVED_EC(0, "derivedec", "DERIVED_EC", "derivedExit"),
    ELIGIBLE_TIME(0, "eligibletime", "ELIGIBLE_TIME", "eligibleTime"),
    END_TIME('e', "endtime", "END_TIME", "endTime,startTime"),
    EXC_NODES('x', "excnodes", "EXC_NODES", "excludeList"),
    EXIT_CODE(0, "exit_code", "EXIT_CODE", "exit"),
    FEATURES('f', "feature", "FEATURES", "features"),
    GROUP('g', "groupname", "GROUP", "groupName"),
    GROUP_ID('G', "groupid", "GROUP", "groupId"),
    HET_JOB_ID(0, "hetjobid", "HET_JOB_ID", ""),
    HET_JOB_OFFSET(0, "hetjoboffset", "HET_JOB_OFFSET", ""),
    HET_JOB_ID_SET(0, "hetjobidset", "HET_JOB_ID_SET", "hetJobIdSet"),
    JOB_ARRAY_ID('i', "jobarrayid", "JOBID", ""),
    JOB_ID('A', "jobid", "JOBID", ""),
    LAST_SCHED_EVAL(0, "lastschedeval", "LAST_SCHED_EVAL", "lastSchedEval"),
    LICENSES('W', "licenses", "LICENSES", "licenses"),
    LICENSES_ALLOC(0, "licensesalloc", "LICENSES_ALLOC", "licensesAlloc"),
    MAX_CPUS(0, "maxcpus", "MAX_CPUS", "cpusMax"),
    MAX_NODES(0, "maxnodes", "MAX_NODES", "nodeCountMax"),
    MCS_LABEL(0, "mcslabel", "MCSLABEL", "mcsLabel"),
    MEM_PER_TRES(0, "mem-per-tres", "MEM_PER_TRES", "memPerTres"),
    MIN_CPUS('c', "mincpus", "MIN_CPUS", "cpusPerNodeMin,cpusPerTask"),
    MIN_MEMORY('m', "minmemory", "MIN_MEMORY", "memPerNodeMb,memPerCpuMb"),
    MIN_TIME(0, "mintime", "TIME_MIN", "timeMinMin"),
    MIN_TMP_DISK('d', "mintmpdisk", "MIN_TMP_DISK", "tmpDiskMb"),
    NAME('j', "name", "NAME", "name"),
    NETWORK(0, "network", "NETWORK", "network"),
    NICE('y', "nice", "NICE", "nice"),
    NODE_LIST('N', "nodelist", "NODELIST", "nodes"),
    NODES('D', "numnodes", "NODES", "nodeCount"),
    NT_PER_BOARD(0, "ntperboard", "NTASKS_PER_BOARD", ""),
    NT_PER_CORE(0, "ntpercore", "NTASKS_PER_CORE", "tasksPerCore"),
    NT_PER_NODE(0, "ntpernode", "NTASKS_PER_NODE", "tasksPerNode"),
    NT_PER_SOCKET(0, "ntpersocket", "NTASKS_PER_SOCKET", "tasksPerSocket"),
    ORIGIN(0, "origin", "ORIGIN", ""),
    ORIGIN_RAW(0, "originraw", "ORIGIN_RAW", ""),
    OVERSUBSCRIBE('h', "oversubscribe", "OVER_SUBSCRIBE", "oversubscribe"),
    EXCLUSIVE(0, "exclusive", "EXCLUSIVE", "exclusiveUse"),
    PARTITION('P', "partition", "PARTITION", ""),
    PENDING_TIME(0, "pendingtime", "PENDING_TIME", "submitTime,startTime"),
    PREEMPT_TIME(0, "preempttime", "PREEMPT_TIME", "preemptTime"),
    PREFER(0, "prefer", "PREFER", "prefer"),
    PRIORITY('p', "priority", "PRIORITY", ""),
    PRIORITY_LONG('Q', "prioritylong", "PRIORITY", ""),
    PROFILE(0, "profile", "PROFILE", "profile"),
    QOS('q', "qos", "QOS", "qos"),
    REASON('r', "reason", "REASON", "reason,reasonText,exit"),
    REASON_LIST('R', "reasonlist", "NODELIST(REASON)", "reason,reasonText,nodes"),
    REBOOT(0, "reboot", "REBOOT", "reboot"),
    REQ_NODES('n', "reqnodes", "REQ_NODES", "nodeListRequested"),
    REQUEUE(0, "requeue", "REQUEUE", "requeue"),
    REQ_SWITCH(0, "reqswitch", "REQ_SWITCH", "switches"),
    RESERVATION('v', "reservation", "RESERVATION", "reservation"),
    RESIZE_TIME(0, "resizetime", "RESIZE_TIME", ""),
    RESTART_COUNT(0, "restartcnt", "RESTART_COUNT", "restarts"),
    SCHED_NODES('Y', "schednodes", "SCHEDNODES", "schedNodes"),
    SCT('z', "sct", "S:C:T", "socketsPerNode,coresPerSocket,threadsPerCore"),
    SEGMENT_SIZE(0, "segmentsize", "SEGMENT_SIZE", "segment"),
    SIBLINGS_ACTIVE(0, "siblingsactive", "ACTIVE_SIBLINGS", ""),
    SIBLINGS_ACTIVE_RAW(0, "siblingsactiveraw", "ACTIVE_SIBLINGS_RAW", ""),
    SIBLINGS_VIABLE(0, "siblingsviable", "VIABLE_SIBLINGS", ""),
    SIBLINGS_VIABLE_RAW(0, "siblingsviableraw", "VIALBLE_SIBLINGS_RAW", ""),
    SLUID('s', "sluid", "SLUID", "sluid"),
    SOCKETS('H', "sockets", "SOCKETS_PER_NODE", "socketsPerNode"),
    SPER_BOARD(0, "sperboard", "SOCKETS_PER_BOARD", ""),
    START_TIME('S', "starttime", "START_TIME", "startTime"),
    STATE('T', "state", "STATE", ""),
    STATE_COMPACT('t', "statecompact", "ST", ""),
    STD_ERR(0, "stderr", "STDERR", "stderr,stderrPattern,ownStderr"),
    STD_IN(0, "stdin", "STDIN", "stdin,stdinPattern"),
    STD_OUT(0, "stdout", "STDOUT", "stdout,stdoutPattern"),
    SUBMIT_TIME('V', "submittime", "SUBMIT_TIME", "submitTime"),
    SUBMIT_LINE(0, "submitline", "SUBMIT_LINE", "submitLine"),
    SYSTEM_COMMENT(0, "system_comment", "SYSTEM_COMMENT", ""),
    TASKS(0, "numtasks", "TASKS", "tasks"),
    THREADS('J', "threads", "THREADS_PER_CORE", "threadsPerCore"),
    TIME_LEFT('L', "timeleft", "TIME_LEFT", "timeLimitMin,runSeconds"),
    TIME_LIMIT('l', "timelimit", "TIME_LIMIT", "timeLimitMin"),
    TIME_USED('M', "timeused", "TIME", "runSeconds"),
    TRES_ALLOC(0, "tres-alloc", "TRES_ALLOC", "tresAlloc,tresRequested"),
    TRES_BIND(0, "tres-bind", "TRES_BIND", "tresBind"),
    TRES_FREQ(0, "tres-freq", "TRES_FREQ", ""),
    TRES_PER_JOB(0, "tres-per-job", "TRES_PER_JOB", "tresPerJob"),
    TRES_PER_NODE('b', "tres-per-node", "TRES_PER_NODE", "tresPerNode"),
    TRES_PER_SOCKET(0, "tres-per-socket", "TRES_PER_SOCKET", "tresPerSocket"),
    TRES_PER_TASK(0, "tres-per-task", "TRES_PER_TASK", "tresPerTask"),
    UID('U', "userid", "UID", "userId"),
    USER('u', "username", "USER", "userName"),
    WAIT4SWITCH(0, "wait4switch", "WAIT4SWITCH", "switches"),
    WCKEY('w', "wckey", "WCKEY", "wckey"),
    WORK_DIR('Z', "workdir", "WORK_DIR", "workDir");

    private static final JobField[] ALL = values();

    final char letter;
    final String longName;
    public final String heading;
    public final String components;

    JobField(int letter, String longName, String heading, String components) {
        this.letter = (char) letter;
        this.longName = longName;
        this.heading = heading;
        this.components = components;
    }

    public static final RowFormat.Fields TABLE = new RowFormat.Fields() {
        @Override
        public boolean isWhole(int field, String value) {
            return switch (ALL[field]) {
                case TIME_LEFT, TIME_LIMIT, TIME_USED ->
                    !value.isEmpty() && value.charAt(0) >= '0' && value.charAt(0) <= '9';
                case NODE_LIST, SCHED_NODES -> true;
                case REQ_NODES, EXC_NODES -> !value.equals(ALL[field].heading);
                case REASON_LIST -> !value.startsWith("(");
                default -> false;
            };
        }

        @Override
        public int byLetter(char letter) {
            for (JobField f : ALL) {
                if (f.letter == letter) {
                    return f.ordinal();
                }
            }
            return -1;
        }

        @Override
        public int byName(String name) {
            String wanted = switch (name) {
                case "gres", "tres-per_node" -> "tres-per-node";
                case "cpuspertask" -> "cpus-per-task";
                case "executinghost" -> "batchhost";
                case "shared" -> "oversubscribe";
                default -> name;
            };
            for (JobField f : ALL) {
                if (f.longName.equals(wanted)) {
                    return f.ordinal();
                }
            }
            return -1;
        }
    };

    public static JobField at(int index) {
        return ALL[index];
    }

    /**
     * How values are written.
     *
     * @param expand names of files with their % codes filled in; raw: sizes stay in mebibytes
     */
    public record Style(boolean expand, boolean raw) {
        static final Style PLAIN = new Style(false, false);
    }

    /** The surroundings of a value, besides the job. */
    public record View(
            CommandContext context, long now, String timeFormat, int indexesShown, String cluster, Style style) {
        String path(Json.Obj job, String field) {
            return job.text(style.expand ? field : field + "Pattern");
        }

        String megabytes(long mb) {
            return style.raw && mb != 0 ? mb + "M" : MemorySize.print(mb);
        }

        String time(Json.Obj job, String field, String none) {
            return JobRows.time(job, field, none, context.host().zone(), timeFormat, now);
        }
    }

    public String value(Json.Obj j, View v) {
        return switch (this) {
            case ACCOUNT -> JobRows.orNull(j.text("account"));
            case ACCRUE_TIME -> v.time(j, "accrueTime", "N/A");
            case ADMIN_COMMENT -> JobRows.orNull(j.text("adminComment"));
            case ALLOC_NODES -> j.text("submitHost");
            case ALLOC_SID -> n(j, "submitPid");
            case ARRAY_JOB_ID -> Integer.toString(arrayJobId(j));
            case ARRAY_TASK_ID -> taskText(j, v);
            case ASSOC_ID, BOARDS, NT_PER_BOARD, SPER_BOARD -> "0";
            case BATCH_FLAG -> bit(j, "batch");
            case EXEC_HOST -> j.text("batchHost").isEmpty() ? "n/a" : j.text("batchHost");
            case BURST_BUFFER -> JobRows.orNull(j.text("burstBuffer"));
            case CLUSTER -> v.cluster;
            case CLUSTER_FEATURE, SYSTEM_COMMENT -> "(null)";
            case COMMAND -> JobRows.orNull(j.text("command"));
            case COMMENT -> JobRows.orNull(j.text("comment"));
            case CONTAINER -> JobRows.orNull(j.text("container"));
            case CONTAINER_ID -> JobRows.orNull(j.text("containerId"));
            case BURST_BUFFER_STATE -> JobRows.orNull(j.text("burstBufferState"));
            case CONTAINER_TYPE -> JobRows.orNull(j.text("containerType"));
            case CRON_JOB -> j.text("cronSpec").isEmpty() ? "No" : "Yes";
            case LICENSES_ALLOC -> JobRows.orNull(j.text("licensesAlloc"));
            case REBOOT -> bit(j, "reboot");
            case SEGMENT_SIZE -> n(j, "segment");
            case CONTIGUOUS -> bit(j, "contiguous");
            case CORE_SPEC -> JobRows.orNA(j.integer("coreSpec") == 0 ? "" : n(j, "coreSpec"));
            case CORES -> JobRows.orStar(j.integer("coresPerSocket"));
            case CPUS -> n(j, "cpus");
            case CPUS_PER_TASK -> atLeast(j, "cpusPerTask", 1);
            case CPUS_PER_TRES -> JobRows.orNA(j.text("cpusPerTres"));
            case MEM_PER_TRES -> JobRows.orNA(j.text("memPerTres"));
            case TRES_BIND -> JobRows.orNA(j.text("tresBind"));
            // --gpu-freq is refused
            case TRES_FREQ -> "N/A";
            case DEADLINE -> v.time(j, "deadline", "N/A");
            case DELAY_BOOT -> Durations.briefMinutes(j.integer("delayBootMin"));
            case DEPENDENCY -> JobRows.orNull(j.text("dependency"));
            case DERIVED_EC -> exit(j.obj("derivedExit"));
            case ELIGIBLE_TIME -> v.time(j, "eligibleTime", "N/A");
            case END_TIME -> endTime(j, v);
            case EXC_NODES -> j.text("excludeList");
            case EXIT_CODE -> exit(j.obj("exit"));
            case FEATURES -> JobRows.orNull(j.text("features"));
            case GROUP -> j.text("groupName");
            case GROUP_ID -> n(j, "groupId");
            case HET_JOB_ID -> j.integer("hetJobId") == 0 ? "N/A" : n(j, "hetJobId");
            case HET_JOB_OFFSET -> j.integer("hetJobId") == 0 ? "N/A" : Integer.toString(j.integer("hetOffset"));
            case HET_JOB_ID_SET -> JobRows.orNA(j.text("hetJobIdSet"));
            case RESIZE_TIME -> "N/A";
            case JOB_ARRAY_ID -> JobRows.columnId(v.context, j, v.indexesShown);
            case JOB_ID -> n(j, "jobId");
            case LAST_SCHED_EVAL -> v.time(j, "lastSchedEval", "N/A");
            case LICENSES -> JobRows.orNull(j.text("licenses"));
            case MAX_CPUS -> n(j, "cpusMax");
            case MAX_NODES -> n(j, "nodeCountMax");
            case MCS_LABEL -> JobRows.orNull(j.text("mcsLabel"));
            case MIN_CPUS ->
                Integer.toString(Math.max(1, Math.max(j.integer("cpusPerNodeMin"), j.integer("cpusPerTask"))));
            case MIN_MEMORY -> v.megabytes(Math.max(j.number("memPerNodeMb"), j.number("memPerCpuMb")));
            case MIN_TIME -> Durations.briefMinutes(j.integer("timeMinMin"));
            case MIN_TMP_DISK -> v.megabytes(j.number("tmpDiskMb"));
            case NAME -> j.text("name");
            case NETWORK -> JobRows.orNull(j.text("network"));
            case NICE -> n(j, "nice");
            case NODE_LIST -> j.text("nodes");
            case NODES -> n(j, "nodeCount");
            case NT_PER_CORE -> JobRows.orNA(j.integer("tasksPerCore") == 0 ? "" : n(j, "tasksPerCore"));
            case NT_PER_NODE -> n(j, "tasksPerNode");
            case NT_PER_SOCKET -> JobRows.orNA(j.integer("tasksPerSocket") == 0 ? "" : n(j, "tasksPerSocket"));
            case ORIGIN, ORIGIN_RAW, SIBLINGS_ACTIVE, SIBLINGS_ACTIVE_RAW, SIBLINGS_VIABLE, SIBLINGS_VIABLE_RAW -> "NA";
            case EXCLUSIVE -> j.text("exclusiveUse");
            case OVERSUBSCRIBE -> JobRows.oversubscribe(j);
            case PARTITION -> j.text("partition");
            case PENDING_TIME -> Long.toString(pendingSeconds(j, v.now));
            case PREEMPT_TIME -> v.time(j, "preemptTime", "N/A");
            case PREFER -> JobRows.orNull(j.text("prefer"));
            case PRIORITY -> JobRows.fraction(j.number("priority"));
            case PRIORITY_LONG -> n(j, "priority");
            case PROFILE -> profile(j.text("profile"));
            case QOS -> JobRows.orNull(j.text("qos"));
            case REASON -> JobRows.reasonShown(j);
            case REASON_LIST -> JobRows.nodesOrReason(j);
            case REQ_NODES -> j.text("nodeListRequested");
            case REQUEUE -> bit(j, "requeue");
            case REQ_SWITCH ->
                j.text("switches").isEmpty() ? "0" : j.text("switches").split("@")[0];
            case WAIT4SWITCH ->
                Durations.brief(
                        j.text("switches").indexOf('@') < 0
                                ? 0
                                : Durations.parseSeconds(j.text("switches").split("@")[1])
                                        .orElse(0));
            case RESERVATION -> JobRows.orNull(j.text("reservation"));
            case RESTART_COUNT -> n(j, "restarts");
            case SCHED_NODES -> JobRows.orNull(j.text("schedNodes"));
            case SCT ->
                JobRows.orStar(j.integer("socketsPerNode")) + ":" + JobRows.orStar(j.integer("coresPerSocket")) + ":"
                        + JobRows.orStar(j.integer("threadsPerCore"));
            case SLUID -> Sluid.text(j.number("sluid"));
            case SOCKETS -> JobRows.orStar(j.integer("socketsPerNode"));
            case START_TIME -> v.time(j, "startTime", "N/A");
            case STATE -> JobRows.stateLong(j);
            case STATE_COMPACT -> JobRows.stateCompact(j);
            case STD_ERR -> JobRows.orNull(j.flag("ownStderr") ? v.path(j, "stderr") : "");
            case STD_IN -> JobRows.orNull(v.path(j, "stdin"));
            case STD_OUT -> JobRows.orNull(v.path(j, "stdout"));
            case SUBMIT_TIME -> v.time(j, "submitTime", "N/A");
            case SUBMIT_LINE -> JobRows.orNull(j.text("submitLine"));
            case TASKS -> n(j, "tasks");
            case THREADS -> JobRows.orStar(j.integer("threadsPerCore"));
            case TIME_LEFT -> JobRows.left(j, v.now);
            case TIME_LIMIT -> JobRows.limit(j);
            case TIME_USED -> Durations.brief(JobRows.used(j));
            case TRES_ALLOC ->
                JobRows.orNA(j.text("tresAlloc").isEmpty() ? j.text("tresRequested") : j.text("tresAlloc"));
            case TRES_PER_JOB -> JobRows.orNA(j.text("tresPerJob"));
            case TRES_PER_NODE -> JobRows.orNA(j.text("tresPerNode"));
            case TRES_PER_SOCKET -> JobRows.orNA(j.text("tresPerSocket"));
            case TRES_PER_TASK -> JobRows.orNA(j.text("tresPerTask"));
            case UID -> n(j, "userId");
            case USER -> j.text("userName");
            case WCKEY -> JobRows.orNull(j.text("wckey"));
            case WORK_DIR -> j.text("workDir");
        };
    }

    private static String n(Json.Obj j, String field) {
        return Long.toString(j.number(field));
    }

    private static String atLeast(Json.Obj j, String field, long least) {
        return Long.toString(Math.max(least, j.number(field)));
    }

    private static String bit(Json.Obj j, String field) {
        return j.flag(field) ? "1" : "0";
    }

    private static String exit(Json.Obj e) {
        return e.integer("code") + ":" + e.integer("signal");
    }

    static int arrayJobId(Json.Obj j) {
        return j.integer("arrayJobId") != 0 ? j.integer("arrayJobId") : j.integer("jobId");
    }

    private static String taskText(Json.Obj j, View v) {
        String tasks = v.indexesShown == JobRows.EACH_INDEX ? JobRows.eachTask(j) : JobRows.arrayTasks(j);
        int task = JobRows.taskId(j);
        if (!tasks.isEmpty()) {
            return JobRows.cut(tasks, v.indexesShown);
        }
        if (task >= 0) {
            return Integer.toString(task);
        }
        return "N/A";
    }

    private static String endTime(Json.Obj j, View v) {
        boolean running = j.text("state").equals("RUNNING") || j.text("state").equals("SUSPENDED");
        // a job with a known start and without an end has no time limit
        return v.time(j, "endTime", running || j.number("startTime") > 0 ? "NONE" : "N/A");
    }

    private static long pendingSeconds(Json.Obj j, long now) {
        long submit = j.number("submitTime");
        long start = JobRows.isPending(j) ? now : j.number("startTime");
        return submit == 0 || start == 0 ? 0 : Math.max(0, start - submit);
    }

    /** {@code energy,task} → {@code Energy,Task}. */
    private static String profile(String asked) {
        return asked.isEmpty()
                ? "NotSet"
                : String.join(
                        ",",
                        Texts.split(Texts.lower(asked), ',').stream()
                                .map(w -> w.equals("filesystem")
                                        ? "Lustre"
                                        : Texts.upper(w.substring(0, 1)) + w.substring(1))
                                .toList());
    }
}
