package dev.muster.model.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The network that connects the nodes. The first of several is the default of partitions.
 *
 * @param switches of a tree: leaves have nodes, others switches; nodes holds all that are below
 * @param blocks of topology/block, in their order; of topology/ring the rings, with their nodes in order
 * @param sizes number of nodes of a block, of a block of blocks, and so on
 * @param placements of a torus: the sets of nodes that a job or a segment of it may have
 * @param onRequest only jobs with --switches are placed by it
 * @param alphaRank of a flat one: tasks of steps go over the nodes in the order of their names, not as the nodes are
 *     configured
 * @param lines of a torus: what topology.yaml says of it, from the kind on
 */
public record Topology(
        String name,
        Kind kind,
        List<Switch> switches,
        List<Block> blocks,
        List<Integer> sizes,
        List<Block> placements,
        boolean onRequest,
        boolean alphaRank,
        List<String> lines) {
    public Topology(
            String name,
            Kind kind,
            List<Switch> switches,
            List<Block> blocks,
            List<Integer> sizes,
            List<Block> placements,
            boolean onRequest) {
        this(name, kind, switches, blocks, sizes, placements, onRequest, false, List.of());
    }

    public static final Topology FLAT = new Topology("", Kind.FLAT, List.of(), List.of(), List.of(), List.of(), false);

    /** Kinds of networks. */
    public enum Kind {
        FLAT,
        TREE,
        BLOCK,
        TORUS,
        RING
    }

    /** @param level 0 for leaves */
    public record Switch(String name, int level, long linkSpeed, List<String> nodes, List<String> switches) {}

    public record Block(String name, List<String> nodes) {}

    /** A job has its nodes only where they hang together. */
    public boolean isStrict() {
        return kind == Kind.BLOCK || kind == Kind.TORUS || kind == Kind.RING;
    }

    /** Leaf switches, blocks or rings: what one job can have to itself. */
    public List<Block> units() {
        return kind == Kind.BLOCK || kind == Kind.RING
                ? blocks
                : switches.stream()
                        .filter(s -> s.level == 0)
                        .map(s -> new Block(s.name, s.nodes))
                        .toList();
    }

    /** Least number of nodes of the smallest group that the topology keeps together. */
    public int baseSize() {
        return !sizes.isEmpty()
                ? sizes.getFirst()
                : blocks.stream().mapToInt(b -> b.nodes.size()).min().orElse(1);
    }

    /** The path of a node from the top: {@code root.s01.node1}; the pattern names the kind of each part. */
    public String address(String node, boolean pattern) {
        List<String> parts = new ArrayList<>();
        List<Switch> above = new ArrayList<>(
                switches.stream().filter(s -> s.nodes.contains(node)).toList());
        above.sort(java.util.Comparator.comparingInt((Switch s) -> -s.level));
        above.forEach(s -> parts.add(pattern ? "switch" : s.name));
        Optional<Block> block =
                blocks.stream().filter(b -> b.nodes.contains(node)).findFirst();
        block.ifPresent(b -> parts.add(pattern ? "block" : b.name));
        parts.add(pattern ? "node" : node);
        return String.join(".", parts);
    }
}
