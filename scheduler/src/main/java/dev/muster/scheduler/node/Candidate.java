package dev.muster.scheduler.node;

import dev.muster.core.tres.Tres;
import dev.muster.scheduler.request.ResourceNeed;

/** A node and how many tasks of the need it can take. */
public record Candidate(NodeSlot node, int tasks, Devices devices) {
    /** Counts the devices that the need can have of a node. */
    public interface Devices {
        int usable(ResourceNeed need, NodeSlot node, Tres.Item item);
    }

    int devices(ResourceNeed need, Tres.Item item) {
        return devices.usable(need, node, item);
    }
}
