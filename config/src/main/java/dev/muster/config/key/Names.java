package dev.muster.config.key;

import java.util.List;

/** The words that keys with a closed set of values accept. */
public final class Names {
    public static final List<String> DEBUG_FLAGS = List.of(
            "Accrue",
            "Agent",
            "AuditRPCs",
            "AuditTLS",
            "Backfill",
            "BackfillMap",
            "BurstBuffer",
            "Cgroup",
            "ConMgr",
            "CPU_Bind",
            "CpuFrequency",
            "Data",
            "DBD_Agent",
            "Dependency",
            "Elasticsearch",
            "Energy",
            "Federation",
            "Gang",
            "GLOB_SILENCE",
            "Gres",
            "Hetjob",
            "Interconnect",
            "JobAccountGather",
            "JobComp",
            "JobContainer",
            "Kafka",
            "License",
            "Metrics",
            "MPI",
            "Namespace",
            "Network",
            "NetworkRaw",
            "NodeFeatures",
            "NO_CONF_HASH",
            "Power",
            "Priority",
            "Profile",
            "Protocol",
            "Reservation",
            "Route",
            "Script",
            "SelectType",
            "Steps",
            "Switch",
            "Thread",
            "TimeCray",
            "TLS",
            "TraceJobs",
            "Triggers",
            "WorkQueue");
    public static final List<String> PREEMPT_MODES =
            List.of("WITHIN", "PRIORITY", "GANG", "OFF", "CANCEL", "REQUEUE", "SUSPEND");
    public static final List<String> SELECT_PARAMETERS = List.of(
            "NONE",
            "CR_CPU",
            "CR_CPU_MEMORY",
            "CR_CORE",
            "CR_CORE_MEMORY",
            "CR_SOCKET",
            "CR_SOCKET_MEMORY",
            "CR_MEMORY",
            "CR_ONE_TASK_PER_CORE",
            "CR_CORE_DEFAULT_DIST_BLOCK",
            "CR_NO_DIST_TOPO_BLOCK",
            "CR_LLN",
            "CR_PACK_NODES",
            "ENFORCE_BINDING_GRES",
            "ONE_TASK_PER_SHARING_GRES",
            "MULTIPLE_SHARING_GRES_PJ",
            "LL_SHARED_GRES",
            "OTHER_CONS_RES",
            "OTHER_CONS_TRES");
    static final List<String> ENFORCE =
            List.of("all", "associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys");
    static final List<String> PROLOG_FLAGS =
            List.of("Alloc", "Contain", "DeferBatch", "ForceRequeueOnFail", "NoHold", "RunInJob", "Serial", "X11");
    static final List<String> LIMITS =
            List.of("ALL", "NONE", "AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK");
    /** Words of TaskPluginParam that exclude each other. */
    static final List<String> BINDINGS = List.of("none", "sockets", "cores", "threads");

    static final List<String> TASK_PARAMETERS = List.of(
            "none",
            "sockets",
            "cores",
            "threads",
            "verbose",
            "slurmdoffspec",
            "slurmdspecoverride",
            "oomkillstep",
            "autobind=none",
            "autobind=sockets",
            "autobind=cores",
            "autobind=threads");
    static final List<String> JOB_SUBMIT =
            List.of("all_partitions", "defaults", "logging", "lua", "partition", "require_timelimit", "throttle");
    static final List<String> METRICS = List.of("metrics/openmetrics");
    static final List<String> ACCOUNTING_STORE =
            List.of("job_comment", "job_env", "job_extra", "job_script", "no_stdio");
    /** Values of muster_backfill in SchedulerParameters. */
    static final List<String> BACKFILL = List.of("easy", "short", "expected", "slowdown");

    static final List<String> METRICS_PARAMETERS = List.of("ignore_private_data");
    static final List<String> ALT_AUTH = List.of("auth/jwt");
    /** Words of SlurmctldParameters with a number. */
    static final List<String> RATE_LIMITS =
            List.of("rl_bucket_size", "rl_log_freq", "rl_refill_period", "rl_refill_rate", "rl_table_size");

    static final List<String> TOKENS = List.of(
            "disable_token_creation",
            "jwks",
            "jwt_key",
            "max_token_lifespan",
            "use_jwt_client_ids",
            "use_jwt_client_ids_only",
            "userclaimfield");
    static final List<String> JOB_COMPLETION = List.of(
            "jobcomp/none",
            "jobcomp/filetxt",
            "jobcomp/script",
            "jobcomp/mysql",
            "jobcomp/elasticsearch",
            "jobcomp/lua",
            "jobcomp/kafka");
    public static final List<String> PROFILES =
            List.of("acct_gather_profile/none", "acct_gather_profile/influxdb", "acct_gather_profile/hdf5");
    static final List<String> BURST_BUFFER = List.of("burst_buffer/none", "burst_buffer/lua");
    static final List<String> PRIVATE_DATA = List.of(
            "none",
            "accounts",
            "cloud",
            "events",
            "jobs",
            "nodes",
            "partitions",
            "reservations",
            "usage",
            "users",
            "all");
    static final List<String> HEALTH_STATES =
            List.of("CYCLE", "IDLE", "ALLOC", "MIXED", "ANY", "NONDRAINED_IDLE", "START_ONLY", "REBOOT_ONLY");

    static final List<String> RESET_PERIODS =
            List.of("NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY");
    /** Words of SuspendExcStates. */
    public static final List<String> POWER_STATES = List.of(
            "CLOUD",
            "DOWN",
            "DRAIN",
            "DYNAMIC_FUTURE",
            "DYNAMIC_NORM",
            "FAIL",
            "INVALID_REG",
            "MAINTENANCE",
            "NOT_RESPONDING",
            "PLANNED",
            "RESERVED");

    /** Keys that older versions of Slurm had; they are accepted with a warning. */
    public static final String DEFUNCT = " accountingstoragebackuploc accountingstorageloc accountingstorejobcomment"
            + " acctgatherinfinibandtype backupaddr backupcontroller cachegroups checkpointtype chosloc controladdr"
            + " controlmachine corespecplugin cryptotype defaultstoragehost defaultstorageloc defaultstoragepass"
            + " defaultstorageport defaultstoragetype defaultstorageuser extsensorsfreq extsensorstype fastschedule"
            + " getenvtimeout jobacctgatherloc jobcheckpointdir jobcredentialprivatekey jobcredentialpubliccertificate"
            + " keepalivetime launchtype layoutsplugins memlimitenforce msgaggregationparams powerparameters "
            + "powerplugin"
            + " preemptionmode routeplugin sallocdefaultcommand schedulerauth schedulerport schedulerrootfilter"
            + " slurmctldplugstack srunwaittime taskaffinity topologytype ";

    private Names() {}

    /** The word of the list that equals {@code word} but for case; empty when there is none. */
    public static String known(List<String> words, String word) {
        for (String candidate : words) {
            if (candidate.equalsIgnoreCase(word)) {
                return candidate;
            }
        }
        return "";
    }
}
