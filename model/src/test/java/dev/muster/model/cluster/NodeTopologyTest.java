package dev.muster.model.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A node's own place in the network: where it is afterwards, or why it cannot be there. */
class NodeTopologyTest {
    private static final List<Topology> ALL = List.of(
            new Topology(
                    "t",
                    Topology.Kind.TREE,
                    List.of(
                            new Topology.Switch("root", 2, 1, List.of("n1", "n2"), List.of("mid")),
                            new Topology.Switch("mid", 1, 1, List.of("n1", "n2"), List.of("s1", "s2")),
                            new Topology.Switch("s1", 0, 1, List.of("n1"), List.of()),
                            new Topology.Switch("s2", 0, 1, List.of("n2"), List.of())),
                    List.of(),
                    List.of(),
                    List.of(),
                    false),
            new Topology(
                    "b",
                    Topology.Kind.BLOCK,
                    List.of(),
                    List.of(new Topology.Block("b1", List.of("n1", "n2"))),
                    List.of(2),
                    List.of(),
                    false),
            new Topology("f", Topology.Kind.FLAT, List.of(), List.of(), List.of(), List.of(), false));

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            t:s2            | root2[n1,n2] mid1[n1,n2] s10[] s20[n1,n2] b1[n1,n2]
            t:s1            | root2[n1,n2] mid1[n1,n2] s10[n1] s20[n2] b1[n1,n2]
            t:root:mid:s3   | root2[n1,n2] mid1[n1,n2] s10[] s20[n2] s30[n1] b1[n1,n2]
            t:other:s3      | root2[n2] mid1[n2] s10[] s20[n2] other1[n1] s30[n1] b1[n1,n2]
            t:root:m2:s3    | root2[n1,n2] mid1[n2] s10[] s20[n2] m21[n1] s30[n1] b1[n1,n2]
            b:b2            | root2[n1,n2] mid1[n1,n2] s10[n1] s20[n2] b1[n2] b2[n1]
            t:s2,b:b2       | root2[n1,n2] mid1[n1,n2] s10[] s20[n1,n2] b1[n2] b2[n1]
            ''              | root2[n2] mid1[n2] s10[] s20[n2] b1[n2]
            x:s1            | There is no topology x
            t:s3            | There is no switch s3 in topology t
            t:mid           | Switch mid is no leaf
            t:s1:s3         | Switch s1 is a leaf
            t:s2:s3         | Switch s2 is a leaf
            t:root:s2       | Switch s2 is not below root
            t:mid:root:s9   | Switches form a loop: root
            t               | A topology and one of its units were expected: t
            t:              | A topology and one of its units were expected: t:
            b:b1:b2         | A block was expected: b1:b2
            f:x             | Nodes of topology f cannot be moved by themselves
            """)
    void nodeIsPlacedByItsTopologyWords(String words, String expected) {
        String outcome = switch (NodeTopology.place(ALL, "n1", words)) {
            case NodeTopology.Placed p -> text(p.topologies());
            case NodeTopology.Wrong w -> w.sentence();
        };
        assertThat(outcome).isEqualTo(expected);
    }

    private static String text(List<Topology> all) {
        StringBuilder out = new StringBuilder();
        for (Topology t : all) {
            t.switches()
                    .forEach(s -> out.append(' ')
                            .append(s.name())
                            .append(s.level())
                            .append('[')
                            .append(String.join(",", s.nodes()))
                            .append(']'));
            t.blocks()
                    .forEach(b -> out.append(' ')
                            .append(b.name())
                            .append('[')
                            .append(String.join(",", b.nodes()))
                            .append(']'));
        }
        return out.toString().strip();
    }
}
