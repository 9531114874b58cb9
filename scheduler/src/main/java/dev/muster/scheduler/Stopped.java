package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.HetRules;
import dev.muster.core.Job;
import dev.muster.core.Preemption;
import dev.muster.core.State;
import dev.muster.model.JobState;
import java.util.List;

/** What jobs that are suspended leave to others. */
final class Stopped {
    private Stopped() {}

    /** Suspended, by an administrator or for others: memory and devices are still its own. Who waits for a turn keeps his cores as well. */
    static boolean gaveItsCores(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted().find(job.id()).filter(p -> p.mode() == Preemption.Mode.GANG).isEmpty();
    }

    /** Others have their turn on its cores. */
    static boolean awaitsTurn(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted().find(job.id()).filter(p -> p.mode() == Preemption.Mode.GANG).isPresent();
    }

    /** It goes on by itself as soon as its cores are free. */
    static boolean gaveWay(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted().find(job.id()).filter(p -> p.mode() == Preemption.Mode.SUSPEND).isPresent();
    }

    /** The job, of a heterogeneous one all components that gave way: they go on together. */
    static List<Job> together(State state, Job job) {
        return job.isHet() ? HetRules.members(state, job).stream().filter(j -> gaveWay(state, j)).toList() : List.of(job);
    }

    /** All of them are free, or had by those alone with whom they take turns. */
    static boolean haveTheirCores(Scheduler scheduler, List<Job> jobs) {
        for (Job job : jobs) {
            for (Allocation.Share s : job.run().allocation().nodes()) {
                NodeSlot node = scheduler.node(s.node());
                if (node == null || !node.units(s).minus(node.spec.reservedUnits()).minus(node.freeUnits)
                        .minus(scheduler.holdings().shareable(job, node)).isEmpty()) {
                    return false;
                }
            }
        }
        return true;
    }
}
