package dev.muster.core.reservation;

import dev.muster.core.state.Node;
import dev.muster.core.state.Reservation;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Tres;
import dev.muster.model.format.IndexSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Devices of reservations: those that are reserved on a node, and those that were requested. */
public final class ReservedDevices {
    private ReservedDevices() {}

    /**
     * Returns the devices of a node that are reserved by name: those that were asked for, all of a node that is
     * reserved whole.
     */
    public static IndexSet on(Reservation reservation, Node.Spec node, String device) {
        if (!reservation.nodes().contains(node.name())) {
            return IndexSet.empty();
        }
        if (!reservation.gres().isEmpty()) {
            return reservation.gres().getOrDefault(node.name(), Map.of()).getOrDefault(device, IndexSet.empty());
        }
        if (reservation.units().isEmpty()) {
            return GresRequest.devices(node, device, "");
        }
        return IndexSet.empty();
    }

    /**
     * Returns the requested devices; a typed device also counts under its plain name,
     * {@code gres/gpu:a100=2,gres/gpu=2}. "" without devices.
     */
    public static String requested(Reservation reservation) {
        Map<String, Integer> typed = new TreeMap<>();
        Map<String, Integer> named = new TreeMap<>();
        for (boolean perNode : new boolean[] {false, true}) {
            for (Tres.Item item : Tres.gres(
                    perNode
                            ? reservation.want().gresPerNode()
                            : reservation.want().gres())) {
                int count = item.count() * (perNode ? reservation.nodes().size() : 1);
                named.merge("gres/" + item.name(), count, Integer::sum);
                if (!item.type().isEmpty()) {
                    typed.merge("gres/" + item.name() + ":" + item.type(), count, Integer::sum);
                }
            }
        }
        return Stream.of(typed, named)
                .flatMap(m -> m.entrySet().stream())
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(","));
    }
}
