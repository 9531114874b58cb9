package dev.muster.cli.list;

import dev.muster.cli.command.Texts;
import dev.muster.cli.shape.NodesJson;
import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import java.util.List;

/** Makes the tree of {@code sinfo --json}. */
final class SinfoJson {
    private SinfoJson() {}

    /** Makes the tree of a group of nodes. */
    static Json.Obj row(SinfoRow r) {
        Json.Obj node = r.first();
        int[] counts = r.counts();
        List<String> cpus = Texts.split(r.cpus(), '/');
        Json.Obj out = new Json.Obj();
        out.put("port", node.number("port"))
                .put("node", new Json.Obj().put("state", r.nodes.isEmpty() ? List.of() : NodesJson.states(node)));
        out.put(
                "nodes",
                new Json.Obj()
                        .put("allocated", (long) counts[0])
                        .put("idle", (long) counts[1])
                        .put("other", (long) counts[2])
                        .put("total", (long) r.nodes.size())
                        .put("hostnames", Tree.texts())
                        .put("addresses", Tree.texts())
                        .put("nodes", Tree.hosts(r.list())));
        out.put(
                "cpus",
                new Json.Obj()
                        .put("allocated", Long.parseLong(cpus.get(0)))
                        .put("idle", Long.parseLong(cpus.get(1)))
                        .put("other", Long.parseLong(cpus.get(2)))
                        .put("total", Long.parseLong(cpus.get(3)))
                        .put("minimum", r.min("cpus"))
                        .put("maximum", r.max("cpus"))
                        .put("load", spread(r, "cpuLoad"))
                        .put(
                                "per_node",
                                new Json.Obj().put("max", NodesJson.unlimited(r.partition.number("maxCpusPerNode")))));
        out.put("sockets", spread(r, "sockets")).put("cores", spread(r, "coresPerSocket"));
        out.put("threads", spread(r, "threadsPerCore")).put("disk", spread(r, "tmpDiskMb"));
        out.put(
                "memory",
                spread(r, "memoryMb")
                        .put("allocated", node.number("memoryAllocatedMb"))
                        .put(
                                "free",
                                new Json.Obj()
                                        .put("minimum", Tree.number(r.min("memoryFreeMb")))
                                        .put("maximum", Tree.number(r.max("memoryFreeMb")))));
        out.put("weight", spread(r, "weight"));
        out.put(
                "features",
                new Json.Obj().put("total", node.text("features")).put("active", node.text("activeFeatures")));
        out.put("gres", new Json.Obj().put("total", node.text("gres")).put("used", node.text("gresUsed")));
        out.put("reason", new Json.Obj().put("description", node.text("reason")).put("time", node.number("reasonTime")))
                .put("reason_set_by_user", node.text("reasonUser"));
        out.put("partition", NodesJson.partition(r.partition))
                .put("comment", node.text("comment"))
                .put("extra", node.text("extra"));
        out.put("cluster", "")
                .put("reservation", "")
                .put(
                        "resource_spec",
                        new Json.Obj()
                                .put("cpus", node.text("cpuSpecList"))
                                .put("memory", node.number("memSpecLimitMb")));
        return out;
    }

    private static Json.Obj spread(SinfoRow r, String field) {
        return new Json.Obj().put("minimum", r.min(field)).put("maximum", r.max(field));
    }
}
