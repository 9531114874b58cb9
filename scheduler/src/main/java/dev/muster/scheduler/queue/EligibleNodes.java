package dev.muster.scheduler.queue;

import dev.muster.core.state.State;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.node.Feasibility;
import dev.muster.scheduler.node.Features;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
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
    private final Scheduler scheduler;
    private final State state;
    private final boolean leastLoaded;
    private final boolean packed;
    private final boolean serialAtEnd;
    /** Of this pass: what is the same for many needs is looked up once. */
    private final Map<Where, List<NodeSlot>> known = new HashMap<>();
    private final Map<Where, List<NodeSlot>> open = new HashMap<>();

    public record Where(String partition, String nodeList, String excludeList, String within, String features, long tmpDiskMb, String extra) {
        public static Where of(ResourceNeed need) {
            return new Where(need.partition(), need.nodeList(), need.excludeList(), need.network().within(), need.features(), need.tmpDiskMb(),
                    need.shape().extra());
        }
    }

    /**
     * As {@link #of}, without those on which nothing was free when this was first asked in the pass: for needs that name no nodes and take
     * nothing but what is free. Only while nobody is taken off his nodes to see what would fit then.
     */
    public List<NodeSlot> withRoom(ResourceNeed need) {
        if (packed || serialAtEnd || isLeastLoaded(need)) {
            return of(need, Set.of());
        }
        return open.computeIfAbsent(Where.of(need), w -> {
            long[] mask = scheduler.known().mask(w);
            return mask.length == 0 || scheduler.free().areSomeAsleep() ? of(need, Set.of()).stream().filter(n -> !n.freeUnits.isEmpty()).toList()
                    : scheduler.free().withRoom(mask, scheduler.nodes());
        });
    }

    /** As {@link #of} for a need that names no nodes, without those that cannot serve it now; as things are at the moment of asking. */
    public List<NodeSlot> able(ResourceNeed need, NeedClass c) {
        return packed || serialAtEnd || isLeastLoaded(need) || scheduler.free().areSomeAsleep() ? of(need, Set.of())
                : scheduler.free().able(c, scheduler.nodes());
    }

    private boolean isLeastLoaded(ResourceNeed need) {
        return leastLoaded || state.partitions().find(need.partition()).filter(p -> p.info().leastLoadedNodes()).isPresent();
    }

    public EligibleNodes(Scheduler scheduler, State state) {
        this.scheduler = scheduler;
        this.state = state;
        this.leastLoaded = state.settings().selects("CR_LLN");
        this.serialAtEnd = state.settings().options().containsKey("pack_serial_at_end");
        this.packed = state.settings().selects("CR_PACK_NODES");
    }

    /** Candidates in order of preference: those the job names first; the least loaded first where that is asked for, or the fullest. */
    public List<NodeSlot> of(ResourceNeed need, Set<String> avoided) {
        List<NodeSlot> plain = avoided.isEmpty() ? known.computeIfAbsent(Where.of(need), w -> named(need, avoided)) : named(need, avoided);
        boolean least = isLeastLoaded(need);
        if (serialAtEnd && need.tasks() == 1 && need.nodesMin() == 1 && need.nodeList().isEmpty()) {
            return plain.reversed();
        }
        if (!least && !packed) {
            return plain;
        }
        int required = Feasibility.names(need.nodeList()).size();
        List<NodeSlot> rest = new ArrayList<>(plain.subList(Math.min(required, plain.size()), plain.size()));
        Comparator<NodeSlot> load = Comparator.comparingDouble(
                n -> 1 - (double) n.freeUnits.count() / Math.max(1, n.spec.units()));
        rest.sort(Comparator.comparingLong((NodeSlot n) -> n.spec.weightValue()).thenComparing(least ? load : load.reversed()));
        List<NodeSlot> out = new ArrayList<>(plain.subList(0, Math.min(required, plain.size())));
        out.addAll(rest);
        return out;
    }

    private List<NodeSlot> awakeFirst(List<NodeSlot> nodes) {
        if (!scheduler.free().areSomeAsleep()) {
            return nodes;
        }
        List<NodeSlot> out = new ArrayList<>(nodes);
        out.sort(Comparator.comparingInt(n -> !n.asleep ? 0 : n.coming ? 1 : 2));
        return out;
    }

    private List<NodeSlot> named(ResourceNeed need, Set<String> avoided) {
        List<NodeSlot> members = awakeFirst(scheduler.nodesOf(need.partition()));
        List<String> required = Feasibility.names(need.nodeList());
        List<String> excluded = Feasibility.names(need.excludeList());
        List<String> within = Feasibility.names(need.network().within());
        String extra = need.shape().extra();
        if (within.isEmpty() && required.isEmpty() && excluded.isEmpty() && avoided.isEmpty() && need.features().isEmpty() && need.tmpDiskMb() == 0
                && extra.isEmpty()) {
            return members;
        }
        List<NodeSlot> out = new ArrayList<>();
        for (String name : required) {
            NodeSlot node = scheduler.node(name);
            if (node != null && !avoided.contains(name) && ExtraConstraint.match(extra, node.extra)) {
                out.add(node);
            }
        }
        long[] mask = scheduler.known().mask(Where.of(need));
        for (NodeSlot node : members) {
            if (mask.length > 0) {
                // who may be had at all is known of earlier passes
                if (FreeTable.is(mask, node.index) && (required.isEmpty() || !required.contains(node.spec.name()))
                        && !avoided.contains(node.spec.name())) {
                    out.add(node);
                }
                continue;
            }
            boolean may = within.isEmpty() || within.contains(node.spec.name());
            if (may && !required.contains(node.spec.name()) && !avoided.contains(node.spec.name()) && !excluded.contains(node.spec.name())
                    && Features.match(need.features(), node.features) && need.tmpDiskMb() <= node.spec.tmpDiskMb()
                    && ExtraConstraint.match(extra, node.extra)) {
                out.add(node);
            }
        }
        return out;
    }
}
