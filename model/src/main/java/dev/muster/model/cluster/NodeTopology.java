package dev.muster.model.cluster;

import static java.util.Objects.requireNonNull;

import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The place of a single node, which overrides topology.conf and topology.yaml: {@code topo-switch:s1,topo-block:b1}, a
 * block or a leaf switch by the name of its topology, with switches above it that are made where there are none:
 * {@code topo:root:s1:s2}. Of slurm.conf(5), Topology= of NodeName, and scontrol(1).
 */
public final class NodeTopology {
    private NodeTopology() {}

    public sealed interface Outcome {}

    public record Placed(List<Topology> topologies) implements Outcome {}

    /** @param sentence what is wrong with the words */
    public record Wrong(String sentence) implements Outcome {}

    /**
     * @param words as above; "" takes the node out of all topologies
     * @return those of a name among the words with the node in its new place there alone, the others as they were
     */
    public static Outcome place(List<Topology> topologies, String node, String words) {
        List<Topology> out = new ArrayList<>(topologies);
        if (words.isEmpty()) {
            out.replaceAll(t -> without(t, node));
            return new Placed(List.copyOf(out));
        }
        for (String word : words.split(",")) {
            List<String> path = List.of(word.strip().split(":"));
            int index = index(out, path.getFirst());
            if (index < 0) {
                return new Wrong("There is no topology " + path.getFirst());
            }
            if (path.size() < 2 || path.stream().anyMatch(String::isEmpty)) {
                return new Wrong("A topology and one of its units were expected: " + word);
            }
            switch (placed(out.get(index), node, path.subList(1, path.size()))) {
                case Placed p -> out.set(index, p.topologies.getFirst());
                case Wrong w -> {
                    return w;
                }
            }
        }
        return new Placed(List.copyOf(out));
    }

    private static int index(List<Topology> topologies, String name) {
        for (int i = 0; i < topologies.size(); i++) {
            if (topologies.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private static Outcome placed(Topology topology, String node, List<String> path) {
        return switch (topology.kind()) {
            case FLAT, TORUS, RING ->
                new Wrong("Nodes of topology " + topology.name() + " cannot be moved by themselves");
            case BLOCK ->
                path.size() > 1
                        ? new Wrong("A block was expected: " + String.join(":", path))
                        : inBlock(without(topology, node), node, path.getFirst());
            case TREE -> below(without(topology, node), node, path);
        };
    }

    private static Outcome inBlock(Topology topology, String node, String name) {
        List<Topology.Block> blocks = new ArrayList<>(topology.blocks());
        if (blocks.stream().noneMatch(b -> b.name().equals(name))) {
            blocks.add(new Topology.Block(name, List.of()));
        }
        blocks.replaceAll(b -> b.name().equals(name)
                ? new Topology.Block(
                        name, HostList.of(with(b.nodes(), node)).sorted().names())
                : b);
        return new Placed(List.of(new Topology(
                topology.name(),
                topology.kind(),
                topology.switches(),
                blocks,
                topology.sizes(),
                topology.placements(),
                topology.onRequest(),
                topology.alphaRank(),
                topology.lines())));
    }

    private static Outcome below(Topology topology, String node, List<String> path) {
        Map<String, Topology.Switch> all = new LinkedHashMap<>();
        topology.switches().forEach(s -> all.put(s.name(), s));
        if (path.size() == 1 && !all.containsKey(path.getFirst())) {
            return new Wrong("There is no switch " + path.getFirst() + " in topology " + topology.name());
        }
        Optional<Wrong> wrong = addPath(all, path);
        if (wrong.isPresent()) {
            return wrong.get();
        }
        Topology.Switch leaf = requireNonNull(all.get(path.getLast()), "added with its path");
        all.put(
                leaf.name(),
                new Topology.Switch(leaf.name(), 0, leaf.linkSpeed(), with(leaf.nodes(), node), leaf.switches()));
        List<Topology.Switch> out = new ArrayList<>();
        for (Topology.Switch source : all.values()) {
            Set<String> nodes = new LinkedHashSet<>();
            int level = gather(all, source.name(), nodes, new LinkedHashSet<>());
            if (level < 0) {
                return new Wrong("Switches form a loop: " + source.name());
            }
            out.add(new Topology.Switch(
                    source.name(),
                    level,
                    source.linkSpeed(),
                    HostList.of(List.copyOf(nodes)).sorted().names(),
                    source.switches()));
        }
        return new Placed(List.of(with(topology, out, topology.blocks())));
    }

    /** Adds the switches of a path that do not exist, each below the one before it; the last is a leaf. */
    private static Optional<Wrong> addPath(Map<String, Topology.Switch> all, List<String> path) {
        for (int i = 0; i < path.size(); i++) {
            String name = path.get(i);
            String above = i == 0 ? "" : path.get(i - 1);
            boolean leaf = i == path.size() - 1;
            Topology.Switch known = all.get(name);
            if (known == null) {
                all.put(name, new Topology.Switch(name, leaf ? 0 : 1, 1, List.of(), List.of()));
            } else if (leaf && !known.switches().isEmpty() || !leaf && known.level() == 0) {
                return Optional.of(new Wrong("Switch " + name + (leaf ? " is no leaf" : " is a leaf")));
            }
            Topology.Switch source = i == 0 ? null : all.get(above);
            if (source != null && !source.switches().contains(name)) {
                if (known != null
                        && all.values().stream()
                                .anyMatch(other -> other.switches().contains(name))) {
                    return Optional.of(new Wrong("Switch " + name + " is not below " + above));
                }
                all.put(
                        above,
                        new Topology.Switch(
                                above,
                                source.level(),
                                source.linkSpeed(),
                                source.nodes(),
                                with(source.switches(), name)));
            }
        }
        return Optional.empty();
    }

    /** The level of a switch, and all nodes below it; -1 for a loop. */
    private static int gather(Map<String, Topology.Switch> all, String name, Set<String> nodes, Set<String> above) {
        Topology.Switch source = all.get(name);
        if (source == null || !above.add(name)) {
            return -1;
        }
        int level = 0;
        // the nodes of a switch include those of the switches below it
        if (source.switches().isEmpty()) {
            nodes.addAll(source.nodes());
        }
        for (String child : source.switches()) {
            int below = gather(all, child, nodes, above);
            if (below < 0) {
                return -1;
            }
            level = Math.max(level, 1 + below);
        }
        nodes.addAll(source.nodes());
        above.remove(name);
        return level;
    }

    private static Topology without(Topology topology, String node) {
        return with(
                topology,
                topology.switches().stream()
                        .map(s -> new Topology.Switch(
                                s.name(), s.level(), s.linkSpeed(), less(s.nodes(), node), s.switches()))
                        .toList(),
                topology.blocks().stream()
                        .map(b -> new Topology.Block(b.name(), less(b.nodes(), node)))
                        .toList());
    }

    private static Topology with(Topology topology, List<Topology.Switch> switches, List<Topology.Block> blocks) {
        return new Topology(
                topology.name(),
                topology.kind(),
                switches,
                blocks,
                topology.sizes(),
                topology.placements(),
                topology.onRequest(),
                topology.alphaRank(),
                topology.lines());
    }

    private static List<String> with(List<String> names, String one) {
        List<String> out = new ArrayList<>(names);
        if (!out.contains(one)) {
            out.add(one);
        }
        return List.copyOf(out);
    }

    private static List<String> less(List<String> names, String one) {
        return names.contains(one) ? names.stream().filter(n -> !n.equals(one)).toList() : names;
    }
}
