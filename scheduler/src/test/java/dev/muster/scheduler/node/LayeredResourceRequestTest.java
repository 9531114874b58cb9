package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.core.tres.Licenses;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.cluster.LayeredResource.Layer;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Resources in layers of nodes: on which nodes a job can have them, what it takes of which layer, and which jobs wait.
 */
class LayeredResourceRequestTest {
    private static LayeredResource resource(String name, int mode, Map<String, Integer> variables, String... layers) {
        List<Layer> out = new ArrayList<>();
        for (String layer : layers) {
            String[] w = layer.split(" ");
            out.add(new Layer(Cluster.names(w[0]), Integer.parseInt(w[1]), w.length > 2 ? Integer.parseInt(w[2]) : 0));
        }
        return new LayeredResource(name, mode, variables, out);
    }

    /**
     * Makes a cluster with nodes of four cores; flat and natural as in Slurm's example, power with what others take.
     */
    private static Cluster cluster(Topology topology) {
        return new Cluster(
                "n[1-8] cpus=4 mem=1000",
                "p nodes=n[1-8] default=yes defmempercpu=10",
                "options.licenses=fluent:4",
                topology,
                List.of(
                        resource("natural", 1, Map.of(), "n[1-8] 1", "n[1-4] 2", "n[5-6] 0"),
                        resource("flat", 2, Map.of(), "n[1-8] 6", "n[1-4] 4", "n[5-8] -1", "n8 0"),
                        resource(
                                "power",
                                3,
                                Map.of("full", 100, "gpu", 250),
                                "n[1-4] 500 100",
                                "n[5-8] 400",
                                "n[1-8] 700 50")));
    }

    private static Cluster cluster() {
        return cluster(Topology.FLAT);
    }

    private static String had(Cluster c, int job) {
        return c.state().jobs().at(job).run().allocation().licenses();
    }

    /** A request that can never be had is refused; a word stands for its count. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            natural                   ! n1 ! natural(n[1-4]):1
            natural:2                 ! n1 ! natural(n[1-4]):2
            natural:2 nodeList=n5     !    ! Requested node configuration is not available
            natural:1 nodeList=n5     ! n5 ! natural(n[1-8]):1
            natural:1 nodeList=n[4-5] ! n[4-5] ! natural(n[1-4]):1
            natural:3                 !    ! Invalid license specification
            natural|fluent            !    ! Invalid license specification
            natural(n[1-4]):1         !    ! Invalid license specification
            natural:x                 !    ! Invalid license specification
            flat:4                    ! n1 ! flat(n[1-8]):4,flat(n[1-4]):4
            flat:5                    ! n5 ! flat(n[1-8]):5,flat(n[5-8]):5
            flat:7                    !    ! Invalid license specification
            flat:1 nodeList=n8        !    ! Requested node configuration is not available
            flat:3 nodeList=n[4-5]    ! n[4-5] ! flat(n[1-8]):3,flat(n[1-4]):3,flat(n[5-8]):3
            power:full nodesMin=2     ! n[1-2] ! power(n[1-4]):200,power(n[1-8]):200
            power:gpu nodesMin=2 exclusive=NODE ! n[1,5] ! power(n[1-4]):250,power(n[5-8]):250,power(n[1-8]):500
            power:gpu nodesMin=3      !    ! Requested node configuration is not available
            power:gpu nodeList=n[1-2] !    ! Requested node configuration is not available
            power:401                 !    ! Invalid license specification
            power:50 nodesMin=8       ! n[1-8] ! power(n[1-4]):200,power(n[5-8]):200,power(n[1-8]):400
            power:none                !    ! Invalid license specification
            power:1,natural,fluent:2  ! n1 ! fluent:2,natural(n[1-4]):1,power(n[1-4]):1,power(n[1-8]):1
            power:0                   ! n1 !
            """)
    void jobIsPlacedWithinItsLayer(String asked, String nodes, String rest) {
        Cluster c = cluster();
        String place = c.place("licenses=" + asked);
        if (nodes == null) {
            assertThat(place).isEqualTo(rest);
            return;
        }
        assertThat(HostList.of(c.state().jobs().at(1).run().allocation().nodes().stream()
                                .map(s -> s.node())
                                .toList())
                        .compressed())
                .isEqualTo(nodes);
        assertThat(had(c, 1)).isEqualTo(rest == null ? "" : rest);
    }

    /** Layer after layer of what is asked for is used up, and comes back. */
    @Test
    void mode1TakesTheSmallestThatHasEnough() {
        Cluster c = cluster();
        new Play(c).lines("""
                submit licenses=natural:1
                submit licenses=natural:1
                submit licenses=natural:1
                submit licenses=natural:1
                submit tasks=1
                submit licenses=natural:1
                schedule -> 1 RUNNING n1; 2 RUNNING n1; 3 RUNNING n1; 4 PENDING; 5 RUNNING n1; 6 PENDING
                why 4 -> says (Licenses)
                why 6 -> says (Licenses)
                """);
        assertThat(List.of(had(c, 1), had(c, 2), had(c, 3)))
                .containsExactly("natural(n[1-4]):1", "natural(n[1-4]):1", "natural(n[1-8]):1");
        new Play(c).lines("cancel 2\nschedule -> 4 RUNNING n2");
        assertThat(had(c, 4)).isEqualTo("natural(n[1-4]):1");
    }

    @Test
    void mode2NeedsAllLayersOfItsNodes() {
        new Play(cluster()).lines("""
                submit licenses=flat:3
                submit licenses=flat:2
                submit licenses=flat:1 nodesMin=2
                submit licenses=flat:1
                schedule -> 1 RUNNING n1; 2 RUNNING n5; 3 RUNNING n[1-2]; 4 PENDING
                cancel 2
                schedule -> 4 RUNNING n5
                """);
    }

    @Test
    void mode3CountsEveryNode() {
        new Play(cluster()).lines("""
                submit licenses=power:100 nodesMin=3
                submit licenses=power:100 nodesMin=3
                submit licenses=power:100 nodesMin=2
                submit licenses=power:50
                schedule -> 1 RUNNING n[1-3]; 2 PENDING; 3 RUNNING n[1,5]; 4 RUNNING n5
                why 2 -> says (Licenses)
                cancel 1
                schedule -> 2 RUNNING n[1-3]
                """);
    }

    /** The start of a job that waits for a layer is planned, and no other job takes the resource before. */
    @Test
    void jobThatWaitsForALayerIsPlanned() {
        new Play(cluster()).lines("""
                submit licenses=power:300 nodeList=n1 timing.timeLimitMin=30
                submit licenses=power:200 nodesMin=2 timing.timeLimitMin=30
                submit licenses=power:200 timing.timeLimitMin=600
                submit licenses=power:200 timing.timeLimitMin=10
                schedule -> 1 RUNNING n1; 2 PENDING; 3 PENDING; 4 RUNNING n5
                """);
    }

    /** A layer of a block: where the nodes that come first cannot have it together, those of another block can. */
    @Test
    void layerOfABlockMovesTheJobToAnotherBlock() {
        Topology blocks = new Topology(
                "b",
                Topology.Kind.BLOCK,
                List.of(),
                List.of(
                        new Topology.Block("b1", Cluster.names("n[1-4]")),
                        new Topology.Block("b2", Cluster.names("n[5-8]"))),
                List.of(4),
                List.of(),
                false);
        new Play(cluster(blocks)).lines("""
                submit licenses=power:200 nodeList=n1
                submit licenses=power:80 nodesMin=4 exclusive=NODE
                schedule -> 1 RUNNING n1; 2 RUNNING n[5-8]
                """);
    }

    @Test
    void reservationsNameTheLayer() {
        Cluster c = cluster();
        new Play(c).lines("""
                reserve r starttime=+0 duration=10 flags=LICENSE_ONLY users=alice licenses=natural:1     -> says Invalid license specification
                reserve r starttime=+0 duration=10 flags=LICENSE_ONLY users=alice licenses=natural(n1):1 -> says Invalid license specification
                reserve r starttime=+0 duration=10 flags=LICENSE_ONLY users=alice licenses=natural(n[1-4]):3 -> says Invalid license specification
                reserve r starttime=+0 duration=10 flags=LICENSE_ONLY users=alice licenses=natural(n1,n[2-4]):2
                submit licenses=natural:1 timing.timeLimitMin=5
                submit licenses=natural:1 timing.timeLimitMin=5
                submit licenses=natural:1 timing.timeLimitMin=5 charge.reservation=r
                schedule -> 1 RUNNING n1; 2 PENDING; 3 RUNNING n1
                """);
        assertThat(c.state().reservations().at("r").want().licenses()).isEqualTo("natural(n[1-4]):2");
        assertThat(List.of(had(c, 1), had(c, 3))).containsExactly("natural(n[1-8]):1", "natural(n[1-4]):1");
    }

    @Test
    void layersHaveTheirCapacities() {
        assertThat(Licenses.capacities(cluster().state()))
                .containsEntry("power(n[1-8])", 550)
                .containsEntry("power(n[1-4])", 400)
                .containsEntry("flat(n[5-8])", Integer.MAX_VALUE)
                .containsEntry("fluent", 4);
    }
}
