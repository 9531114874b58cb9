package dev.muster.scheduler.node;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.State;
import dev.muster.model.job.JobState;
import java.util.List;

/** What jobs that are suspended leave to others. */
public final class SuspendedJobs {
    private SuspendedJobs() {}

    /**
     * Suspended, by an administrator or for others: memory and devices are still its own. Who waits for a turn keeps
     * his cores as well.
     */
    public static boolean gaveItsCores(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted()
                        .find(job.id())
                        .filter(p -> p.mode() == Preemption.Mode.GANG)
                        .isEmpty();
    }

    /** Others have their turn on its cores. */
    public static boolean awaitsTurn(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted()
                        .find(job.id())
                        .filter(p -> p.mode() == Preemption.Mode.GANG)
                        .isPresent();
    }

    /** It goes on by itself as soon as its cores are free. */
    public static boolean gaveWay(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted()
                        .find(job.id())
                        .filter(p -> p.mode() == Preemption.Mode.SUSPEND)
                        .isPresent();
    }

    /** The job, of a heterogeneous one all components that gave way: they go on together. */
    public static List<Job> together(State state, Job job) {
        return job.isHet()
                ? state.members(job).stream().filter(j -> gaveWay(state, j)).toList()
                : List.of(job);
    }

    /** All of them are free, or had by those alone with whom they take turns. */
    public static boolean haveTheirCores(ClusterIndex cluster, List<Job> jobs) {
        for (Job job : jobs) {
            for (Allocation.Share s : job.run().allocation().nodes()) {
                NodeSlot node = cluster.node(s.node());
                if (node == null
                        || !node.units(s)
                                .minus(node.spec.reservedUnits())
                                .minus(node.freeUnits)
                                .minus(cluster.holdings().shareable(job, node))
                                .isEmpty()) {
                    return false;
                }
            }
        }
        return true;
    }
}
