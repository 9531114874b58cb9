package dev.muster.scheduler.pass;

import dev.muster.core.node.CompleteWait;
import dev.muster.core.state.Job;
import dev.muster.core.state.Now;
import dev.muster.core.state.State;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.Scheduler;
import java.util.Set;

/** Partitions in which somebody is just ending, where all others wait for that: {@link CompleteWait}. */
record CompleteWaitPartitions(Set<String> partitions, Scheduler scheduler) {
    static CompleteWaitPartitions of(Scheduler scheduler, State state, Now now) {
        return new CompleteWaitPartitions(CompleteWait.partitions(state, now), scheduler);
    }

    boolean isAnywhere() {
        return !partitions.isEmpty();
    }

    boolean has(String partition) {
        return partitions.contains(partition);
    }

    /** What it was told before is as true as it was. */
    JobReason reason(Job job) {
        JobReason told = scheduler.reason(job.id());
        if (told == JobReason.NONE) {
            scheduler.explain(job.id(), JobReason.PRIORITY);
        }
        return told == JobReason.NONE ? JobReason.PRIORITY : told;
    }
}
