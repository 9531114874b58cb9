package dev.muster.scheduler.queue;

import dev.muster.core.state.State;
import dev.muster.model.format.HostList;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.FeatureConstraint;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeFilter;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.request.ExtraConstraint;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The nodes that a job may run on at all, in the order in which they are tried. */
public final class EligibleNodes {
    private final ClusterIndex cluster;
    private final JobClassIndex classes;
    private final State state;
    private final boolean leastLoaded;
    private final boolean packed;
    private final boolean serialAtEnd;
    /** Nodes by filter in this pass: those of many needs are the same and are looked up once. */
    private final Map<NodeFilter, List<NodeSlot>> byFilter = new HashMap<>();

    private final Map<NodeFilter, List<NodeSlot>> withRoomByFilter = new HashMap<>();

    /**
     * Returns nodes as {@link #of}, without those on which nothing was free when this was first asked in the pass: for
     * needs that name no nodes and take nothing but what is free. Only valid while no job is lifted off its nodes for a
     * what-if question.
     */
    public List<NodeSlot> withRoom(ResourceNeed need) {
        if (packed || serialAtEnd || isLeastLoaded(need)) {
            return of(need, Set.of());
        }
        return withRoomByFilter.computeIfAbsent(NodeFilter.of(need), w -> {
            long[] mask = classes.mask(w);
            return mask.length == 0 || cluster.free().areSomeAsleep()
                    ? of(need, Set.of()).stream()
                            .filter(n -> !n.freeUnits.isEmpty())
                            .toList()
                    : cluster.free().withRoom(mask, cluster.nodes());
        });
    }

    /**
     * Returns the nodes of {@link #of} on which one task of the job fits now; all of them where another order of nodes,
     * or a node that sleeps, keeps the table of free resources from being used. Only for needs that name no nodes.
     */
    public List<NodeSlot> able(ResourceNeed need, NeedClass c) {
        return packed || serialAtEnd || isLeastLoaded(need) || cluster.free().areSomeAsleep()
                ? of(need, Set.of())
                : cluster.free().able(c, cluster.nodes());
    }

    private boolean isLeastLoaded(ResourceNeed need) {
        return leastLoaded
                || state.partitions()
                        .find(need.partition())
                        .filter(p -> p.info().leastLoadedNodes())
                        .isPresent();
    }

    public EligibleNodes(ClusterIndex cluster, JobClassIndex classes, State state) {
        this.cluster = cluster;
        this.classes = classes;
        this.state = state;
        this.leastLoaded = state.settings().selects("CR_LLN");
        this.serialAtEnd = state.settings().options().scheduling().serialAtEnd();
        this.packed = state.settings().selects("CR_PACK_NODES");
    }

    /**
     * Returns the candidates in order of preference: those the job names first; the least loaded first where that is
     * asked for, or the fullest.
     */
    public List<NodeSlot> of(ResourceNeed need, Set<String> avoided) {
        List<NodeSlot> plain = avoided.isEmpty()
                ? byFilter.computeIfAbsent(NodeFilter.of(need), w -> named(need, avoided))
                : named(need, avoided);
        boolean least = isLeastLoaded(need);
        if (serialAtEnd
                && need.tasks() == 1
                && need.nodesMin() == 1
                && need.nodeList().isEmpty()) {
            return plain.reversed();
        }
        if (!least && !packed) {
            return plain;
        }
        int required = HostList.distinct(need.nodeList()).size();
        List<NodeSlot> rest = new ArrayList<>(plain.subList(Math.min(required, plain.size()), plain.size()));
        Comparator<NodeSlot> load =
                Comparator.comparingDouble(n -> 1 - (double) n.freeUnits.count() / Math.max(1, n.spec.units()));
        rest.sort(Comparator.comparingLong((NodeSlot n) -> n.spec.weightValue())
                .thenComparing(least ? load : load.reversed()));
        List<NodeSlot> out = new ArrayList<>(plain.subList(0, Math.min(required, plain.size())));
        out.addAll(rest);
        return out;
    }

    private List<NodeSlot> awakeFirst(List<NodeSlot> nodes) {
        if (!cluster.free().areSomeAsleep()) {
            return nodes;
        }
        List<NodeSlot> out = new ArrayList<>(nodes);
        out.sort(Comparator.comparingInt(n -> {
            if (!n.asleep) {
                return 0;
            }
            if (n.coming) {
                return 1;
            }
            return 2;
        }));
        return out;
    }

    private List<NodeSlot> named(ResourceNeed need, Set<String> avoided) {
        List<NodeSlot> members = awakeFirst(cluster.nodesOf(need.partition()));
        Set<String> required = HostList.nameSet(need.nodeList());
        Set<String> excluded = HostList.nameSet(need.excludeList());
        Set<String> within = HostList.nameSet(need.network().within());
        boolean names = !within.isEmpty() || !required.isEmpty() || !excluded.isEmpty() || !avoided.isEmpty();
        if (!names && !filters(need)) {
            return members;
        }
        List<NodeSlot> out = requiredNodes(need, required, avoided);
        // the mask has the nodes that earlier passes found eligible
        long[] mask = classes.mask(NodeFilter.of(need));
        for (NodeSlot node : members) {
            String name = node.spec.name();
            boolean fits = mask.length > 0
                    ? FreeTable.is(mask, node.index)
                    : (within.isEmpty() || within.contains(name))
                            && !excluded.contains(name)
                            && passesFilters(need, node);
            if (fits && (required.isEmpty() || !required.contains(name)) && !avoided.contains(name)) {
                out.add(node);
            }
        }
        return out;
    }

    private List<NodeSlot> requiredNodes(ResourceNeed need, Set<String> required, Set<String> avoided) {
        List<NodeSlot> out = new ArrayList<>();
        for (String name : required) {
            NodeSlot node = cluster.node(name);
            if (node != null
                    && !avoided.contains(name)
                    && ExtraConstraint.match(need.shape().extra(), node.extra)) {
                out.add(node);
            }
        }
        return out;
    }

    private static boolean filters(ResourceNeed need) {
        return !need.features().isEmpty()
                || need.tmpDiskMb() != 0
                || !need.shape().extra().isEmpty();
    }

    private static boolean passesFilters(ResourceNeed need, NodeSlot node) {
        return FeatureConstraint.match(need.features(), node.features)
                && need.tmpDiskMb() <= node.spec.tmpDiskMb()
                && ExtraConstraint.match(need.shape().extra(), node.extra);
    }
}
