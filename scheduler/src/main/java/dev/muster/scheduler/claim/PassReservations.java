package dev.muster.scheduler.claim;

import dev.muster.core.command.Access;
import dev.muster.core.reservation.ReservedDevices;
import dev.muster.core.state.Preemption;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.state.Table;
import dev.muster.core.tres.GresRequest;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.request.ReservationScope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The part of the nodes that reservations leave, for one pass. A cluster without any costs nothing here. */
public final class PassReservations {
    private final Table<String, Reservation> reservations;
    private final List<Reservation> magnetic = new ArrayList<>();
    private final ReservedNodes nodes;
    private final State state;
    private final long now;
    private final Collection<NodeSlot> marked;

    /**
     * @param nodes as of now
     * @param marked nodes of which devices are withheld since an earlier pass, and from now on those of this
     */
    public PassReservations(State state, ReservedNodes nodes, Collection<NodeSlot> marked, long now) {
        this.state = state;
        this.now = now;
        this.nodes = nodes;
        this.marked = marked;
        marked.forEach(n -> n.withheld = Map.of());
        marked.clear();
        this.reservations = state.reservations();
        for (Reservation r : reservations.values()) {
            if (r.has(ReservationFlag.MAGNETIC)) {
                magnetic.add(r);
            }
        }
    }

    public boolean isEmpty() {
        return reservations.size() == 0;
    }

    private @Nullable Reservation reservation(String name) {
        return reservations.find(name).orElse(null);
    }

    /** Tests whether some reservations draw jobs that do not name them. */
    public boolean areMagnetic() {
        return !magnetic.isEmpty();
    }

    /** Returns the reservations a job may start in, in the order to try them; "" stands for none. */
    public List<String> of(JobDesc desc) {
        if (isEmpty() && desc.charge().reservation().isEmpty()) {
            return List.of("");
        }
        List<String> out = new ArrayList<>();
        if (!desc.charge().reservation().isEmpty()) {
            for (String name : desc.charge().reservation().split(",")) {
                Reservation r = reservation(name);
                if (r != null && isUsable(r) && Access.admits(state, r, desc)) {
                    out.add(name);
                }
            }
            return out;
        }
        for (Reservation r : magnetic) {
            if (isUsable(r) && Access.admits(state, r, desc) && mayFit(desc, r)) {
                out.add(r.name());
            }
        }
        out.add("");
        return out;
    }

    /**
     * Returns the scopes as {@link #of}, after what a job with {@code --signal=R:} tries first: nodes of reservations
     * that are not to be kept waiting any longer.
     */
    public List<ReservationScope> toTry(JobDesc desc) {
        List<ReservationScope> out =
                new ArrayList<>(of(desc).stream().map(ReservationScope::of).toList());
        if (!isEmpty() && Preemption.isGuest(desc)) {
            out.add(out.size() - 1, ReservationScope.leaving(desc.extras().warnSeconds()));
        }
        return out;
    }

    /**
     * Tests whether the job may run where the other reservation will begin: it can be ended within that reservation's
     * MaxStartDelay. Without MaxStartDelay the reservation is not delayed.
     */
    private static boolean mayDelay(ReservationScope job, Reservation other) {
        return job.leavingS() >= 0 && other.maxStartDelayS() > 0 && job.leavingS() <= other.maxStartDelayS();
    }

    /**
     * Tests whether the job may be placed in the reservation automatically: one that is longer is not, unless jobs may
     * run on after its end.
     */
    private boolean mayFit(JobDesc desc, Reservation r) {
        return r.has(ReservationFlag.FLEX) || desc.timing().timeLimitMin() * 60L <= r.endAt(now) - r.startAt(now);
    }

    private boolean isUsable(Reservation r) {
        return r.endAt(now) > now;
    }

    /** Tests whether the reservation has licenses or burst buffers alone: its jobs run on any nodes. */
    public boolean hasAnyNodes(String name) {
        return reservations.at(name).has(ReservationFlag.ANY_NODES);
    }

    /** Tests whether the reservation's jobs may run beside it, before it and after it. */
    public boolean isFlexible(String name) {
        return reservations.at(name).has(ReservationFlag.FLEX);
    }

    /** Returns the seconds since 1970 before which nothing starts in the reservation. */
    public long opens(ReservationScope where) {
        return where.reservation().isEmpty() || isFlexible(where.reservation())
                ? now
                : reservations.at(where.reservation()).startAt(now);
    }

    /**
     * Tests whether the other reservation keeps nothing from the job: the job's own ignores it, or the job may delay
     * it.
     */
    private boolean yields(Reservation other, @Nullable Reservation own, ReservationScope where) {
        return own != null && own.ignores(other) || mayDelay(where, other);
    }

    /**
     * Returns the node's units, free or not, that the job may have between the two times, in seconds since 1970. From
     * then on the node counts only devices that no reservation withholds from such a job ({@link NodeSlot#withheld}).
     */
    public IndexSet allowed(ReservationScope where, NodeSlot node, long from, long to) {
        String name = where.reservation();
        Reservation in = name.isEmpty() ? null : reservation(name);
        IndexSet own = IndexSet.empty();
        IndexSet barred = IndexSet.empty();
        List<Reservation> withholding = new ArrayList<>();
        for (ReservedNodes.Claim c : nodes.on(node.index)) {
            if (c.reservation().name().equals(name)) {
                own = own.union(c.units());
            } else if (keeps(c, from, to) && !yields(c.reservation(), in, where)) {
                boolean shared = in != null
                        && c.reservation().sharesCores()
                        && in.nodes().contains(node.spec.name());
                barred = shared ? barred : barred.union(c.units());
                withholding.add(c.reservation());
            }
        }
        withhold(name, node, withholding);
        IndexSet all = node.spec.units() == 0 ? IndexSet.empty() : IndexSet.range(0, node.spec.units() - 1, 1);
        if (in == null || isFlexible(name) || hasAnyNodes(name)) {
            return all.minus(barred);
        }
        boolean within = in.windows(now, from, from + 1).stream().anyMatch(w -> w.from() <= from);
        return within ? own.minus(barred) : IndexSet.empty();
    }

    /** Tests that a job without a reservation may have nothing of any of these nodes in that time. */
    boolean leavesNothing(List<NodeSlot> some, long from, long to) {
        return some.stream()
                .noneMatch(node -> node.usable
                        && !allowed(ReservationScope.NONE, node, from, to).isEmpty());
    }

    /** Tests whether others must be off the claim in that time. */
    private boolean keeps(ReservedNodes.Claim c, long from, long to) {
        return c.from(now) < to && c.to(now) > from;
    }

    /** Tests whether something of the node with that number is some reservation's. */
    boolean has(int node) {
        return nodes.areOn(node);
    }

    /** Returns the units that a job without a reservation may have until then, seconds since 1970, free or not. */
    int unitsUntil(NodeSlot node, long to) {
        return node.spec.units() - barredUntil(node, to).count();
    }

    /** Returns how many of the node's free units a job without a reservation may have until then. */
    int freeUntil(NodeSlot node, long to) {
        return node.freeUnits.minus(barredUntil(node, to)).count();
    }

    private IndexSet barredUntil(NodeSlot node, long to) {
        IndexSet barred = IndexSet.empty();
        for (ReservedNodes.Claim c : nodes.on(node.index)) {
            barred = keeps(c, now, to) ? barred.union(c.units()) : barred;
        }
        return barred;
    }

    private void withhold(String name, NodeSlot node, List<Reservation> withholding) {
        if (node.freeGres.isEmpty() || !has(node.index)) {
            return;
        }
        Reservation own = name.isEmpty() || isFlexible(name) ? null : reservation(name);
        Map<String, IndexSet> out = new HashMap<>();
        for (String device : node.freeGres.keySet()) {
            IndexSet kept = IndexSet.empty();
            for (Reservation r : withholding) {
                kept = kept.union(ReservedDevices.on(r, node.spec, device));
            }
            // a reservation with devices of a kind has exactly these
            kept = own != null && own.gres().values().stream().anyMatch(g -> g.containsKey(device))
                    ? kept.union(GresRequest.devices(node.spec, device, "")
                            .minus(ReservedDevices.on(own, node.spec, device)))
                    : kept;
            if (!kept.isEmpty()) {
                out.put(device, kept);
            }
        }
        if (!out.isEmpty() && node.withheld.isEmpty()) {
            marked.add(node);
        }
        node.withheld = out;
    }

    /** Returns the units that a job cannot have on the node in that time although it could without reservations. */
    public int barred(ReservationScope where, NodeSlot node, long from, long to) {
        if (!has(node.index) && where.reservation().isEmpty()) {
            return 0;
        }
        return node.spec.units() - allowed(where, node, from, to).count();
    }

    /** Returns whether a whole-node reservation of others covers that time. */
    public boolean isWholeFor(ReservationScope where, NodeSlot node, long from, long to) {
        Reservation in = where.reservation().isEmpty() ? null : reservation(where.reservation());
        return nodes.on(node.index).stream()
                .anyMatch(c -> c.reservation() != in
                        && c.reservation().units().isEmpty()
                        && keeps(c, from, to)
                        && (in == null || !in.ignores(c.reservation()))
                        && !mayDelay(where, c.reservation()));
    }

    /** Tests whether something of the node is kept for others in that time. */
    public boolean touches(ReservationScope where, NodeSlot node, long from, long to) {
        return !isEmpty() && barred(where, node, from, to) > 0;
    }

    /** Returns when the job must be over by the end of the reservation it runs in; empty if none ends it. */
    Optional<Long> ends(String name, long overRunS) {
        Reservation r = name.isEmpty() ? null : reservation(name);
        return r == null || overRunS < 0 || r.has(ReservationFlag.FLEX)
                ? Optional.empty()
                : Optional.of(r.endAt(now) + overRunS);
    }
}
