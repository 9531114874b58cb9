package dev.muster.scheduler.node;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.job.JobState;
import java.util.List;

/** The resources that suspended jobs leave to others. */
public final class SuspendedJobs {
    private SuspendedJobs() {}

    /**
     * Tests whether the job is suspended by an administrator or by preemption: it keeps memory and devices, but not its
     * cores. A job that waits for its turn (GANG) keeps the cores as well.
     */
    public static boolean gaveItsCores(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted()
                        .find(job.id())
                        .filter(p -> p.mode() == Preemption.Mode.GANG)
                        .isEmpty();
    }

    /** Tests whether other jobs have their turn on the job's cores (GANG). */
    public static boolean awaitsTurn(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted()
                        .find(job.id())
                        .filter(p -> p.mode() == Preemption.Mode.GANG)
                        .isPresent();
    }

    /** Tests whether the job was suspended by preemption; it resumes as soon as its cores are free. */
    public static boolean gaveWay(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted()
                        .find(job.id())
                        .filter(p -> p.mode() == Preemption.Mode.SUSPEND)
                        .isPresent();
    }

    /** Returns the job; of a heterogeneous job all suspended components, because they resume together. */
    public static List<Job> together(State state, Job job) {
        return job.isHet()
                ? state.members(job).stream().filter(j -> gaveWay(state, j)).toList()
                : List.of(job);
    }

    /** Tests whether all cores of the jobs are free, or held only by jobs with which they take turns. */
    public static boolean haveTheirCores(ClusterIndex cluster, List<Job> jobs) {
        for (Job job : jobs) {
            for (Allocation.Share s : job.run().allocation().nodes()) {
                NodeSlot node = cluster.node(s.node());
                if (node == null
                        || !node.units(s)
                                .minus(node.spec.reservedUnits())
                                .minus(node.freeUnits)
                                .minus(cluster.allocations().shareable(job, node))
                                .isEmpty()) {
                    return false;
                }
            }
        }
        return true;
    }
}
