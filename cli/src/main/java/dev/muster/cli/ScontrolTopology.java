package dev.muster.cli;

import dev.muster.model.HostList;
import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.List;

/** {@code scontrol show topology} and {@code topoconf}. */
final class ScontrolTopology {
    private ScontrolTopology() {}

    /** @param filter a switch, block or node by its name, or {@code switch=NAME}, {@code block=}, {@code unit=}, {@code node=}; "" for all */
    static int show(CommandContext c, String filter) throws UsageException {
        List<Json.Obj> all;
        try {
            all = c.host().controller().call("QueryTopology", new Json.Obj()).objects("topologies");
        } catch (SlurmException e) {
            return Standard.failed(c, "slurm_load_topo error", e);
        }
        int equals = filter.indexOf('=');
        String kind = equals < 0 ? "" : Texts.lower(filter.substring(0, equals));
        String name = filter.substring(equals + 1);
        if (!kind.isEmpty() && !List.of("switch", "block", "unit", "node").contains(kind)) {
            throw c.bad(1, "Invalid topology filter: " + filter);
        }
        List<String> lines = new ArrayList<>();
        for (Json.Obj t : all) {
            for (Json.Obj s : t.objects("switches")) {
                if (wanted(kind.equals("switch") ? "unit" : kind, name, s)) {
                    List<String> below = texts(s, "switches");
                    lines.add("SwitchName=" + s.text("name") + " Level=" + s.integer("level") + " LinkSpeed=" + s.number("linkSpeed") + " Nodes="
                            + hosts(texts(s, "nodes")) + (below.isEmpty() ? "" : " Switches=" + hosts(below)));
                }
            }
            int index = 0;
            for (Json.Obj b : t.objects("blocks")) {
                if (wanted(kind.equals("block") ? "unit" : kind, name, b)) {
                    lines.add("BlockName=" + b.text("name") + " BlockIndex=" + index + " Nodes=" + hosts(texts(b, "nodes")) + " BlockSize="
                            + texts(b, "nodes").size());
                }
                index++;
            }
            for (Json.Obj p : t.objects("placements")) {
                if (wanted(kind, name, p)) {
                    lines.add("TorusName=" + p.text("name") + " Nodes=" + hosts(texts(p, "nodes")));
                }
            }
        }
        if (lines.isEmpty() && filter.isEmpty()) {
            c.out().println("No topology information available");
            return 0;
        }
        if (lines.isEmpty()) {
            c.err().println("Topology information contains no " + (kind.isEmpty() ? "switch or block" : kind) + " named " + name);
            return 1;
        }
        lines.forEach(l -> c.out().println(l));
        return 0;
    }

    /** All of them in the form of topology.yaml, the one of partitions that name none first. */
    static int conf(CommandContext c) {
        List<Json.Obj> all;
        try {
            all = c.host().controller().call("QueryTopology", new Json.Obj()).objects("topologies");
        } catch (SlurmException e) {
            return Standard.failed(c, "slurm_get_topology_conf error", e);
        }
        c.out().println("---");
        if (all.isEmpty()) {
            c.out().println("- topology: default\n  cluster_default: true\n  flat: true");
        }
        for (int i = 0; i < all.size(); i++) {
            Json.Obj t = all.get(i);
            c.out().println("- topology: " + (t.text("name").isEmpty() ? "default" : t.text("name")) + "\n  cluster_default: " + (i == 0));
            switch (t.text("kind")) {
                case "TREE" -> tree(c, t);
                case "BLOCK" -> blocks(c, t);
                case "TORUS" -> t.texts("lines").forEach(line -> c.out().println("  " + line));
                default -> c.out().println(t.flag("alphaRank") ? "  flat:\n    alpha_step_rank: true" : "  flat: true");
            }
        }
        return 0;
    }

    private static void tree(CommandContext c, Json.Obj t) {
        c.out().println("  tree:\n    switches:");
        for (Json.Obj s : t.objects("switches")) {
            List<String> below = texts(s, "switches");
            c.out().println("      - switch: " + s.text("name"));
            c.out().println(below.isEmpty() ? "        nodes: " + hosts(texts(s, "nodes")) : "        children: " + hosts(below));
        }
    }

    private static void blocks(CommandContext c, Json.Obj t) {
        c.out().println("  block:");
        List<String> sizes = texts(t, "sizes");
        if (!sizes.isEmpty()) {
            c.out().println("    block_sizes:");
            sizes.forEach(size -> c.out().println("      - " + size));
        }
        c.out().println("    blocks:");
        for (Json.Obj b : t.objects("blocks")) {
            c.out().println("      - block: " + b.text("name"));
            c.out().println("        nodes: " + hosts(texts(b, "nodes")));
        }
    }

    private static boolean wanted(String kind, String name, Json.Obj unit) {
        boolean named = unit.text("name").equals(name);
        boolean holds = texts(unit, "nodes").contains(name);
        return name.isEmpty() || switch (kind) {
            case "unit" -> named;
            case "node" -> holds;
            case "" -> named || holds;
            default -> false;
        };
    }

    private static List<String> texts(Json.Obj o, String key) {
        return o.fields().get(key) instanceof List<?> l ? l.stream().map(Object::toString).toList() : List.of();
    }

    private static String hosts(List<String> names) {
        return HostList.of(names).compressed();
    }
}
