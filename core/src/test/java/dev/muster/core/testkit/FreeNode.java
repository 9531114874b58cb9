package dev.muster.core.testkit;

import dev.muster.core.node.PowerSavingTimes;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobState;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Resources of one node that no job holds: units, memory and devices. */
final class FreeNode {
    final Node node;
    private IndexSet units;
    private long memoryMb;
    private boolean idle = true;
    private final Map<String, IndexSet> heldDevices = new TreeMap<>();

    private FreeNode(Node node) {
        this.node = node;
        units = IndexSet.range(0, node.spec().units() - 1, 1).minus(node.spec().reservedUnits());
        memoryMb = allMemoryMb();
    }

    /** Returns the nodes of a state by name, without the resources of these jobs. */
    static Map<String, FreeNode> of(State state, Collection<Job> jobs) {
        Map<String, FreeNode> nodes = new LinkedHashMap<>();
        state.nodes().values().forEach(n -> nodes.put(n.name(), new FreeNode(n)));
        for (Job job : jobs) {
            boolean suspended = job.state() == JobState.SUSPENDED;
            for (Allocation.Share share : job.run().allocation().held()) {
                FreeNode node = nodes.get(share.node());
                if (node != null && !share.released()) {
                    node.take(share, suspended);
                }
            }
        }
        return nodes;
    }

    /** Returns the nodes that jobs may start on, awake or not, without what running jobs hold. */
    static Map<String, FreeNode> usable(State state) {
        Map<String, FreeNode> nodes =
                of(state, state.jobs().values().stream().filter(Job::holdsNodes).toList());
        nodes.values().removeIf(n -> !n.node.isUsable() && !n.isStartable(state));
        return nodes;
    }

    private boolean isStartable(State state) {
        return node.wanted().isEmpty() && PowerSavingTimes.canStart(state.settings(), node);
    }

    void take(Allocation.Share share) {
        take(share, false);
    }

    /** @param suspended the job keeps its memory and devices while others use its units */
    private void take(Allocation.Share share, boolean suspended) {
        units = suspended ? units : units.minus(share.units(node.spec()));
        memoryMb -= share.memoryMb();
        idle = false;
        share.gres().forEach((name, devices) -> heldDevices.merge(name, devices, IndexSet::union));
    }

    boolean isIdle() {
        return idle;
    }

    int cpus() {
        return units.count() * node.spec().cpusPerUnit();
    }

    /** Returns the number of units that are needed for this number of CPUs. */
    int unitsFor(int cpus) {
        return (cpus + node.spec().cpusPerUnit() - 1) / node.spec().cpusPerUnit();
    }

    int freeUnits() {
        return units.count();
    }

    long memoryMb() {
        return memoryMb;
    }

    long allMemoryMb() {
        return node.spec().memoryMb() - node.spec().memSpecLimitMb();
    }

    /** Returns the free units with the lowest numbers. */
    IndexSet firstUnits(int count) {
        return first(units, count);
    }

    IndexSet devices(String name, String type) {
        return GresRequest.devices(node.spec(), name, type).minus(heldDevices.getOrDefault(name, IndexSet.empty()));
    }

    static IndexSet first(IndexSet from, int count) {
        IndexSet out = IndexSet.empty();
        for (int i = from.first(); i >= 0 && out.count() < count; i = from.next(i + 1)) {
            out = out.with(i);
        }
        return out;
    }
}
