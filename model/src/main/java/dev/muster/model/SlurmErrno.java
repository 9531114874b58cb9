package dev.muster.model;

/** Slurm's error numbers and the sentences its programs print for them: tools match on both. */
public enum SlurmErrno {
    ERROR(-1, "Unspecified error"),
    UNEXPECTED_MSG_ERROR(1000, "Unexpected message received"),
    CTLD_CONNECT(1800, "Unable to contact slurm controller (connect failure)"),
    CTLD_RECV(1802, "Unable to contact slurm controller (receive failure)"),
    CTLD_BACKOFF(1804, "Rate limit exceeded, please retry momentarily"),
    NO_CHANGE_IN_DATA(1900, "Data has not changed since time specified"),
    INVALID_PARTITION_NAME(2000, "Invalid partition name specified"),
    DEFAULT_PARTITION_NOT_SET(2001, "No partition specified or system default partition"),
    ACCESS_DENIED(2002, "Access/permission denied"),
    JOB_MISSING_REQUIRED_PARTITION_GROUP(2003, "User's group not permitted to use this partition"),
    REQUESTED_NODES_NOT_IN_PARTITION(2004, "Requested nodes not in this partition"),
    TOO_MANY_REQUESTED_CPUS(2005, "More processors requested than permitted"),
    INVALID_NODE_COUNT(2006, "Node count specification invalid"),
    MAX_JOB_COUNT(2007, "MaxJobCount limit reached"),
    JOB_MISSING_SIZE_SPECIFICATION(2008, "Job size specification needs to be provided"),
    JOB_SCRIPT_MISSING(2009, "Job script not specified"),
    USER_ID_MISSING(2010, "Invalid user id"),
    DUPLICATE_JOB_ID(2011, "Duplicate job id"),
    PATHNAME_TOO_LONG(2012, "Pathname of a file, directory or other parameter too long"),
    NOT_TOP_PRIORITY(2013, "Immediate execution impossible, insufficient priority"),
    REQUESTED_NODE_CONFIG_UNAVAILABLE(2014, "Requested node configuration is not available"),
    REQUESTED_PART_CONFIG_UNAVAILABLE(2015, "Requested partition configuration not available now"),
    NODES_BUSY(2016, "Requested nodes are busy"),
    INVALID_JOB_ID(2017, "Invalid job id specified"),
    INVALID_NODE_NAME(2018, "Invalid node name specified"),
    WRITING_TO_FILE(2019, "I/O error writing script/environment to file"),
    TRANSITION_STATE_NO_UPDATE(2020, "Job can not be altered now, try again later"),
    ALREADY_DONE(2021, "Job/step already completing or completed"),
    BAD_DIST(2023, "Task distribution specification invalid"),
    JOB_PENDING(2024, "Job is pending execution"),
    BAD_TASK_COUNT(2025, "Task count specification invalid"),
    INVALID_JOB_CREDENTIAL(2026, "Error generating job credential"),
    IN_STANDBY_MODE(2027, "Slurm backup controller in standby mode"),
    INVALID_NODE_STATE(2028, "Invalid node state specified"),
    INVALID_FEATURE(2029, "Invalid feature specification"),
    ACTIVE_FEATURE_NOT_SUBSET(2031, "Active features not subset of available features"),
    NOT_SUPPORTED(2036, "Requested operation not supported on this system"),
    DISABLED(2037, "Requested operation is presently disabled"),
    DEPENDENCY(2038, "Job dependency problem"),
    BATCH_ONLY(2039, "Only batch jobs are accepted or processed"),
    JOB_HELD(2042, "Job is in held state, pending scheduler release"),
    INVALID_TASK_MEMORY(2044, "Memory required by task is not available"),
    INVALID_ACCOUNT(2045, "Invalid account or account/partition combination specified"),
    INVALID_LICENSES(2048, "Invalid license specification"),
    ACCOUNTING_POLICY(2050, "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"),
    INVALID_TIME_LIMIT(2051, "Requested time limit is invalid (missing or exceeds some limit)"),
    RESERVATION_ACCESS(2052, "Access denied to requested reservation"),
    RESERVATION_INVALID(2053, "Requested reservation is invalid"),
    INVALID_TIME_VALUE(2054, "Invalid time specified"),
    RESERVATION_BUSY(2055, "Requested reservation is in use"),
    RESERVATION_OVERLAP(2058, "Requested reservation overlaps with another reservation"),
    RESERVATION_EMPTY(2080, "Reservation request lacks users, groups or accounts"),
    RESERVATION_NAME_DUP(2082, "Duplicate reservation name"),
    JOB_FINISHED(2084, "Job has already finished"),
    RESERVATION_ALREADY_STARTED(2104, "Reservation already started"),
    CORE_RESERVATION_UPDATE(2109, "Core-based reservation can not be updated"),
    RESERVATION_CORE_COUNT(2111, "Core count for reservation node list is not consistent!"),
    RESERVATION_NO_SKIP(2128, "Reservation given is not skipable, try deleting instead"),
    RESERVATION_USER_GROUP(2129, "Reservations can't have users and groups specified, only one or the other"),
    GROUP_ID_MISSING(2113, "Invalid group id"),
    INVALID_WCKEY(2057, "Invalid wckey specification"),
    INVALID_QOS(2066, "Invalid qos specification"),
    NODE_NOT_AVAIL(2068, "Required node not available (down, drained or reserved)"),
    INVALID_CPU_COUNT(2069, "CPU count specification invalid"),
    PARTITION_NOT_AVAIL(2070, "Required partition not available (inactive or drain)"),
    CIRCULAR_DEPENDENCY(2071, "Circular job dependency"),
    INVALID_GRES(2072, "Invalid generic resource (gres) specification"),
    PORTS_BUSY(2059, "Required ports are in use"),
    PORTS_INVALID(2060, "Requires more ports than can be reserved"),
    PROLOG_RUNNING(2061, "PrologSlurmctld is still running"),
    JOB_NOT_PENDING(2073, "Job is no longer pending execution"),
    PARTITION_IN_USE(2075, "Partition is in use"),
    STEP_LIMIT(2076, "Step limit reached for this job"),
    JOB_SUSPENDED(2077, "Job is current suspended, requested operation disabled"),
    CAN_NOT_START_IMMEDIATELY(2078, "Job can not start immediately"),
    INVALID_ARRAY(2081, "Invalid job array specification"),
    JOB_NOT_PENDING_NOR_RUNNING(2086, "Job is not pending nor running"),
    JOB_NOT_SUSPENDED(2087, "Job is not suspended"),
    JOB_NOT_RUNNING(2085, "Job is not running"),
    JOB_NOT_FINISHED(2088, "Job is not finished"),
    INTERNAL(2090, "Slurm internal error, contact system administrator"),
    REQUESTED_TOPO_CONFIG_UNAVAILABLE(2178, "Requested topology configuration is not available"),
    PREEMPTION_REQUIRED(2179, "Preemption is required but is disabled on this system"),
    BURST_BUFFER_PERMISSION(2092, "Burst Buffer permission denied"),
    INVALID_BURST_BUFFER_REQUEST(2094, "Burst Buffer request invalid"),
    INVALID_MCS_LABEL(2099, "Invalid mcs_label specified"),
    PARTITION_DOWN(2101, "Partition in DOWN state"),
    NOT_HET_JOB_LEADER(2107, "Job not heterogeneous job leader"),
    DB_CONNECTION(7000, "Unable to connect to database"),
    DB_QUERY_TOO_WIDE(7007, "Too wide of a date range in query"),
    NOT_WHOLE_HET_JOB(2108, "Operation not permitted on individual component of heterogeneous job"),
    NOT_HET_JOB(2106, "Job not heterogeneous job"),
    X11_NOT_AVAIL(2112, "X11 forwarding not available"),
    INVALID_BATCH_FEATURE(2114, "Job --batch option is invalid or not a subset of --constraint"),
    INVALID_TRES(2115, "Invalid Trackable RESource (TRES) specification"),
    INVALID_TRES_BILLING_WEIGHTS(2116, "Invalid TRESBillingWeights specification"),
    INVALID_JOB_DEFAULTS(2117, "Invalid JobDefaults specification"),
    PRIORITY_NOT_PERSISTENT(2095, "Changes to job priority are not persistent, change nice instead"),
    INVALID_NICE(2123, "Invalid --nice value"),
    ENVIRONMENT_MISSING(2127, "Environment is missing in job"),
    INVALID_TIME_MIN(2124, "Invalid time-min specification (exceeds job's time or other limits)"),
    INVALID_PREFER(2133, "Invalid preferred feature specification"),
    INSUFFICIENT_GRES(2134, "Insufficient GRES available in allocation"),
    INVALID_EXTRA(2171, "Invalid extra constraints specification"),
    CRON_JOB(2098, "Cannot cancel scrontab jobs without --cron flag."),
    JOB_ID_EMPTY(2136, "JobID must not be an empty string"),
    JOB_ID_ZERO(2137, "JobID can not be zero"),
    JOB_ID_NEGATIVE(2138, "JobID can not be a negative number"),
    JOB_ID_TOO_LARGE(2139, "JobID larger than acceptable range"),
    JOB_ID_NON_NUMERIC(2140, "JobID includes unexpected non-numeric characters"),
    ARRAY_ID_EMPTY(2141, "Job Array ID must not be an empty string"),
    ARRAY_ID_NEGATIVE(2142, "Job Array ID can not be a negative number"),
    ARRAY_ID_TOO_LARGE(2143, "Job Array ID larger than acceptable range"),
    ARRAY_ID_NON_NUMERIC(2144, "Job Array ID includes unexpected non-numeric characters"),
    HET_COMPONENT_EMPTY(2146, "HetJob component must not be an empty string"),
    HET_COMPONENT_NEGATIVE(2147, "HetJob component can not be a negative number"),
    HET_COMPONENT_TOO_LARGE(2148, "HetJob component larger than acceptable range"),
    STEP_ID_EMPTY(2150, "StepID must not be an empty string"),
    STEP_ID_NEGATIVE(2151, "StepID can not be a negative number"),
    STEP_ID_TOO_LARGE(2152, "StepID larger than acceptable range"),
    STEP_ID_NON_NUMERIC(2153, "StepID includes unexpected non-numeric characters"),
    HET_STEP_EMPTY(2154, "HetStep component must not be an empty string"),
    HET_STEP_ZERO(2155, "HetStep component can not be zero"),
    HET_STEP_NEGATIVE(2156, "HetStep component can not be a negative number"),
    HET_STEP_TOO_LARGE(2157, "HetStep component larger than acceptable range"),
    HET_STEP_NON_NUMERIC(2158, "HetStep component includes unexpected non-numeric characters"),
    SLUID_INVALID(2185, "SLUID is invalid"),
    NODE_STATE_TRANSITION(2180, "Invalid node state transition"),
    POWER_ACTION(2187, "Invalid power action"),
    PLUGIN_NOT_LOADED(8004, "Required plugin type not loaded or initialized"),
    MISSING_TIME_LIMIT(8000, "Time limit specification required, but not provided"),
    INVALID_JOB_STATE(4027, "Job step not running"),
    CONTAINER_NOT_CONFIGURED(4031, "Container runtime not configured or invalid"),
    PROLOG_FAILED(4022, "Job prolog failed"),
    AUTH_CRED_INVALID(6000, "Invalid authentication credential"),
    PROTOCOL_AUTHENTICATION_ERROR(1007, "Protocol authentication error"),
    ACTIVE_JOBS(7001, "Job(s) active, cancel job(s) before remove"),
    DEFAULT_ACCOUNT_OF_USER(7009, "You can not remove the default account of a user"),
    PROTOCOL_INCOMPLETE_PACKET(5005, "Zero Bytes were transmitted or received"),
    PROTOCOL_SOCKET_IMPL_TIMEOUT(5004, "Socket timed out on send/recv operation"),
    /** The original's scontrol finds that itself, and has no number for it. */
    TIME_LIMIT_DECREMENT(19001, "TimeLimit decrement larger than current time limit");

    private final int number;
    private final String sentence;

    SlurmErrno(int number, String sentence) {
        this.number = number;
        this.sentence = sentence;
    }

    public int number() {
        return number;
    }

    public String sentence() {
        return sentence;
    }

    /** Says that a step could not be made now and may be later: srun and slurmctld ask again. */
    public boolean isStepToCome() {
        return this == NODES_BUSY
                || this == PORTS_BUSY
                || this == PROLOG_RUNNING
                || this == JOB_PENDING
                || this == DISABLED;
    }

    /** The error with this number; {@link #ERROR} for one that is not known here. */
    public static SlurmErrno of(int number) {
        for (SlurmErrno e : values()) {
            if (e.number == number) {
                return e;
            }
        }
        return ERROR;
    }
}
