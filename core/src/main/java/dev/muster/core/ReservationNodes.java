package dev.muster.core;

import dev.muster.model.HostList;
import dev.muster.model.IndexSet;
import dev.muster.model.ReservationFlag;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Which nodes and cores a reservation gets: those it names, or the first that are free for all of its time. */
final class ReservationNodes {
    private final State state;
    private final Now now;
    private final Planner planner;

    ReservationNodes(State state, Now now, Planner planner) {
        this.state = state;
        this.now = now;
        this.planner = planner;
    }

    sealed interface Chosen {}

    /** @param units as in {@link Reservation}, likewise gres */
    record Found(List<String> nodes, Map<String, IndexSet> units, Map<String, Map<String, IndexSet>> gres) implements Chosen {}

    record Missing(SlurmErrno errno) implements Chosen {}

    /** These as well, whole. */
    Found with(Found f, List<String> more) {
        List<String> all = new ArrayList<>(f.nodes);
        all.addAll(more);
        all.sort(Comparator.comparingInt(n -> state.nodes().find(n).map(found -> found.spec().order()).orElse(Integer.MAX_VALUE)));
        return new Found(List.copyOf(all), f.units, f.gres);
    }

    /**
     * @param r    with what it wants; its nodes are those to keep where they are still fit
     * @param keep nodes to keep if they suffice, those first that are to be kept first
     */
    Chosen choose(Reservation r, List<String> keep) {
        if (r.has(ReservationFlag.ANY_NODES) && r.want().nodes().isEmpty() && r.want().nodeCount() == 0) {
            return new Found(List.of(), Map.of(), Map.of());
        }
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
                keep.stream().map(state.nodes()::find).flatMap(Optional::stream).filter(n -> !candidates.contains(n)).forEach(candidates::add);
            }
        }
        candidates.removeIf(n -> n.has(Node.Flag.FUTURE));
        candidates.sort(Comparator.comparingInt((Node n) -> named ? 0 : n.spec().weight()).thenComparingInt(n -> n.spec().order()));
        return named ? allOf(r, candidates) : someOf(r, candidates, keep);
    }

    private Chosen allOf(Reservation r, List<Node> nodes) {
        Map<String, IndexSet> units = new TreeMap<>();
        List<Integer> counts = r.want().coreCounts();
        List<IndexSet> free = nodes.stream().map(n -> free(r, n)).toList();
        boolean total = counts.size() == 1 && nodes.size() > 1;
        if (!counts.isEmpty() && counts.size() != nodes.size() && !total || total && counts.getFirst() < nodes.size()) {
            return new Missing(SlurmErrno.INVALID_CPU_COUNT);
        }
        int[] shares = total ? spread(counts.getFirst(), nodes.size()) : counts.stream().mapToInt(Integer::intValue).toArray();
        Map<String, Map<String, IndexSet>> gres = new TreeMap<>();
        for (int i = 0; i < nodes.size(); i++) {
            Node n = nodes.get(i);
            Optional<Map<String, IndexSet>> devices = devices(r, n, ofNode(r, i, nodes.size()));
            int wanted = !counts.isEmpty() ? shares[i] : r.want().wantsGres() ? count(devices) : n.spec().units();
            if (devices.isEmpty() || free.get(i).count() < wanted || wanted == 0 && !counts.isEmpty()) {
                return new Missing(reservedBySomebody(r, n) ? SlurmErrno.RESERVATION_OVERLAP : SlurmErrno.NODES_BUSY);
            }
            if (!counts.isEmpty() || r.want().wantsGres()) {
                units.put(n.name(), near(n, devices.get(), free.get(i), wanted));
            }
            if (r.want().wantsGres()) {
                gres.put(n.name(), devices.get());
            }
        }
        return new Found(nodes.stream().map(Node::name).toList(), units, gres);
    }

    /** A total in equal shares, what is left over on the first. */
    private static int[] spread(int total, int nodes) {
        int[] out = new int[nodes];
        for (int i = 0; i < nodes; i++) {
            out[i] = total / nodes + (i < total % nodes ? 1 : 0);
        }
        return out;
    }

    private Chosen someOf(Reservation r, List<Node> candidates, List<String> keep) {
        Reservation.Want w = r.want();
        if (!w.features().isEmpty() && candidates.stream().noneMatch(n -> alternatives(w.features()).stream()
                .anyMatch(a -> planner.matches(a.expression, n.features())))) {
            return new Missing(SlurmErrno.INVALID_FEATURE);
        }
        candidates.removeIf(n -> !n.isUsable() && !((n.has(Node.Flag.UNKNOWN) || n.flags() == 0)
                && !n.has(Node.Flag.DOWN) && !n.has(Node.Flag.DRAIN)));
        Map<String, Integer> ranks = new HashMap<>();
        keep.forEach(n -> ranks.putIfAbsent(n, ranks.size()));
        Set<String> reserved = new HashSet<>();
        candidates.stream().filter(n -> r.mayOverlap() && isReserved(r, n)).forEach(n -> reserved.add(n.name()));
        candidates.sort(Comparator.comparingInt((Node n) -> ranks.getOrDefault(n.name(), Integer.MAX_VALUE))
                .thenComparing(n -> reserved.contains(n.name())));
        List<String> nodes = new ArrayList<>();
        Map<String, IndexSet> units = new TreeMap<>();
        if (w.wantsGres() && w.nodeCount() == 0) {
            return devicesAnywhere(r, candidates);
        }
        Map<String, Map<String, IndexSet>> gres = new TreeMap<>();
        int cores = w.coreCounts().isEmpty() ? 0 : w.coreCounts().getFirst();
        boolean spread = w.nodeCount() == 0 && cores > 0;
        int left = spread ? cores : 0;
        List<Alternative> groups = alternatives(w.features());
        for (Alternative group : groups) {
            int wanted = spread ? Integer.MAX_VALUE : groups.size() > 1 || group.count > 0 ? Math.max(1, group.count)
                    : w.nodeCount() > 0 || w.features().isEmpty() ? w.nodeCount() : matching(candidates, group);
            for (Node n : candidates) {
                if (wanted == 0 || spread && left == 0) {
                    break;
                }
                if (nodes.contains(n.name()) || !planner.matches(group.expression, n.features())) {
                    continue;
                }
                IndexSet free = free(r, n);
                int index = nodes.size();
                Optional<Map<String, IndexSet>> devices = devices(r, n, ofNode(r, index, Math.max(1, w.nodeCount())));
                int each = cores == 0 && w.wantsGres() ? count(devices) : cores == 0 ? n.spec().units() : spread ? Math.min(left, free.count())
                        : w.coreCounts().size() > 1 ? index < w.coreCounts().size() ? w.coreCounts().get(index) : 0
                        : (cores + w.nodeCount() - 1) / w.nodeCount();
                if (devices.isEmpty() || free.count() < each || each == 0) {
                    continue;
                }
                nodes.add(n.name());
                if (cores > 0 || w.wantsGres()) {
                    units.put(n.name(), near(n, devices.get(), free, each));
                    left -= each;
                }
                if (w.wantsGres()) {
                    gres.put(n.name(), devices.get());
                }
                wanted--;
            }
            if (!spread && wanted > 0 || spread && left > 0) {
                return new Missing(SlurmErrno.NODES_BUSY);
            }
        }
        nodes.sort(Comparator.comparingInt(n -> state.nodes().at(n).spec().order()));
        return new Found(List.copyOf(nodes), units, gres);
    }

    // ---- devices

    /** What of its devices is for the i-th of so many nodes: each node's own, and an equal share of what is asked for all. */
    private static List<Tres.Item> ofNode(Reservation r, int i, int nodes) {
        List<Tres.Item> out = new ArrayList<>(Tres.gres(r.want().gresPerNode()));
        for (Tres.Item item : Tres.gres(r.want().gres())) {
            out.add(new Tres.Item(item.name(), item.type(), i < nodes ? spread(item.count(), nodes)[i] : 0));
        }
        return out;
    }

    /** So many on the first nodes that have some, with a core for each, or with all the cores that were counted. */
    private Chosen devicesAnywhere(Reservation r, List<Node> candidates) {
        List<Tres.Item> left = new ArrayList<>(Tres.gres(r.want().gres()));
        int cores = r.want().coreCounts().stream().mapToInt(Integer::intValue).sum();
        boolean counted = cores > 0;
        TreeMap<String, IndexSet> units = new TreeMap<>();
        Map<String, Map<String, IndexSet>> gres = new TreeMap<>();
        for (Node n : candidates) {
            IndexSet free = free(r, n);
            List<Tres.Item> here = new ArrayList<>();
            int room = free.count();
            for (Tres.Item item : left) {
                int count = Math.min(Math.min(item.count(), room), freeDevices(r, n, item).count());
                room -= count;
                here.add(new Tres.Item(item.name(), item.type(), count));
            }
            Optional<Map<String, IndexSet>> devices = devices(r, n, here);
            int each = counted ? Math.min(cores, free.count()) : count(devices);
            if (devices.isEmpty() || each == 0) {
                continue;
            }
            units.put(n.name(), near(n, devices.get(), free, each));
            gres.put(n.name(), devices.get());
            cores -= counted ? each : 0;
            for (int i = 0; i < here.size(); i++) {
                left.set(i, new Tres.Item(left.get(i).name(), left.get(i).type(), left.get(i).count() - here.get(i).count()));
            }
            if (cores == 0 && left.stream().allMatch(item -> item.count() == 0)) {
                List<String> nodes = new ArrayList<>(units.keySet());
                nodes.sort(Comparator.comparingInt(name -> state.nodes().at(name).spec().order()));
                return new Found(List.copyOf(nodes), units, gres);
            }
        }
        return new Missing(SlurmErrno.NODES_BUSY);
    }

    private static int count(Optional<Map<String, IndexSet>> devices) {
        return devices.stream().flatMap(d -> d.values().stream()).mapToInt(IndexSet::count).sum();
    }

    /** Devices of the node by name, as they are asked for; empty where it has too few. */
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

    /** Devices that neither jobs nor other reservations have in any of its times. */
    private IndexSet freeDevices(Reservation r, Node n, Tres.Item item) {
        IndexSet free = GresRequest.devices(n.spec(), item.name(), item.type());
        for (Reservation other : state.reservations().values()) {
            free = excludes(r, other) ? free.minus(other.devicesOn(n.spec(), item.name())) : free;
        }
        for (int id : n.jobs()) {
            Job job = state.jobs().at(id);
            free = inTheWay(r, job) ? free.minus(job.run().allocation().on(n.name()).map(s -> s.gres().getOrDefault(item.name(), IndexSet.empty()))
                    .orElse(IndexSet.empty())) : free;
        }
        return free;
    }

    /** Free units, those near the GPUs first. */
    private static IndexSet near(Node n, Map<String, IndexSet> devices, IndexSet free, int count) {
        IndexSet close = IndexSet.empty();
        for (GpuCores.Group g : GpuCores.of(n.spec()).groups()) {
            close = g.gpus().intersect(devices.getOrDefault("gpu", IndexSet.empty())).isEmpty() ? close : close.union(g.units());
        }
        IndexSet best = first(free.intersect(close), count);
        return best.union(first(free.minus(best), count - best.count()));
    }

    private boolean inTheWay(Reservation r, Job job) {
        boolean own = !r.has(ReservationFlag.REPLACE) && Reservation.named(job.desc()).contains(r.name());
        return !r.has(ReservationFlag.IGNORE_JOBS) && !own && lastsUntil(job) > r.startAt(now.seconds());
    }

    private record Alternative(String expression, int count) {}

    /** A partition and a feature, and no count: all that have it. */
    private int matching(List<Node> candidates, Alternative group) {
        return (int) candidates.stream().filter(n -> planner.matches(group.expression, n.features())).count();
    }

    /** {@code [a*2&b*1]}: so many nodes of each; anything else is one expression for all nodes. */
    private static List<Alternative> alternatives(String features) {
        if (!features.startsWith("[") || !features.endsWith("]") || !features.contains("*")) {
            return List.of(new Alternative(features, 0));
        }
        List<Alternative> out = new ArrayList<>();
        for (String part : features.substring(1, features.length() - 1).split("&")) {
            int star = part.indexOf('*');
            String digits = star < 0 ? "1" : part.substring(star + 1);
            out.add(new Alternative(star < 0 ? part : part.substring(0, star), digits.matches("[0-9]{1,6}") ? Integer.parseInt(digits) : 1));
        }
        return out;
    }

    /** Units of a node that neither jobs nor other reservations have in any of its times. */
    private IndexSet free(Reservation r, Node n) {
        IndexSet free = n.spec().units() == 0 ? IndexSet.empty() : IndexSet.range(0, n.spec().units() - 1, 1);
        for (Reservation other : state.reservations().values()) {
            free = excludes(r, other) ? free.minus(other.unitsOn(n.spec())) : free;
        }
        for (int id : n.jobs()) {
            Job job = state.jobs().at(id);
            if (inTheWay(r, job)) {
                free = free.minus(job.run().allocation().on(n.name()).map(Allocation.Share::cores).orElse(IndexSet.empty()));
            }
        }
        return free;
    }

    private boolean reservedBySomebody(Reservation r, Node n) {
        return state.reservations().values().stream().anyMatch(o -> excludes(r, o) && !o.unitsOn(n.spec()).isEmpty());
    }

    /** Both cannot have the same cores: they meet in time, and neither may lie over the other. Only named nodes may be those of MAINT and OVERLAP. */
    private boolean excludes(Reservation r, Reservation other) {
        boolean named = !r.want().nodes().isEmpty();
        return !other.name().equals(r.name()) && !r.mayOverlap() && !(named && other.mayOverlap()) && meet(r, other);
    }

    private boolean isReserved(Reservation r, Node n) {
        return state.reservations().values().stream().anyMatch(o -> !o.name().equals(r.name()) && o.nodes().contains(n.name()) && meet(r, o));
    }

    private long lastsUntil(Job job) {
        if (!job.state().isActive()) {
            return 0;
        }
        return job.run().limitTickMs() < 0 ? Long.MAX_VALUE : now.seconds() + Math.max(0, job.run().limitTickMs() - now.tickMs()) / 1000;
    }

    private boolean meet(Reservation a, Reservation b) {
        long t = now.seconds();
        for (Reservation.Window w : a.windows(t, t, Long.MAX_VALUE)) {
            if (!b.windows(t, w.from(), w.to()).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private static IndexSet first(IndexSet set, int count) {
        IndexSet out = IndexSet.empty();
        for (int id = set.first(), k = 0; id >= 0 && k < count; id = set.next(id + 1), k++) {
            out = out.with(id);
        }
        return out;
    }
}
