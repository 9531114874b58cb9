package dev.muster.scheduler.claim;

import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Units of nodes that reservations have, and when: made when they change, or one of them begins or ends, and read by
 * all passes until then.
 */
public final class ReservedNodes {
    /** Seconds beyond a pass's horizon for which the times of repeating reservations are computed. */
    private static final long AHEAD_S = 3600;

    private static final List<Claim> NONE = List.of();
    /** Stands for the reservations of no state. */
    private static final Object NO_TABLE = new Object();

    public static final ReservedNodes NOTHING = new ReservedNodes();

    private final Object table;
    private final List<List<Claim>> byNode = new ArrayList<>();
    private final BitSet some = new BitSet();
    private final long madeS;
    private long untilS = Long.MAX_VALUE;
    private boolean moves;

    /** Units of a node in one of a reservation's times: seconds since 1970, or from now on where it floats. */
    record Claim(Reservation reservation, IndexSet units, long begin, long end, boolean floats) {
        long from(long now) {
            return floats ? now + begin : begin;
        }

        long to(long now) {
            return floats ? now + end : end;
        }
    }

    private ReservedNodes() {
        table = NO_TABLE;
        madeS = 0;
    }

    public ReservedNodes(ClusterIndex cluster, State state, long now) {
        table = state.reservations();
        madeS = now;
        boolean any = state.reservations().size() > 0;
        for (int i = any ? cluster.nodes().size() : 0; i > 0; i--) {
            byNode.add(NONE);
        }
        untilS = any ? now + AHEAD_S : Long.MAX_VALUE;
        for (Reservation r : state.reservations().values()) {
            boolean floats = r.has(ReservationFlag.TIME_FLOAT);
            moves |= floats && r.repeats();
            List<Reservation.Window> windows =
                    r.windows(now, now, r.repeats() ? now + TimeGrid.HORIZON_S + AHEAD_S : Long.MAX_VALUE);
            for (Reservation.Window w : floats ? List.<Reservation.Window>of() : windows) {
                changes(w.from());
                changes(w.to());
            }
            for (String name : r.nodes()) {
                NodeSlot slot = cluster.node(name);
                if (slot == null) {
                    continue;
                }
                for (Reservation.Window w : windows) {
                    if (byNode.get(slot.index) == NONE) {
                        byNode.set(slot.index, new ArrayList<>(1));
                        some.set(slot.index);
                    }
                    byNode.get(slot.index)
                            .add(new Claim(
                                    r,
                                    r.unitsOf(slot.spec),
                                    floats ? w.from() - now : w.from(),
                                    floats ? w.to() - now : w.to(),
                                    floats));
                }
            }
        }
    }

    private void changes(long changeS) {
        untilS = changeS > madeS ? Math.min(untilS, changeS) : untilS;
    }

    /** Tests whether the same would be made of the state now: nothing begins or ends meanwhile. */
    public boolean holds(State state, long now) {
        return table == state.reservations() && now >= madeS && now < untilS && !moves;
    }

    /** Tests whether some claims are on the node. */
    boolean areOn(int node) {
        return some.get(node);
    }

    /** Returns the claims on the node. */
    List<Claim> on(int node) {
        return node < byNode.size() ? byNode.get(node) : NONE;
    }
}
