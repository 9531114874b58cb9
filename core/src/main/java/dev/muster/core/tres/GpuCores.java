package dev.muster.core.tres;

import dev.muster.core.state.Node;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The units of a node that are near each of its GPUs, and the units that only jobs with GPUs may use.
 *
 * @param groups GPUs that are near the same units, in their order; one for all where gres.conf does not say
 * @param restricted all restricted units
 * @param own of these, each GPU's
 */
public record GpuCores(List<Group> groups, IndexSet restricted, Map<Integer, IndexSet> own) {
    public static final GpuCores NONE = new GpuCores(List.of(), IndexSet.empty(), Map.of());

    /** GPUs and the units near them. */
    public record Group(IndexSet gpus, IndexSet units) {}

    /**
     * Returns the cores near GPUs of a node; NONE where all units are as near to all GPUs and nothing is restricted.
     */
    public static GpuCores of(Node.Spec spec) {
        boolean placesGiven = spec.gres().stream()
                .anyMatch(g -> g.name().equals("gpu") && !g.near().isEmpty());
        if (!placesGiven && spec.restrictedPerGpu() == 0 || spec.units() == 0) {
            return NONE;
        }
        IndexSet all = IndexSet.range(0, spec.units() - 1, 1).minus(spec.reservedUnits());
        List<Group> groups = new ArrayList<>();
        Map<Integer, IndexSet> own = new TreeMap<>();
        IndexSet restricted = IndexSet.empty();
        for (Node.Gres g : spec.gres()) {
            for (int i = 0; g.name().equals("gpu") && i < g.count(); i++) {
                IndexSet near = i < g.near().size() && !g.near().get(i).isEmpty()
                        ? g.near().get(i).intersect(all)
                        : all;
                add(groups, g.first() + i, near);
                IndexSet cores = IndexSet.empty();
                for (int u = near.first(); u >= 0 && cores.count() < spec.restrictedPerGpu(); u = near.next(u + 1)) {
                    cores = restricted.contains(u) ? cores : cores.with(u);
                }
                own.put(g.first() + i, cores);
                restricted = restricted.union(cores);
            }
        }
        return groups.isEmpty() ? NONE : new GpuCores(List.copyOf(groups), restricted, Map.copyOf(own));
    }

    private static void add(List<Group> groups, int gpu, IndexSet near) {
        for (int i = 0; i < groups.size(); i++) {
            if (groups.get(i).units.equals(near)) {
                groups.set(i, new Group(groups.get(i).gpus.with(gpu), near));
                return;
            }
        }
        groups.add(new Group(IndexSet.of(gpu), near));
    }

    /** Returns the restricted units of these GPUs. */
    public IndexSet of(IndexSet gpus) {
        IndexSet out = IndexSet.empty();
        for (int g = gpus.first(); g >= 0; g = gpus.next(g + 1)) {
            out = out.union(own.getOrDefault(g, IndexSet.empty()));
        }
        return out;
    }
}
