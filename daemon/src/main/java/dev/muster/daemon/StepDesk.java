package dev.muster.daemon;

import dev.muster.model.Bytes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.StepManaged;
import java.util.List;
import java.util.Set;

/**
 * Decides on the steps of a job where slurmctld cannot: by the same rules, with what slurmctld has told of the job ({@code Charter}). slurmd asks it
 * while slurmctld is away, and slurmctld takes over what it has made ({@code StepManaged}). Found as a service: the rules are slurmctld's.
 */
public interface StepDesk {
    /** @param entry of a whole charter */
    Job open(Bytes entry);

    /** One attempt of a job. Not for several threads at once. */
    interface Job {
        /** What has happened since, as slurmctld tells it. */
        void follow(Bytes entry);

        List<String> nodes();

        /** No step of the job has this number or a higher one. */
        int nextStep();

        /** Numbers of the steps that have not ended on the node. */
        Set<Integer> open(String node);

        /** The node says that nothing of the step runs there any more. */
        void over(int stepId, String node, long timeMs);

        /** As srun is told of it. */
        Answer<JobMessages.Allocation> allocation(int uid);

        /** @param ioToken shown by srun to the step's nodes */
        Answer<Begun> create(int uid, JobMessages.CreateStep m, String ioToken, long timeMs);
    }

    /** What somebody asked for, or why not. */
    sealed interface Answer<T> {}

    record Given<T>(T value) implements Answer<T> {}

    record Refused<T>(SlurmErrno errno, String sentence) implements Answer<T> {}

    /** @param launches by node, in the step's order; @param managed what slurmctld is told of it, without a number */
    record Begun(JobMessages.StepStarted started, List<NodeLaunch> launches, StepManaged managed) {}

    record NodeLaunch(String node, Launch launch) {}
}
