package dev.muster.model.api;

import dev.muster.json.Bytes;
import dev.muster.model.api.ClusterMessages.NodeInfo;
import dev.muster.model.api.JobMessages.JobInfo;
import dev.muster.model.node.NodeMessages.UsePoint;
import java.util.List;

/**
 * Requests of clients that watch the cluster: what has changed since their last request, and what a job has written.
 * Both wait while there is nothing new.
 */
public final class FollowMessages {
    private FollowMessages() {}

    /** Standard output of a batch job. */
    public static final String STDOUT = "stdout";
    /** Its standard error. */
    public static final String STDERR = "stderr";
    /** Bytes that one answer to {@link ReadOutput} has at most. */
    public static final int OUTPUT_BYTES_MAX = 64 << 10;

    /**
     * Changes since a revision.
     *
     * @param since revision of the answer before; "" for the present one, which is answered at once and without rows
     * @param waitMs longest wait for an answer, in milliseconds, bounded by the controller; 0 answers at once
     * @param jobFields components of {@link JobInfo} that are wanted; empty means all
     */
    public record Follow(String since, int waitMs, List<String> jobFields) {}

    /**
     * Jobs and nodes as they are now, where they changed since. A row may come again though nothing in it has changed;
     * none is left out.
     *
     * @param revision for the next question
     * @param now the controller's clock, seconds since 1970
     * @param sees equal for callers with the same view: an answer to one of them is valid for the other
     * @param user the caller's name
     * @param operator the caller may change the jobs of all users; administrator: nodes and partitions as well
     * @param coordinates accounts whose jobs the caller may change as their coordinator
     * @param reset the revision is not known any more: the lists have to be read anew, and there are no rows here
     * @param lists names of other lists that changed: partitions, reservations, and {@code pass} where the scheduler
     *     looked at the queue, after which reasons, priorities and planned starts may be others
     * @param jobs with the wanted fields
     * @param gone numbers of jobs that are forgotten
     * @param nodes whole; empty for a caller that may not see nodes
     */
    public record Followed(
            String revision,
            long now,
            String sees,
            int userId,
            String user,
            boolean operator,
            boolean administrator,
            boolean reset,
            List<String> lists,
            List<JobInfo> jobs,
            List<Integer> gone,
            List<NodeInfo> nodes,
            List<String> goneNodes,
            List<String> coordinates) {}

    /**
     * Reads from a batch job's file on its first node, as the job's user. For the owner, root and SlurmUser.
     *
     * @param stream {@link #STDOUT} or {@link #STDERR}
     * @param offset bytes from the beginning; below 0 from the end
     * @param maxBytes at most {@link #OUTPUT_BYTES_MAX}
     * @param waitMs longest wait for bytes behind the offset, in milliseconds, bounded by the controller
     * @param file of which the offset is, as {@link Output} said it: another one is read from its beginning; "" for any
     */
    public record ReadOutput(int jobId, String stream, long offset, int maxBytes, int waitMs, String file) {}

    /** Asks for the resources that a job used over time. For callers that may see the job and its nodes. */
    public record QueryUse(int jobId) {}

    /**
     * @param nodes that were not asked, or did not answer, with the reason
     * @param every seconds between two looks as it is configured; 0 for none, and then nothing is known
     */
    public record Use(int jobId, int attempt, String state, int every, List<NodeUse> uses, List<String> nodes) {}

    /** A step on a node; {@code step} as commands name it. */
    public record NodeUse(String node, String step, List<UsePoint> points) {}

    /**
     * @param attempt of the job: another one than before may have begun the file anew
     * @param path of the file
     * @param offset of the first byte here; 0 where the file is shorter than what was asked for
     * @param size of the file; -1 if there is none yet
     * @param over the job's state is final: nothing more is to be expected
     * @param state of the job
     * @param file tells the file from another one of the same name; "" where there is none
     */
    public record Output(
            int attempt, String path, long offset, long size, Bytes data, boolean over, String state, String file) {}
}
