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

    public String value(Json.Obj job, View view) {
        return switch (this) {
            case ACCOUNT -> JobRows.orNull(job.text("account"));
            case ACCRUE_TIME -> view.time(job, "accrueTime", "N/A");
            case ADMIN_COMMENT -> JobRows.orNull(job.text("adminComment"));
            case ALLOC_NODES -> job.text("submitHost");
            case ALLOC_SID -> n(job, "submitPid");
            case ARRAY_JOB_ID -> Integer.toString(arrayJobId(job));
            case ARRAY_TASK_ID -> taskText(job, view);
            case ASSOC_ID, BOARDS, NT_PER_BOARD, SPER_BOARD -> "0";
            case BATCH_FLAG -> bit(job, "batch");
            case EXEC_HOST -> job.text("batchHost").isEmpty() ? "n/a" : job.text("batchHost");
            case BURST_BUFFER -> JobRows.orNull(job.text("burstBuffer"));
            case CLUSTER -> view.cluster;
            case CLUSTER_FEATURE, SYSTEM_COMMENT -> "(null)";
            case COMMAND -> JobRows.orNull(job.text("command"));
            case COMMENT -> JobRows.orNull(job.text("comment"));
            case CONTAINER -> JobRows.orNull(job.text("container"));
            case CONTAINER_ID -> JobRows.orNull(job.text("containerId"));
            case BURST_BUFFER_STATE -> JobRows.orNull(job.text("burstBufferState"));
            case CONTAINER_TYPE -> JobRows.orNull(job.text("containerType"));
            case CRON_JOB -> job.text("cronSpec").isEmpty() ? "No" : "Yes";
            case LICENSES_ALLOC -> JobRows.orNull(job.text("licensesAlloc"));
            case REBOOT -> bit(job, "reboot");
            case SEGMENT_SIZE -> n(job, "segment");
            case CONTIGUOUS -> bit(job, "contiguous");
            case CORE_SPEC -> JobRows.orNA(job.integer("coreSpec") == 0 ? "" : n(job, "coreSpec"));
            case CORES -> JobRows.orStar(job.integer("coresPerSocket"));
            case CPUS -> n(job, "cpus");
            case CPUS_PER_TASK -> atLeast(job, "cpusPerTask", 1);
            case CPUS_PER_TRES -> JobRows.orNA(job.text("cpusPerTres"));
            case MEM_PER_TRES -> JobRows.orNA(job.text("memPerTres"));
            case TRES_BIND -> JobRows.orNA(job.text("tresBind"));
            // --gpu-freq is refused
            case TRES_FREQ -> "N/A";
            case DEADLINE -> view.time(job, "deadline", "N/A");
            case DELAY_BOOT -> Durations.briefMinutes(job.integer("delayBootMin"));
            case DEPENDENCY -> JobRows.orNull(job.text("dependency"));
            case DERIVED_EC -> exit(job.obj("derivedExit"));
            case ELIGIBLE_TIME -> view.time(job, "eligibleTime", "N/A");
            case END_TIME -> endTime(job, view);
            case EXC_NODES -> job.text("excludeList");
            case EXIT_CODE -> exit(job.obj("exit"));
            case FEATURES -> JobRows.orNull(job.text("features"));
            case GROUP -> job.text("groupName");
            case GROUP_ID -> n(job, "groupId");
            case HET_JOB_ID -> job.integer("hetJobId") == 0 ? "N/A" : n(job, "hetJobId");
            case HET_JOB_OFFSET -> job.integer("hetJobId") == 0 ? "N/A" : Integer.toString(job.integer("hetOffset"));
            case HET_JOB_ID_SET -> JobRows.orNA(job.text("hetJobIdSet"));
            case RESIZE_TIME -> "N/A";
            case JOB_ARRAY_ID -> JobRows.columnId(view.context, job, view.indexesShown);
            case JOB_ID -> n(job, "jobId");
            case LAST_SCHED_EVAL -> view.time(job, "lastSchedEval", "N/A");
            case LICENSES -> JobRows.orNull(job.text("licenses"));
            case MAX_CPUS -> n(job, "cpusMax");
            case MAX_NODES -> n(job, "nodeCountMax");
            case MCS_LABEL -> JobRows.orNull(job.text("mcsLabel"));
            case MIN_CPUS ->
                Integer.toString(Math.max(1, Math.max(job.integer("cpusPerNodeMin"), job.integer("cpusPerTask"))));
            case MIN_MEMORY -> view.megabytes(Math.max(job.number("memPerNodeMb"), job.number("memPerCpuMb")));
            case MIN_TIME -> Durations.briefMinutes(job.integer("timeMinMin"));
            case MIN_TMP_DISK -> view.megabytes(job.number("tmpDiskMb"));
            case NAME -> job.text("name");
            case NETWORK -> JobRows.orNull(job.text("network"));
            case NICE -> n(job, "nice");
            case NODE_LIST -> job.text("nodes");
            case NODES -> n(job, "nodeCount");
            case NT_PER_CORE -> JobRows.orNA(job.integer("tasksPerCore") == 0 ? "" : n(job, "tasksPerCore"));
            case NT_PER_NODE -> n(job, "tasksPerNode");
            case NT_PER_SOCKET -> JobRows.orNA(job.integer("tasksPerSocket") == 0 ? "" : n(job, "tasksPerSocket"));
            case ORIGIN, ORIGIN_RAW, SIBLINGS_ACTIVE, SIBLINGS_ACTIVE_RAW, SIBLINGS_VIABLE, SIBLINGS_VIABLE_RAW -> "NA";
            case EXCLUSIVE -> job.text("exclusiveUse");
            case OVERSUBSCRIBE -> JobRows.oversubscribe(job);
            case PARTITION -> job.text("partition");
            case PENDING_TIME -> Long.toString(pendingSeconds(job, view.now));
            case PREEMPT_TIME -> view.time(job, "preemptTime", "N/A");
            case PREFER -> JobRows.orNull(job.text("prefer"));
            case PRIORITY -> JobRows.fraction(job.number("priority"));
            case PRIORITY_LONG -> n(job, "priority");
            case PROFILE -> profile(job.text("profile"));
            case QOS -> JobRows.orNull(job.text("qos"));
            case REASON -> JobRows.reasonShown(job);
            case REASON_LIST -> JobRows.nodesOrReason(job);
            case REQ_NODES -> job.text("nodeListRequested");
            case REQUEUE -> bit(job, "requeue");
            case REQ_SWITCH ->
                job.text("switches").isEmpty() ? "0" : job.text("switches").split("@")[0];
            case WAIT4SWITCH ->
                Durations.brief(
                        job.text("switches").indexOf('@') < 0
                                ? 0
                                : Durations.parseSeconds(job.text("switches").split("@")[1])
                                        .orElse(0));
            case RESERVATION -> JobRows.orNull(job.text("reservation"));
            case RESTART_COUNT -> n(job, "restarts");
            case SCHED_NODES -> JobRows.orNull(job.text("schedNodes"));
            case SCT ->
                JobRows.orStar(job.integer("socketsPerNode")) + ":" + JobRows.orStar(job.integer("coresPerSocket"))
                        + ":" + JobRows.orStar(job.integer("threadsPerCore"));
            case SLUID -> Sluid.text(job.number("sluid"));
            case SOCKETS -> JobRows.orStar(job.integer("socketsPerNode"));
            case START_TIME -> view.time(job, "startTime", "N/A");
            case STATE -> JobRows.stateLong(job);
            case STATE_COMPACT -> JobRows.stateCompact(job);
            case STD_ERR -> JobRows.orNull(job.flag("ownStderr") ? view.path(job, "stderr") : "");
            case STD_IN -> JobRows.orNull(view.path(job, "stdin"));
            case STD_OUT -> JobRows.orNull(view.path(job, "stdout"));
            case SUBMIT_TIME -> view.time(job, "submitTime", "N/A");
            case SUBMIT_LINE -> JobRows.orNull(job.text("submitLine"));
            case TASKS -> n(job, "tasks");
            case THREADS -> JobRows.orStar(job.integer("threadsPerCore"));
            case TIME_LEFT -> JobRows.left(job, view.now);
            case TIME_LIMIT -> JobRows.limit(job);
            case TIME_USED -> Durations.brief(JobRows.used(job));
            case TRES_ALLOC ->
                JobRows.orNA(job.text("tresAlloc").isEmpty() ? job.text("tresRequested") : job.text("tresAlloc"));
            case TRES_PER_JOB -> JobRows.orNA(job.text("tresPerJob"));
            case TRES_PER_NODE -> JobRows.orNA(job.text("tresPerNode"));
            case TRES_PER_SOCKET -> JobRows.orNA(job.text("tresPerSocket"));
            case TRES_PER_TASK -> JobRows.orNA(job.text("tresPerTask"));
            case UID -> n(job, "userId");
            case USER -> job.text("userName");
            case WCKEY -> JobRows.orNull(job.text("wckey"));
            case WORK_DIR -> job.text("workDir");
        };
    }

    private static String n(Json.Obj job, String field) {
        return Long.toString(job.number(field));
    }

    private static String atLeast(Json.Obj job, String field, long minimum) {
        return Long.toString(Math.max(minimum, job.number(field)));
    }

    private static String bit(Json.Obj job, String field) {
        return job.flag(field) ? "1" : "0";
    }

    private static String exit(Json.Obj e) {
        return e.integer("code") + ":" + e.integer("signal");
    }

    static int arrayJobId(Json.Obj job) {
        return job.integer("arrayJobId") != 0 ? job.integer("arrayJobId") : job.integer("jobId");
    }

    private static String taskText(Json.Obj job, View view) {
        String tasks = view.indexesShown == JobRows.EACH_INDEX ? JobRows.eachTask(job) : JobRows.arrayTasks(job);
        int task = JobRows.taskId(job);
        if (!tasks.isEmpty()) {
            return JobRows.cut(tasks, view.indexesShown);
        }
        if (task >= 0) {
            return Integer.toString(task);
        }
        return "N/A";
    }

    private static String endTime(Json.Obj job, View view) {
        boolean running =
                job.text("state").equals("RUNNING") || job.text("state").equals("SUSPENDED");
        // a job with a known start and without an end has no time limit
        return view.time(job, "endTime", running || job.number("startTime") > 0 ? "NONE" : "N/A");
    }

    private static long pendingSeconds(Json.Obj job, long now) {
        long submit = job.number("submitTime");
        long start = JobRows.isPending(job) ? now : job.number("startTime");
        return submit == 0 || start == 0 ? 0 : Math.max(0, start - submit);
    }

    /** {@code energy,task} → {@code Energy,Task}. */
    private static String profile(String profile) {
        return profile.isEmpty()
                ? "NotSet"
                : String.join(
                        ",",
                        Texts.split(Texts.lower(profile), ',').stream()
                                .map(w -> w.equals("filesystem")
                                        ? "Lustre"
                                        : Texts.upper(w.substring(0, 1)) + w.substring(1))
                                .toList());
    }
}
