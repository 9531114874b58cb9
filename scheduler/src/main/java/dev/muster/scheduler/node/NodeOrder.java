package dev.muster.scheduler.node;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/** Order in which nodes that may serve a job are looked at. */
public final class NodeOrder {
    private NodeOrder() {}

    /**
     * Nodes asked for by name stay first. A job that ends before a reservation begins prefers units that the
     * reservation takes, because no longer job may use these.
     *
     * @param order by weight
     * @param required number of nodes that are asked for by name
     * @param near names of nodes that count no more under limits on nodes: first of the others, as in Slurm
     * @param reservedUnits by the number of a node, units of it that are kept for the job
     * @param flat there is no topology: the other nodes are taken beside the required ones
     */
    public static List<NodeSlot> of(
            List<NodeSlot> order, int required, Set<String> near, Map<Integer, Integer> reservedUnits, boolean flat) {
        if (reservedUnits.isEmpty() && near.isEmpty() && (required == 0 || !flat) || required >= order.size()) {
            return order;
        }
        Comparator<NodeSlot> first = Comparator.comparing((NodeSlot n) -> !near.contains(n.spec.name()));
        if (required > 0 && flat) {
            first = first.thenComparingInt(n -> n.spec.weight()).thenComparingInt(beside(order.subList(0, required)));
        }
        List<NodeSlot> out = new ArrayList<>(order);
        out.subList(required, out.size())
                .sort(
                        reservedUnits.isEmpty()
                                ? first
                                : first.thenComparingLong(n -> n.spec.weightValue())
                                        .thenComparingInt(n -> -Math.min(
                                                n.freeUnits.count(), reservedUnits.getOrDefault(n.index, 0))));
        return out;
    }

    /**
     * Orders nodes: those behind the first required one come first, then those before it, both in the order of the
     * configuration.
     */
    private static ToIntFunction<NodeSlot> beside(List<NodeSlot> required) {
        int first = required.stream().mapToInt(n -> n.spec.order()).min().orElse(0);
        return n -> n.spec.order() >= first ? n.spec.order() - first : Integer.MAX_VALUE / 2 + n.spec.order();
    }
}
