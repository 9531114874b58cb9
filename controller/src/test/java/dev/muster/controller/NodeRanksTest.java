package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.core.state.Node;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** TopologyParam → the order of the nodes. shows: TopologyParam */
class NodeRanksTest {
    private static final String SWITCHES =
            "SwitchName=a Nodes=n[2,4]\nSwitchName=b Nodes=n[1,5]\nSwitchName=top Switches=a,b\n";
    private static final String BLOCKS = "BlockName=a Nodes=n[2,4]\nBlockName=b Nodes=n[1,5]\nBlockSizes=2\n";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tree  |                  | n1 n2 n3 n4 n5",
                "tree  | SwitchAsNodeRank | n3 n2 n4 n1 n5",
                "tree  | BlockAsNodeRank  | n1 n2 n3 n4 n5",
                "block | BlockAsNodeRank  | n3 n2 n4 n1 n5",
                "block | SwitchAsNodeRank | n1 n2 n3 n4 n5",
                "flat  | SwitchAsNodeRank | n1 n2 n3 n4 n5"
            })
    void nodesOfOneSwitchAreNeighbours(String plugin, String parameter, String order) throws Exception {
        Path file = directory.resolve("slurm.conf");
        Files.writeString(
                file,
                "ClusterName=c\nSlurmctldHost=h\nTopologyPlugin=topology/" + plugin
                        + (parameter == null ? "" : "\nTopologyParam=" + parameter)
                        + "\nNodeName=n[1-5]\nPartitionName=p Nodes=ALL\n");
        Files.writeString(directory.resolve("topology.conf"), plugin.equals("block") ? BLOCKS : SWITCHES);
        if (!(SlurmConf.read(file.toFile()) instanceof SlurmConf.Parsed.Ok ok)) {
            throw new AssertionError(order);
        }
        assertThat(ConfigBridge.command(ok.conf(), 0).nodes().stream()
                        .sorted(Comparator.comparingInt(Node.Spec::order))
                        .map(Node.Spec::name)
                        .collect(Collectors.joining(" ")))
                .isEqualTo(order);
    }
}
