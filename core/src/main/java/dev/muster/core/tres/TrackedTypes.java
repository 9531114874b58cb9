package dev.muster.core.tres;

import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.SaturatingMath;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Types of devices that AccountingStorageTRES names, as {@code gpu:a100} of {@code gres/gpu:a100}: limits, charges and
 * accounting know how many of them there are, beside all of their kind.
 */
public record TrackedTypes(Set<String> names) {
    private static final TrackedTypes NONE = new TrackedTypes(Set.of());

    public static TrackedTypes of(Settings settings) {
        Set<String> names = settings.options().accounting().gresTypes();
        return names.isEmpty() ? NONE : new TrackedTypes(names);
    }

    /** Adds a request for devices {@code times} times. */
    public void asked(Map<String, Integer> counts, Tres.Item item, int times) {
        int count = SaturatingMath.times(item.count(), times);
        counts.merge(item.name(), count, SaturatingMath::plus);
        typed(counts, item.name(), item.type(), count);
    }

    /** Adds, of the devices that are held of a node, those of each type alone. */
    public void held(Map<String, Integer> counts, State state, String node, Map<String, IndexSet> devices) {
        if (names.isEmpty() || devices.isEmpty()) {
            return;
        }
        for (Node.Gres g : state.nodes().find(node).map(n -> n.spec().gres()).orElse(List.of())) {
            IndexSet held = devices.getOrDefault(g.name(), IndexSet.empty());
            typed(
                    counts,
                    g.name(),
                    g.type(),
                    held.intersect(IndexSet.range(g.first(), g.first() + g.count() - 1, 1))
                            .count());
        }
    }

    /** Adds all that the node has. */
    public void all(Map<String, Integer> counts, Node node) {
        node.gresTotals().forEach((name, count) -> counts.merge(name, count, Integer::sum));
        for (Node.Gres g : names.isEmpty() ? List.<Node.Gres>of() : node.spec().gres()) {
            typed(counts, g.name(), g.type(), g.count());
        }
    }

    private void typed(Map<String, Integer> counts, String name, String type, int count) {
        String typed = name + ":" + type;
        if (count > 0 && !type.isEmpty() && names.contains(typed)) {
            counts.merge(typed, count, SaturatingMath::plus);
        }
    }
}
