package dev.muster.scheduler.timeline;

import dev.muster.core.command.Planner;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.SuspendedJobs;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The resources that running jobs leave, and when, for one pass: made when the first job has to wait, with what the
 * pass has started until then.
 */
public final class RunningJobTimeline {
    /** Seconds for which a completing job is expected to hold its nodes. */
    public static final int LEAVING_S = 60;

    private final ClusterIndex cluster;
    private final State state;
    private final DecisionTime now;
    private final List<Planner.Start> starts;
    private final Map<Integer, long[]> unitEnds = new HashMap<>();
    private boolean yearly;
    private @Nullable TimeGrid times;
    private @Nullable CapacityTimeline grid;

    /** @param starts of the pass so far; more may come */
    public RunningJobTimeline(ClusterIndex cluster, State state, DecisionTime now, List<Planner.Start> starts) {
        this.cluster = cluster;
        this.state = state;
        this.now = now;
        this.starts = starts;
    }

    /**
     * Lets jobs without a limit end after a year, for an estimated start without a reservation. Call it before any
     * other method.
     */
    public void yearly() {
        yearly = true;
    }

    /** Tests whether no job has had to wait yet. */
    public boolean isEmpty() {
        return grid == null;
    }

    public TimeGrid times() {
        if (times == null && TimeGrid.isLarge(cluster.nodes().size())) {
            times = TimeGrid.TELESCOPING;
        } else if (times == null) {
            List<Long> ends = new ArrayList<>();
            cluster.holders().forEach(job -> ends.add(left(job)));
            starts.forEach(start -> ends.add(length(start)));
            times = TimeGrid.with(ends, cluster.nodes().size());
        }
        return times;
    }

    /** Returns the seconds until the job must be over. */
    private long left(Job job) {
        return yearly
                ? RemainingTime.yearly(state, job, now.seconds(), now.tickMs())
                : RemainingTime.seconds(state, job, now.tickMs());
    }

    private static long length(Planner.Start start) {
        return start.limitMin() < 0 ? Long.MAX_VALUE / 2 : start.limitMin() * 60L;
    }

    public CapacityTimeline grid() {
        if (grid == null) {
            grid = made();
        }
        return grid;
    }

    private CapacityTimeline made() {
        CapacityTimeline out = new CapacityTimeline(cluster.nodes(), times());
        Map<Integer, Long> lastEnd = new HashMap<>();
        for (Job job : cluster.holders()) {
            if (!SuspendedJobs.gaveItsCores(state, job)) {
                release(out, job.run().allocation().nodes(), left(job), lastEnd);
            }
            release(out, job.run().allocation().leaving(), LEAVING_S, lastEnd);
        }
        for (Planner.Start start : starts) {
            release(out, start.allocation().nodes(), length(start), lastEnd);
        }
        lastEnd.forEach(out::idle);
        unitEnds.forEach((node, ends) -> {
            for (long end : ends) {
                if (end > 0) {
                    out.free(node, end - 1, 1, 0);
                }
            }
        });
        unitEnds.clear();
        return out;
    }

    /**
     * Takes units and memory of the node from now on for as long as the need may run. Does nothing if no job has had to
     * wait yet.
     */
    public void take(NodeSlot node, ResourceNeed need, int units, long memoryMb) {
        if (grid != null) {
            grid.take(node.index, 0, times().endSlot(0, need.limitMin()), units, memoryMb);
        }
    }

    /**
     * Takes resources of a node as {@link #take}, for a moment.
     *
     * @param present true to take the resources, false to give them back
     */
    public void arrive(NodeSlot node, ResourceNeed need, Allocation.Share share, boolean present) {
        if (grid != null) {
            grid.give(
                    node.index,
                    times().endSlot(0, need.limitMin()),
                    present ? -node.units(share).count() : node.units(share).count(),
                    present ? -share.memoryMb() : share.memoryMb());
        }
    }

    /**
     * Takes a running job off its nodes for a moment, or puts it back: its resources are free until it would have left.
     *
     * @param off or on again
     */
    public void lifted(Job job, boolean off) {
        if (grid != null && !SuspendedJobs.gaveItsCores(state, job)) {
            give(grid, job.run().allocation().nodes(), left(job), off);
            give(grid, job.run().allocation().leaving(), LEAVING_S, off);
        }
    }

    private void give(CapacityTimeline to, List<Allocation.Share> shares, long afterSeconds, boolean off) {
        for (Allocation.Share share : shares) {
            NodeSlot node = cluster.node(share.node());
            if (node != null && !share.released()) {
                to.give(
                        node.index,
                        times().slotAt(Math.max(0, afterSeconds)),
                        off ? node.units(share).count() : -node.units(share).count(),
                        off ? share.memoryMb() : -share.memoryMb());
            }
        }
    }

    private void release(
            CapacityTimeline to, List<Allocation.Share> shares, long afterSeconds, Map<Integer, Long> lastEnd) {
        for (Allocation.Share share : shares) {
            NodeSlot node = cluster.node(share.node());
            if (node != null && !share.released() && node.isShared()) {
                // a core that several have is free with the last of them
                long[] ends = unitEnds.computeIfAbsent(node.index, n -> new long[node.spec.units()]);
                IndexSet units = node.units(share);
                for (int u = units.first(); u >= 0; u = units.next(u + 1)) {
                    ends[u] = Math.max(ends[u], afterSeconds + 1);
                }
                to.free(node.index, afterSeconds, 0, share.memoryMb());
                lastEnd.merge(node.index, afterSeconds, Math::max);
            } else if (node != null && !share.released()) {
                to.free(node.index, afterSeconds, node.units(share).count(), share.memoryMb());
                lastEnd.merge(node.index, afterSeconds, Math::max);
            }
        }
    }
}
