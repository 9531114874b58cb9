package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.forecast.Forecast;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Given a network, what is taken and a job → the nodes it gets, or why it waits. */
class TopologySelectorTest {
    private static final Topology TREE = new Topology(
            "",
            Topology.Kind.TREE,
            List.of(
                    leaf("s1", "n[1-2]"),
                    leaf("s2", "n[3-5]"),
                    leaf("s3", "n[6-8]"),
                    new Topology.Switch("low", 1, 1, Cluster.names("n[1-5]"), List.of("s1", "s2")),
                    new Topology.Switch("root", 2, 1, Cluster.names("n[1-8]"), List.of("low", "s3"))),
            List.of(),
            List.of(),
            List.of(),
            false);
    private static final Topology BLOCKS = new Topology(
            "",
            Topology.Kind.BLOCK,
            List.of(),
            List.of(block("b1", "n[1-4]"), block("b2", "n[5-8]")),
            List.of(4, 8),
            List.of(),
            false);
    private static final Topology TORUS = new Topology(
            "",
            Topology.Kind.TORUS,
            List.of(),
            List.of(),
            List.of(),
            List.of(
                    block("t", "n[1-2]"),
                    block("t", "n[3-4]"),
                    block("t", "n[5-6]"),
                    block("t", "n[7-8]"),
                    block("t", "n[1-4]"),
                    block("t", "n[5-8]"),
                    block("t", "n[1-8]")),
            false);

    private static Topology.Switch leaf(String name, String nodes) {
        return new Topology.Switch(name, 0, 1, Cluster.names(nodes), List.of());
    }

    private static Topology.Block block(String name, String nodes) {
        return new Topology.Block(name, Cluster.names(nodes));
    }

    private static void table(Topology t, String rows) {
        for (String row : rows.strip().split("\n")) {
            String[] cells = row.split("\\|");
            Cluster c = new Cluster("n[1-8] cpus=1", "p nodes=n[1-8] defmempercpu=1", "", t);
            for (String node : cells[0].strip().isEmpty() ? List.<String>of() : Cluster.names(cells[0].strip())) {
                c.accept("partition=p nodeList=" + node);
            }
            c.schedule();
            String placed = c.place("partition=p " + cells[1].strip());
            if (placed.startsWith("n")) {
                List<String> names = new ArrayList<>();
                for (String share : placed.split(" ")) {
                    names.add(share.split(":")[0]);
                }
                placed = HostList.of(names).compressed();
            }
            assertThat(placed).as(row).isEqualTo(cells[2].strip());
        }
    }

    @Test
    void jobSpansAsFewSwitchesAsPossible() {
        table(TREE, """
                        | nodesMin=2             | n[1-2]
                        | nodesMin=3             | n[3-5]
                        | nodesMin=4             | n[1,3-5]
                        | nodesMin=6             | n[3-8]
                n1      | nodesMin=2             | n[3-4]
                n[1,4]  | nodesMin=2             | n[3,5]
                n[1,4]  | nodesMin=3             | n[6-8]
                n[1,4,7]| nodesMin=3             | n[2-3,5]
                n[1,4,7]| nodesMin=3 switches=1@5| (Resources)
                n[1,4,7]| nodesMin=3 switches=2@5| n[2-3,5]
                        | nodesMin=2 nodeList=n4 | n[3-4]
                """);
    }

    /**
     * The leaf with the fewest free nodes is taken of those that have enough, however many it has in all; as in Slurm.
     */
    @Test
    void leafWithTheFewestSufficientFreeNodesIsTaken() {
        table(
                new Topology(
                        "",
                        Topology.Kind.TREE,
                        List.of(
                                leaf("s1", "n[1-3]"),
                                leaf("s2", "n[4-6]"),
                                leaf("s3", "n[7-8]"),
                                new Topology.Switch("top", 1, 1, Cluster.names("n[1-8]"), List.of("s1", "s2", "s3"))),
                        List.of(),
                        List.of(),
                        List.of(),
                        false),
                """
                n1      | nodesMin=2             | n[2-3]
                n4      | nodesMin=2             | n[5-6]
                n[4,7]  | nodesMin=2             | n[5-6]
                        | nodesMin=2             | n[7-8]
                n[1-2]  | nodesMin=1             | n3
                """);
        table(
                new Topology(
                        "",
                        Topology.Kind.TREE,
                        List.of(
                                leaf("s1", "n[1-5]"),
                                leaf("s2", "n[6-8]"),
                                new Topology.Switch("top", 1, 1, Cluster.names("n[1-8]"), List.of("s1", "s2"))),
                        List.of(),
                        List.of(),
                        List.of(),
                        false),
                """
                n[1-3]  | nodesMin=2             | n[4-5]
                n[1-3]  | nodesMin=3             | n[6-8]
                """);
    }

    @Test
    void firstOfEquallyGoodSwitchesIsTaken() {
        table(
                new Topology(
                        "",
                        Topology.Kind.TREE,
                        List.of(
                                leaf("s1", "n[1-2]"),
                                leaf("s2", "n[3-5]"),
                                leaf("s3", "n[6-8]"),
                                new Topology.Switch("top", 1, 1, Cluster.names("n[1-8]"), List.of("s1", "s2", "s3"))),
                        List.of(),
                        List.of(),
                        List.of(),
                        false),
                """
                        | nodesMin=4             | n[1,3-5]
                        | nodesMin=5             | n[1-5]
                        | nodesMin=4 switches=2@5| n[1,3-5]
                n[3,6]  | nodesMin=3             | n[1-2,4]
                n3      | nodesMin=4             | n[1,6-8]
                """);
    }

    @Test
    void segmentsArePlacedWithinBlocks() {
        table(BLOCKS, """
                        | nodesMin=4                                 | n[1-4]
                n1      | nodesMin=3                                 | n[2-4]
                n[1,5]  | nodesMin=4                                 | n[2,6-8]
                        | nodesMin=6 segment=3                       | n[1-3,5-7]
                        | nodesMin=6 segment=3 nodeList=n[1-8]       | n[1-3,5-7]
                        | nodesMin=4 segment=2 nodeList=n[1,2,5,6]   | n[1-2,5-6]
                        | nodesMin=6 segment=3 nodeList=n[1-6]       | Requested topology configuration is not available
                        | nodesMin=6 segment=3 nodeList=n[1-5]       | Node count specification invalid
                        | nodesMin=8 segment=3                       | Node count specification invalid
                n1      | nodesMin=3 segment=4                       | n[2-4]
                        | segment=4                                  | n1
                """);
    }

    /** Four blocks of two, which are two blocks of four and one of eight. */
    @Test
    void segmentsAreSpreadOrConsolidatedOnRequest() {
        Topology t = new Topology(
                "",
                Topology.Kind.BLOCK,
                List.of(),
                List.of(block("b1", "n[1-2]"), block("b2", "n[3-4]"), block("b3", "n[5-6]"), block("b4", "n[7-8]")),
                List.of(2, 4, 8),
                List.of(),
                false);
        table(t, """
                          | nodesMin=2 segment=1                          | n[1-2]
                          | nodesMin=2 segment=1 spreadSegments=true      | n[1,3]
                          | nodesMin=4 segment=1 spreadSegments=true      | n[1,3,5,7]
                          | nodesMin=5 segment=1 spreadSegments=true | Requested topology configuration is not available
                n[1-2]    | nodesMin=4 segment=1 spreadSegments=true      | (No_suitable_topology_unit_found)
                          | nodesMin=4 segment=2                          | n[1-4]
                n[1,5]    | nodesMin=4 segment=2                          | n[3-4,7-8]
                n[1,5]    | nodesMin=4 segment=2 consolidateSegments=true | n[3-4,7-8]
                n1        | nodesMin=4 segment=2 consolidateSegments=true | n[5-8]
                n[1-3]    | nodesMin=2 segment=1 consolidateSegments=true | n[5-6]
                n[3,5,6]  | nodesMin=2 segment=1 spreadSegments=true consolidateSegments=true | n[1,4]
                          | nodesMin=6 segment=3 spreadSegments=true      | n[1-3,5-7]
                          | nodesMin=2 consolidateSegments=true           | n[1-2]
                """);
        table(TREE, """
                          | nodesMin=2 spreadSegments=true      | --spread-segments needs TopologyPlugin=topology/block
                          | nodesMin=2 consolidateSegments=true | --consolidate-segments needs TopologyPlugin=topology/block
                """);
    }

    @Test
    void torusJobGetsAWholePlacement() {
        table(TORUS, """
                          | nodesMin=2             | n[1-2]
                n1        | nodesMin=2             | n[3-4]
                          | nodesMin=3             | Requested topology configuration is not available
                          | nodesMin=4 segment=2   | n[1-4]
                n[1,5]    | nodesMin=4             | (No_suitable_topology_unit_found)
                n[1,5]    | nodesMin=4 segment=2   | n[3-4,7-8]
                          | nodesMin=2 nodeList=n7 | n[7-8]
                """);
    }

    /** Nodes in a row, which may go over the end of the ring; of free rows the shortest that has enough. */
    @Test
    void ringJobGetsAShortestSufficientRow() {
        table(
                new Topology(
                        "",
                        Topology.Kind.RING,
                        List.of(),
                        List.of(block("r1", "n[1-5]"), block("r2", "n[6-8]")),
                        List.of(),
                        List.of(),
                        false),
                """
                        | nodesMin=1             | n1
                        | nodesMin=3             | n[6-8]
                        | nodesMin=4             | n[1-4]
                n3      | nodesMin=4             | n[1-2,4-5]
                n3      | nodesMin=2             | n[6-7]
                n[2,7]  | nodesMin=2             | n[6,8]
                n[2,7]  | nodesMin=3             | n[3-5]
                n[2,4]  | nodesMin=2 nodeList=n1 | n[1,5]
                n[2,4]  | nodesMin=4             | (No_suitable_topology_unit_found)
                        | nodesMin=6             | Requested topology configuration is not available
                        | nodesMin=6 segment=3   | n[1-3,6-8]
                n1      | nodesMin=4 segment=2   | n[2-3,6-7]
                        | tasks=4                | n[1-4]
                """);
    }

    @Test
    void exclusiveTopoJobHasItsSwitchAlone() {
        Cluster c = new Cluster("n[1-8] cpus=2", "p nodes=n[1-8] defmempercpu=1", "", TREE);
        int plain = c.accept("partition=p");
        int alone = c.accept("partition=p exclusive=TOPO");
        int beside = c.accept("partition=p nodeList=n4");
        c.schedule();
        assertThat(c.shown(plain)).isEqualTo("n1:1");
        assertThat(c.shown(alone)).isEqualTo("n3:2");
        assertThat(c.shown(beside)).isEqualTo("(Resources)");
    }

    /**
     * A job with exclusive=TOPO has a block of its partition's topology alone, and keeps off jobs of all partitions.
     */
    @Test
    void exclusiveTopoJobHasItsBlockAlone() {
        Topology blocks = new Topology(
                "b",
                Topology.Kind.BLOCK,
                List.of(),
                List.of(
                        new Topology.Block("b1", Cluster.names("n[1,5]")),
                        new Topology.Block("b2", Cluster.names("n[2,6]"))),
                List.of(2),
                List.of(),
                false);
        Cluster c = new Cluster(
                "n[1-8] cpus=2",
                "p nodes=n[1-8] defmempercpu=1\nq nodes=n[1-2,5-6] topology=b defmempercpu=1",
                "",
                List.of(TREE, blocks),
                List.of());
        int alone = c.accept("partition=q exclusive=TOPO");
        int inBlock = c.accept("partition=q nodeList=n5");
        int elsewhere = c.accept("partition=q");
        int other = c.accept("partition=p nodeList=n5");
        int sameSwitch = c.accept("partition=p nodeList=n3");
        c.schedule();
        assertThat(List.of(c.shown(alone), c.shown(inBlock), c.shown(elsewhere), c.shown(other), c.shown(sameSwitch)))
                .containsExactly("n1:2", "(Resources)", "n2:1", "(Resources)", "n3:1");
    }

    @Test
    void jobTakesMoreSwitchesAfterItsSwitchWait() {
        Cluster c = new Cluster("n[1-8] cpus=1", "p nodes=n[1-8] defmempercpu=1", "", TREE);
        int job = c.accept("partition=p nodesMin=4 switches=1@1");
        c.schedule();
        assertThat(c.shown(job)).isEqualTo("(Resources)");
        assertThat(c.core().due().takeLook(c.seconds() + 60))
                .as("before its time")
                .isFalse();
        assertThat(c.core().due().takeLook(c.seconds() + 61))
                .as("nothing has to happen")
                .isTrue();
        assertThat(c.core().due().takeLook(c.seconds() + 62)).as("once").isFalse();
        c.pass(90);
        c.schedule();
        assertThat(c.shown(job)).isEqualTo("n1:1 n3:1 n4:1 n5:1");
    }

    /** Each job's own wait counts in both kinds of plans, and max_switch_wait where it is less. */
    @Test
    void aPlanKnowsHowLongAJobWaitsForFewSwitches() {
        for (String[] row : new String[][] {{"1@1", "120"}, {"1@3", "240"}, {"1@9", "360"}}) {
            Cluster c = new Cluster("n[1-8] cpus=1", "p nodes=n[1-8] defmempercpu=1", "", TREE);
            Scheduler s = (Scheduler) c.core().planner();
            int other = c.accept("partition=p nodesMin=4 switches=1@2 timing.timeLimitMin=1");
            int job = c.accept("partition=p nodesMin=4 timing.timeLimitMin=1 switches=" + row[0]);
            c.schedule();
            long least = c.seconds() + Long.parseLong(row[1]);
            assertThat(s.plannedStart(job)).as(row[0]).isBetween(c.seconds() + 60, least);
            assertThat(s.plannedStart(other)).as("the other").isEqualTo(c.seconds() + 180);
            Forecast plan = s.forecasts()
                    .make(c.state(), new dev.muster.core.state.DecisionTime(c.seconds() * 1000, c.seconds() * 1000), 0);
            assertThat(plan.start(job)).as(row[0] + " elsewhere").isEqualTo(s.plannedStart(job));
            assertThat(s.plannedStart(job)).as(row[0]).isEqualTo(least);
        }
    }

    /** A node that an update moves to another switch is chosen by its new place. */
    @Test
    void movedNodeIsChosenByItsNewSwitch() {
        Topology tree = new Topology(
                "t",
                Topology.Kind.TREE,
                List.of(
                        new Topology.Switch("root", 1, 1, Cluster.names("n[1-3]"), List.of("s1", "s2")),
                        leaf("s1", "n1"),
                        leaf("s2", "n2")),
                List.of(),
                List.of(),
                List.of(),
                false);
        Cluster c = new Cluster("n[1-3] cpus=4", "p nodes=n[1-3]", "", tree);
        c.apply(new Command.UpdateNode(0, List.of("n3"), Map.of("topology", "t:s1")));
        assertThat(c.place("nodesMin=2 tasks=2 partition=p switches=1@00:05")).isEqualTo("n1:1 n3:1");
    }
}
