package dev.muster.config.sister;

import dev.muster.config.NodeConf;
import dev.muster.config.PartitionConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.file.SisterFiles;
import dev.muster.config.file.YamlLite;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.model.cluster.NodeTopology;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.HostList;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** topology.yaml where it is there, else topology.conf with TopologyPlugin. */
public final class Topologies {
    private final String file;
    private final List<ConfigError> errors;

    private Topologies(String file, List<ConfigError> errors) {
        this.file = file;
        this.errors = errors;
    }

    /**
     * The cluster's own first, as the files of the network have them. Mistakes are added to {@code errors}, those of
     * nodes' own Topology as well.
     */
    public static List<Topology> read(SlurmConf conf, List<ConfigError> errors) {
        List<Topology> all = files(conf, errors);
        List<Topology> after = all;
        for (NodeConf node : conf.nodes()) {
            if (!node.topology().isEmpty()) {
                switch (NodeTopology.place(after, node.name(), node.topology())) {
                    case NodeTopology.Placed p -> after = p.topologies();
                    case NodeTopology.Wrong w ->
                        errors.add(new ConfigError(
                                node.file(),
                                node.line(),
                                "NodeName=" + node.name() + " Topology=" + node.topology() + ": " + w.sentence(),
                                node.topology()));
                }
            }
        }
        for (PartitionConf partition : conf.partitions()) {
            boolean known = partition.topology().isEmpty()
                    || all.isEmpty() && partition.topology().equals("default")
                    || all.stream().anyMatch(t -> t.name().equals(partition.topology()));
            if (!known) {
                errors.add(new ConfigError(
                        partition.file(),
                        partition.line(),
                        "PartitionName=" + partition.name() + " Topology=" + partition.topology()
                                + ": Invalid partition topology",
                        partition.topology()));
            }
        }
        return all;
    }

    /**
     * Nodes in the order in which they are taken, and tasks go over them: as slurm.conf has them, and with
     * SwitchAsNodeRank or BlockAsNodeRank those of the first leaf switch or block of the cluster's topology first,
     * behind those of none.
     */
    public static List<String> ranked(SlurmConf conf, List<Topology> all) {
        List<String> out = new ArrayList<>();
        conf.nodes().forEach(n -> out.add(n.name()));
        Topology.Kind kind = all.isEmpty() ? Topology.Kind.FLAT : all.getFirst().kind();
        if (kind == Topology.Kind.TREE && conf.has(Key.TOPOLOGY_PARAM, "SwitchAsNodeRank")
                || kind == Topology.Kind.BLOCK && conf.has(Key.TOPOLOGY_PARAM, "BlockAsNodeRank")) {
            Map<String, Integer> ranks = new HashMap<>();
            for (Topology.Block unit : all.getFirst().units()) {
                int rank = ranks.size() + 1;
                unit.nodes().forEach(n -> ranks.putIfAbsent(n, rank));
            }
            out.sort(Comparator.comparingInt(n -> ranks.getOrDefault(n, 0)));
        }
        return out;
    }

    private static List<Topology> files(SlurmConf conf, List<ConfigError> errors) {
        boolean onRequest = conf.has(Key.TOPOLOGY_PARAM, "TopoOptional");
        File yaml = conf.sister("topology.yaml");
        if (yaml.exists()) {
            return new Topologies(yaml.getPath(), errors).yaml(yaml, onRequest);
        }
        String plugin = conf.text(Key.TOPOLOGY_PLUGIN);
        File plain = conf.sister(SisterFiles.TOPOLOGY);
        Topologies t = new Topologies(plain.getPath(), errors);
        return switch (plugin) {
            case "topology/tree", "topology/block" ->
                List.of(t.plain(TopologyConf.read(plain, errors), plugin.endsWith("tree"), onRequest));
            case "topology/ring" ->
                List.of(t.rings(
                        "default",
                        TopologyConf.read(plain, errors).rings().stream()
                                .map(b -> new Topology.Block(b.name(), b.nodes()))
                                .toList()));
            case "", "topology/flat", "topology/none", "topology/default" -> List.of();
            default -> {
                errors.add(new ConfigError(
                        conf.file(), 0, "TopologyPlugin=" + plugin + " is not part of this version", plugin));
                yield List.of();
            }
        };
    }

    private void error(String sentence) {
        errors.add(new ConfigError(file, 0, sentence, ""));
    }

    private Topology plain(TopologyConf conf, boolean tree, boolean onRequest) {
        if (tree && conf.switches().isEmpty()) {
            error("No switches configured");
        }
        List<Switch> switches = new ArrayList<>();
        conf.switches().forEach(s -> switches.add(new Switch(s.name(), s.linkSpeed(), s.nodes(), s.switches())));
        return tree
                ? tree("default", switches, onRequest)
                : blocks(
                        "default",
                        conf.blocks().stream()
                                .map(b -> new Topology.Block(b.name(), b.nodes()))
                                .toList(),
                        conf.blockSizes());
    }

    private record Switch(String name, long speed, List<String> nodes, List<String> children) {}

    private Topology tree(String name, List<Switch> switches, boolean onRequest) {
        Map<String, Switch> byName = new LinkedHashMap<>();
        switches.forEach(s -> {
            if (byName.put(s.name, s) != null) {
                error("Switch (" + s.name + ") has already been defined");
            }
        });
        Map<String, Subtree> known = new LinkedHashMap<>();
        List<Topology.Switch> out = new ArrayList<>();
        for (Switch s : byName.values()) {
            Subtree below = below(s, byName, known, new LinkedHashSet<>());
            out.add(new Topology.Switch(s.name, below.level, s.speed, List.copyOf(below.nodes), s.children));
        }
        return new Topology(name, Topology.Kind.TREE, out, List.of(), List.of(), List.of(), onRequest);
    }

    private record Subtree(int level, Set<String> nodes) {}

    /**
     * The level of a switch and the nodes below it.
     *
     * @param above switches on the way here
     */
    private Subtree below(Switch s, Map<String, Switch> all, Map<String, Subtree> known, Set<String> above) {
        if (known.containsKey(s.name)) {
            return known.get(s.name);
        }
        if (!above.add(s.name)) {
            error("Switches form a loop: " + s.name);
            return new Subtree(0, Set.of());
        }
        Set<String> nodes = new LinkedHashSet<>(s.nodes);
        int level = 0;
        for (String child : s.children) {
            if (!all.containsKey(child)) {
                error("switch " + s.name + " has invalid child (" + child + ")");
            } else {
                Subtree b = below(all.get(child), all, known, above);
                level = Math.max(level, 1 + b.level);
                nodes.addAll(b.nodes);
            }
        }
        above.remove(s.name);
        known.put(s.name, new Subtree(level, nodes));
        return known.get(s.name);
    }

    private Topology blocks(String name, List<Topology.Block> blocks, List<Integer> sizes) {
        if (blocks.isEmpty()) {
            error("No blocks configured");
        }
        for (int i = 0; i < sizes.size(); i++) {
            int times = sizes.get(i) / Math.max(1, sizes.getFirst());
            if (sizes.get(i) <= 0
                    || sizes.get(i) % sizes.getFirst() != 0
                    || Integer.bitCount(times) != 1
                    || i > 0 && sizes.get(i) <= sizes.get(i - 1)) {
                error("Invalid BlockSizes value: " + sizes.get(i));
            }
        }
        return new Topology(name, Topology.Kind.BLOCK, List.of(), blocks, sizes, List.of(), false);
    }

    /** Most nodes of one ring. */
    private static final int RING_MAX = 16;

    private Topology rings(String name, List<Topology.Block> rings) {
        if (rings.isEmpty()) {
            error("No rings configured");
        }
        Set<String> names = new LinkedHashSet<>();
        Set<String> nodes = new LinkedHashSet<>();
        for (Topology.Block block : rings) {
            if (block.name().isEmpty() || !names.add(block.name())) {
                error("Ring (" + block.name() + ") has already been defined");
            }
            if (block.nodes().isEmpty() || block.nodes().size() > RING_MAX) {
                error("Ring " + block.name() + " has " + block.nodes().size() + " nodes, and may have from 1 to "
                        + RING_MAX);
            }
            block.nodes().stream()
                    .filter(n -> !nodes.add(n))
                    .findFirst()
                    .ifPresent(n -> error("Node " + n + " is in a ring already"));
        }
        return new Topology(name, Topology.Kind.RING, List.of(), rings, List.of(), List.of(), false);
    }

    // ---- topology.yaml

    private List<Topology> yaml(File source, boolean onRequest) {
        List<Topology> out = new ArrayList<>();
        try {
            if (!(YamlLite.parse(Files.readAllLines(source.toPath())) instanceof List<?> list)) {
                error("a list of topologies was expected");
                return List.of();
            }
            boolean chosen = false;
            for (Object item : list) {
                Map<?, ?> m = YamlLite.map(item);
                Topology topology = one(m, onRequest);
                if (topology.name().isEmpty() || !m.keySet().iterator().next().equals("topology")) {
                    error("a topology begins with its name");
                }
                if (out.stream().anyMatch(o -> o.name().equals(topology.name()))) {
                    error("topology " + topology.name() + " has already been defined");
                }
                boolean first = !chosen && isTrue(YamlLite.text(m, "cluster_default"));
                chosen |= first;
                out.add(first ? 0 : out.size(), topology);
            }
        } catch (IOException e) {
            error("cannot be read: " + ErrorSentence.reason(e));
        } catch (YamlLite.Unreadable e) {
            errors.add(new ConfigError(file, e.line, e.getMessage(), ""));
        }
        return out;
    }

    private static final List<String> KINDS = List.of("tree", "block", "ring", "torus3d", "flat");

    private static boolean isTrue(String text) {
        return text.equalsIgnoreCase("true");
    }

    private Topology one(Map<?, ?> m, boolean onRequest) {
        String name = YamlLite.text(m, "topology");
        if (m.keySet().stream().filter(k -> KINDS.contains(k.toString())).count() > 1) {
            error("topology " + name + " is of more than one kind");
        }
        m.keySet().stream()
                .map(Object::toString)
                .filter(k -> !KINDS.contains(k) && !k.equals("topology") && !k.equals("cluster_default"))
                .findFirst()
                .ifPresent(k -> error("topology " + name + " is of no kind that is known: " + k));
        if (m.containsKey("tree")) {
            return tree(name, switches(YamlLite.map(m.get("tree"))), onRequest);
        }
        if (m.containsKey("block")) {
            List<Topology.Block> blocks = blocks(YamlLite.map(m.get("block")).get("blocks"), "block");
            List<Integer> sizes = new ArrayList<>();
            YamlLite.list(YamlLite.map(m.get("block")).get("block_sizes"))
                    .forEach(s -> sizes.add(number(s.toString())));
            return blocks(name, blocks, sizes);
        }
        if (m.containsKey("ring")) {
            return rings(name, blocks(YamlLite.map(m.get("ring")).get("rings"), "ring"));
        }
        if (m.containsKey("torus3d")) {
            List<Topology.Block> placements = new ArrayList<>();
            YamlLite.list(YamlLite.map(m.get("torus3d")).get("toruses"))
                    .forEach(t -> torus(YamlLite.map(t), placements));
            return new Topology(
                    name,
                    Topology.Kind.TORUS,
                    List.of(),
                    List.of(),
                    List.of(),
                    placements,
                    false,
                    false,
                    YamlLite.lines(Map.of("torus3d", m.get("torus3d"))));
        }
        if (!(m.get("flat") instanceof Map<?, ?>) && !isTrue(YamlLite.text(m, "flat"))) {
            error("topology " + name + " is of no kind that is known");
        }
        boolean alpha = m.get("flat") instanceof Map<?, ?> flat && isTrue(YamlLite.text(flat, "alpha_step_rank"));
        return new Topology(
                name, Topology.Kind.FLAT, List.of(), List.of(), List.of(), List.of(), false, alpha, List.of());
    }

    private List<Switch> switches(Map<?, ?> tree) {
        List<Switch> switches = new ArrayList<>();
        for (Object o : YamlLite.list(tree.get("switches"))) {
            Map<?, ?> s = YamlLite.map(o);
            switches.add(new Switch(
                    YamlLite.text(s, "switch"),
                    1,
                    hosts(YamlLite.text(s, "nodes")),
                    hosts(YamlLite.text(s, "children"))));
        }
        return switches;
    }

    /** @param nameKey the key of a block's name */
    private List<Topology.Block> blocks(@Nullable Object list, String nameKey) {
        List<Topology.Block> blocks = new ArrayList<>();
        for (Object o : YamlLite.list(list)) {
            Map<?, ?> block = YamlLite.map(o);
            blocks.add(new Topology.Block(YamlLite.text(block, nameKey), hosts(YamlLite.text(block, "nodes"))));
        }
        return blocks;
    }

    private record Dims(int x, int y, int z) {
        int volume() {
            return x * y * z;
        }
    }

    /** Every place where one of the shapes fits into the torus at a multiple of its own size. */
    private void torus(Map<?, ?> t, List<Topology.Block> placements) {
        String name = YamlLite.text(t, "name");
        Dims all = dims(t.get("dims"));
        if (all.volume() <= 0 || all.volume() > 1 << 20) {
            error("torus " + name + " has no size");
            return;
        }
        String[] nodes = new String[all.volume()];
        for (Object o : YamlLite.list(t.get("regions"))) {
            Dims anchor = dims(YamlLite.map(o).get("anchor"));
            Dims size = dims(YamlLite.map(o).get("dims"));
            List<String> names = hosts(YamlLite.text(YamlLite.map(o), "nodes"));
            if (names.size() != size.volume() || !fits(anchor, size, all)) {
                error("a region of torus " + name + " has " + names.size() + " nodes for " + size.volume() + " places");
                continue;
            }
            int i = 0;
            for (int place : places(anchor, size, all)) {
                nodes[place] = names.get(i++);
            }
        }
        for (Object o : YamlLite.list(t.get("placements"))) {
            Dims size = dims(YamlLite.map(o).get("dims"));
            if (size.volume() <= 0) {
                error("a placement of torus " + name + " has no size");
                continue;
            }
            for (int z = 0; z + size.z <= all.z; z += size.z) {
                for (int y = 0; y + size.y <= all.y; y += size.y) {
                    for (int x = 0; x + size.x <= all.x; x += size.x) {
                        List<String> members = new ArrayList<>();
                        for (int place : places(new Dims(x, y, z), size, all)) {
                            if (nodes[place] != null) {
                                members.add(nodes[place]);
                            }
                        }
                        if (members.size() == size.volume()) {
                            placements.add(new Topology.Block(name, members));
                        }
                    }
                }
            }
        }
    }

    private static boolean fits(Dims at, Dims size, Dims all) {
        return at.x >= 0
                && at.y >= 0
                && at.z >= 0
                && at.x + size.x <= all.x
                && at.y + size.y <= all.y
                && at.z + size.z <= all.z;
    }

    /** x runs fastest. */
    private static List<Integer> places(Dims at, Dims size, Dims all) {
        List<Integer> out = new ArrayList<>();
        for (int z = at.z; z < at.z + size.z; z++) {
            for (int y = at.y; y < at.y + size.y; y++) {
                for (int x = at.x; x < at.x + size.x; x++) {
                    out.add((z * all.y + y) * all.x + x);
                }
            }
        }
        return out;
    }

    private Dims dims(@Nullable Object o) {
        Map<?, ?> m = YamlLite.map(o);
        return new Dims(number(YamlLite.text(m, "x")), number(YamlLite.text(m, "y")), number(YamlLite.text(m, "z")));
    }

    private int number(String text) {
        if (!text.matches("[0-9]{1,6}")) {
            error("\"" + text + "\" is not a valid number");
            return 0;
        }
        return Integer.parseInt(text);
    }

    private List<String> hosts(String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        if (HostList.parse(text) instanceof HostList.Parsed.Ok ok) {
            return ok.list().names();
        }
        error("\"" + text + "\" is no list of hosts");
        return List.of();
    }
}
