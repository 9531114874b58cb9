package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.Job;
import dev.muster.core.Partition;
import dev.muster.core.Settings;
import dev.muster.core.State;
import dev.muster.model.IndexSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What jobs have of nodes, as what they share their cores, and who minds whom there. Owned by the core thread. */
final class Holdings {
    private final Map<String, NodeSlot> nodes;
    /** Partitions whose jobs may share cores. */
    private final Map<String, Partition> shared = new HashMap<>();
    /** All of them: nodes of some are had by one user, or one job by its switch, at a time. */
    private final Map<String, Partition> partitions = new HashMap<>();
    private Settings settings;
    private int minding;

    /** @param nodes by name, kept up by their owner */
    Holdings(Map<String, NodeSlot> nodes) {
        this.nodes = nodes;
    }

    /** Nobody has anything, and partitions are as they are there. */
    void reset(State state) {
        settings = state.settings();
        minding = 0;
        shared.clear();
        partitions.clear();
        state.partitions().values().forEach(p -> {
            partitions.put(p.name(), p);
            if (p.jobsPerCore(true) > 1) {
                shared.put(p.name(), p);
            }
        });
    }

    /** The job is on its nodes; suspended, it has all there but cores. */
    void began(State state, Job job) {
        if (Stopped.gaveItsCores(state, job)) {
            rest(job, true);
        } else {
            hold(job, false);
        }
    }

    /** It is not, or no longer as it was. */
    void ended(State state, Job job) {
        if (Stopped.gaveItsCores(state, job)) {
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

    void hold(Job job, boolean unitsOnly) {
        job.run().allocation().held().forEach(share -> hold(job, share, unitsOnly));
    }

    void hold(Job job, Allocation.Share share, boolean unitsOnly) {
        NodeSlot slot = nodes.get(share.node());
        if (slot != null && !share.released()) {
            slot.hold(share, job.desc().partition(), unitsOnly);
            meet(apart(job), slot, 1);
            sharing(job).forEach(p -> slot.share(p, share.cores(), 1));
        }
    }

    void release(Job job, boolean unitsOnly) {
        job.run().allocation().held().forEach(share -> release(job, share, unitsOnly));
    }

    void release(Job job, Allocation.Share share, boolean unitsOnly) {
        NodeSlot slot = nodes.get(share.node());
        if (slot != null && !share.released()) {
            slot.release(share, job.desc().partition(), unitsOnly);
            meet(apart(job), slot, -1);
            sharing(job).forEach(p -> slot.share(p, share.cores(), -1));
        }
    }

    void meet(Apart who, NodeSlot slot, int jobs) {
        slot.meet(who, jobs);
        minding += who.minds() ? jobs : 0;
    }

    Apart apart(Job job) {
        return Apart.of(job.desc(), Optional.ofNullable(partitions.get(job.desc().partition().split(",")[0])), settings);
    }

    /** Nodes are kept from some. */
    boolean someMind() {
        return minding > 0;
    }

    /** Units that others have with whom the job may be there, and come to its turn. */
    IndexSet shareable(Job job, NodeSlot node) {
        Partition p = shared.isEmpty() ? null : shared.get(job.desc().partition().split(",")[0]);
        return p == null || !settings.takesTurns() ? IndexSet.empty()
                : node.shareable(p.name(), Need.sharing(job.desc().request(), p, settings));
    }

    /** As what the job shares its cores: its partition, and more. */
    List<String> sharing(Job job) {
        Partition p = shared.isEmpty() ? null : shared.get(job.desc().partition().split(",")[0]);
        return p == null ? List.of() : Need.sharing(job.desc().request(), p, settings).names(p.name());
    }
}
