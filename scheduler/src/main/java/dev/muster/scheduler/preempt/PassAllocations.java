package dev.muster.scheduler.preempt;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SharingPolicy;
import dev.muster.scheduler.timeline.RunningJobTimeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The resources that one pass takes of the nodes: they are given back when the pass is over, because what is decided
 * for good comes with the records. Owned by the core thread.
 */
public final class PassAllocations {
    private final ClusterIndex cluster;
    private final RunningJobTimeline runningJobs;
    private final List<TakenShare> taken = new ArrayList<>();
    /** Sharing policies that were added to nodes. */
    private final List<PolicyOnNode> met = new ArrayList<>();
    /** Shared units among those that are taken. */
    private final List<TakenShare> shares = new ArrayList<>();
    /** Units of jobs that are resumed, without memory and devices. */
    private final List<TakenShare> resumed = new ArrayList<>();
    /** Resources at awaited places that other jobs have yet, until they have left. */
    private final List<AwaitedRelease> awaited = new ArrayList<>();

    private record TakenShare(NodeSlot node, Allocation.Share share, String partition) {}

    private record PolicyOnNode(NodeSlot node, SharingPolicy policy) {}

    private record AwaitedRelease(NodeSlot node, Allocation.Share rest, ResourceNeed need) {}

    /** Allocations made while victims are off their nodes. */
    private final List<TakenShare> arrived = new ArrayList<>();

    public PassAllocations(ClusterIndex cluster, RunningJobTimeline runningJobs) {
        this.cluster = cluster;
        this.runningJobs = runningJobs;
    }

    /** Takes the share of a node for a job that starts there. */
    public void take(Job job, Allocation.Share share, ResourceNeed need) {
        NodeSlot node = cluster.at(share.node());
        int idle = node.units(share).intersect(node.freeUnits).count();
        node.hold(share, need.partition());
        // the node is being rebooted for this job: no other job starts on it before
        if (share.bootId().isEmpty()) {
            cluster.rebooting(node);
        }
        taken.add(new TakenShare(node, share, need.partition()));
        met.add(new PolicyOnNode(node, cluster.allocations().apart(job)));
        cluster.allocations().addPolicy(met.getLast().policy, node, 1);
        for (String name : need.sharing().names(need.partition())) {
            node.share(name, share.cores(), 1);
            shares.add(new TakenShare(node, share, name));
        }
        runningJobs.take(node, need, idle, share.memoryMb());
    }

    /** Gives a suspended job its cores back. */
    public void back(Job job) {
        for (Allocation.Share s : job.run().allocation().nodes()) {
            NodeSlot node = cluster.at(s.node());
            node.hold(s, job.desc().partition(), true);
            resumed.add(new TakenShare(node, s, job.desc().partition()));
            for (String name : cluster.allocations().sharing(job)) {
                node.share(name, s.cores(), 1);
                shares.add(new TakenShare(node, s, name));
            }
        }
    }

    /** Takes the free cores of a suspended job, which waits for the rest of them. */
    public void await(Job job) {
        for (Allocation.Share s : job.run().allocation().nodes()) {
            NodeSlot node = cluster.node(s.node());
            if (node == null) {
                continue;
            }
            IndexSet free = node.freeUnits.intersect(node.units(s));
            if (!free.isEmpty()) {
                Allocation.Share part =
                        new Allocation.Share(s.node(), s.agent(), s.bootId(), free, 0, 0, Map.of(), true, false, 0);
                node.hold(part, job.desc().partition(), true);
                resumed.add(new TakenShare(node, part, job.desc().partition()));
            }
        }
    }

    /**
     * Reserves the place of a job that waits for its victims to leave: no other job gets the free part of it, nor
     * counts on what the victims leave.
     */
    public void keep(Allocation place, ResourceNeed need) {
        for (Allocation.Share s : place.nodes()) {
            NodeSlot node = cluster.at(s.node());
            IndexSet free = node.freeUnits.intersect(node.units(s));
            long memoryMb = Math.max(0, Math.min(node.freeMemoryMb, s.memoryMb()));
            Map<String, IndexSet> devices = new HashMap<>();
            Map<String, IndexSet> missing = new HashMap<>();
            s.gres().forEach((name, ids) -> {
                devices.put(name, ids.intersect(node.freeGres.getOrDefault(name, IndexSet.empty())));
                missing.put(name, ids.minus(devices.get(name)));
            });
            Allocation.Share part =
                    new Allocation.Share(s.node(), s.agent(), s.bootId(), free, 0, memoryMb, devices, true, false, 0);
            node.hold(part, need.partition());
            taken.add(new TakenShare(node, part, need.partition()));
            runningJobs.take(node, need, free.count(), memoryMb);
            awaited.add(new AwaitedRelease(
                    node,
                    new Allocation.Share(
                            s.node(),
                            s.agent(),
                            s.bootId(),
                            node.units(s).minus(free),
                            s.chargedCpus(),
                            s.memoryMb() - memoryMb,
                            missing,
                            true,
                            false,
                            0),
                    need));
        }
    }

    boolean isSpokenFor() {
        return !awaited.isEmpty();
    }

    /**
     * Gives the job that waits for preempted jobs its place, as these count as off their nodes.
     *
     * @param present true to take the place, false to give it back
     * @param where nodes that are concerned
     */
    void arrive(boolean present, Predicate<NodeSlot> where) {
        for (AwaitedRelease s : awaited) {
            if (!where.test(s.node)) {
                continue;
            }
            if (present) {
                // devices of victims that are not off their nodes stay theirs when this is given back
                Map<String, IndexSet> devices = new HashMap<>();
                s.rest.gres()
                        .forEach((name, ids) ->
                                devices.put(name, ids.intersect(s.node.freeGres.getOrDefault(name, IndexSet.empty()))));
                Allocation.Share held = new Allocation.Share(
                        s.rest.node(),
                        s.rest.agent(),
                        s.rest.bootId(),
                        s.rest.cores(),
                        s.rest.cpus(),
                        s.rest.memoryMb(),
                        devices,
                        true,
                        false,
                        0);
                s.node.hold(held, s.need.partition());
                arrived.add(new TakenShare(s.node, held, s.need.partition()));
            }
            runningJobs.arrive(s.node, s.need, s.rest, present);
        }
        if (!present) {
            arrived.forEach(t -> t.node.release(t.share, t.partition));
            arrived.clear();
        }
    }

    /** Gives everything back, because the pass is over. */
    public void undo() {
        for (TakenShare t : taken) {
            t.node.release(t.share, t.partition);
        }
        for (PolicyOnNode m : met) {
            cluster.allocations().addPolicy(m.policy, m.node, -1);
        }
        for (TakenShare t : shares) {
            t.node.share(t.partition, t.share.cores(), -1);
        }
        for (TakenShare t : resumed) {
            t.node.release(t.share, t.partition, true);
        }
    }
}
