package dev.muster.config.sister;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.model.cluster.LayeredResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResourcesYamlTest {
    @TempDir
    Path dir;

    private List<LayeredResource> read(String text, List<ConfigError> errors) throws IOException {
        Files.writeString(
                dir.resolve("slurm.conf"),
                "ClusterName=c\nSlurmctldHost=h\nLicenses=fluent:4\nTopologyPlugin=topology/block\n"
                        + "NodeName=n[1-8]\nPartitionName=p Nodes=ALL\n");
        Files.writeString(
                dir.resolve("topology.conf"), "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4\n");
        Files.writeString(dir.resolve("resources.yaml"), text);
        return ResourcesYaml.read(
                ((SlurmConf.Parsed.Ok) SlurmConf.read(dir.resolve("slurm.conf").toFile())).conf(), errors);
    }

    @Test
    void layersAndNamedCountsAreRead() throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        List<LayeredResource> all = read("""
                ---
                - resource: natural
                  mode: MODE_1
                  layers:
                  - nodes: "n1"      # as one word
                    count: -1
                - resource: power
                  mode: MODE_3
                  topology: default
                  variables:
                    - name: full
                      value: 100
                  layers:
                    - nodes:
                        - "n[1-4]"
                      count: 500
                      base:
                        - name: storage
                          value: 20
                        - name: net
                          value: 5
                    - nodes:
                        - "n[5-6]"
                        - "n[7-8]"
                      count: 400
                    - nodes:
                        - "n[1-8]"
                      count: 700
                      base:
                        - name: air
                          value: 50
                """, errors);
        assertThat(errors).isEmpty();
        assertThat(all).extracting(LayeredResource::name).containsExactly("natural", "power");
        assertThat(all.getFirst().layers().getFirst().count()).isEqualTo(-1);
        LayeredResource power = all.getLast();
        assertThat(power.variables()).containsEntry("full", 100);
        assertThat(power.layers())
                .extracting(l -> power.pool(l) + " " + l.count() + " " + power.baseOf(l))
                .containsExactly("power(n[1-4]) 500 25", "power(n[5-8]) 400 0", "power(n[1-8]) 700 75");
        assertThat(power.of("n3")).extracting(LayeredResource.Layer::count).containsExactly(500, 700);
    }

    /** What is written behind the name of the resource, on lines that are separated by semicolons. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            r      | mode: MODE_4 | mode of resource r is none of MODE_1, MODE_2 and MODE_3
            r      | mode: MODE_1 | resource r has no layers
            fluent | mode: MODE_1;layers:;- nodes: n1;  count: 1 | resource fluent is a license of the cluster already
            a@b    | mode: MODE_1;layers:;- nodes: n1;  count: 1 | "a@b" is no name of a resource
            r      | mode: MODE_1;colour: red;layers:;- nodes: n1;  count: 1 | "colour" is no key of resource r
            r      | mode: MODE_1;layers:;- nodes: n9;  count: 1 | node n9 of resource r is not in slurm.conf
            r      | mode: MODE_1;layers:;- nodes: n1;  count: x | "x" of resource r is not a valid number
            r      | mode: MODE_1;layers:;- nodes: n1;  count: -2 | "-2" of resource r is not a valid number
            r      | mode: MODE_1;layers:;- nodes: n1;  count: 1;  size: 2 | "size" is no key of a layer of resource r
            r      | mode: MODE_2;layers:;- nodes: n1;  count: 1;- nodes: n1;  count: 2 | two layers of resource r have the same nodes: n1
            r | mode: MODE_3;layers:;- nodes: n1;  count: 1;- nodes: n2;  count: 2 | layers of resource r are no tree
            r      | mode: MODE_3;layers:;- nodes: n[1-3];  count: 1;- nodes: n[3-4];  count: 2;- nodes: n[1-4];  count: 2 | are no tree
            r      | mode: MODE_3;layers:;- nodes: n[1-3];  count: 1;- nodes: n1;  count: 2 | layers of resource r are no tree
            r      | mode: MODE_1;topology: default;layers:;- nodes: n1;  count: 1 | topology of resource r needs MODE_3
            r      | mode: MODE_3;topology: nosuch;layers:;- nodes: n1;  count: 1 | topology nosuch of resource r is no topology/block
            r      | mode: MODE_3;topology: default;layers:;- nodes: n[1-8];  count: 1 | layers of resource r are not the blocks of topology default
            """)
    void invalidResourcesYamlIsReported(String name, String lines, String sentence) throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        read("- resource: " + name + "\n  " + lines.replace(";", "\n  ") + "\n", errors);
        assertThat(errors).isNotEmpty();
        assertThat(errors.getFirst().message())
                .startsWith(dir.resolve("resources.yaml") + ": ")
                .contains(sentence);
    }
}
