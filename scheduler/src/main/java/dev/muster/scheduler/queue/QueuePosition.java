package dev.muster.scheduler.queue;

import dev.muster.core.state.Job;

/** A job and where it stands in the queue. */
public record QueuePosition(QueueOrder.Block block, int index) {
    public Job job() {
        return block.places[index].job();
    }
}
