package dev.muster.core.reservation;

import dev.muster.core.command.Planner;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.tres.GpuCores;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Tres;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Chooses the nodes and cores of a reservation: those it names, or the first that are free for all of its time. */
public final class ReservationNodes {
    /** Counted reservations avoid nodes of maintenance that begins within this time. */
    private static final long MAINTENANCE_WITHIN_S = 7L * 86400;

    private final State state;
    private final DecisionTime now;
    private final Planner planner;
    /** Whether each other reservation, by name, overlaps the one to be placed. */
    private final Map<String, Boolean> met = new HashMap<>();

    ReservationNodes(State state, DecisionTime now, Planner planner) {
        this.state = state;
        this.now = now;
        this.planner = planner;
    }

    sealed interface Chosen {}

    /**
     * @param units as in {@link Reservation}
     * @param gres as in {@link Reservation}
     */
    public record Found(List<String> nodes, Map<String, IndexSet> units, Map<String, Map<String, IndexSet>> gres)
            implements Chosen {}

    record Missing(SlurmErrno errno) implements Chosen {}

    /** Returns the choice with these nodes as well, whole. */
    Found with(Found f, List<String> more) {
        List<String> all = new ArrayList<>(f.nodes);
        all.addAll(more);
        all.sort(Comparator.comparingInt(
                n -> state.nodes().find(n).map(found -> found.spec().order()).orElse(Integer.MAX_VALUE)));
        return new Found(List.copyOf(all), f.units, f.gres);
    }

    /**
     * @param r with what it wants; its nodes are those to keep where they are still fit
     * @param keep nodes to keep if they suffice, those first that are to be kept first
     */
    Chosen choose(Reservation r, List<String> keep) {
        if (r.has(ReservationFlag.ANY_NODES)
                && r.want().nodes().isEmpty()
                && r.want().nodeCount() == 0) {
            return new Found(List.of(), Map.of(), Map.of());
        }
        met.clear();
        boolean named = !r.want().nodes().isEmpty();
        boolean all = r.want().nodes().equalsIgnoreCase("ALL");
        List<Node> candidates = new ArrayList<>();
        if (all && !r.has(ReservationFlag.PART_NODES)) {
            state.nodes().values().forEach(candidates::add);
        } else if (named && !all) {
            if (!(HostList.parse(r.want().nodes()) instanceof HostList.Parsed.Ok ok)) {
                return new Missing(SlurmErrno.INVALID_NODE_NAME);
            }
            for (String name : ok.list().names().stream().distinct().toList()) {
                Optional<Node> node = state.nodes().find(name);
                if (node.isEmpty()) {
                    return new Missing(SlurmErrno.INVALID_NODE_NAME);
                }
                candidates.add(node.get());
            }
        } else {
            Optional<Partition> partition = state.partitions().find(r.want().partition());
            if (partition.isEmpty()) {
                return new Missing(SlurmErrno.INVALID_PARTITION_NAME);
            }
            partition.get().nodes().forEach(n -> state.nodes().find(n).ifPresent(candidates::add));
            if (r.has(ReservationFlag.SPEC_NODES)) {
                // those that were named may be of any
                keep.stream()
                        .map(state.nodes()::find)
                        .flatMap(Optional::stream)
                        .filter(n -> !candidates.contains(n))
                        .forEach(candidates::add);
            }
        }
        candidates.removeIf(n -> n.has(Node.Flag.FUTURE));
        candidates.sort(
                Comparator.comparingLong((Node n) -> named ? 0 : n.spec().weightValue())
                        .thenComparingInt(n -> n.spec().order()));
        return named ? allOf(r, candidates) : someOf(r, candidates, keep);
    }

    private Chosen allOf(Reservation r, List<Node> nodes) {
        Map<String, IndexSet> units = new TreeMap<>();
        List<Integer> counts = r.want().coreCounts();
        List<IndexSet> free = nodes.stream().map(n -> free(r, n)).toList();
        Optional<int[]> coreShares = coreShares(counts, nodes.size());
        if (coreShares.isEmpty()) {
            return new Missing(SlurmErrno.RESERVATION_CORE_COUNT);
        }
        Map<String, Map<String, IndexSet>> gres = new TreeMap<>();
        List<List<Tres.Item>> items = shares(r, nodes);
        boolean wantsGres = r.want().wantsGres();
        boolean wantsPart = wantsGres || !counts.isEmpty();
        for (int i = 0; i < nodes.size(); i++) {
            Node n = nodes.get(i);
            Optional<Map<String, IndexSet>> devices = devices(r, n, items.get(i));
            int wanted = counts.isEmpty()
                    ? coresBeside(r, n, free.get(i))
                    : coreShares.get()[i];
            if (devices.isEmpty()
                    || wantsGres && count(devices) == 0
                    || free.get(i).count() < wanted
                    || wanted == 0 && wantsPart) {
                return new Missing(isReservedWhole(r, n) ? SlurmErrno.RESERVATION_OVERLAP : SlurmErrno.NODES_BUSY);
            }
            if (wantsPart) {
                units.put(n.name(), near(n, devices.get(), free.get(i), wanted));
            }
            if (wantsGres) {
                gres.put(n.name(), devices.get());
            }
        }
        return new Found(nodes.stream().map(Node::name).toList(), units, gres);
    }

    /** Deals a total out in equal shares, what is left over on the first. */
    private static int[] spread(int total, int nodes) {
        int[] out = new int[nodes];
        for (int i = 0; i < nodes; i++) {
            out[i] = total / nodes + (i < total % nodes ? 1 : 0);
        }
        return out;
    }

    private Chosen someOf(Reservation r, List<Node> candidates, List<String> keep) {
        Reservation.NodeRequest w = r.want();
        List<Alternative> groups = alternatives(w.features());
        if (!w.features().isEmpty()
                && candidates.stream()
                        .noneMatch(n -> groups.stream().anyMatch(a -> planner.matches(a.expression, n.features())))) {
            return new Missing(noSuchFeature(w));
        }
        rank(r, candidates, keep);
        if (!w.gres().isEmpty()) {
            return devicesAnywhere(r, candidates);
        }
        Selection chosen = new Selection(r);
        for (Alternative group : groups) {
            if (!chosen.add(group, nodesOf(group, groups.size(), chosen.cores, r, candidates), candidates)) {
                return new Missing(SlurmErrno.NODES_BUSY);
            }
        }
        if (chosen.coresLeft > 0) {
            return new Missing(SlurmErrno.NODES_BUSY);
        }
        chosen.nodes.sort(
                Comparator.comparingInt(n -> state.nodes().at(n).spec().order()));
        return new Found(List.copyOf(chosen.nodes), chosen.units, chosen.gres);
    }

    private static SlurmErrno noSuchFeature(Reservation.NodeRequest w) {
        if (!w.coreCounts().isEmpty()) {
            return SlurmErrno.NODES_BUSY;
        }
        return w.nodeCount() > 0 ? SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE : SlurmErrno.INVALID_FEATURE;
    }

    /** Returns how many nodes the reservation wants with the features of this group. */
    private int nodesOf(Alternative group, int groups, int cores, Reservation r, List<Node> candidates) {
        Reservation.NodeRequest w = r.want();
        if (cores > 0 && w.nodeCount() == 0) {
            return withCores(r, candidates, group, cores);
        }
        if (groups > 1 || group.count > 0) {
            return Math.max(1, group.count);
        }
        if (w.nodeCount() > 0 || w.features().isEmpty()) {
            return w.nodeCount();
        }
        return matching(candidates, group);
    }

    /** The nodes that are chosen so far, with the cores and devices reserved on each. */
    private final class Selection {
        private final Reservation r;
        private final List<Integer> counts;
        /** Cores in all; 0 if the reservation does not count cores. */
        private final int cores;

        private int coresLeft;
        private final List<String> nodes = new ArrayList<>();
        private final Map<String, IndexSet> units = new TreeMap<>();
        private final Map<String, Map<String, IndexSet>> gres = new TreeMap<>();

        Selection(Reservation r) {
            this.r = r;
            this.counts = r.want().coreCounts();
            this.cores = counts.stream().mapToInt(Integer::intValue).sum();
            this.coresLeft = cores;
        }

        /** Takes the group's first nodes that have room; false if they are fewer than wanted. */
        boolean add(Alternative group, int wanted, List<Node> candidates) {
            int left = wanted;
            for (Node n : wanted == 0 ? List.<Node>of() : candidates) {
                if (nodes.contains(n.name()) || !planner.matches(group.expression, n.features())) {
                    continue;
                }
                if (add(n, left) && --left == 0) {
                    break;
                }
            }
            return left <= 0;
        }

        private boolean add(Node n, int nodesLeft) {
            Reservation.NodeRequest w = r.want();
            IndexSet free = free(r, n);
            Optional<Map<String, IndexSet>> devices = devices(r, n, Tres.gres(w.gresPerNode()));
            int each = coresOn(n, free, nodesLeft);
            if (devices.isEmpty() || free.count() < each || each <= 0) {
                return false;
            }
            nodes.add(n.name());
            if (cores > 0 || w.wantsGres()) {
                units.put(n.name(), near(n, devices.get(), free, each));
            }
            if (cores > 0) {
                coresLeft -= each;
            }
            if (w.wantsGres()) {
                gres.put(n.name(), devices.get());
            }
            return true;
        }

        /** Leaves at least one core of a total for each remaining node. */
        private int coresOn(Node n, IndexSet free, int nodesLeft) {
            if (cores == 0) {
                return coresBeside(r, n, free);
            }
            if (counts.size() == 1) {
                return Math.min(free.count(), coresLeft - (nodesLeft - 1));
            }
            return nodes.size() < counts.size() ? counts.get(nodes.size()) : 0;
        }
    }

    /** Returns the cores of each node, one total spread evenly; empty if the counts do not match the nodes. */
    private static Optional<int[]> coreShares(List<Integer> counts, int nodes) {
        if (counts.size() == 1 && nodes > 1) {
            return counts.getFirst() < nodes ? Optional.empty() : Optional.of(spread(counts.getFirst(), nodes));
        }
        return counts.isEmpty() || counts.size() == nodes
                ? Optional.of(counts.stream().mapToInt(Integer::intValue).toArray())
                : Optional.empty();
    }

    /** Returns the number of nodes for a core count: one per core, at most the nodes with a free core. */
    private int withCores(Reservation r, List<Node> candidates, Alternative group, int cores) {
        return (int) candidates.stream()
                .filter(n -> planner.matches(group.expression, n.features())
                        && !free(r, n).isEmpty())
                .limit(cores)
                .count();
    }

    /**
     * Returns the cores of a node without a core count: all free cores beside total devices, one beside devices per
     * node, else the whole node.
     */
    private static int coresBeside(Reservation r, Node n, IndexSet free) {
        if (r.sharesCores()) {
            return free.count();
        }
        if (r.want().wantsGres()) {
            return 1;
        }
        return n.spec().units();
    }

    /**
     * Orders candidate nodes: current nodes first, nodes of other reservations last. Maintenance accepts DOWN nodes;
     * named nodes stay.
     */
    private void rank(Reservation r, List<Node> candidates, List<String> keep) {
        Map<String, Integer> ranks = new HashMap<>();
        keep.forEach(n -> ranks.putIfAbsent(n, ranks.size()));
        boolean named = r.has(ReservationFlag.SPEC_NODES);
        candidates.removeIf(n -> !isFit(n) && !r.has(ReservationFlag.MAINT) && !(named && ranks.containsKey(n.name())));
        Set<String> reserved = new HashSet<>();
        candidates.stream().filter(n -> isReserved(r, n)).forEach(n -> reserved.add(n.name()));
        candidates.sort(Comparator.comparingInt((Node n) -> ranks.getOrDefault(n.name(), Integer.MAX_VALUE))
                .thenComparing(n -> !isFit(n))
                .thenComparing(n -> reserved.contains(n.name())));
    }

    private static boolean isFit(Node n) {
        return n.isUsable()
                || (n.has(Node.Flag.UNKNOWN) || n.flags() == 0) && !n.has(Node.Flag.DOWN) && !n.has(Node.Flag.DRAIN);
    }

    // ---- devices

    /**
     * A total of devices: on the first node that has all of them, or on those that have the most, of each an equal
     * share as far as it goes. With a number of nodes each of them has at least one device.
     */
    private Chosen devicesAnywhere(Reservation r, List<Node> candidates) {
        int wanted = r.want().nodeCount();
        List<Node> fit = candidates.stream()
                .filter(n -> planner.matches(r.want().features(), n.features())
                        && !free(r, n).isEmpty()
                        && roomFor(r, n) > 0)
                .toList();
        for (Node n : wanted > 1 ? List.<Node>of() : fit) {
            if (placed(r, List.of(n)) instanceof Found f) {
                return f;
            }
        }
        List<Node> byRoom = new ArrayList<>(fit);
        byRoom.sort(Comparator.comparingInt(n -> -roomFor(r, n)));
        for (int count = wanted > 0 ? wanted : 2;
                count <= (wanted > 0 ? Math.min(wanted, byRoom.size()) : byRoom.size());
                count++) {
            if (placed(r, byRoom.subList(0, count)) instanceof Found f) {
                return f;
            }
        }
        return new Missing(SlurmErrno.NODES_BUSY);
    }

    /** Returns the node's free devices of the kinds that the reservation requests in total. */
    private int roomFor(Reservation r, Node n) {
        return Tres.gres(r.want().gres()).stream()
                .mapToInt(item -> Math.min(item.count(), freeDevices(r, n, item).count()))
                .sum();
    }

    /** Allocates the whole request on exactly these nodes. */
    private Chosen placed(Reservation r, List<Node> nodes) {
        int cores = r.want().coreCounts().stream().mapToInt(Integer::intValue).sum();
        Map<String, IndexSet> units = new TreeMap<>();
        Map<String, Map<String, IndexSet>> gres = new TreeMap<>();
        List<List<Tres.Item>> shares = shares(r, nodes);
        for (int i = 0; i < nodes.size(); i++) {
            Node n = nodes.get(i);
            IndexSet free = free(r, n);
            Optional<Map<String, IndexSet>> devices = devices(r, n, shares.get(i));
            int each = cores > 0 ? (cores + nodes.size() - 1) / nodes.size() : coresBeside(r, n, free);
            if (devices.isEmpty() || count(devices) == 0 || free.count() < each || each == 0) {
                return new Missing(SlurmErrno.NODES_BUSY);
            }
            units.put(n.name(), near(n, devices.get(), free, each));
            gres.put(n.name(), devices.get());
        }
        List<String> names = nodes.stream()
                .sorted(Comparator.comparingInt(n -> n.spec().order()))
                .map(Node::name)
                .toList();
        return new Found(names, units, gres);
    }

    /** Deals the total devices round-robin over the nodes, one per round, and adds the devices per node. */
    private List<List<Tres.Item>> shares(Reservation r, List<Node> nodes) {
        List<List<Tres.Item>> out = new ArrayList<>();
        nodes.forEach(n -> out.add(new ArrayList<>(Tres.gres(r.want().gresPerNode()))));
        for (Tres.Item item : Tres.gres(r.want().gres())) {
            int[] free = nodes.stream()
                    .mapToInt(n -> freeDevices(r, n, item).count())
                    .toArray();
            int[] share = new int[nodes.size()];
            int left = item.count();
            for (boolean more = true; left > 0 && more; ) {
                more = false;
                for (int i = 0; i < share.length && left > 0; i++) {
                    if (share[i] < free[i]) {
                        share[i]++;
                        left--;
                        more = true;
                    }
                }
            }
            for (int i = 0; i < share.length; i++) {
                // the last node reports the shortage
                out.get(i).add(new Tres.Item(item.name(), item.type(), share[i] + (i == share.length - 1 ? left : 0)));
            }
        }
        return out;
    }

    private static int count(Optional<Map<String, IndexSet>> devices) {
        return devices.stream()
                .flatMap(d -> d.values().stream())
                .mapToInt(IndexSet::count)
                .sum();
    }

    /** Returns the devices of the node by name, as they are asked for; empty where it has too few. */
    private Optional<Map<String, IndexSet>> devices(Reservation r, Node n, List<Tres.Item> items) {
        Map<String, IndexSet> out = new TreeMap<>();
        for (Tres.Item item : items) {
            IndexSet had = out.getOrDefault(item.name(), IndexSet.empty());
            IndexSet more = freeDevices(r, n, item).minus(had);
            if (more.count() < item.count()) {
                return Optional.empty();
            }
            if (item.count() > 0) {
                out.put(item.name(), had.union(first(more, item.count())));
            }
        }
        return Optional.of(out);
    }

    /** Returns the devices that neither jobs nor other reservations have in any of the reservation's times. */
    private IndexSet freeDevices(Reservation r, Node n, Tres.Item item) {
        IndexSet free = GresRequest.devices(n.spec(), item.name(), item.type());
        for (Reservation other : state.reservations().values()) {
            free = excludes(r, other) ? free.minus(ReservedDevices.on(other, n.spec(), item.name())) : free;
        }
        for (int id : n.jobs()) {
            Job job = state.jobs().at(id);
            free = inTheWay(r, job)
                    ? free.minus(job.run()
                            .allocation()
                            .on(n.name())
                            .map(s -> s.gres().getOrDefault(item.name(), IndexSet.empty()))
                            .orElse(IndexSet.empty()))
                    : free;
        }
        return free;
    }

    /** Returns free units, those near the GPUs first. */
    private static IndexSet near(Node n, Map<String, IndexSet> devices, IndexSet free, int count) {
        IndexSet close = IndexSet.empty();
        for (GpuCores.Group g : GpuCores.of(n.spec()).groups()) {
            close = g.gpus()
                            .intersect(devices.getOrDefault("gpu", IndexSet.empty()))
                            .isEmpty()
                    ? close
                    : close.union(g.units());
        }
        IndexSet best = first(free.intersect(close), count);
        return best.union(first(free.minus(best), count - best.count()));
    }

    private boolean inTheWay(Reservation r, Job job) {
        boolean own =
                !r.has(ReservationFlag.REPLACE) && Reservation.named(job.desc()).contains(r.name());
        return !r.has(ReservationFlag.IGNORE_JOBS) && !own && lastsUntil(job) > r.startAt(now.seconds());
    }

    private record Alternative(String expression, int count) {}

    /** A partition and a feature, and no count: all that have it. */
    private int matching(List<Node> candidates, Alternative group) {
        return (int) candidates.stream()
                .filter(n -> planner.matches(group.expression, n.features()))
                .count();
    }

    /** Reads {@code [a*2&b*1]} as two nodes with a and one with b; any other text is one expression for all nodes. */
    private static List<Alternative> alternatives(String features) {
        if (!features.startsWith("[") || !features.endsWith("]") || !features.contains("*")) {
            return List.of(new Alternative(features, 0));
        }
        List<Alternative> out = new ArrayList<>();
        for (String part : features.substring(1, features.length() - 1).split("&")) {
            int star = part.indexOf('*');
            String digits = star < 0 ? "1" : part.substring(star + 1);
            out.add(new Alternative(
                    star < 0 ? part : part.substring(0, star),
                    digits.matches("[0-9]{1,6}") ? Integer.parseInt(digits) : 1));
        }
        return out;
    }

    /** Returns the units of a node that neither jobs nor other reservations have in any of the reservation's times. */
    private IndexSet free(Reservation r, Node n) {
        IndexSet free = n.spec().units() == 0
                ? IndexSet.empty()
                : IndexSet.range(0, n.spec().units() - 1, 1);
        for (Reservation other : state.reservations().values()) {
            // a device reservation shares cores with reservations that count cores
            boolean shares = r.sharesCores() && !other.units().isEmpty();
            free = !shares && excludes(r, other) ? free.minus(other.unitsOn(n.spec())) : free;
        }
        for (int id : n.jobs()) {
            Job job = state.jobs().at(id);
            if (r.sharesCores() && inTheWay(r, job)) {
                // without a core count the node must be idle
                return IndexSet.empty();
            }
            if (inTheWay(r, job)) {
                free = free.minus(job.run()
                        .allocation()
                        .on(n.name())
                        .map(Allocation.Share::cores)
                        .orElse(IndexSet.empty()));
            }
        }
        return free;
    }

    /** Returns whether another reservation holds part of the node and one of the two needs whole nodes. */
    private boolean isReservedWhole(Reservation r, Node n) {
        boolean whole = r.want().coreCounts().isEmpty() && !r.want().wantsGres();
        return state.reservations().values().stream()
                .anyMatch(o -> excludes(r, o)
                        && (whole || o.units().isEmpty())
                        && !o.unitsOn(n.spec()).isEmpty());
    }

    /**
     * Returns whether the reservations exclude each other: they overlap in time and neither may share. Nodes of OVERLAP
     * are shared; those of MAINT only where they are named, or where the maintenance is further ahead than
     * {@link #MAINTENANCE_WITHIN_S}.
     */
    private boolean excludes(Reservation r, Reservation other) {
        boolean open = other.has(ReservationFlag.OVERLAP)
                || other.has(ReservationFlag.MAINT)
                        && (!r.want().nodes().isEmpty()
                                || other.startAt(now.seconds()) > now.seconds() + MAINTENANCE_WITHIN_S);
        return !other.name().equals(r.name()) && !r.mayOverlap() && !open && meet(r, other);
    }

    /** Returns whether a sharable reservation holds the node; such nodes are chosen last. */
    private boolean isReserved(Reservation r, Node n) {
        return state.reservations().values().stream()
                .anyMatch(o -> !o.name().equals(r.name())
                        && (r.mayOverlap() || o.mayOverlap())
                        && o.nodes().contains(n.name())
                        && meet(r, o));
    }

    private long lastsUntil(Job job) {
        if (!job.state().isActive()) {
            return 0;
        }
        return job.run().limitTickMs() < 0
                ? Long.MAX_VALUE
                : now.seconds() + Math.max(0, job.run().limitTickMs() - now.tickMs()) / 1000;
    }

    private boolean meet(Reservation a, Reservation b) {
        return met.computeIfAbsent(b.name(), name -> a.meets(b, now.seconds()));
    }

    private static IndexSet first(IndexSet set, int count) {
        IndexSet out = IndexSet.empty();
        for (int id = set.first(), k = 0; id >= 0 && k < count; id = set.next(id + 1), k++) {
            out = out.with(id);
        }
        return out;
    }
}
