package dev.muster.scheduler.queue;

import dev.muster.core.command.Planner;
import dev.muster.core.node.PowerSavingTimes;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.State;
import dev.muster.scheduler.node.Candidate;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.SelectedNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * max_powered_nodes: bounds the number of nodes that are powered up for jobs. At the bound, powered-down nodes are not
 * available.
 */
public final class PowerBudget {
    private final ClusterIndex cluster;
    private final UnavailableNodes unavailable;
    private int left = Integer.MAX_VALUE;
    private boolean thrifty;

    public PowerBudget(ClusterIndex cluster, UnavailableNodes unavailable) {
        this.cluster = cluster;
        this.unavailable = unavailable;
    }

    /** Lifts the bound, because nodes are others. */
    public void clear() {
        left = Integer.MAX_VALUE;
    }

    /** Reads how many nodes may be started, when a pass begins. */
    public void renew(State state) {
        int now = PowerSavingTimes.left(state);
        if (now == left) {
            return;
        }
        boolean more = now > left;
        left = now;
        for (NodeSlot node : cluster.nodes()) {
            node.startable = left > 0;
            node.judge(state.nodes().at(node.spec.name()), state.settings());
            cluster.changed(node);
            if (more && node.asleep) {
                // jobs that needed more such nodes than the bound allowed are considered again
                cluster.free().markGrown(node.index);
            }
        }
        unavailable.changed();
    }

    /**
     * @param starts of the pass so far
     * @param otherNodes nodes that other components of the job get
     */
    public boolean allows(List<SelectedNode> picks, List<Planner.Start> starts, Set<String> otherNodes) {
        if (left == Integer.MAX_VALUE) {
            return true;
        }
        Set<NodeSlot> started = started(starts, otherNodes);
        picks.stream().map(SelectedNode::node).filter(PowerBudget::isStart).forEach(started::add);
        return started.size() <= Math.max(0, left);
    }

    /** Searches for nodes that need no more starts than may be, where the best ones would need more. */
    public Optional<Allocation> thriftily(Supplier<Optional<Allocation>> search) {
        if (thrifty) {
            return Optional.empty();
        }
        thrifty = true;
        try {
            return search.get();
        } finally {
            thrifty = false;
        }
    }

    public boolean isThrifty() {
        return thrifty;
    }

    /**
     * Returns all of these nodes that need no start, and as many of the others as may still be started, those first
     * that have room for most tasks, where {@link #isThrifty}.
     */
    public List<Candidate> affordable(
            List<Candidate> able, int required, List<Planner.Start> starts, Set<String> otherNodes) {
        if (!thrifty) {
            return able;
        }
        Set<NodeSlot> started = started(starts, otherNodes);
        List<Candidate> asleep = new ArrayList<>();
        for (int i = 0; i < able.size(); i++) {
            Candidate c = able.get(i);
            if (i < required && isStart(c.node())) {
                started.add(c.node());
            } else if (isStart(c.node()) && !started.contains(c.node())) {
                asleep.add(c);
            }
        }
        asleep.sort(Comparator.comparingInt(c -> -c.tasks()));
        Set<Candidate> tooMany = new HashSet<>(asleep.subList(
                Math.min(asleep.size(), Math.max(0, left - started.size())), asleep.size()));
        return able.stream().filter(c -> !tooMany.contains(c)).toList();
    }

    private Set<NodeSlot> started(List<Planner.Start> starts, Set<String> otherNodes) {
        Set<String> names = new HashSet<>(otherNodes);
        starts.forEach(s -> names.addAll(s.allocation().nodeNames()));
        return names.stream()
                .map(cluster::node)
                .filter(n -> n != null && isStart(n))
                .collect(Collectors.toCollection(HashSet::new));
    }

    private static boolean isStart(NodeSlot node) {
        return node.asleep && !node.coming;
    }
}
