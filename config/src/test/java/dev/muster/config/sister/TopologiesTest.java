package dev.muster.config.sister;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.model.cluster.HostCall;
import dev.muster.model.cluster.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** shows: TopologyPlugin, TopologyParam */
class TopologiesTest {
    @TempDir
    Path dir;

    private List<Topology> read(String plugin, String file, String text, List<ConfigError> errors) throws IOException {
        Files.writeString(
                dir.resolve("slurm.conf"),
                "ClusterName=c\nSlurmctldHost=h\n" + plugin + "\nNodeName=n[1-8]\nPartitionName=p Nodes=ALL\n");
        Files.writeString(dir.resolve(file), text);
        SlurmConf conf =
                ((SlurmConf.Parsed.Ok) SlurmConf.read(dir.resolve("slurm.conf").toFile())).conf();
        return Topologies.read(conf, errors);
    }

    @Test
    void switchesKnowTheirLevelAndTheNodesBelow() throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        Topology t = read("TopologyPlugin=topology/tree", "topology.conf", """
                SwitchName=root Switches=s[1-2]
                SwitchName=s1 Nodes=n[1-4] LinkSpeed=10
                SwitchName=s2 Nodes=n[5-8]
                """, errors)
                .getFirst();
        assertThat(errors).isEmpty();
        assertThat(t.switches())
                .extracting(s -> s.name() + s.level() + s.nodes().size())
                .containsExactly("root18", "s104", "s204");
        assertThat(t.switches().get(1).linkSpeed()).isEqualTo(10);
        assertThat(t.address("n6", false)).isEqualTo("root.s2.n6");
        assertThat(t.address("n6", true)).isEqualTo("switch.switch.node");
    }

    @Test
    void optionalTopologyIsUsedOnRequestOnly() throws IOException {
        for (String param : List.of("", "\nTopologyParam=TopoOptional")) {
            Topology t = read(
                            "TopologyPlugin=topology/tree" + param,
                            "topology.conf",
                            "SwitchName=s1 Nodes=n[1-8]\n",
                            new ArrayList<>())
                    .getFirst();
            assertThat(t.onRequest()).isEqualTo(!param.isEmpty());
        }
    }

    @Test
    void yamlHasSeveralAndTheDefaultComesFirst() throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        List<Topology> all = read("", "topology.yaml", """
                # networks
                - topology: t1
                  cluster_default: false
                  tree:
                    switches:
                      - switch: top
                        children: s1
                      - switch: s1
                        nodes: n[1-8]
                - topology: b
                  cluster_default: true
                  block:
                    block_sizes:
                      - 4
                      - 8
                    blocks:
                      - block: b1
                        nodes: n[1-4]
                      - {block: b2, nodes: "n[5-8]"}
                - topology: d
                  cluster_default: false
                  torus3d:
                    toruses:
                      - name: pod
                        dims: {x: 2, y: 2, z: 2}
                        regions:
                          - anchor: {x: 0, y: 0, z: 0}
                            dims: {x: 2, y: 2, z: 2}
                            nodes: n[1-8]
                        placements:
                          - dims: {x: 2, y: 1, z: 2}
                """, errors);
        assertThat(errors).isEmpty();
        assertThat(all).extracting(Topology::name).containsExactly("b", "t1", "d");
        assertThat(all.getFirst().sizes()).containsExactly(4, 8);
        assertThat(all.get(2).placements())
                .extracting(p -> String.join(",", p.nodes()))
                .containsExactly("n1,n2,n5,n6", "n3,n4,n7,n8");
        for (String call : List.of("torus{pod}", "torus3d{pod}", "toruswith{n3}", "torus3dWith{n8}")) {
            assertThat(HostCall.parse(call).orElseThrow().of(all))
                    .as(call)
                    .contains("n1", "n4", "n8")
                    .hasSize(8);
        }
        assertThat(HostCall.parse("torus{other}").orElseThrow().of(all)).isEmpty();
    }

    /** The first topology with cluster_default is the cluster's, as the manual writes it. */
    @Test
    void firstTopologyWithClusterDefaultIsTheDefault() throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        List<Topology> all = read("", "topology.yaml", """
                - topology: a
                  cluster_default: False
                  flat: True
                - topology: b
                  cluster_default: True
                  flat:
                    alpha_step_rank: True
                - topology: c
                  cluster_default: true
                  flat: true
                """, errors);
        assertThat(errors).isEmpty();
        assertThat(all).extracting(t -> t.name() + t.alphaRank()).containsExactly("btrue", "afalse", "cfalse");
    }

    /** The order of a ring's nodes is the file's. */
    @Test
    void ringNodesKeepTheFilesOrder() throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        List<Topology> plain = read(
                "TopologyPlugin=topology/ring",
                "topology.conf",
                "RingName=a Nodes=n[5-8]\nRingName=b Nodes=n[3,1-2,4]\n",
                errors);
        List<Topology> yaml = read("", "topology.yaml", """
                - topology: default
                  cluster_default: true
                  ring:
                    rings:
                      - ring: a
                        nodes: n[5-8]
                      - ring: b
                        nodes: n[3,1-2,4]
                """, errors);
        assertThat(errors).isEmpty();
        assertThat(plain).isEqualTo(yaml);
        assertThat(plain.getFirst().blocks())
                .extracting(b -> b.name() + String.join(",", b.nodes()))
                .containsExactly("an5,n6,n7,n8", "bn3,n1,n2,n4");
    }

    @Test
    void invalidTopologyIsNamed() throws IOException {
        for (String row : """
                topology.conf | SwitchName=s1 Nodes=n1\\nSwitchName=r Switches=s9 | switch r has invalid child (s9)
                topology.conf | SwitchName=a Switches=b\\nSwitchName=b Switches=a | Switches form a loop: a
                topology.yaml | - topology: x\\n  ring: {rings: [{ring: a, nodes: "n[1-17]"}]} | Ring a has 17 nodes, and may have from 1 to 16
                topology.yaml | - topology: x\\n  ring: {rings: [{ring: a, nodes: n1}, {ring: b, nodes: n1}]} | Node n1 is in a ring already
                topology.conf | # none | No switches configured
                topology.yaml | - topology: x\\n  star: 1 | topology x is of no kind that is known: star
                topology.yaml | - topology: x\\n  flat: False | topology x is of no kind that is known
                topology.yaml | - topology: x\\n  flat: true\\n- topology: x\\n  flat: true | topology x has already been defined
                topology.yaml | - flat: true\\n  topology: x | a topology begins with its name
                topology.yaml | - topology: x\\n  flat: true\\n  block: {blocks: [{block: a, nodes: n1}]} | topology x is of more than one kind
                topology.yaml | - topology: x\\n    - y | wrong indentation
                """.split("\n")) {
            String[] cells = row.split("\\|");
            List<ConfigError> errors = new ArrayList<>();
            Files.deleteIfExists(dir.resolve("topology.yaml"));
            read(
                    "TopologyPlugin=topology/tree",
                    cells[0].strip(),
                    cells[1].stripTrailing().substring(1).replace("\\n", "\n") + "\n",
                    errors);
            assertThat(errors).as(row).isNotEmpty();
            assertThat(errors.getFirst().sentence()).as(row).isEqualTo(cells[2].strip());
        }
    }

    /** What a NodeName line says of the node's place is judged here; slurmctld puts the node there. */
    @Test
    void unknownTopologyPlaceOfANodeIsReported() throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        assertThat(read(
                                "TopologyPlugin=topology/tree\nNodeName=m1 Topology=default:s2\nNodeName=m2 "
                                        + "Topology=default:s9\nNodeName=m3 Topology=x:s1",
                                "topology.conf",
                                "SwitchName=root Switches=s[1-2]\nSwitchName=s1 Nodes=n[1-4]\nSwitchName=s2 "
                                        + "Nodes=n[5-8]\n",
                                errors)
                        .getFirst()
                        .switches())
                .extracting(s -> s.nodes().size())
                .containsExactly(8, 4, 4);
        assertThat(errors)
                .extracting(ConfigError::sentence)
                .containsExactly(
                        "NodeName=m2 Topology=default:s9: There is no switch s9 in topology default",
                        "NodeName=m3 Topology=x:s1: There is no topology x");
    }
}
