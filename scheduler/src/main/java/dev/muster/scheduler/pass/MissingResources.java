package dev.muster.scheduler.pass;

import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.claim.ReservedPartitions;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.timeline.LicenseAllocator;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** Finds the resources that keep a need from fitting, where free CPUs alone are not the cause. One object per pass. */
final class MissingResources {
    private final ClusterIndex cluster;
    private final State state;
    private final PassReservations reserved;
    private final ReservedPartitions reservedPartitions;
    private final LicenseAllocator licenses;
    private final FreeNodeUnits room;
    private final Placement placement;
    /** Needs that find nodes enough, but not their layered resources on them. */
    private final Set<ResourceNeed> withoutLayers = Collections.newSetFromMap(new IdentityHashMap<>());

    MissingResources(
            ClusterIndex cluster,
            State state,
            PassReservations reserved,
            ReservedPartitions reservedPartitions,
            LicenseAllocator licenses,
            Placement placement) {
        this.cluster = cluster;
        this.state = state;
        this.reserved = reserved;
        this.reservedPartitions = reservedPartitions;
        this.licenses = licenses;
        this.room = placement.room();
        this.placement = placement;
    }

    /** Tests whether the need is known to lack its layered resources. */
    boolean isWithoutLayers(ResourceNeed need) {
        return withoutLayers.contains(need);
    }

    /** Tests whether the need names nodes that are not available to it. */
    boolean isUnavailable(ResourceNeed need) {
        for (String name : HostList.distinct(need.nodeList())) {
            NodeSlot node = cluster.node(name);
            if (node == null || !node.usable || room.isBarred(need, node)) {
                return true;
            }
        }
        return !reserved.isEmpty() && need.within().isNone() && reservedPartitions.isAll(need, need.limitMin());
    }

    /** Tests whether the need fits without the layered resources that it asks for. */
    boolean lacksLayers(ResourceNeed need) {
        if (!licenses.layers(need, 0).isEmpty() && placement.place(need).isPresent()) {
            withoutLayers.add(need);
        }
        return withoutLayers.contains(need);
    }

    /** Tests whether the need fits only on nodes that are not connected as its topology demands. */
    boolean lacksUnit(ResourceNeed need) {
        return need.network().in(state.settings()).isStrict()
                && placement.place(need, Topology.FLAT).isPresent();
    }
}
