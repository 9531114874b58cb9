package dev.muster.scheduler.pass;

import dev.muster.core.node.CompleteWait;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.queue.WaitReasons;
import java.util.Set;

/** Partitions whose jobs wait because a job there is completing: {@link CompleteWait}. */
record CompleteWaitPartitions(Set<String> partitions, WaitReasons waits) {
    static CompleteWaitPartitions of(WaitReasons waits, State state, DecisionTime now) {
        return new CompleteWaitPartitions(CompleteWait.partitions(state, now), waits);
    }

    boolean isAnywhere() {
        return !partitions.isEmpty();
    }

    boolean has(String partition) {
        return partitions.contains(partition);
    }

    /** Returns the reason that the job was told before: it is as true as it was. */
    JobReason reason(Job job) {
        JobReason told = waits.reason(job.id());
        if (told == JobReason.NONE) {
            waits.explain(job.id(), JobReason.PRIORITY);
        }
        return told == JobReason.NONE ? JobReason.PRIORITY : told;
    }
}
