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
    ACCOUNTING_POLICY("AccountingPolicy"),
    MAX_MEM_PER_LIMIT("MaxMemPerLimit");

    private final String word;

    JobReason(String word) {
        this.word = word;
    }

    /** The word as printed. */
    public String word() {
        return word;
    }
}
