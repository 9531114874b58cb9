package dev.muster.config.key;

/**
 * Every key of slurm.conf that Slurm 26.05 knows, outside the lines of nodes and partitions: its spelling, kind,
 * default, readers, and, for one that has no effect here, the sentence that says why.
 */
public enum Key {
    ACCOUNTING_STORAGE_BACKUP_HOST("AccountingStorageBackupHost", Kind.TEXT, "", Reader.CONTROLLER),
    ACCOUNTING_STORAGE_ENFORCE("AccountingStorageEnforce", Kind.LIST, "none", Reader.CONTROLLER),
    ACCOUNTING_STORAGE_EXTERNAL_HOST("AccountingStorageExternalHost", Kind.TEXT, "", Reader.CONTROLLER),
    ACCOUNTING_STORAGE_HOST("AccountingStorageHost", Kind.TEXT, "localhost", Reader.ALL),
    ACCOUNTING_STORAGE_PARAMETERS("AccountingStorageParameters", Kind.TEXT, "", Reader.CONTROLLER),
    ACCOUNTING_STORAGE_PASS("AccountingStoragePass", Kind.TEXT, "", Reader.ALL),
    ACCOUNTING_STORAGE_PORT("AccountingStoragePort", Kind.U32, "0", Reader.ALL),
    ACCOUNTING_STORAGE_TRES("AccountingStorageTRES", Kind.LIST, "", Reader.CONTROLLER),
    ACCOUNTING_STORAGE_TYPE("AccountingStorageType", Kind.TEXT, "", Reader.ALL),
    ACCOUNTING_STORAGE_USER("AccountingStorageUser", Kind.TEXT, "", Reader.CONTROLLER, Inert.SLURMDBD),
    ACCOUNTING_STORE_FLAGS("AccountingStoreFlags", Kind.LIST, "", Reader.CONTROLLER),
    ACCT_GATHER_ENERGY_TYPE("AcctGatherEnergyType", Kind.TEXT, "", Reader.NODE),
    ACCT_GATHER_FILESYSTEM_TYPE("AcctGatherFilesystemType", Kind.TEXT, "", Reader.NODE),
    ACCT_GATHER_INTERCONNECT_TYPE("AcctGatherInterconnectType", Kind.TEXT, "", Reader.NODE),
    ACCT_GATHER_NODE_FREQ("AcctGatherNodeFreq", Kind.U16, "0", Reader.NODE),
    ACCT_GATHER_PROFILE_TYPE("AcctGatherProfileType", Kind.TEXT, "", Reader.NODE),
    ALLOW_SPEC_RESOURCES_USAGE("AllowSpecResourcesUsage", Kind.YES_NO, "no", Reader.CONTROLLER),
    AUTH_ALT_PARAMETERS("AuthAltParameters", Kind.LIST, "", Reader.ALL),
    AUTH_ALT_TYPES("AuthAltTypes", Kind.LIST, "", Reader.ALL),
    AUTH_INFO("AuthInfo", Kind.TEXT, "", Reader.ALL),
    AUTH_TYPE("AuthType", Kind.TEXT, "auth/munge", Reader.ALL),
    BATCH_START_TIMEOUT("BatchStartTimeout", Kind.U16, "10", Reader.CONTROLLER),
    BCAST_EXCLUDE("BcastExclude", Kind.TEXT, "/lib,/usr/lib,/lib64,/usr/lib64", Reader.COMMANDS),
    BCAST_PARAMETERS("BcastParameters", Kind.TEXT, "", Reader.COMMANDS),
    BURST_BUFFER_TYPE("BurstBufferType", Kind.TEXT, "", Reader.CONTROLLER),
    CERTGEN_PARAMETERS("CertgenParameters", Kind.TEXT, "", Reader.ALL, Inert.CERTGEN),
    CERTGEN_TYPE("CertgenType", Kind.TEXT, "", Reader.ALL, Inert.CERTGEN),
    CERTMGR_PARAMETERS("CertmgrParameters", Kind.TEXT, "", Reader.ALL),
    CERTMGR_TYPE("CertmgrType", Kind.TEXT, "", Reader.ALL),
    CLI_FILTER_PARAMETERS("CliFilterParameters", Kind.TEXT, "", Reader.COMMANDS),
    CLI_FILTER_PLUGINS("CliFilterPlugins", Kind.LIST, "", Reader.COMMANDS),
    CLUSTER_NAME("ClusterName", Kind.TEXT, "", Reader.ALL),
    COMMUNICATION_PARAMETERS("CommunicationParameters", Kind.LIST, "", Reader.ALL),
    COMPLETE_WAIT("CompleteWait", Kind.U16, "0", Reader.CONTROLLER),
    CPU_FREQ_DEF("CpuFreqDef", Kind.TEXT, "Unknown", Reader.NODE),
    CPU_FREQ_GOVERNORS("CpuFreqGovernors", Kind.TEXT, "OnDemand,Performance,UserSpace", Reader.COMMANDS),
    CRED_TYPE("CredType", Kind.TEXT, "", Reader.ALL, Inert.CRED),
    DATA_PARSER_PARAMETERS("DataParserParameters", Kind.TEXT, "", Reader.COMMANDS, Inert.REST),
    DEBUG_FLAGS("DebugFlags", Kind.LIST, "", Reader.ALL),
    DEF_CPU_PER_GPU("DefCpuPerGPU", Kind.U64, "0", Reader.CONTROLLER),
    DEF_MEM_PER_CPU("DefMemPerCPU", Kind.U64, "0", Reader.CONTROLLER),
    DEF_MEM_PER_GPU("DefMemPerGPU", Kind.U64, "0", Reader.CONTROLLER),
    DEF_MEM_PER_NODE("DefMemPerNode", Kind.U64, "0", Reader.CONTROLLER),
    DEPENDENCY_PARAMETERS("DependencyParameters", Kind.LIST, "", Reader.CONTROLLER),
    DISABLE_ROOT_JOBS("DisableRootJobs", Kind.YES_NO, "no", Reader.CONTROLLER),
    EIO_TIMEOUT("EioTimeout", Kind.U16, "60", Reader.COMMANDS),
    ENFORCE_PART_LIMITS("EnforcePartLimits", Kind.TEXT, "NO", Reader.CONTROLLER),
    EPILOG("Epilog", Kind.LINES, "", Reader.NODE),
    EPILOG_MSG_TIME("EpilogMsgTime", Kind.U32, "2000", Reader.NODE),
    EPILOG_SLURMCTLD("EpilogSlurmctld", Kind.LINES, "", Reader.CONTROLLER),
    EPILOG_TIMEOUT("EpilogTimeout", Kind.U16, "65534", Reader.NODE),
    FAIR_SHARE_DAMPENING_FACTOR("FairShareDampeningFactor", Kind.U16, "1", Reader.CONTROLLER),
    FEDERATION_PARAMETERS("FederationParameters", Kind.LIST, "", Reader.CONTROLLER, Inert.FED),
    FIRST_JOB_ID("FirstJobId", Kind.U32, "1", Reader.CONTROLLER),
    GPU_FREQ_DEF("GpuFreqDef", Kind.TEXT, "", Reader.NODE, Inert.FREQ),
    GRES_TYPES("GresTypes", Kind.LIST, "", Reader.ALL),
    GROUP_UPDATE_FORCE("GroupUpdateForce", Kind.U16, "1", Reader.CONTROLLER),
    GROUP_UPDATE_TIME("GroupUpdateTime", Kind.U16, "600", Reader.CONTROLLER),
    HASH_PLUGIN("HashPlugin", Kind.TEXT, "hash/k12", Reader.ALL, Inert.OWN_BOUND),
    HEALTH_CHECK_INTERVAL("HealthCheckInterval", Kind.U16, "0", Reader.NODE),
    HEALTH_CHECK_NODE_STATE("HealthCheckNodeState", Kind.LIST, "ANY", Reader.NODE),
    HEALTH_CHECK_PROGRAM("HealthCheckProgram", Kind.TEXT, "", Reader.NODE),
    HEALTH_CHECK_TIMEOUT("HealthCheckTimeout", Kind.U16, "0", Reader.NODE),
    HTTP_PARSER_TYPE("HttpParserType", Kind.TEXT, "http_parser/libhttp_parser", Reader.CONTROLLER, Inert.PLUGIN),
    INACTIVE_LIMIT("InactiveLimit", Kind.U16, "0", Reader.CONTROLLER),
    INTERACTIVE_STEP_OPTIONS(
            "InteractiveStepOptions", Kind.TEXT, "--interactive --preserve-env --pty $SHELL", Reader.COMMANDS),
    JOB_ACCT_GATHER_FREQUENCY("JobAcctGatherFrequency", Kind.TEXT, "30", Reader.NODE),
    JOB_ACCT_GATHER_PARAMS("JobAcctGatherParams", Kind.LIST, "", Reader.NODE),
    JOB_ACCT_GATHER_TYPE("JobAcctGatherType", Kind.TEXT, "", Reader.NODE),
    JOB_COMP_HOST("JobCompHost", Kind.TEXT, "localhost", Reader.CONTROLLER),
    JOB_COMP_LOC("JobCompLoc", Kind.TEXT, "", Reader.CONTROLLER),
    JOB_COMP_PARAMS("JobCompParams", Kind.TEXT, "", Reader.CONTROLLER),
    JOB_COMP_PASS("JobCompPass", Kind.TEXT, "", Reader.CONTROLLER),
    JOB_COMP_PASS_SCRIPT("JobCompPassScript", Kind.TEXT, "", Reader.CONTROLLER),
    JOB_COMP_PORT("JobCompPort", Kind.U32, "0", Reader.CONTROLLER),
    JOB_COMP_TYPE("JobCompType", Kind.TEXT, "", Reader.CONTROLLER),
    JOB_COMP_USER("JobCompUser", Kind.TEXT, "root", Reader.CONTROLLER),
    JOB_CONTAINER_TYPE("JobContainerType", Kind.TEXT, "", Reader.NODE),
    JOB_DEFAULTS("JobDefaults", Kind.LIST, "", Reader.CONTROLLER),
    JOB_FILE_APPEND("JobFileAppend", Kind.U16, "0", Reader.ALL),
    JOB_REQUEUE("JobRequeue", Kind.U16, "1", Reader.CONTROLLER),
    JOB_SUBMIT_PLUGINS("JobSubmitPlugins", Kind.LIST, "", Reader.CONTROLLER),
    KILL_ON_BAD_EXIT("KillOnBadExit", Kind.U16, "0", Reader.COMMANDS),
    KILL_WAIT("KillWait", Kind.U16, "30", Reader.ALL),
    LAUNCH_PARAMETERS("LaunchParameters", Kind.LIST, "", Reader.ALL),
    LICENSE_PARAMETERS("LicenseParameters", Kind.LIST, "", Reader.CONTROLLER),
    LICENSES("Licenses", Kind.LIST, "", Reader.CONTROLLER),
    LOG_TIME_FORMAT("LogTimeFormat", Kind.TEXT, "iso8601_ms", Reader.ALL),
    MAIL_DOMAIN("MailDomain", Kind.TEXT, "", Reader.CONTROLLER),
    MAIL_PROG("MailProg", Kind.TEXT, "/bin/mail", Reader.CONTROLLER),
    MAX_ARRAY_SIZE("MaxArraySize", Kind.U32, "1001", Reader.CONTROLLER),
    MAX_BATCH_REQUEUE("MaxBatchRequeue", Kind.U32, "5", Reader.CONTROLLER),
    MAX_DBD_MSGS("MaxDBDMsgs", Kind.U32, "0", Reader.CONTROLLER),
    MAX_JOB_COUNT("MaxJobCount", Kind.U32, "10000", Reader.CONTROLLER),
    MAX_JOB_ID("MaxJobId", Kind.U32, "67043328", Reader.CONTROLLER),
    MAX_MEM_PER_CPU("MaxMemPerCPU", Kind.U64, "0", Reader.CONTROLLER),
    MAX_MEM_PER_NODE("MaxMemPerNode", Kind.U64, "0", Reader.CONTROLLER),
    MAX_NODE_COUNT("MaxNodeCount", Kind.U32, "0", Reader.CONTROLLER),
    MAX_STEP_COUNT("MaxStepCount", Kind.U32, "40000", Reader.CONTROLLER),
    MAX_TASKS_PER_NODE("MaxTasksPerNode", Kind.U16, "512", Reader.CONTROLLER),
    MCS_PARAMETERS("MCSParameters", Kind.TEXT, "", Reader.CONTROLLER),
    MCS_PLUGIN("MCSPlugin", Kind.TEXT, "", Reader.CONTROLLER),
    MESSAGE_TIMEOUT("MessageTimeout", Kind.U16, "10", Reader.ALL),
    METRICS_AUTH_USERS("MetricsAuthUsers", Kind.LIST, "", Reader.CONTROLLER),
    METRICS_PARAMETERS("MetricsParameters", Kind.LIST, "", Reader.CONTROLLER),
    METRICS_TYPE("MetricsType", Kind.TEXT, "", Reader.CONTROLLER),
    MIN_JOB_AGE("MinJobAge", Kind.U32, "300", Reader.CONTROLLER),
    MPI_DEFAULT("MpiDefault", Kind.TEXT, "", Reader.COMMANDS),
    MPI_PARAMS("MpiParams", Kind.TEXT, "", Reader.CONTROLLER),
    NAMESPACE_TYPE("NamespaceType", Kind.TEXT, "", Reader.NODE),
    NODE_FEATURES_PLUGINS("NodeFeaturesPlugins", Kind.TEXT, "", Reader.CONTROLLER),
    OVER_TIME_LIMIT("OverTimeLimit", Kind.U16, "0", Reader.CONTROLLER),
    PLUGIN_DIR("PluginDir", Kind.TEXT, "", Reader.ALL, Inert.PLUGIN),
    PLUGSTACK_CONFIG("PlugStackConfig", Kind.TEXT, "", Reader.NODE, Inert.PLUGIN),
    PREEMPT_EXEMPT_TIME("PreemptExemptTime", Kind.TEXT, "", Reader.CONTROLLER),
    PREEMPT_MODE("PreemptMode", Kind.LIST, "OFF", Reader.CONTROLLER),
    PREEMPT_PARAMETERS("PreemptParameters", Kind.LIST, "", Reader.CONTROLLER),
    PREEMPT_TYPE("PreemptType", Kind.TEXT, "", Reader.CONTROLLER),
    PREP_PARAMETERS("PrEpParameters", Kind.TEXT, "", Reader.ALL, Inert.PLUGIN),
    PREP_PLUGINS("PrEpPlugins", Kind.LIST, "prep/script", Reader.ALL, Inert.PREP),
    PRIORITY_CALC_PERIOD("PriorityCalcPeriod", Kind.DURATION, "300", Reader.CONTROLLER),
    PRIORITY_DECAY_HALF_LIFE("PriorityDecayHalfLife", Kind.DURATION, "604800", Reader.CONTROLLER),
    PRIORITY_FAVOR_SMALL("PriorityFavorSmall", Kind.YES_NO, "no", Reader.CONTROLLER),
    PRIORITY_FLAGS("PriorityFlags", Kind.LIST, "", Reader.CONTROLLER),
    PRIORITY_MAX_AGE("PriorityMaxAge", Kind.DURATION, "604800", Reader.CONTROLLER),
    PRIORITY_PARAMETERS("PriorityParameters", Kind.TEXT, "", Reader.CONTROLLER, Inert.FACTORS),
    PRIORITY_SITE_FACTOR_PARAMETERS(
            "PrioritySiteFactorParameters", Kind.TEXT, "", Reader.CONTROLLER, Inert.SITE_FACTOR),
    PRIORITY_SITE_FACTOR_PLUGIN("PrioritySiteFactorPlugin", Kind.TEXT, "", Reader.CONTROLLER, Inert.SITE_FACTOR),
    PRIORITY_TYPE("PriorityType", Kind.TEXT, "priority/multifactor", Reader.CONTROLLER),
    PRIORITY_USAGE_RESET_PERIOD("PriorityUsageResetPeriod", Kind.TEXT, "NONE", Reader.CONTROLLER),
    PRIORITY_WEIGHT_AGE("PriorityWeightAge", Kind.U32, "0", Reader.CONTROLLER),
    PRIORITY_WEIGHT_ASSOC("PriorityWeightAssoc", Kind.U32, "0", Reader.CONTROLLER),
    PRIORITY_WEIGHT_FAIR_SHARE("PriorityWeightFairShare", Kind.U32, "0", Reader.CONTROLLER),
    PRIORITY_WEIGHT_JOB_SIZE("PriorityWeightJobSize", Kind.U32, "0", Reader.CONTROLLER),
    PRIORITY_WEIGHT_PARTITION("PriorityWeightPartition", Kind.U32, "0", Reader.CONTROLLER),
    PRIORITY_WEIGHT_QOS("PriorityWeightQOS", Kind.U32, "0", Reader.CONTROLLER),
    PRIORITY_WEIGHT_TRES("PriorityWeightTRES", Kind.TEXT, "", Reader.CONTROLLER),
    PRIVATE_DATA("PrivateData", Kind.LIST, "none", Reader.CONTROLLER),
    PROCTRACK_TYPE("ProctrackType", Kind.TEXT, "proctrack/cgroup", Reader.NODE),
    PROLOG("Prolog", Kind.LINES, "", Reader.NODE),
    PROLOG_EPILOG_TIMEOUT("PrologEpilogTimeout", Kind.U16, "65534", Reader.NODE),
    PROLOG_FLAGS("PrologFlags", Kind.LIST, "", Reader.ALL),
    PROLOG_SLURMCTLD("PrologSlurmctld", Kind.LINES, "", Reader.CONTROLLER),
    PROLOG_TIMEOUT("PrologTimeout", Kind.U16, "65534", Reader.NODE),
    PROPAGATE_PRIO_PROCESS("PropagatePrioProcess", Kind.U16, "0", Reader.ALL),
    PROPAGATE_RESOURCE_LIMITS("PropagateResourceLimits", Kind.LIST, "", Reader.COMMANDS),
    PROPAGATE_RESOURCE_LIMITS_EXCEPT("PropagateResourceLimitsExcept", Kind.LIST, "", Reader.COMMANDS),
    REBOOT_PROGRAM("RebootProgram", Kind.TEXT, "", Reader.NODE),
    RECONFIG_FLAGS("ReconfigFlags", Kind.LIST, "", Reader.CONTROLLER),
    REQUEUE_EXIT("RequeueExit", Kind.TEXT, "", Reader.CONTROLLER),
    REQUEUE_EXIT_HOLD("RequeueExitHold", Kind.TEXT, "", Reader.CONTROLLER),
    RESUME_FAIL_PROGRAM("ResumeFailProgram", Kind.TEXT, "", Reader.CONTROLLER),
    RESUME_PROGRAM("ResumeProgram", Kind.TEXT, "", Reader.CONTROLLER),
    RESUME_RATE("ResumeRate", Kind.U16, "300", Reader.CONTROLLER),
    RESUME_TIMEOUT("ResumeTimeout", Kind.U16, "60", Reader.CONTROLLER),
    RESV_EPILOG("ResvEpilog", Kind.TEXT, "", Reader.CONTROLLER),
    RESV_OVER_RUN("ResvOverRun", Kind.U16, "0", Reader.CONTROLLER),
    RESV_PROLOG("ResvProlog", Kind.TEXT, "", Reader.CONTROLLER),
    RETURN_TO_SERVICE("ReturnToService", Kind.U16, "0", Reader.CONTROLLER),
    SCHEDULER_PARAMETERS("SchedulerParameters", Kind.LIST, "", Reader.CONTROLLER),
    SCHEDULER_TIME_SLICE("SchedulerTimeSlice", Kind.U16, "30", Reader.CONTROLLER),
    SCHEDULER_TYPE("SchedulerType", Kind.TEXT, "sched/backfill", Reader.CONTROLLER),
    SCRON_PARAMETERS("ScronParameters", Kind.LIST, "", Reader.CONTROLLER),
    SELECT_TYPE("SelectType", Kind.TEXT, "select/cons_tres", Reader.ALL),
    SELECT_TYPE_PARAMETERS("SelectTypeParameters", Kind.LIST, "CR_CORE_MEMORY", Reader.CONTROLLER),
    SLURMCTLD_ADDR("SlurmctldAddr", Kind.TEXT, "", Reader.ALL),
    SLURMCTLD_DEBUG("SlurmctldDebug", Kind.DEBUG_LEVEL, "info", Reader.CONTROLLER),
    SLURMCTLD_HOST("SlurmctldHost", Kind.LINES, "", Reader.ALL),
    SLURMCTLD_HTTP_AUTH_PARAMETERS("SlurmctldHttpAuthParameters", Kind.LIST, "", Reader.CONTROLLER),
    SLURMCTLD_LOG_FILE("SlurmctldLogFile", Kind.TEXT, "", Reader.CONTROLLER),
    SLURMCTLD_PARAMETERS("SlurmctldParameters", Kind.LIST, "", Reader.CONTROLLER),
    SLURMCTLD_PID_FILE("SlurmctldPidFile", Kind.TEXT, "/var/run/slurmctld.pid", Reader.CONTROLLER),
    SLURMCTLD_PORT("SlurmctldPort", Kind.TEXT, "6817", Reader.ALL),
    SLURMCTLD_PRIMARY_OFF_PROG("SlurmctldPrimaryOffProg", Kind.TEXT, "", Reader.CONTROLLER),
    SLURMCTLD_PRIMARY_ON_PROG("SlurmctldPrimaryOnProg", Kind.TEXT, "", Reader.CONTROLLER),
    SLURMCTLD_SYSLOG_DEBUG("SlurmctldSyslogDebug", Kind.DEBUG_LEVEL, "", Reader.CONTROLLER),
    SLURMCTLD_TIMEOUT("SlurmctldTimeout", Kind.U16, "120", Reader.CONTROLLER),
    SLURMD_DEBUG("SlurmdDebug", Kind.DEBUG_LEVEL, "info", Reader.NODE),
    SLURMD_HTTP_AUTH_PARAMETERS("SlurmdHttpAuthParameters", Kind.LIST, "", Reader.NODE, Inert.NODE_TOKENS),
    SLURMD_LOG_FILE("SlurmdLogFile", Kind.TEXT, "", Reader.NODE),
    SLURMD_PARAMETERS("SlurmdParameters", Kind.LIST, "", Reader.ALL),
    SLURMD_PID_FILE("SlurmdPidFile", Kind.TEXT, "/var/run/slurmd.pid", Reader.NODE),
    SLURMD_PORT("SlurmdPort", Kind.U32, "6818", Reader.ALL),
    SLURMD_SPOOL_DIR("SlurmdSpoolDir", Kind.TEXT, "/var/spool/slurmd", Reader.NODE),
    SLURMD_SYSLOG_DEBUG("SlurmdSyslogDebug", Kind.DEBUG_LEVEL, "", Reader.NODE),
    SLURMD_TIMEOUT("SlurmdTimeout", Kind.U16, "300", Reader.CONTROLLER),
    SLURMD_USER("SlurmdUser", Kind.TEXT, "root", Reader.ALL),
    SLURM_SCHED_LOG_FILE("SlurmSchedLogFile", Kind.TEXT, "", Reader.CONTROLLER),
    SLURM_SCHED_LOG_LEVEL("SlurmSchedLogLevel", Kind.U16, "0", Reader.CONTROLLER),
    SLURM_USER("SlurmUser", Kind.TEXT, "root", Reader.ALL),
    SRUN_EPILOG("SrunEpilog", Kind.TEXT, "", Reader.COMMANDS),
    SRUN_PORT_RANGE("SrunPortRange", Kind.TEXT, "", Reader.COMMANDS, Inert.PORTS),
    SRUN_PROLOG("SrunProlog", Kind.TEXT, "", Reader.COMMANDS),
    STATE_SAVE_LOCATION("StateSaveLocation", Kind.TEXT, "/var/spool", Reader.CONTROLLER),
    SUSPEND_EXC_NODES("SuspendExcNodes", Kind.LINES, "", Reader.CONTROLLER),
    SUSPEND_EXC_PARTS("SuspendExcParts", Kind.LINES, "", Reader.CONTROLLER),
    SUSPEND_EXC_STATES("SuspendExcStates", Kind.LINES, "", Reader.CONTROLLER),
    SUSPEND_PROGRAM("SuspendProgram", Kind.TEXT, "", Reader.CONTROLLER),
    SUSPEND_RATE("SuspendRate", Kind.U16, "60", Reader.CONTROLLER),
    SUSPEND_TIME("SuspendTime", Kind.TEXT, "", Reader.CONTROLLER),
    SUSPEND_TIMEOUT("SuspendTimeout", Kind.U16, "30", Reader.CONTROLLER),
    SWITCH_PARAMETERS("SwitchParameters", Kind.TEXT, "", Reader.ALL),
    SWITCH_TYPE("SwitchType", Kind.TEXT, "", Reader.ALL),
    TASK_EPILOG("TaskEpilog", Kind.TEXT, "", Reader.NODE),
    TASK_PLUGIN("TaskPlugin", Kind.LIST, "", Reader.NODE),
    TASK_PLUGIN_PARAM("TaskPluginParam", Kind.LIST, "", Reader.NODE),
    TASK_PROLOG("TaskProlog", Kind.TEXT, "", Reader.NODE),
    TCP_TIMEOUT("TCPTimeout", Kind.U16, "2", Reader.ALL),
    TLS_PARAMETERS("TLSParameters", Kind.TEXT, "", Reader.ALL),
    TLS_TYPE("TLSType", Kind.TEXT, "tls/none", Reader.ALL),
    TMP_FS("TmpFS", Kind.TEXT, "/tmp", Reader.NODE),
    TOPOLOGY_PARAM("TopologyParam", Kind.LIST, "", Reader.CONTROLLER),
    TOPOLOGY_PLUGIN("TopologyPlugin", Kind.TEXT, "topology/flat", Reader.CONTROLLER),
    TRACK_WCKEY("TrackWCKey", Kind.YES_NO, "no", Reader.ALL),
    TREE_WIDTH("TreeWidth", Kind.U16, "16", Reader.COMMANDS),
    UNKILLABLE_STEP_PROGRAM("UnkillableStepProgram", Kind.TEXT, "", Reader.NODE),
    UNKILLABLE_STEP_TIMEOUT("UnkillableStepTimeout", Kind.U16, "60", Reader.NODE),
    URL_PARSER_TYPE("UrlParserType", Kind.TEXT, "url_parser/libhttp_parser", Reader.CONTROLLER, Inert.PLUGIN),
    USE_PAM("UsePAM", Kind.YES_NO, "no", Reader.NODE),
    V_SIZE_FACTOR("VSizeFactor", Kind.U16, "0", Reader.NODE),
    WAIT_TIME("WaitTime", Kind.U16, "0", Reader.COMMANDS),
    X11_PARAMETERS("X11Parameters", Kind.TEXT, "", Reader.NODE);

    /** How a value is read. */
    public enum Kind {
        TEXT,
        LIST,
        U16,
        U32,
        U64,
        YES_NO,
        DEBUG_LEVEL,
        /** {@code 7-0}: kept in seconds. */
        DURATION,
        /** May be given several times; the values add up. */
        LINES
    }

    /** The program that acts on a key. */
    public enum Reader {
        ALL,
        CONTROLLER,
        NODE,
        COMMANDS
    }

    /** Why a key is accepted and checked but has no effect. */
    private static final class Inert {
        static final String PORTS = "srun connects to the nodes and listens on no port";
        static final String FACTORS = "no parameter of the priority plugin is known to this version";
        static final String NODE_TOKENS = "pages of slurmd ask for no token";
        static final String CRED = "launch credentials are signed with the cluster key here";
        static final String SLURMDBD = "slurmdbd knows its callers by AuthType alone";
        static final String FED = "federation is not part of this version";
        static final String FREQ = "the frequency of GPUs is set by no driver here; --gpu-freq is checked and shown";
        static final String OWN_BOUND = "the network protocol here has its own bound for this";
        static final String SITE_FACTOR =
                "job_submit.lua (site_factor) and scontrol update (SiteFactor=) set the factor; any other name than "
                        + "site_factor/none is refused";
        static final String PREP = "prologs and epilogs are always programs (prep/script); any other name is refused";
        static final String PLUGIN = "plugins are Java services here; shared objects are not loaded";

        static final String REST = "slurmrestd knows no parameter of a data parser";
        static final String CERTGEN = "no command listens for connections here, and so none needs a certificate";
    }

    private final String slurmName;
    private final Kind kind;
    private final String fallback;
    private final Reader reader;
    private final String inert;

    Key(String slurmName, Kind kind, String fallback, Reader reader) {
        this(slurmName, kind, fallback, reader, "");
    }

    Key(String slurmName, Kind kind, String fallback, Reader reader, String inert) {
        this.slurmName = slurmName;
        this.kind = kind;
        this.fallback = fallback;
        this.reader = reader;
        this.inert = inert;
    }

    public String slurmName() {
        return slurmName;
    }

    public Kind kind() {
        return kind;
    }

    /** The value when the file has none, as it would be written; empty when there is none. */
    public String fallback() {
        return fallback;
    }

    public Reader reader() {
        return reader;
    }

    /** True when some part of Muster acts on the key. */
    public boolean honoured() {
        return inert.isEmpty();
    }

    /** Why the key has no effect; empty when it has one. */
    public String whyInert() {
        return inert;
    }
}
