package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;

/** Runs {@code scontrol show topology} and {@code topoconf}. */
final class ScontrolTopology {
    private ScontrolTopology() {}

    private static final List<String> UNITS = List.of("unit", "switch", "block", "ring");

    /**
     * The request for one topology.
     *
     * @param unit by name, "" for all; nodes: all of these; loose: a unit or a node
     */
    private record Filter(String unit, List<String> nodes, String loose) {
        boolean wants(Json.Obj step) {
            return (unit.isEmpty() || step.text("name").equals(unit))
                    && texts(step, "nodes").containsAll(nodes)
                    && (loose.isEmpty()
                            || step.text("name").equals(loose)
                            || texts(step, "nodes").containsAll(names(loose)));
        }

        boolean isOpen() {
            return unit.isEmpty() && nodes.isEmpty() && loose.isEmpty();
        }

        static List<String> names(String text) {
            return HostList.parse(text) instanceof HostList.Parsed.Ok ok
                    ? ok.list().names()
                    : List.of(text);
        }

        String text() {
            if (!unit.isEmpty()) {
                return "unit named " + unit;
            }
            if (!nodes.isEmpty()) {
                return "node named " + String.join(",", nodes);
            }
            return "switch or block named " + loose;
        }
    }

    /**
     * @param words a topology's name, for the cluster's; {@code unit=NAME}, or its kind for unit; {@code node=NAMES};
     *     or just a unit or node
     */
    static int show(CommandContext context, List<String> words) throws UsageException {
        List<Json.Obj> all;
        try {
            all = context.host()
                    .controller()
                    .call("QueryTopology", new Json.Obj())
                    .objects("topologies");
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_topo error", e);
        }
        List<Json.Obj> chosen = all.isEmpty() ? List.of() : List.of(all.getFirst());
        String unit = "";
        String loose = "";
        List<String> nodes = List.of();
        for (String word : words) {
            int equals = word.indexOf('=');
            String kind = equals < 0 ? "" : Texts.lower(word.substring(0, equals));
            String value = word.substring(equals + 1);
            List<Json.Obj> named = all.stream()
                    .filter(topology -> topology.text("name").equals(value))
                    .toList();
            if (UNITS.contains(kind)) {
                unit = value;
            } else if (kind.equals("node")) {
                nodes = Filter.names(value);
            } else if (!kind.isEmpty()) {
                throw context.bad(1, "Invalid topology filter: " + word);
            } else if (!named.isEmpty()) {
                chosen = named;
            } else {
                loose = value;
            }
        }
        return print(context, chosen, new Filter(unit, nodes, loose));
    }

    private static boolean isFlat(List<Json.Obj> all) {
        return all.stream()
                .allMatch(topology -> List.of("switches", "blocks", "placements").stream()
                        .allMatch(k -> topology.objects(k).isEmpty()));
    }

    private static int print(CommandContext context, List<Json.Obj> all, Filter filter) {
        List<String> lines = new ArrayList<>();
        for (Json.Obj topology : all) {
            describe(topology, filter, lines);
        }
        if (lines.isEmpty() && filter.isOpen()) {
            return 0; // nodes without a topology
        }
        if (lines.isEmpty()) {
            context.err()
                    .println(
                            isFlat(all)
                                    ? "slurm_load_topo error: "
                                            + SlurmErrno.REQUESTED_TOPO_CONFIG_UNAVAILABLE.sentence()
                                    : "Topology information contains no " + filter.text());
            return 1;
        }
        // SLURM_TOPO_LEN: no line is longer
        int maximum = Texts.isNumber(context.env("SLURM_TOPO_LEN"))
                        && context.env("SLURM_TOPO_LEN").length() < 7
                ? Integer.parseInt(context.env("SLURM_TOPO_LEN"))
                : 0;
        lines.forEach(l -> context.out().println(maximum > 0 && l.length() > maximum ? l.substring(0, maximum) : l));
        return 0;
    }

    private static void describe(Json.Obj topology, Filter filter, List<String> lines) {
        for (Json.Obj step : topology.objects("switches")) {
            if (filter.wants(step)) {
                List<String> below = texts(step, "switches");
                lines.add("SwitchName=" + step.text("name") + " Level=" + step.integer("level") + " LinkSpeed="
                        + step.number("linkSpeed") + " Nodes=" + hosts(texts(step, "nodes"))
                        + (below.isEmpty() ? "" : " Switches=" + hosts(below)));
            }
        }
        int index = 0;
        for (Json.Obj b : topology.objects("blocks")) {
            if (filter.wants(b) && topology.text("kind").equals("RING")) {
                lines.add("RingName=" + b.text("name") + " Nodes=" + String.join(",", texts(b, "nodes")));
            } else if (filter.wants(b)) {
                lines.add("BlockName=" + b.text("name") + " BlockIndex=" + index + " Nodes="
                        + hosts(texts(b, "nodes")) + " BlockSize="
                        + texts(b, "nodes").size());
            }
            index++;
        }
        for (Json.Obj partition : topology.objects("placements")) {
            if (filter.wants(partition)) {
                lines.add("TorusName=" + partition.text("name") + " Nodes=" + hosts(texts(partition, "nodes")));
            }
        }
    }

    /** All of them in the form of topology.yaml, the one of partitions that name none first. */
    static int conf(CommandContext context) {
        List<Json.Obj> all;
        try {
            all = context.host()
                    .controller()
                    .call("QueryTopology", new Json.Obj())
                    .objects("topologies");
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_get_topology_conf error", e);
        }
        context.out().println("---");
        if (all.isEmpty()) {
            context.out().println("- topology: default\n  cluster_default: true\n  flat: true");
        }
        for (int i = 0; i < all.size(); i++) {
            Json.Obj topology = all.get(i);
            context.out()
                    .println("- topology: " + (topology.text("name").isEmpty() ? "default" : topology.text("name"))
                            + "\n  cluster_default: " + (i == 0));
            switch (topology.text("kind")) {
                case "TREE" -> tree(context, topology);
                case "BLOCK" -> blocks(context, topology);
                case "RING" -> rings(context, topology);
                case "TORUS" ->
                    topology.texts("lines").forEach(line -> context.out().println("  " + line));
                default ->
                    context.out()
                            .println(
                                    topology.flag("alphaRank") ? "  flat:\n    alpha_step_rank: true" : "  flat: true");
            }
        }
        return 0;
    }

    private static void tree(CommandContext context, Json.Obj topology) {
        context.out().println("  tree:\n    switches:");
        for (Json.Obj step : topology.objects("switches")) {
            List<String> below = texts(step, "switches");
            context.out().println("      - switch: " + step.text("name"));
            context.out()
                    .println(
                            below.isEmpty()
                                    ? "        nodes: " + hosts(texts(step, "nodes"))
                                    : "        children: " + hosts(below));
        }
    }

    private static void blocks(CommandContext context, Json.Obj topology) {
        context.out().println("  block:");
        List<String> sizes = texts(topology, "sizes");
        if (!sizes.isEmpty()) {
            context.out().println("    block_sizes:");
            sizes.forEach(size -> context.out().println("      - " + size));
        }
        context.out().println("    blocks:");
        for (Json.Obj b : topology.objects("blocks")) {
            context.out().println("      - block: " + b.text("name"));
            context.out().println("        nodes: " + hosts(texts(b, "nodes")));
        }
    }

    /** Prints rings. The order of a ring's nodes counts. */
    private static void rings(CommandContext context, Json.Obj topology) {
        context.out().println("  ring:\n    rings:");
        for (Json.Obj b : topology.objects("blocks")) {
            context.out().println("      - ring: " + b.text("name"));
            context.out().println("        nodes: " + String.join(",", texts(b, "nodes")));
        }
    }

    private static List<String> texts(Json.Obj o, String key) {
        return o.fields().get(key) instanceof List<?> l
                ? l.stream().map(Object::toString).toList()
                : List.of();
    }

    private static String hosts(List<String> names) {
        return HostList.of(names).compressed();
    }
}
