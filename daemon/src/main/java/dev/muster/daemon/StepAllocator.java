package dev.muster.daemon;

import dev.muster.json.Bytes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.StepManaged;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Decides on the steps of a job where slurmctld cannot: by the same rules, with what slurmctld has told of the job
 * ({@code Charter}). slurmd asks it while slurmctld is away, and slurmctld takes over what it has made
 * ({@code StepManaged}). Found as a service: the rules are slurmctld's.
 */
public interface StepAllocator {
    /**
     * @param entry of a whole charter
     * @param keep is given each record that is decided here, before it counts; what it throws goes to the caller of the
     *     decision
     */
    Job open(Bytes entry, Consumer<Bytes> keep);

    /** One attempt of a job, with all components of a heterogeneous one. Not for several threads at once. */
    interface Job {
        /** Applies an event reported by slurmctld, or one that {@code keep} stored in an earlier run of slurmd. */
        void follow(Bytes entry);

        /** The job's number, or those of its components. */
        List<Integer> jobs();

        /** Returns the attempt of one job. */
        int attempt(int jobId);

        /** Returns the nodes of one job. */
        List<String> nodes(int jobId);

        /** No step of the job has this number or a higher one. */
        int nextStep();

        /** Numbers of the steps that have not ended on the node. */
        Set<Integer> open(int jobId, String node);

        /** The node says that nothing of the step runs there any more. */
        void over(int jobId, int stepId, String node, long timeMs);

        /** The allocation as srun gets it. */
        Answer<JobMessages.Allocation> allocation(int uid, int jobId);

        /**
         * @param parts one, or one for each component that the step is to run in
         * @param ioToken shown by srun to the step's nodes
         */
        Answer<Begun> create(
                int uid, String requestId, List<JobMessages.CreateStep> parts, String ioToken, long timeMs);
    }

    /** Result of a request, or the reason for its refusal. */
    sealed interface Answer<T> {}

    record Given<T>(T value) implements Answer<T> {}

    record Refused<T>(SlurmErrno errno, String sentence) implements Answer<T> {}

    /** A step: what of it is in each component that was asked for, in that order. */
    record Begun(int stepId, List<Piece> pieces) {}

    /**
     * @param launches by node, in the step's order
     * @param managed the report to slurmctld, without a number
     */
    record Piece(JobMessages.StepStarted started, List<NodeLaunch> launches, StepManaged managed) {}

    record NodeLaunch(String node, Launch launch) {}
}
