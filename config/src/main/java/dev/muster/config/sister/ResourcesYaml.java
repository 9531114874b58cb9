package dev.muster.config.sister;

import dev.muster.config.SlurmConf;
import dev.muster.config.file.YamlLite;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.LayeredResource.Layer;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.HostList;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** resources.yaml: resources in layers of nodes. */
public final class ResourcesYaml {
    private static final String FILE = "resources.yaml";
    private static final int COUNT_MAX = 1_000_000_000;
    private static final Set<String> KEYS = Set.of("resource", "mode", "topology", "variables", "layers");
    private static final Set<String> LAYER_KEYS = Set.of("nodes", "count", "base");

    private final String file;
    private final SlurmConf conf;
    private final List<ConfigError> errors;
    private final Set<String> nodes = new HashSet<>();

    private ResourcesYaml(File file, SlurmConf conf, List<ConfigError> errors) {
        this.file = file.getPath();
        this.conf = conf;
        this.errors = errors;
        conf.nodes().forEach(n -> nodes.add(n.name()));
    }

    /** None where there is no such file. Mistakes are added to {@code errors}. */
    public static List<LayeredResource> read(SlurmConf conf, List<ConfigError> errors) {
        File file = conf.sister(FILE);
        return file.exists() ? new ResourcesYaml(file, conf, errors).resources(file) : List.of();
    }

    private void error(String sentence) {
        errors.add(new ConfigError(file, 0, sentence, ""));
    }

    private List<LayeredResource> resources(File source) {
        List<LayeredResource> out = new ArrayList<>();
        try {
            if (!(YamlLite.parse(Files.readAllLines(source.toPath())) instanceof List<?> list)) {
                error("a list of resources was expected");
                return List.of();
            }
            for (Object item : list) {
                LayeredResource resource = resource(YamlLite.map(item));
                if (out.stream().anyMatch(o -> o.name().equals(resource.name()))) {
                    error("resource " + resource.name() + " has already been defined");
                }
                out.add(resource);
            }
        } catch (IOException e) {
            error("cannot be read: " + ErrorSentence.reason(e));
        } catch (YamlLite.Unreadable e) {
            errors.add(new ConfigError(file, e.line, e.getMessage(), ""));
        }
        return out;
    }

    private LayeredResource resource(Map<?, ?> fields) {
        String name = YamlLite.text(fields, "resource");
        checkKeys(fields, KEYS, "resource " + name);
        if (!name.matches("[A-Za-z][A-Za-z0-9_.-]*")) {
            error("\"" + name + "\" is no name of a resource");
        }
        if (conf.list(Key.LICENSES).stream().anyMatch(l -> l.split("[:=]")[0].equals(name))) {
            error("resource " + name + " is a license of the cluster already");
        }
        if (!fields.isEmpty() && !fields.keySet().iterator().next().equals("resource")) {
            error("resource must be the first key of " + name);
        }
        String mode = YamlLite.text(fields, "mode");
        if (!mode.matches("MODE_[123]")) {
            error("mode of resource " + name + " is none of MODE_1, MODE_2 and MODE_3: \"" + mode + "\"");
            return new LayeredResource(name, 1, Map.of(), List.of());
        }
        Map<String, Integer> variables = new TreeMap<>();
        YamlLite.list(fields.get("variables"))
                .forEach(v -> variables.put(
                        YamlLite.text(YamlLite.map(v), "name"), number(YamlLite.text(YamlLite.map(v), "value"), name)));
        List<Layer> layers = new ArrayList<>();
        YamlLite.list(fields.get("layers")).forEach(l -> layers.add(layer(YamlLite.map(l), name)));
        if (layers.isEmpty()) {
            error("resource " + name + " has no layers");
        }
        for (int i = 0; i < layers.size(); i++) {
            Set<String> layerNodes = new HashSet<>(layers.get(i).nodes());
            if (layers.subList(0, i).stream().anyMatch(l -> layerNodes.equals(new HashSet<>(l.nodes())))) {
                error("two layers of resource " + name + " have the same nodes: "
                        + HostList.of(layers.get(i).nodes()).compressed());
            }
        }
        LayeredResource r = new LayeredResource(name, mode.charAt(5) - '0', variables, layers);
        if (r.mode() == 3 && !isTree(r)) {
            error("layers of resource " + name + " are no tree of the same depth everywhere, which MODE_3 needs");
        }
        if (fields.containsKey("topology")) {
            topology(r, YamlLite.text(fields, "topology"));
        }
        return r;
    }

    private Layer layer(Map<?, ?> fields, String name) {
        checkKeys(fields, LAYER_KEYS, "a layer of resource " + name);
        List<String> members = new ArrayList<>();
        for (Object o : fields.get("nodes") instanceof List<?> l ? l : List.of(YamlLite.text(fields, "nodes"))) {
            if (HostList.parse(o.toString()) instanceof HostList.Parsed.Ok ok) {
                members.addAll(ok.list().names());
            } else {
                error("\"" + o + "\" is no list of hosts");
            }
        }
        members.stream()
                .filter(n -> !nodes.contains(n))
                .forEach(n -> error("node " + n + " of resource " + name + " is not in slurm.conf"));
        if (members.isEmpty()) {
            error("a layer of resource " + name + " has no nodes");
        }
        int base = 0;
        for (Object o : YamlLite.list(fields.get("base"))) {
            base = (int) Math.min(COUNT_MAX, (long) base + number(YamlLite.text(YamlLite.map(o), "value"), name));
        }
        String count = YamlLite.text(fields, "count");
        return new Layer(members.stream().distinct().toList(), count.equals("-1") ? -1 : number(count, name), base);
    }

    /** One layer has all nodes, any two lie one in the other or apart, and every node is in equally many. */
    private static boolean isTree(LayeredResource resource) {
        Set<Integer> depths = new HashSet<>();
        Set<String> all = new HashSet<>();
        for (Layer a : resource.layers()) {
            all.addAll(a.nodes());
            for (Layer b : resource.layers()) {
                boolean apart = b.nodes().stream().noneMatch(a.nodes()::contains);
                if (!apart && !a.nodes().containsAll(b.nodes()) && !b.nodes().containsAll(a.nodes())) {
                    return false;
                }
            }
        }
        all.forEach(n -> depths.add(resource.of(n).size()));
        return depths.size() == 1
                && resource.layers().stream().anyMatch(l -> l.nodes().size() == all.size());
    }

    private void topology(LayeredResource resource, String name) {
        if (resource.mode() != 3) {
            error("topology of resource " + resource.name() + " needs MODE_3");
        }
        List<Topology> blocks = Topologies.read(conf, new ArrayList<>()).stream()
                .filter(t -> t.name().equals(name) && t.kind() == Topology.Kind.BLOCK)
                .toList();
        if (blocks.isEmpty()) {
            error("topology " + name + " of resource " + resource.name() + " is no topology/block");
            return;
        }
        boolean same = blocks.getFirst().blocks().stream()
                .allMatch(b -> resource.layers().stream()
                        .anyMatch(l -> new HashSet<>(l.nodes()).equals(new HashSet<>(b.nodes()))));
        if (!same) {
            error("layers of resource " + resource.name() + " are not the blocks of topology " + name);
        }
    }

    private void checkKeys(Map<?, ?> m, Set<String> keys, String where) {
        m.keySet().stream()
                .filter(k -> !keys.contains(k.toString()))
                .forEach(k -> error("\"" + k + "\" is no key of " + where));
    }

    private int number(String text, String name) {
        if (text.matches("[0-9]{1,10}") && Long.parseLong(text) <= COUNT_MAX) {
            return Integer.parseInt(text);
        }
        error("\"" + text + "\" of resource " + name + " is not a valid number");
        return 0;
    }
}
