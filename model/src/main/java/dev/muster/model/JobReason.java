package dev.muster.model;

/** Why a job waits, or why it ended as it did: the words behind {@code Reason=} and {@code squeue}'s NODELIST(REASON). */
public enum JobReason {
    NONE("None"),
    PRIORITY("Priority"),
    DEPENDENCY("Dependency"),
    RESOURCES("Resources"),
    PARTITION_NODE_LIMIT("PartitionNodeLimit"),
    PARTITION_TIME_LIMIT("PartitionTimeLimit"),
    PARTITION_DOWN("PartitionDown"),
    PARTITION_INACTIVE("PartitionInactive"),
    JOB_HELD_ADMIN("JobHeldAdmin"),
    JOB_HELD_USER("JobHeldUser"),
    BEGIN_TIME("BeginTime"),
    LICENSES("Licenses"),
    ASSOCIATION_JOB_LIMIT("AssociationJobLimit"),
    ASSOCIATION_RESOURCE_LIMIT("AssociationResourceLimit"),
    ASSOCIATION_TIME_LIMIT("AssociationTimeLimit"),
    RESERVATION("Reservation"),
    REQ_NODE_NOT_AVAIL("ReqNodeNotAvail"),
    NODE_DOWN("NodeDown"),
    BAD_CONSTRAINTS("BadConstraints"),
    SYSTEM_FAILURE("SystemFailure"),
    JOB_LAUNCH_FAILURE("JobLaunchFailure"),
    NON_ZERO_EXIT_CODE("NonZeroExitCode"),
    TIME_LIMIT("TimeLimit"),
    INACTIVE_LIMIT("InactiveLimit"),
    INVALID_ACCOUNT("InvalidAccount"),
    INVALID_QOS("InvalidQOS"),
    QOS_USAGE_THRESHOLD("QOSUsageThreshold"),
    QOS_JOB_LIMIT("QOSJobLimit"),
    QOS_RESOURCE_LIMIT("QOSResourceLimit"),
    QOS_TIME_LIMIT("QOSTimeLimit"),
    CLEANING("Cleaning"),
    PROLOG("Prolog"),
    QOS_NOT_ALLOWED("QOSNotAllowed"),
    ACCOUNT_NOT_ALLOWED("AccountNotAllowed"),
    DEPENDENCY_NEVER_SATISFIED("DependencyNeverSatisfied"),
    JOB_ARRAY_TASK_LIMIT("JobArrayTaskLimit"),
    RESV_DELETED("ReservationDeleted"),
    NODES_REQUIRED_DOWN("Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions"),
    JOB_HOLD_MAX_REQUEUE("JobHoldMaxRequeue"),
    MAX_REQUEUE("MaxRequeue"),
    LAUNCH_FAILED_HELD("launch_failed_requeued_held"),
    JOB_REQUEUED_IN_HELD("job_requeued_in_held_state"),
    DEADLINE("DeadLine"),
    OUT_OF_MEMORY("OutOfMemory"),
    PREEMPTED("Preempted"),
    RAISED_SIGNAL("RaisedSignal"),
    STEPD_KILLED("StepdKilled"),
    PARTITION_CONFIG("PartitionConfig"),
    NO_TOPOLOGY_UNIT("No_suitable_topology_unit_found"),
    ACCOUNTING_POLICY("AccountingPolicy"),
    MAX_MEM_PER_LIMIT("MaxMemPerLimit"),
    ASSOC_GRP_CPU_LIMIT("AssocGrpCpuLimit"),
    ASSOC_GRP_MEM_LIMIT("AssocGrpMemLimit"),
    ASSOC_GRP_NODE_LIMIT("AssocGrpNodeLimit"),
    ASSOC_GRP_BILLING("AssocGrpBilling"),
    ASSOC_GRP_GRES("AssocGrpGRES"),
    ASSOC_GRP_JOBS_LIMIT("AssocGrpJobsLimit"),
    ASSOC_MAX_JOBS_LIMIT("AssocMaxJobsLimit"),
    ASSOC_MAX_CPU_PER_JOB_LIMIT("AssocMaxCpuPerJobLimit"),
    ASSOC_MAX_MEM_PER_JOB("AssocMaxMemPerJob"),
    ASSOC_MAX_NODE_PER_JOB_LIMIT("AssocMaxNodePerJobLimit"),
    ASSOC_MAX_BILLING_PER_JOB("AssocMaxBillingPerJob"),
    ASSOC_MAX_GRESPER_JOB("AssocMaxGRESPerJob"),
    ASSOC_MAX_WALL_DURATION_PER_JOB_LIMIT("AssocMaxWallDurationPerJobLimit"),
    QOS_GRP_CPU_LIMIT("QOSGrpCpuLimit"),
    QOS_GRP_MEM_LIMIT("QOSGrpMemLimit"),
    QOS_GRP_NODE_LIMIT("QOSGrpNodeLimit"),
    QOS_GRP_BILLING("QOSGrpBilling"),
    QOS_GRP_GRES("QOSGrpGRES"),
    QOS_GRP_JOBS_LIMIT("QOSGrpJobsLimit"),
    QOS_MAX_JOBS_PER_USER_LIMIT("QOSMaxJobsPerUserLimit"),
    MAX_JOBS_PER_ACCOUNT("MaxJobsPerAccount"),
    QOS_MAX_CPU_PER_JOB_LIMIT("QOSMaxCpuPerJobLimit"),
    QOS_MAX_MEMORY_PER_JOB("QOSMaxMemoryPerJob"),
    QOS_MAX_NODE_PER_JOB_LIMIT("QOSMaxNodePerJobLimit"),
    QOS_MAX_BILLING_PER_JOB("QOSMaxBillingPerJob"),
    QOS_MAX_GRESPER_JOB("QOSMaxGRESPerJob"),
    QOS_MAX_CPU_PER_USER_LIMIT("QOSMaxCpuPerUserLimit"),
    QOS_MAX_MEMORY_PER_USER("QOSMaxMemoryPerUser"),
    QOS_MAX_NODE_PER_USER_LIMIT("QOSMaxNodePerUserLimit"),
    QOS_MAX_BILLING_PER_USER("QOSMaxBillingPerUser"),
    QOS_MAX_GRESPER_USER("QOSMaxGRESPerUser"),
    MAX_CPU_PER_ACCOUNT("MaxCpuPerAccount"),
    MAX_MEMORY_PER_ACCOUNT("MaxMemoryPerAccount"),
    MAX_NODE_PER_ACCOUNT("MaxNodePerAccount"),
    MAX_BILLING_PER_ACCOUNT("MaxBillingPerAccount"),
    MAX_GRESPER_ACCOUNT("MaxGRESPerAccount"),
    QOS_MAX_WALL_DURATION_PER_JOB_LIMIT("QOSMaxWallDurationPerJobLimit"),
    QOS_MIN_CPU_NOT_SATISFIED("QOSMinCpuNotSatisfied"),
    QOS_MIN_MEMORY("QOSMinMemory"),
    QOS_MIN_NODE("QOSMinNode"),
    QOS_MIN_BILLING("QOSMinBilling"),
    QOS_MIN_GRES("QOSMinGRES"),
    ASSOC_MAX_CPU_MINUTES_PER_JOB_LIMIT("AssocMaxCpuMinutesPerJobLimit"),
    ASSOC_MAX_MEM_MINUTES_PER_JOB("AssocMaxMemMinutesPerJob"),
    ASSOC_MAX_NODE_MINUTES_PER_JOB("AssocMaxNodeMinutesPerJob"),
    ASSOC_MAX_BILLING_MINUTES_PER_JOB("AssocMaxBillingMinutesPerJob"),
    ASSOC_MAX_GRES_MINUTES_PER_JOB("AssocMaxGRESMinutesPerJob"),
    QOS_MAX_CPU_MINUTES_PER_JOB_LIMIT("QOSMaxCpuMinutesPerJobLimit"),
    QOS_MAX_MEMORY_MINUTES_PER_JOB("QOSMaxMemoryMinutesPerJob"),
    QOS_MAX_NODE_MINUTES_PER_JOB("QOSMaxNodeMinutesPerJob"),
    QOS_MAX_BILLING_MINUTES_PER_JOB("QOSMaxBillingMinutesPerJob"),
    QOS_MAX_GRES_MINUTES_PER_JOB("QOSMaxGRESMinutesPerJob");

    private final String word;

    JobReason(String word) {
        this.word = word;
    }

    /** The reason with this word. @throws IllegalArgumentException if there is none */
    public static JobReason ofWord(String word) {
        for (JobReason r : values()) {
            if (r.word.equals(word)) {
                return r;
            }
        }
        throw new IllegalArgumentException(word);
    }

    /** The word as printed. */
    public String word() {
        return word;
    }
}
