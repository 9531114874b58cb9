package dev.muster.scheduler.timeline;

import dev.muster.core.state.Node;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.node.FreeTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The nodes on which a plan puts jobs: the nodes by their numbers, and behind them, as if they were nodes of their own,
 * what each reservation has of its nodes. Jobs of the reservation are planned on its parts, all others on the rest. A
 * value.
 */
public final class PlanningNodes {
    private static final List<Part> NONE = List.of();
    private final List<String> names;
    private final int real;
    private final TimeGrid times;
    private final long nowS;
    private final long overRunS;
    private final List<Part> parts = new ArrayList<>();
    private final Map<Integer, List<Part>> onNode = new HashMap<>();
    /** Parts of reservations by number of the node; empty if there are none. */
    private List<Part>[] byNumber = array(0);

    private final Map<String, Area> areas = new HashMap<>();

    /**
     * The part of a node that a reservation has.
     *
     * @param units of the node's
     * @param cpus of these that jobs may have
     */
    public record Part(int number, int node, Area area, IndexSet units, int cpus) {
        /** Tests whether the units are the reservation's in that slot. */
        public boolean isKept(int slot) {
            return area.reservedSlots[slot];
        }
    }

    /** A reservation with its times. */
    public static final class Area {
        private final Reservation reservation;
        private final List<Reservation.Window> windows;
        private final boolean[] reservedSlots;
        /** Longest time between two times of a reservation that repeats, in seconds; of others no bound. */
        private final long gapS;

        private final Map<Integer, Part> byNode = new HashMap<>();
        private int last;

        private Area(Reservation r, long nowS, TimeGrid times) {
            reservation = r;
            windows = r.windows(nowS, nowS, nowS + times.reachS());
            reservedSlots = new boolean[times.count()];
            for (Reservation.Window w : windows) {
                long in = Math.max(0, w.from() - nowS);
                int slot = times.slotAt(in);
                // one that begins within a slot has all of it
                int first = slot < reservedSlots.length && times.starts()[slot] == in ? slot : slot - 1;
                int end = Math.min(reservedSlots.length, Math.max(first + 1, times.slotAt(w.to() - nowS)));
                java.util.Arrays.fill(reservedSlots, first, Math.max(first, end), true);
                last = Math.max(last, end);
            }
            gapS = gapS();
        }

        Reservation reservation() {
            return reservation;
        }

        private long gapS() {
            long longest = 0;
            for (int i = 1; i < windows.size(); i++) {
                longest = Math.max(
                        longest, windows.get(i).from() - windows.get(i - 1).to());
            }
            return reservation.repeats() ? longest : Long.MAX_VALUE;
        }

        /** Returns the slot after the last in which something is kept. */
        public int last() {
            return last;
        }
    }

    /** @param nodes names by number */
    public PlanningNodes(State state, List<String> nodes, TimeGrid times, long nowS) {
        this.names = new ArrayList<>(nodes);
        this.real = nodes.size();
        this.times = times;
        this.nowS = nowS;
        this.overRunS = state.settings().options().scheduling().reservationOverRunS();
        if (state.reservations().size() == 0) {
            return;
        }
        Map<String, Integer> numbers = new HashMap<>();
        for (int n = 0; n < real; n++) {
            numbers.put(nodes.get(n), n);
        }
        for (Reservation r : state.reservations().values()) {
            Area area = new Area(r, nowS, times);
            areas.put(r.name(), area);
            for (String name : area.windows.isEmpty() ? List.<String>of() : r.nodes()) {
                Integer n = numbers.get(name);
                if (n != null) {
                    add(area, n, state.nodes().at(name).spec());
                }
            }
        }
        byNumber = array(onNode.isEmpty() ? 0 : real);
        onNode.forEach((n, parts) -> byNumber[n] = parts);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static List<Part>[] array(int size) {
        List<Part>[] out = new List[size];
        java.util.Arrays.fill(out, NONE);
        return out;
    }

    private void add(Area area, int node, Node.Spec spec) {
        IndexSet units = spec.units() == 0 ? IndexSet.empty() : area.reservation.unitsOf(spec);
        Part part = new Part(
                names.size(),
                node,
                area,
                units,
                units.minus(spec.reservedUnits()).count() * spec.cpusPerUnit());
        names.add(spec.name());
        parts.add(part);
        area.byNode.put(node, part);
        onNode.computeIfAbsent(node, n -> new ArrayList<>(1)).add(part);
    }

    /**
     * Returns the longest time in seconds for which a job can have the whole node between the times of a repeating
     * reservation. Only its next times are in {@link Part#isKept}.
     */
    public long gapS(int node) {
        long least = Long.MAX_VALUE;
        for (Part p : node < real ? on(node) : NONE) {
            least = Math.min(least, p.area.gapS);
        }
        return least;
    }

    /** Returns how many nodes and parts there are. Their numbers are less. */
    public int size() {
        return names.size();
    }

    public int nodes() {
        return real;
    }

    /** Returns the names of nodes, of parts those of their nodes. */
    public List<String> names() {
        return names;
    }

    public List<Part> parts() {
        return parts;
    }

    /** Returns the parts of nodes of which reservations have something, by node. */
    public Map<Integer, List<Part>> byNode() {
        return onNode;
    }

    public List<Part> on(int node) {
        return byNumber.length == 0 ? NONE : byNumber[node];
    }

    /** Returns the part with a number that is no node's. */
    public Part part(int number) {
        return parts.get(number - real);
    }

    public boolean isPart(int number) {
        return number >= real;
    }

    /** Returns the number of the node itself. */
    public int node(int number) {
        return number < real ? number : part(number).node;
    }

    /**
     * Returns the number under which a job of that reservation ("" for none) has a node: the node's own, or that of the
     * reservation's part of it; -1 if it has none.
     */
    public int number(int node, String reservation) {
        if (node < 0 || reservation.isEmpty()) {
            return node;
        }
        Area area = areas.get(reservation);
        Part part = area == null ? null : area.byNode.get(node);
        return part == null ? -1 : part.number;
    }

    /**
     * Returns the mask of what the reservation has of these nodes; where its jobs may run beside it, of the others as
     * well.
     */
    public long[] mask(String reservation, long[] nodes) {
        long[] out = new long[FreeTable.words(size())];
        Area area = areas.get(reservation);
        if (area != null && area.reservation.has(ReservationFlag.FLEX)) {
            System.arraycopy(nodes, 0, out, 0, nodes.length);
        }
        for (Part p : area == null ? List.<Part>of() : area.byNode.values()) {
            if (p.node >>> 6 < nodes.length && FreeTable.is(nodes, p.node)) {
                out[p.number >>> 6] |= 1L << p.number;
            }
        }
        return out;
    }

    /**
     * Returns when a job of the reservation may begin in that slot, seconds since 1970, and how long the time lasts in
     * which it begins; empty if never.
     */
    public Optional<Reservation.Window> opens(String reservation, int slot) {
        long from = nowS + times.starts()[slot];
        long to = slot + 1 < times.count() ? nowS + times.starts()[slot + 1] : from + 1;
        Area area = areas.get(reservation);
        if (area == null) {
            return Optional.empty();
        }
        for (Reservation.Window w : area.windows) {
            if (w.from() < to && w.to() > from) {
                boolean ends = overRunS >= 0 && !area.reservation.has(ReservationFlag.FLEX);
                return Optional.of(
                        new Reservation.Window(Math.max(from, w.from()), ends ? w.to() + overRunS : Long.MAX_VALUE));
            }
        }
        return Optional.empty();
    }
}
