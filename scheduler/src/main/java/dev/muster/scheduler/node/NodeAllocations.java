package dev.muster.scheduler.node;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SharingPolicy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Resources that jobs hold on nodes, with the cores that they share and the sharing policies that apply. Owned by the
 * core thread.
 */
public final class NodeAllocations {
    private final Map<String, NodeSlot> nodes;
    /** Partitions whose jobs may share cores. */
    private final Map<String, Partition> shared = new HashMap<>();
    /** All partitions by name: nodes of some are had by one user, or one job by its switch, at a time. */
    private final Map<String, Partition> partitions = new HashMap<>();

    private Settings settings = State.EMPTY.settings();
    private int exclusiveJobs;

    /** @param nodes by name, kept up by their owner */
    public NodeAllocations(Map<String, NodeSlot> nodes) {
        this.nodes = nodes;
    }

    /** Clears all holdings and reads the partitions of the state. */
    public void reset(State state) {
        settings = state.settings();
        exclusiveJobs = 0;
        shared.clear();
        partitions.clear();
        state.partitions().values().forEach(p -> {
            partitions.put(p.name(), p);
            if (p.jobsPerCore(true) > 1) {
                shared.put(p.name(), p);
            }
        });
    }

    /** Notes that a job is on its nodes; suspended, it has all there but cores. */
    public void began(State state, Job job) {
        if (SuspendedJobs.gaveItsCores(state, job)) {
            rest(job, true);
        } else {
            hold(job, false);
        }
    }

    /** Notes that a job does not hold nodes, or no longer as it did. */
    public void ended(State state, Job job) {
        if (SuspendedJobs.gaveItsCores(state, job)) {
            rest(job, false);
        } else {
            release(job, false);
        }
    }

    private void rest(Job job, boolean take) {
        for (Allocation.Share share : job.run().allocation().held()) {
            NodeSlot slot = nodes.get(share.node());
            if (slot != null && !share.released() && take) {
                slot.holdRest(share);
            } else if (slot != null && !share.released()) {
                slot.releaseRest(share);
            }
        }
    }

    public void hold(Job job, boolean unitsOnly) {
        job.run().allocation().held().forEach(share -> hold(job, share, unitsOnly));
    }

    public void hold(Job job, Allocation.Share share, boolean unitsOnly) {
        NodeSlot slot = nodes.get(share.node());
        if (slot != null && !share.released()) {
            slot.hold(share, job.desc().partition(), unitsOnly);
            addPolicy(apart(job), slot, 1);
            sharing(job).forEach(p -> slot.share(p, share.cores(), 1));
        }
    }

    public void release(Job job, boolean unitsOnly) {
        job.run().allocation().held().forEach(share -> release(job, share, unitsOnly));
    }

    public void release(Job job, Allocation.Share share, boolean unitsOnly) {
        NodeSlot slot = nodes.get(share.node());
        if (slot != null && !share.released()) {
            slot.release(share, job.desc().partition(), unitsOnly);
            addPolicy(apart(job), slot, -1);
            sharing(job).forEach(p -> slot.share(p, share.cores(), -1));
        }
    }

    public void addPolicy(SharingPolicy policy, NodeSlot slot, int jobs) {
        slot.addPolicy(policy, jobs);
        exclusiveJobs += policy.isExclusive() ? jobs : 0;
    }

    public SharingPolicy apart(Job job) {
        return SharingPolicy.of(
                job.desc(), Optional.ofNullable(partitions.get(job.desc().firstPartition())), settings);
    }

    /** Tests whether nodes are kept from some jobs. */
    public boolean anyExclusive() {
        return exclusiveJobs > 0;
    }

    /** Returns the units of jobs with which the job may take turns. */
    IndexSet shareable(Job job, NodeSlot node) {
        Partition p = shared.isEmpty() ? null : shared.get(job.desc().firstPartition());
        return p == null || !settings.takesTurns()
                ? IndexSet.empty()
                : node.shareable(p.name(), ResourceNeed.sharing(job.desc().request(), p, settings));
    }

    /** Returns the names under which the job shares its cores: its partition, and more. */
    public List<String> sharing(Job job) {
        Partition p = shared.isEmpty() ? null : shared.get(job.desc().firstPartition());
        return p == null
                ? List.of()
                : ResourceNeed.sharing(job.desc().request(), p, settings).names(p.name());
    }
}
