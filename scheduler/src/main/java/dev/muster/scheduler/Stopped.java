package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.core.Preemption;
import dev.muster.core.State;
import dev.muster.model.JobState;

/** What jobs that are suspended leave to others. */
final class Stopped {
    private Stopped() {}

    /** Suspended, by an administrator or for others: memory and devices are still its own. Who waits for a turn keeps his cores as well. */
    static boolean gaveItsCores(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted().find(job.id()).filter(p -> p.mode() == Preemption.Mode.GANG).isEmpty();
    }

    /** It goes on by itself as soon as its cores are free. */
    static boolean gaveWay(State state, Job job) {
        return job.state() == JobState.SUSPENDED
                && state.preempted().find(job.id()).filter(p -> p.mode() == Preemption.Mode.SUSPEND).isPresent();
    }
}
