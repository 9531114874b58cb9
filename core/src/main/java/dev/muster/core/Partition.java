package dev.muster.core;

import dev.muster.model.api.ClusterMessages.PartitionInfo;
import java.util.List;

/**
 * A partition.
 *
 * @param info  its settings as shown; limits in minutes and nodes, -1 for unlimited
 * @param nodes names of its nodes, in configuration order
 */
public record Partition(PartitionInfo info, List<String> nodes) {
    public String name() {
        return info.name();
    }

    /** Jobs of it may start. */
    public boolean isUp() {
        return info.state().equals("UP") || info.state().equals("DRAIN");
    }

    /** Jobs may be submitted to it. */
    public boolean takesJobs() {
        return info.state().equals("UP") || info.state().equals("DOWN");
    }

    /** Each job has its nodes to itself. */
    public boolean isExclusive() {
        return info.overSubscribe().equals("EXCLUSIVE");
    }
}
