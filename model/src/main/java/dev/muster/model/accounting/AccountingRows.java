package dev.muster.model.accounting;

import dev.muster.model.ExitStatus;
import java.util.List;

/**
 * What the controller tells the accounting projection: whole rows, to be inserted or replaced by their keys, in the order
 * of sequence numbers. A row is the whole truth about its attempt or step at that moment, so applying one twice does no harm.
 * Times are seconds since 1970, 0 for none.
 */
public final class AccountingRows {
    private AccountingRows() {}

    /**
     * Rows of one journal entry.
     *
     * @param seq      index of the entry: written in the same transaction as the rows
     * @param contents what texts name and the tables may not have yet
     */
    public record Batch(long seq, List<JobRow> jobs, List<StepRow> steps, List<EventRow> events, List<TextRow> texts, List<Content> contents) {
        public Batch(long seq, List<JobRow> jobs, List<StepRow> steps, List<EventRow> events) {
            this(seq, jobs, steps, events, List.of(), List.of());
        }

        public Batch(long seq, List<JobRow> jobs, List<StepRow> steps) {
            this(seq, jobs, steps, List.of());
        }
    }

    /** What a batch job was submitted with, where it is kept. Key: sluid. Hashes are "" for what is not kept. */
    public record TextRow(long sluid, String scriptHash, String environmentHash) {}

    /** A script or an environment by the SHA-256 of its bytes (hexadecimal). */
    public record Content(String hash, String base64) {}

    /**
     * A node's state changed; it ends what was open for the node.
     *
     * @param node  "" for the cluster itself (its resources)
     * @param state in sacctmgr's words; "" if the node is fine again
     * @param user  who set the reason
     */
    public record EventRow(
            String cluster, String node, long time, String state, String reason, String user, String tres, String clusterNodes) {}

    /**
     * One attempt of a job. Key: (sluid, restarts).
     *
     * @param sluid       never reused, unlike jobId
     * @param restarts    0 for the first life of the job, plus one per requeue
     * @param arrayTaskId -1 if not a single task of an array
     * @param arrayTasks  pending index set of an array's record, "" otherwise
     * @param state       base state's name; REQUEUED for an attempt that went back to the queue
     * @param cancelledBy uid, -1 if it was not cancelled
     * @param limitMin    -1 for none
     * @param hetJobId    0 if it is no component of a heterogeneous job
     * @param licenses    as asked for
     * @param overSubscribe NO, YES or OK; exclusiveUse: NO, NODE, USER, MCS or TOPO
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
            String exclusiveUse) {
        /** With another key, comment and extra, and without its files: what a site does not want in its tables is not in the row. */
        public JobRow with(String key, String words, String more, boolean files) {
            return new JobRow(
                    sluid, restarts, jobId, arrayJobId, arrayTaskId, arrayTasks, arrayMaxRunning, name, userId, userName, groupId,
                    groupName, account, qos, key, partition, reservation, state, reason, cancelledBy, exit, derivedExit, submitTime,
                    eligibleTime, startTime, endTime, suspendedSeconds, limitMin, priority, nodes, nodeCount, cpusRequested, cpusAllocated,
                    memoryRequestedMb, memoryPerCpu, tresRequested, tresAllocated, features, workDir, submitLine, files ? stdin : "",
                    files ? stdout : "", files ? stderr : "", words, adminComment, more, container, flags, batch, hetJobId, hetOffset, licenses,
                            mcsLabel, overSubscribe,
                    exclusiveUse);
        }
    }

    /**
     * One step. Key: (sluid, restarts, stepId).
     *
     * @param stepId number; -5 batch, -4 extern
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
            String container) {}

    /**
     * Sums and maxima over all tasks: times in microseconds, memory in KiB, disk and network in bytes, energy in joules. Energy and network are
     * those of the step's nodes while it ran.
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
            long netOutBytes) {
        public static final Usage NONE = new Usage(0, 0, 0, "", 0, 0, 0, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    /**
     * What sacct asks for. Empty lists do not filter.
     *
     * @param jobs   ids as typed: {@code 12}, {@code 12_3}, {@code 12.0}
     * @param from   of the window (seconds); 0: none
     * @param to     of the window; 0: now
     * @param duplicates rows of earlier attempts as well
     * @param clusters names; empty means all that the database has
     * @param wholeHetjob of a heterogeneous job: {@code yes} all components whichever is named, {@code no} only those named,
     *                    "" all where the leader is named
     * @param text        {@link #SCRIPT} or {@link #ENVIRONMENT} to have that of each job; "" for neither
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
            String text) {
        public static final String SCRIPT = "script";
        public static final String ENVIRONMENT = "environment";

        public Query(List<String> jobs, List<Integer> userIds, boolean allUsers, List<Integer> groupIds, List<String> accounts,
                List<String> partitions, List<String> qos, List<String> names, List<String> nodes, List<String> states,
                List<String> wckeys, List<String> reasons, long from, long to, boolean duplicates, boolean allocationsOnly,
                int minNodes, int maxNodes, int minCpus, int maxCpus, int minLimitMin, int maxLimitMin, List<String> clusters) {
            this(jobs, userIds, allUsers, groupIds, accounts, partitions, qos, names, nodes, states, wckeys, reasons, from, to,
                    duplicates, allocationsOnly, minNodes, maxNodes, minCpus, maxCpus, minLimitMin, maxLimitMin, clusters, "", "");
        }

        /** The same of other clusters. */
        public Query of(List<String> others) {
            return new Query(jobs, userIds, allUsers, groupIds, accounts, partitions, qos, names, nodes, states, wckeys, reasons, from, to,
                    duplicates, allocationsOnly, minNodes, maxNodes, minCpus, maxCpus, minLimitMin, maxLimitMin, others, wholeHetjob, text);
        }
    }

    /** The answer: jobs in order with their steps. @param now the controller's clock */
    public record Answer(long now, String cluster, List<JobWithSteps> jobs) {
        /** Scripts and environments are for their owner and for operators: without those of others. */
        public Answer withTextsOf(int uid, boolean operator) {
            return operator ? this : new Answer(now, cluster, jobs.stream().map(j -> j.text().isEmpty() || j.job().userId() == uid ? j
                    : new JobWithSteps(j.job(), j.steps(), j.cluster())).toList());
        }
    }

    /** @param text the script or environment that was asked for, base64; "" if there is none */
    public record JobWithSteps(JobRow job, List<StepRow> steps, String cluster, String text) {
        public JobWithSteps(JobRow job, List<StepRow> steps, String cluster) {
            this(job, steps, cluster, "");
        }
    }
}
