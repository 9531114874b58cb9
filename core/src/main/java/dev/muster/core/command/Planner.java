package dev.muster.core.command;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The scheduler as the core's decisions use it. It keeps an index that follows the state; see {@link #follow}. */
public interface Planner {
    /**
     * A job that can start now. task is -1 but for tasks of an array's pending record; partition, reservation and QOS
     * are what it runs in.
     */
    record Start(
            int jobId,
            int task,
            Allocation allocation,
            int limitMin,
            String partition,
            String reservation,
            String qos) {}

    /** Start of a job that is planned: when and where. start is in seconds since 1970. */
    record Estimate(long start, List<String> nodes, int cpus, String partition) {}

    /** Returns why the job can never run as things are configured; empty if it can. */
    Optional<Decision.Rejected> infeasible(State state, JobDesc desc);

    /**
     * Returns at most {@code maxStarts} jobs to start, best first. Looks at the whole queue and notes a reason for each
     * job that waits.
     */
    List<Start> starts(State state, DecisionTime now, int maxStarts);

    /** A job that has to give way to one that {@link #starts} looked at. */
    record Preempt(int jobId, Preemption.Mode mode, int graceS) {}

    /** Returns the victims of preemption that the last {@link #starts} chose. */
    List<Preempt> preemptions();

    /** Returns the jobs that gave way by being suspended and whose cores are free, by the last {@link #starts}. */
    List<Integer> resumes();

    /**
     * Returns when a job that waited in the last {@link #starts} may start without any change of the state: in seconds
     * since 1970, Long.MAX_VALUE for never.
     */
    default long lookAgain() {
        return Long.MAX_VALUE;
    }

    /**
     * Returns the plans of pending jobs with a start until then, the earliest first, without cloud nodes that must be
     * stopped before.
     *
     * @param until seconds since 1970
     */
    default List<Estimate> upcoming(State state, long until) {
        return List.of();
    }

    /** Returns where a job that is not in the queue would run, were it submitted now. */
    Optional<Estimate> estimate(State state, DecisionTime now, JobDesc desc);

    /** Returns the computed priority by which the job stands in the queue; empty if its own counts. */
    OptionalLong priority(int jobId);

    /** Tests whether a node with these features fits an expression of {@code -C}. */
    boolean matches(String expression, List<String> features);

    /** Returns why the job waited in the last pass. */
    JobReason reason(int jobId);

    /** Follows the state from one value to the next by this entry. */
    void follow(State before, State after, Entry entry);

    /** Forgets everything and takes up this state. */
    void reset(State state);
}
