package dev.muster.core;

import dev.muster.model.HostList;
import dev.muster.model.IndexSet;
import dev.muster.model.ReservationFlag;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    /** @param units as in {@link Reservation} */
    record Found(List<String> nodes, Map<String, IndexSet> units) implements Chosen {}

    record Missing(SlurmErrno errno) implements Chosen {}

    /**
     * @param r    with what it wants; its nodes are those to keep where they are still fit
     * @param keep nodes to keep if they suffice
     */
    Chosen choose(Reservation r, List<String> keep) {
        if (r.has(ReservationFlag.ANY_NODES)) {
            return new Found(List.of(), java.util.Map.of());
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
        for (int i = 0; i < nodes.size(); i++) {
            Node n = nodes.get(i);
            int wanted = counts.isEmpty() ? n.spec().units() : shares[i];
            if (free.get(i).count() < wanted || wanted == 0 && !counts.isEmpty()) {
                return new Missing(reservedBySomebody(r, n) ? SlurmErrno.RESERVATION_OVERLAP : SlurmErrno.NODES_BUSY);
            }
            if (!counts.isEmpty()) {
                units.put(n.name(), first(free.get(i), wanted));
            }
        }
        return new Found(nodes.stream().map(Node::name).toList(), units);
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
        candidates.sort(Comparator.comparingInt(n -> keep.contains(n.name()) ? 0 : 1));
        List<String> nodes = new ArrayList<>();
        Map<String, IndexSet> units = new TreeMap<>();
        int cores = w.coreCounts().isEmpty() ? 0 : w.coreCounts().getFirst();
        boolean spread = w.nodeCount() == 0 && cores > 0;
        int left = spread ? cores : 0;
        List<Alternative> groups = alternatives(w.features());
        for (Alternative group : groups) {
            int wanted = spread ? Integer.MAX_VALUE : groups.size() > 1 || group.count > 0 ? Math.max(1, group.count) : w.nodeCount();
            for (Node n : candidates) {
                if (wanted == 0 || spread && left == 0) {
                    break;
                }
                if (nodes.contains(n.name()) || !planner.matches(group.expression, n.features())) {
                    continue;
                }
                IndexSet free = free(r, n);
                int index = nodes.size();
                int each = cores == 0 ? n.spec().units() : spread ? Math.min(left, free.count())
                        : w.coreCounts().size() > 1 ? index < w.coreCounts().size() ? w.coreCounts().get(index) : 0
                        : (cores + w.nodeCount() - 1) / w.nodeCount();
                if (free.count() < each || each == 0) {
                    continue;
                }
                nodes.add(n.name());
                if (cores > 0) {
                    units.put(n.name(), first(free, each));
                    left -= each;
                }
                wanted--;
            }
            if (!spread && wanted > 0 || spread && left > 0) {
                return new Missing(SlurmErrno.NODES_BUSY);
            }
        }
        nodes.sort(Comparator.comparingInt(n -> state.nodes().at(n).spec().order()));
        return new Found(List.copyOf(nodes), units);
    }

    private record Alternative(String expression, int count) {}

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
        if (!r.has(ReservationFlag.MAINT) && !r.has(ReservationFlag.OVERLAP)) {
            for (Reservation other : state.reservations().values()) {
                if (!other.name().equals(r.name()) && meet(r, other)) {
                    free = free.minus(other.unitsOn(n.spec()));
                }
            }
        }
        if (!r.has(ReservationFlag.IGNORE_JOBS)) {
            for (int id : n.jobs()) {
                Job job = state.jobs().at(id);
                boolean own = !r.has(ReservationFlag.REPLACE) && Reservation.named(job.desc()).contains(r.name());
                if (!own && lastsUntil(job) > r.startAt(now.seconds())) {
                    free = free.minus(job.run().allocation().on(n.name()).map(Allocation.Share::cores).orElse(IndexSet.empty()));
                }
            }
        }
        return free;
    }

    private boolean reservedBySomebody(Reservation r, Node n) {
        return state.reservations().values().stream().anyMatch(o -> !o.name().equals(r.name()) && meet(r, o) && !o.unitsOn(n.spec()).isEmpty());
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
