package dev.muster.model.accounting;

import dev.muster.model.job.ExitStatus;
import java.util.List;

/**
 * Input of the accounting projection from the controller: whole rows, to be inserted or replaced by their keys, in the
 * order of sequence numbers. A row is the whole truth about its attempt or step at that moment, so applying one twice
 * does no harm. Times are seconds since 1970, 0 for none.
 */
public final class AccountingRows {
    private AccountingRows() {}

    /**
     * Rows of one journal entry.
     *
     * @param seq index of the entry: written in the same transaction as the rows
     * @param contents what texts name and the tables may not have yet
     */
    public record Batch(
            long seq,
            List<JobRow> jobs,
            List<StepRow> steps,
            List<EventRow> events,
            List<TextRow> texts,
            List<Content> contents,
            List<ReservationRow> reservations,
            List<InstanceRow> instances) {
        public Batch(long seq, List<JobRow> jobs, List<StepRow> steps, List<EventRow> events) {
            this(seq, jobs, steps, events, List.of(), List.of());
        }

        public Batch(
                long seq,
                List<JobRow> jobs,
                List<StepRow> steps,
                List<EventRow> events,
                List<TextRow> texts,
                List<Content> contents) {
            this(seq, jobs, steps, events, texts, contents, List.of(), List.of());
        }

        public Batch(long seq, List<JobRow> jobs, List<StepRow> steps) {
            this(seq, jobs, steps, List.of());
        }
    }

    /**
     * A reservation at one of its times. Key: name and start.
     *
     * @param flags in sacctmgr's words, with commas
     * @param accounts that may use it; an account after a minus may not
     * @param tres {@code cpu=8}
     * @param removed it never began: there is no row of it
     */
    public record ReservationRow(
            String name,
            long start,
            long end,
            String nodes,
            String flags,
            String accounts,
            String users,
            String tres,
            boolean removed) {}

    /**
     * A node runs on another instance of a cloud from here on.
     *
     * @param instanceId "" as the type where it runs on none
     * @param extra the node's Extra
     */
    public record InstanceRow(
            String cluster, String node, long time, String instanceId, String instanceType, String extra) {}

    /** Hashes of a batch job's script and environment, "" if they are not stored. Key: sluid. */
    public record TextRow(long sluid, String scriptHash, String environmentHash) {}

    /** A script or an environment by the SHA-256 of its bytes (hexadecimal). */
    public record Content(String hash, String base64) {}

    /**
     * A node's state changed; it ends what was open for the node.
     *
     * @param node "" for the cluster itself (its resources)
     * @param state in sacctmgr's words; "" if the node is fine again
     * @param user that set the reason
     */
    public record EventRow(
            String cluster,
            String node,
            long time,
            String state,
            String reason,
            String user,
            String tres,
            String clusterNodes) {}

    /**
     * One attempt of a job. Key: (sluid, restarts).
     *
     * @param sluid never reused, unlike jobId
     * @param restarts 0 for the first life of the job, plus one per requeue
     * @param arrayTaskId -1 if not a single task of an array
     * @param arrayTasks pending index set of an array's record, "" otherwise
     * @param state base state's name; REQUEUED for an attempt that went back to the queue
     * @param cancelledBy uid, -1 if it was not cancelled
     * @param limitMin -1 for none
     * @param stdin the file's name with its % codes, from / on; so stdout and stderr
     * @param hetJobId 0 if it is no component of a heterogeneous job
     * @param licenses as asked for
     * @param overSubscribe NO, YES or OK; exclusiveUse: NO, NODE, USER, MCS or TOPO
     * @param assocId of its association and wckeyId of its key; 0 in a controller's rows, which do not know them
     * @param segmentSize {@code --segment}: nodes; 0 for none
     * @param reservation where it runs or ran; what it asked for is reservationRequested, with commas, and the row of
     *     that reservation reservationId, which the tables find: 0 in a controller's rows
     * @param failedNode the node that failed and so ended the attempt, "" if none did
     * @param systemComment what an administrator said of the job afterwards
     * @param suspendedSince seconds; 0 while it is not SUSPENDED. suspendedSeconds has what was before
     * @param qosRequested the QOS that its user named, with commas; "" where it has a default one
     */
    public record JobRow(
            long sluid,
            int restarts,
            int jobId,
            int arrayJobId,
            int arrayTaskId,
            String arrayTasks,
            int arrayMaxRunning,
            String name,
            int userId,
            String userName,
            int groupId,
            String groupName,
            String account,
            String qos,
            String wckey,
            String partition,
            String reservation,
            String state,
            String reason,
            int cancelledBy,
            ExitStatus exit,
            ExitStatus derivedExit,
            long submitTime,
            long eligibleTime,
            long startTime,
            long endTime,
            long suspendedSeconds,
            int limitMin,
            long priority,
            String nodes,
            int nodeCount,
            int cpusRequested,
            int cpusAllocated,
            long memoryRequestedMb,
            boolean memoryPerCpu,
            String tresRequested,
            String tresAllocated,
            String features,
            String workDir,
            String submitLine,
            String stdin,
            String stdout,
            String stderr,
            String comment,
            String adminComment,
            String extra,
            String container,
            String flags,
            boolean batch,
            int hetJobId,
            int hetOffset,
            String licenses,
            String mcsLabel,
            String overSubscribe,
            String exclusiveUse,
            int assocId,
            int wckeyId,
            int segmentSize,
            String reservationRequested,
            int reservationId,
            String failedNode,
            String systemComment,
            long suspendedSince,
            String qosRequested) {
        /** Components that may still change before a row is in a table: each {@code with} method sets some of them. */
        private static final class Draft {
            private String wckey;
            private String reason;
            private long priority;
            private String stdin;
            private String stdout;
            private String stderr;
            private String comment;
            private String adminComment;
            private String extra;
            private String systemComment;
            private int assocId;
            private int wckeyId;

            private Draft(JobRow row) {
                wckey = row.wckey;
                reason = row.reason;
                priority = row.priority;
                stdin = row.stdin;
                stdout = row.stdout;
                stderr = row.stderr;
                comment = row.comment;
                adminComment = row.adminComment;
                systemComment = row.systemComment;
                extra = row.extra;
                assocId = row.assocId;
                wckeyId = row.wckeyId;
            }
        }

        private Draft draft() {
            return new Draft(this);
        }

        /** The one place that copies a row. */
        private JobRow with(Draft draft) {
            return new JobRow(
                    sluid,
                    restarts,
                    jobId,
                    arrayJobId,
                    arrayTaskId,
                    arrayTasks,
                    arrayMaxRunning,
                    name,
                    userId,
                    userName,
                    groupId,
                    groupName,
                    account,
                    qos,
                    draft.wckey,
                    partition,
                    reservation,
                    state,
                    draft.reason,
                    cancelledBy,
                    exit,
                    derivedExit,
                    submitTime,
                    eligibleTime,
                    startTime,
                    endTime,
                    suspendedSeconds,
                    limitMin,
                    draft.priority,
                    nodes,
                    nodeCount,
                    cpusRequested,
                    cpusAllocated,
                    memoryRequestedMb,
                    memoryPerCpu,
                    tresRequested,
                    tresAllocated,
                    features,
                    workDir,
                    submitLine,
                    draft.stdin,
                    draft.stdout,
                    draft.stderr,
                    draft.comment,
                    draft.adminComment,
                    draft.extra,
                    container,
                    flags,
                    batch,
                    hetJobId,
                    hetOffset,
                    licenses,
                    mcsLabel,
                    overSubscribe,
                    exclusiveUse,
                    draft.assocId,
                    draft.wckeyId,
                    segmentSize,
                    reservationRequested,
                    reservationId,
                    failedNode,
                    draft.systemComment,
                    suspendedSince,
                    qosRequested);
        }

        /** Sets the numbers of its association and WCKey. */
        public JobRow numbered(int association, int key) {
            Draft draft = draft();
            draft.assocId = association;
            draft.wckeyId = key;
            return with(draft);
        }

        /** Sets another reason and priority. */
        public JobRow waited(String why, long place) {
            if (why.equals(reason) && place == priority) {
                return this;
            }
            Draft draft = draft();
            draft.reason = why;
            draft.priority = place;
            return with(draft);
        }

        /** Sets texts of sacctmgr where the row has none itself. */
        public JobRow edited(String words, String more, String byAdmin, String bySystem) {
            Draft draft = draft();
            draft.comment = comment.isEmpty() ? words : comment;
            draft.extra = extra.isEmpty() ? more : extra;
            draft.adminComment = adminComment.isEmpty() ? byAdmin : adminComment;
            draft.systemComment = systemComment.isEmpty() ? bySystem : systemComment;
            return with(draft);
        }

        /**
         * Returns the row with another key, comment and extra, and without its files: a site's tables have no more than
         * it wants.
         */
        public JobRow with(String key, String words, String more, boolean files) {
            Draft draft = draft();
            draft.wckey = key;
            draft.comment = words;
            draft.extra = more;
            draft.stdin = files ? stdin : "";
            draft.stdout = files ? stdout : "";
            draft.stderr = files ? stderr : "";
            return with(draft);
        }
    }

    /**
     * One step. Key: (sluid, restarts, stepId).
     *
     * @param stepId as in {@link dev.muster.model.job.StepId}; -5 batch, -4 extern
     * @param cpuFreq as it was asked for with --cpu-freq, "" where it was not
     * @param suspendedSeconds that its job was suspended for under it; without the time since the row's job has been
     *     SUSPENDED
     */
    public record StepRow(
            long sluid,
            int restarts,
            int stepId,
            int jobId,
            String name,
            String state,
            int cancelledBy,
            ExitStatus exit,
            long startTime,
            long endTime,
            String nodes,
            int nodeCount,
            int tasks,
            int cpus,
            String tresAllocated,
            String layout,
            String submitLine,
            Usage usage,
            String container,
            String cpuFreq,
            long suspendedSeconds) {

        /** Sets its end and use as known by now. */
        public StepRow with(ExitStatus worst, Usage used) {
            return new StepRow(
                    sluid,
                    restarts,
                    stepId,
                    jobId,
                    name,
                    state,
                    cancelledBy,
                    worst,
                    startTime,
                    endTime,
                    nodes,
                    nodeCount,
                    tasks,
                    cpus,
                    tresAllocated,
                    layout,
                    submitLine,
                    used,
                    container,
                    cpuFreq,
                    suspendedSeconds);
        }
    }

    /**
     * Sums and maxima over all tasks: times in microseconds, memory in KiB, disk and network in bytes, energy in
     * joules. Energy and network are those of the step's nodes while it ran.
     *
     * @param extremes of single tasks, as {@link Extremes} writes them; "" where they were not told apart
     * @param aveCpuKhz how fast the CPUs of the tasks ran, weighted by their CPU time; 0 where it is not known
     * @param metered file systems and GPUs, as {@link dev.muster.model.job.UsageSample} writes them
     */
    public record Usage(
            long userCpuUs,
            long systemCpuUs,
            long maxRssKb,
            String maxRssNode,
            int maxRssTask,
            long aveRssKb,
            long maxVmKb,
            String maxVmNode,
            int maxVmTask,
            long aveVmKb,
            long maxPages,
            long readBytes,
            long writeBytes,
            long minCpuUs,
            long aveCpuUs,
            long energyJ,
            long netInBytes,
            long netOutBytes,
            long avePages,
            String extremes,
            long aveCpuKhz,
            String metered) {
        public static final Usage NONE = new Usage(0, 0, 0, "", 0, 0, 0, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

        /** A use without values of single tasks. */
        public Usage(
                long userCpuUs,
                long systemCpuUs,
                long maxRssKb,
                String maxRssNode,
                int maxRssTask,
                long aveRssKb,
                long maxVmKb,
                String maxVmNode,
                int maxVmTask,
                long aveVmKb,
                long maxPages,
                long readBytes,
                long writeBytes,
                long minCpuUs,
                long aveCpuUs,
                long energyJ,
                long netInBytes,
                long netOutBytes) {
            this(
                    userCpuUs,
                    systemCpuUs,
                    maxRssKb,
                    maxRssNode,
                    maxRssTask,
                    aveRssKb,
                    maxVmKb,
                    maxVmNode,
                    maxVmTask,
                    aveVmKb,
                    maxPages,
                    readBytes,
                    writeBytes,
                    minCpuUs,
                    aveCpuUs,
                    energyJ,
                    netInBytes,
                    netOutBytes,
                    0,
                    "",
                    0,
                    "");
        }
    }

    /**
     * A query of sacct. Empty lists do not filter.
     *
     * @param jobs ids as typed: {@code 12}, {@code 12_3}, {@code 12.0}
     * @param from of the window (seconds); 0: none
     * @param to of the window; 0: now
     * @param duplicates rows of earlier attempts as well
     * @param clusters names; empty means all that the database has
     * @param wholeHetjob of a heterogeneous job: {@code yes} all components whichever is named, {@code no} only those
     *     named, "" all where the leader is named
     * @param fields names of components of the rows that are wanted beside those that tell rows apart; empty for all
     * @param fromJob no jobs with smaller numbers
     * @param limit approximate rows of one answer, {@link Answer#next} says where the next ones begin; 0 for all
     * @param asker uid of the user that a controller asks for; "" for the caller itself. Only callers that may see
     *     everything can set it
     * @param text {@link #SCRIPT} or {@link #ENVIRONMENT} to have that of each job; "" for neither
     * @param packed the answer is a {@link PackedAnswer}
     */
    public record Query(
            List<String> jobs,
            List<Integer> userIds,
            boolean allUsers,
            List<Integer> groupIds,
            List<String> accounts,
            List<String> partitions,
            List<String> qos,
            List<String> names,
            List<String> nodes,
            List<String> states,
            List<String> wckeys,
            List<String> reasons,
            long from,
            long to,
            boolean duplicates,
            boolean allocationsOnly,
            int minNodes,
            int maxNodes,
            int minCpus,
            int maxCpus,
            int minLimitMin,
            int maxLimitMin,
            List<String> clusters,
            String wholeHetjob,
            String text,
            String asker,
            List<String> fields,
            int fromJob,
            int limit,
            boolean packed) {
        public static final String SCRIPT = "script";
        public static final String ENVIRONMENT = "environment";

        public Query(
                List<String> jobs,
                List<Integer> userIds,
                boolean allUsers,
                List<Integer> groupIds,
                List<String> accounts,
                List<String> partitions,
                List<String> qos,
                List<String> names,
                List<String> nodes,
                List<String> states,
                List<String> wckeys,
                List<String> reasons,
                long from,
                long to,
                boolean duplicates,
                boolean allocationsOnly,
                int minNodes,
                int maxNodes,
                int minCpus,
                int maxCpus,
                int minLimitMin,
                int maxLimitMin,
                List<String> clusters) {
            this(
                    jobs,
                    userIds,
                    allUsers,
                    groupIds,
                    accounts,
                    partitions,
                    qos,
                    names,
                    nodes,
                    states,
                    wckeys,
                    reasons,
                    from,
                    to,
                    duplicates,
                    allocationsOnly,
                    minNodes,
                    maxNodes,
                    minCpus,
                    maxCpus,
                    minLimitMin,
                    maxLimitMin,
                    clusters,
                    "",
                    "");
        }

        public Query(
                List<String> jobs,
                List<Integer> userIds,
                boolean allUsers,
                List<Integer> groupIds,
                List<String> accounts,
                List<String> partitions,
                List<String> qos,
                List<String> names,
                List<String> nodes,
                List<String> states,
                List<String> wckeys,
                List<String> reasons,
                long from,
                long to,
                boolean duplicates,
                boolean allocationsOnly,
                int minNodes,
                int maxNodes,
                int minCpus,
                int maxCpus,
                int minLimitMin,
                int maxLimitMin,
                List<String> clusters,
                String wholeHetjob,
                String text) {
            this(
                    jobs,
                    userIds,
                    allUsers,
                    groupIds,
                    accounts,
                    partitions,
                    qos,
                    names,
                    nodes,
                    states,
                    wckeys,
                    reasons,
                    from,
                    to,
                    duplicates,
                    allocationsOnly,
                    minNodes,
                    maxNodes,
                    minCpus,
                    maxCpus,
                    minLimitMin,
                    maxLimitMin,
                    clusters,
                    wholeHetjob,
                    text,
                    "",
                    List.of(),
                    0,
                    0,
                    false);
        }

        /** The same query of other clusters. */
        public Query of(List<String> others) {
            return with(others, asker, fromJob, limit, packed);
        }

        /** The same query from a job on, with a limit of rows. */
        public Query page(int from, int rows) {
            return with(clusters, asker, from, rows, packed);
        }

        /** The same query, asked for by a user. */
        public Query by(int uid) {
            return with(clusters, Integer.toString(uid), fromJob, limit, packed);
        }

        /** The same query, answered in trees. */
        public Query unpacked() {
            return with(clusters, asker, fromJob, limit, false);
        }

        private Query with(List<String> ofClusters, String by, int first, int rows, boolean inColumns) {
            return new Query(
                    jobs,
                    userIds,
                    allUsers,
                    groupIds,
                    accounts,
                    partitions,
                    qos,
                    names,
                    nodes,
                    states,
                    wckeys,
                    reasons,
                    from,
                    to,
                    duplicates,
                    allocationsOnly,
                    minNodes,
                    maxNodes,
                    minCpus,
                    maxCpus,
                    minLimitMin,
                    maxLimitMin,
                    ofClusters,
                    wholeHetjob,
                    text,
                    by,
                    fields,
                    first,
                    rows,
                    inColumns);
        }
    }

    /**
     * The answer: jobs in order with their steps.
     *
     * @param now the controller's clock; next: number of the job to go on from, 0 if that was all
     */
    public record Answer(long now, String cluster, List<JobWithSteps> jobs, int next) {
        public Answer(long now, String cluster, List<JobWithSteps> jobs) {
            this(now, cluster, jobs, 0);
        }

        /** Sets the job to go on from. */
        public Answer upTo(int following) {
            return new Answer(now, cluster, jobs, following);
        }

        /** Scripts and environments are for their owner and for operators: without those of others. */
        public Answer withTextsOf(int uid, boolean operator) {
            return operator
                    ? this
                    : new Answer(
                            now,
                            cluster,
                            jobs.stream()
                                    .map(j -> j.text().isEmpty() || j.job().userId() == uid
                                            ? j
                                            : new JobWithSteps(j.job(), j.steps(), j.cluster()))
                                    .toList(),
                            next);
        }
    }

    /** @param text the script or environment that was asked for, base64; "" if there is none */
    public record JobWithSteps(JobRow job, List<StepRow> steps, String cluster, String text) {
        public JobWithSteps(JobRow job, List<StepRow> steps, String cluster) {
            this(job, steps, cluster, "");
        }
    }
}
