package dev.muster.scheduler.node;

import static java.util.Objects.requireNonNull;

import dev.muster.model.cluster.Topology;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Nodes that hang close together in the network, chosen among candidates that each have room. */
final class TopologySelector {
    private final Topology topology;
    private final ResourceNeed need;
    private final List<Candidate> candidates;
    private final List<Candidate> named;
    /** Candidates by name: their place in the list. */
    private final Map<String, Integer> places = new HashMap<>();

    /** @param required number of required nodes, which are the first candidates */
    private TopologySelector(Topology topology, ResourceNeed need, List<Candidate> candidates, int required) {
        this.topology = topology;
        this.need = need;
        this.candidates = candidates;
        this.named = candidates.subList(0, required);
    }

    /** Chooses the nodes of a need, in the candidates' order; empty if the network has no such place free. */
    static List<Candidate> choose(Topology topology, ResourceNeed need, List<Candidate> candidates, int required) {
        TopologySelector n = new TopologySelector(topology, need, candidates, required);
        List<Candidate> chosen = switch (topology.kind()) {
            case FLAT -> candidates;
            case TREE ->
                topology.onRequest() && need.network().switches() == 0
                        ? NodeSelector.enough(need, candidates, required)
                        : n.tree();
            case BLOCK -> n.blocks();
            case TORUS -> n.torus();
            case RING -> n.ring();
        };
        List<Candidate> sorted = new ArrayList<>(chosen);
        sorted.sort(Comparator.comparingInt(c -> c.node().index));
        return sorted;
    }

    private static String name(Candidate c) {
        return c.node().spec.name();
    }

    /** Returns the candidates among the nodes, in the order of the candidates. */
    private List<Candidate> among(Collection<String> nodes) {
        if (places.isEmpty()) {
            for (int i = 0; i < candidates.size(); i++) {
                places.put(name(candidates.get(i)), i);
            }
        }
        int[] found = new int[nodes.size()];
        int count = 0;
        for (String node : nodes) {
            Integer place = places.get(node);
            if (place != null) {
                found[count++] = place;
            }
        }
        Arrays.sort(found, 0, count);
        List<Candidate> out = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            if (i == 0 || found[i] != found[i - 1]) {
                out.add(candidates.get(found[i]));
            }
        }
        return out;
    }

    // ---- switches

    /** Chooses nodes below the lowest switch that has enough, on as few leaves as possible. */
    private List<Candidate> tree() {
        List<Topology.Switch> switches = new ArrayList<>(topology.switches());
        switches.sort(Comparator.comparingInt(Topology.Switch::level)
                .thenComparingInt(s -> s.nodes().size()));
        for (Topology.Switch s : switches) {
            if (s.nodes().size() < Math.max(need.nodesMin(), named.size())) {
                continue;
            }
            List<Candidate> below = among(s.nodes());
            if (has(below)) {
                below = s.level() == 0 ? fullest(below) : below;
                List<Candidate> chosen = onFewest(leaves(below), need);
                if (need.network().switches() == 0
                        || chosen.isEmpty()
                        || leaves(chosen).size() <= need.network().switches()) {
                    return chosen;
                }
                return List.of();
            }
        }
        return List.of();
    }

    private boolean has(List<Candidate> below) {
        return below.containsAll(named)
                && !NodeSelector.enough(need, first(below), named.size()).isEmpty();
    }

    /**
     * Returns the candidates of the leaf with the fewest nodes free among the leaves that have enough, of such the
     * first.
     *
     * @param found of one that has enough
     */
    private List<Candidate> fullest(List<Candidate> found) {
        int minNodes = Math.max(1, Math.max(need.nodesMin(), named.size()));
        List<Topology.Block> leaves = topology.units();
        int[] free = new int[leaves.size()];
        for (Candidate c : candidates) {
            if (c.node().leaf >= 0 && c.node().leaf < free.length) {
                free[c.node().leaf]++;
            }
        }
        List<Candidate> best = found;
        boolean tie = true;
        for (int i = 0; i < free.length; i++) {
            if (free[i] >= minNodes && (free[i] < best.size() || tie && free[i] == best.size())) {
                List<Candidate> below = among(leaves.get(i).nodes());
                if (below.size() == free[i] && has(below)) { // of another topology the numbers are others
                    tie = false;
                    best = below;
                }
            }
        }
        return best;
    }

    private List<Candidate> first(List<Candidate> some) {
        List<Candidate> out = new ArrayList<>(named);
        Set<Candidate> required = new HashSet<>(named);
        some.stream().filter(c -> !required.contains(c)).forEach(out::add);
        return out;
    }

    private List<List<Candidate>> leaves(List<Candidate> some) {
        List<List<Candidate>> out = new ArrayList<>();
        boolean all = some.size() == candidates.size();
        Set<Candidate> those = Collections.newSetFromMap(new IdentityHashMap<>());
        those.addAll(all ? List.of() : some);
        for (Topology.Block unit : topology.units()) {
            List<Candidate> here = among(unit.nodes());
            here.removeIf(c -> !all && !those.contains(c));
            if (!here.isEmpty()) {
                out.add(here);
            }
        }
        return out;
    }

    /** Takes unit by unit: the smallest that has all of the rest, else the one that has most. */
    private List<Candidate> onFewest(List<List<Candidate>> units, ResourceNeed want) {
        List<Candidate> order = new ArrayList<>(named);
        List<List<Candidate>> left = new ArrayList<>(units);
        // what is on the same unit as a node that must be had costs no other
        for (List<Candidate> unit : units) {
            if (unit.stream().anyMatch(named::contains)) {
                unit.stream().filter(c -> !order.contains(c)).forEach(order::add);
                left.remove(unit);
            }
        }
        List<Candidate> found = NodeSelector.enough(want, order, named.size());
        left.sort(Comparator.comparingInt(List::size));
        while (found.isEmpty() && !left.isEmpty()) {
            List<Candidate> next = null;
            for (List<Candidate> unit : left) {
                if (order.size() + unit.size() < want.nodesMin()) {
                    continue;
                }
                List<Candidate> with = new ArrayList<>(order);
                with.addAll(unit);
                if (!NodeSelector.enough(want, with, named.size()).isEmpty()) {
                    next = unit;
                    break;
                }
            }
            next = next == null ? largest(left) : next;
            order.addAll(next);
            left.remove(next);
            found = NodeSelector.enough(want, order, named.size());
        }
        return found;
    }

    /**
     * Returns the largest of the sorted lists: of leaf switches that have equally many the first, as Slurm takes it.
     */
    private List<Candidate> largest(List<List<Candidate>> sorted) {
        int size = sorted.getLast().size();
        return topology.kind() == Topology.Kind.TREE
                ? sorted.stream().filter(u -> u.size() == size).findFirst().orElseThrow()
                : sorted.getLast();
    }

    // ---- blocks

    /** Takes one block that has room, the fullest first, then ever larger groups of blocks, then the fewest blocks. */
    private List<Candidate> oneSegment(int nodes) {
        for (List<List<Candidate>> group : groups(topology.blocks(), 1)) {
            List<Candidate> found = whole(group);
            if (!found.isEmpty()) {
                return found;
            }
        }
        for (int size : topology.sizes()) {
            for (List<List<Candidate>> group : groups(topology.blocks(), size / topology.baseSize())) {
                List<Candidate> found = size >= nodes ? whole(group) : List.of();
                if (!found.isEmpty()) {
                    return found;
                }
            }
        }
        boolean larger = topology.sizes().isEmpty() || nodes > topology.sizes().getLast();
        return larger && !need.network().together() ? onFewest(leaves(candidates), need) : List.of();
    }

    private List<Candidate> blocks() {
        int nodes = need.nodesWanted();
        int segment = need.network().segment() > 0 ? need.network().segment() : nodes;
        if (nodes % segment != 0) {
            return List.of();
        }
        if (segment == nodes) {
            return oneSegment(nodes);
        }
        for (List<Topology.Block> room : rooms(nodes)) {
            List<Candidate> out = segments(room, nodes, segment);
            if (out.size() == nodes
                    && out.containsAll(named)
                    && !NodeSelector.enough(need, out, 0).isEmpty()) {
                return out;
            }
        }
        return List.of();
    }

    /**
     * Returns the blocks in which all segments have to be: anywhere, or within one block of blocks, the smallest that
     * may do and of these the fullest first.
     */
    private List<List<Topology.Block>> rooms(int nodes) {
        List<Topology.Block> all = topology.blocks();
        if (!need.network().together()) {
            return List.of(all);
        }
        List<List<Topology.Block>> out = new ArrayList<>();
        for (int size : topology.sizes().isEmpty() ? List.of(topology.baseSize()) : topology.sizes()) {
            int of = Math.max(1, size / topology.baseSize());
            List<List<Topology.Block>> ofSize = new ArrayList<>();
            for (int i = 0; i < all.size(); i += of) {
                ofSize.add(all.subList(i, Math.min(i + of, all.size())));
            }
            ofSize.sort(Comparator.comparingInt(
                    room -> room.stream().mapToInt(b -> among(b.nodes()).size()).sum()));
            out.addAll(size >= nodes ? ofSize : List.of());
        }
        return out;
    }

    private List<Candidate> segments(List<Topology.Block> room, int nodes, int segment) {
        int size = topology.sizes().stream()
                .filter(s -> s >= segment)
                .findFirst()
                .orElse(Math.max(segment, topology.baseSize()));
        List<Candidate> out = new ArrayList<>();
        for (List<List<Candidate>> group : groups(room, Math.max(1, size / topology.baseSize()))) {
            if (need.network().apart()) {
                apart(group, segment, nodes, out);
            } else {
                List<Candidate> here = group.stream().flatMap(List::stream).toList();
                int take = Math.min(here.size() / segment * segment, nodes - out.size());
                out.addAll(here.subList(0, Math.max(0, take)));
            }
        }
        return out;
    }

    /**
     * Segments with base blocks of their own: each in the smallest that has all of it free, else in those that have
     * most.
     */
    private static void apart(List<List<Candidate>> group, int segment, int nodes, List<Candidate> out) {
        List<List<Candidate>> left = new ArrayList<>(group);
        while (out.size() < nodes && left.stream().mapToInt(List::size).sum() >= segment) {
            left.sort(Comparator.comparingInt(List::size));
            int missing = segment;
            while (missing > 0) {
                int want = missing;
                List<Candidate> block = left.stream()
                        .filter(b -> b.size() >= want)
                        .findFirst()
                        .orElseGet(() -> left.stream()
                                .max(Comparator.comparingInt(List::size))
                                .orElseThrow());
                left.remove(block);
                out.addAll(block.subList(0, Math.min(missing, block.size())));
                missing -= Math.min(missing, block.size());
            }
        }
    }

    private List<Candidate> whole(List<List<Candidate>> group) {
        List<Candidate> here = group.stream().flatMap(List::stream).toList();
        return here.containsAll(named)
                        && !NodeSelector.enough(need, first(here), named.size()).isEmpty()
                ? onFewest(group, need)
                : List.of();
    }

    /** Returns groups of {@code of} consecutive blocks, those with the fewest free nodes first. */
    private List<List<List<Candidate>>> groups(List<Topology.Block> blocks, int of) {
        List<List<List<Candidate>>> out = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i += of) {
            List<List<Candidate>> group = new ArrayList<>();
            for (Topology.Block b : blocks.subList(i, Math.min(i + of, blocks.size()))) {
                group.add(among(b.nodes()));
            }
            out.add(group);
        }
        out.sort(Comparator.comparingInt(g -> g.stream().mapToInt(List::size).sum()));
        return out;
    }

    // ---- tori

    /** Takes whole placements of a torus, each where it breaks the fewest larger ones. */
    private List<Candidate> torus() {
        int nodes = need.nodesWanted();
        int segment = need.network().segment() > 0 ? need.network().segment() : nodes;
        List<Candidate> out = pieces(
                nodes,
                segment,
                places(segment),
                (p, free) -> topology.placements().stream()
                        .filter(l -> l.nodes().size() > segment
                                && free.containsAll(l.nodes())
                                && l.nodes().containsAll(p.nodes()))
                        .count());
        return NodeSelector.enough(need, out, 0).isEmpty() ? List.of() : out;
    }

    private interface Cost {
        /** @param free nodes, those of the place among them */
        long of(Topology.Block place, Set<String> free);
    }

    /** Places each segment where all nodes are free and the cost is least; among equals in the first place. */
    private List<Candidate> pieces(int nodes, int segment, List<Topology.Block> places, Cost cost) {
        if (nodes % segment != 0) {
            return List.of();
        }
        Map<String, Candidate> free = new HashMap<>();
        candidates.forEach(c -> free.put(name(c), c));
        Set<String> must = new TreeSet<>();
        named.forEach(c -> must.add(name(c)));
        List<Candidate> out = new ArrayList<>();
        for (int i = 0; i < nodes / segment; i++) {
            Topology.Block best = null;
            long least = Long.MAX_VALUE;
            for (Topology.Block p : places) {
                boolean may = p.nodes().size() == segment
                        && free.keySet().containsAll(p.nodes())
                        && covers(p, must, segment == nodes);
                long its = may ? cost.of(p, free.keySet()) : Long.MAX_VALUE;
                if (its < least) {
                    least = its;
                    best = p;
                }
            }
            if (best == null) {
                return List.of();
            }
            best.nodes().forEach(n -> out.add(free.remove(n)));
            must.removeAll(best.nodes());
        }
        return must.isEmpty() ? out : List.of();
    }

    // ---- rings

    /** Takes as many nodes of a ring as are wanted, or, where these are too few, more, up to the longest ring. */
    private List<Candidate> ring() {
        int longest =
                topology.blocks().stream().mapToInt(r -> r.nodes().size()).max().orElse(0);
        int maxNodes;
        if (need.network().segment() > 0) {
            maxNodes = need.nodesWanted();
        } else {
            maxNodes = Math.min(need.nodesMax() > 0 ? need.nodesMax() : longest, longest);
        }

        for (int nodes = need.nodesWanted(); nodes <= Math.max(maxNodes, need.nodesWanted()); nodes++) {
            List<Candidate> found =
                    arcs(nodes, need.network().segment() > 0 ? need.network().segment() : nodes);
            if (!found.isEmpty() && !NodeSelector.enough(need, found, 0).isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** Places each segment in a row on one ring, in the shortest row of free nodes that is long enough. */
    private List<Candidate> arcs(int nodes, int segment) {
        Map<String, List<String>> rings = new HashMap<>();
        List<Topology.Block> arcs = new ArrayList<>();
        for (Topology.Block ring : topology.blocks()) {
            rings.put(ring.name(), ring.nodes());
            for (int start = 0;
                    start < ring.nodes().size() && segment <= ring.nodes().size();
                    start++) {
                arcs.add(arc(ring, start, segment));
            }
        }
        return pieces(nodes, segment, arcs, (arc, free) -> {
            List<String> ring = requireNonNull(rings.get(arc.name()), "an arc has the name of its ring");
            int start = ring.indexOf(arc.nodes().getFirst());
            return Math.min(ring.size(), row(ring, start, -1, free) + row(ring, (start + 1) % ring.size(), 1, free));
        });
    }

    /** Returns how many nodes in a row are free from this one on, itself among them. */
    private static int row(List<String> ring, int from, int step, Set<String> free) {
        int count = 0;
        while (count < ring.size() && free.contains(ring.get(Math.floorMod(from + count * step, ring.size())))) {
            count++;
        }
        return count;
    }

    private static Topology.Block arc(Topology.Block ring, int from, int length) {
        List<String> out = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            out.add(ring.nodes().get((from + i) % ring.nodes().size()));
        }
        return new Topology.Block(ring.name(), out);
    }

    /** A single node needs no shape. */
    private List<Topology.Block> places(int segment) {
        return segment > 1
                ? topology.placements()
                : candidates.stream()
                        .map(c -> new Topology.Block("", List.of(name(c))))
                        .toList();
    }

    private static boolean covers(Topology.Block p, Set<String> must, boolean all) {
        return must.isEmpty()
                || (all ? p.nodes().containsAll(must) : p.nodes().stream().anyMatch(must::contains));
    }
}
