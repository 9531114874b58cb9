package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.cluster.Topology;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests which nodes run the ranks of steps, one after the other, in a job that has all of the cluster. */
class StepOrderTest {
    private static final Topology BLOCKS = new Topology(
            "",
            Topology.Kind.BLOCK,
            List.of(),
            List.of(
                    new Topology.Block("b1", Cluster.names("n[1,3,5,7]")),
                    new Topology.Block("b2", Cluster.names("n[2,4,6,8]"))),
            List.of(4, 8),
            List.of(),
            false);
    private static final Topology BY_NAME =
            new Topology("", Topology.Kind.FLAT, List.of(), List.of(), List.of(), List.of(), false, true, List.of());

    private static void table(String nodes, Topology topology, String... rows) {
        table("", nodes, topology, rows);
    }

    private static void table(String settings, String nodes, Topology topology, String... rows) {
        Cluster c = new Cluster(nodes, "p nodes=" + nodes.split(" ")[0], settings, topology);
        int count = Cluster.names(nodes.split(" ")[0]).size();
        int id = c.accept("partition=p nodesMin=" + count + " tasks=" + count);
        c.schedule();
        for (int i = 0; i < rows.length; i++) {
            String[] row = rows[i].split(" -> ");
            Json.Obj request = Json.object(Codec.encode(Cluster.desc(row[0]).request()));
            StepDesc desc =
                    Codec.bind(new Json.Obj().put("request", request).put("overlap", Boolean.TRUE), StepDesc.class);
            c.apply(new Command.CreateStep(Cluster.USER, "", id, desc, Bytes.EMPTY, "io"));
            Step step = c.state().jobs().at(id).step(i).orElseThrow();
            assertThat(step.nodes().stream()
                            .sorted(java.util.Comparator.comparingInt(
                                    p -> p.tasks().getFirst()))
                            .map(Step.Part::node)
                            .collect(Collectors.joining(" ")))
                    .as(rows[i])
                    .isEqualTo(row[1]);
        }
    }

    @Test
    void blocksStayTogetherAndTakeTurns() {
        table(
                "n[1-8] cpus=1",
                BLOCKS,
                "nodesMin=8 tasks=8 -> n1 n3 n5 n7 n2 n4 n6 n8",
                "nodesMin=3 nodesMax=3 tasks=3 -> n2 n4 n6",
                "nodesMin=3 nodesMax=3 tasks=3 -> n1 n3 n5",
                "nodesMin=5 nodesMax=5 tasks=5 -> n1 n2 n4 n6 n8",
                "nodesMin=2 nodesMax=2 tasks=2 nodeList=n[2-3] -> n3 n2");
    }

    @Test
    void ranksGoByBlocksUnlessTheClusterSaysOtherwise() {
        table(
                "n[1-8] cpus=1",
                BLOCKS,
                "nodesMin=8 tasks=8 distribution=block -> n1 n3 n5 n7 n2 n4 n6 n8",
                "nodesMin=8 tasks=8 distribution=cyclic -> n1 n3 n5 n7 n2 n4 n6 n8");
        table(
                "options.select=CR_CORE,CR_NO_DIST_TOPO_BLOCK",
                "n[1-8] cpus=1",
                BLOCKS,
                "nodesMin=8 tasks=8 -> n1 n2 n3 n4 n5 n6 n7 n8",
                "nodesMin=3 nodesMax=3 tasks=3 -> n1 n2 n3");
    }

    @Test
    void stepNodesAreSortedByNameIfTheTopologySaysSo() {
        table("n[102,12,101,11] cpus=1", BY_NAME, "nodesMin=4 tasks=4 -> n11 n12 n101 n102");
        table(
                "n[102,12,101,11] cpus=1",
                Topology.FLAT,
                "nodesMin=4 tasks=4 -> n102 n12 n101 n11",
                "nodesMin=2 nodesMax=2 tasks=2 -> n102 n12",
                "nodesMin=2 nodesMax=2 tasks=2 -> n102 n12");
    }

    /** A step with -r begins at that node of its job and goes on with the next ones: while they are taken it waits. */
    @Test
    void stepBeginsAtItsRelativeNode() {
        Cluster c = new Cluster("n[1-4] cpus=1", "p nodes=n[1-4]", "");
        int id = c.accept("partition=p nodesMin=4 tasks=4");
        c.schedule();
        assertThat(begin(c, id, 0, "nodeList=n2")).isEqualTo("n2");
        assertThat(begin(c, id, -1, "nodesMin=2 nodesMax=2 tasks=2")).isEqualTo("Requested nodes are busy");
        assertThat(begin(c, id, 2, "nodesMin=2 nodesMax=2 tasks=2")).isEqualTo("n3 n4");
        assertThat(begin(c, id, 3, "nodesMin=2 nodesMax=2 tasks=2")).isEqualTo("Node count specification invalid");
        assertThat(begin(c, id, -1, "nodesMin=1 tasks=1")).isEqualTo("n1");
    }

    private static String begin(Cluster c, int id, int relative, String words) {
        Json.Obj request = Json.object(Codec.encode(Cluster.desc(words).request()));
        StepDesc desc =
                Codec.bind(new Json.Obj().put("request", request).put("relative", (long) relative), StepDesc.class);
        int before = c.state().jobs().at(id).run().steps().size();
        dev.muster.core.command.Decision said =
                c.apply(new Command.CreateStep(Cluster.USER, "", id, desc, Bytes.EMPTY, "io"));
        if (said instanceof dev.muster.core.command.Decision.Rejected r) {
            return r.sentence();
        }
        Step step = c.state().jobs().at(id).run().steps().get(before);
        return step.nodes().stream().map(Step.Part::node).collect(Collectors.joining(" "));
    }
}
