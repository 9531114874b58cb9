package dev.muster.controller.ha;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which words of SlurmctldHost let slurmctld start on a host, by the kernel's name of it, as in 26.05.3. */
class ControllerHostTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ctl             | ctl                   | yes",
                "ctl             | ctl(10.0.0.9)         | yes",
                "ctl             | localhost             | yes",
                "ctl             | ctl,second            | yes",
                "ctl             | first,second,ctl      | yes",
                "ctl             | 127.0.0.1             | ctl/ctl",
                "ctl             | alias                 | ctl/ctl",
                "ctl             | elsewhere(127.0.0.1)  | ctl/ctl",
                "ctl             | CTL                   | ctl/ctl",
                // also where a resolver has this name for it
                "ctl             | ctl.example.org       | ctl/ctl",
                "ctl.example.org | ctl.example.org       | yes",
                "ctl.example.org | ctl                   | yes",
                "ctl.example.org | ctl.example.com       | ctl/ctl.example.org",
                "ctl.example.org | ctl.example           | ctl/ctl.example.org",
            })
    void slurmctldStartsOnlyOnItsNamedHosts(String kernelName, String words, String expected, @TempDir Path dir)
            throws Exception {
        StringBuilder text = new StringBuilder("ClusterName=c\nNodeName=n1\nPartitionName=p Nodes=ALL\n");
        for (String word : words.split(",")) {
            text.append("SlurmctldHost=").append(word).append('\n');
        }
        Path file = Files.writeString(dir.resolve("slurm.conf"), text);
        SlurmConf conf = ((SlurmConf.Parsed.Ok) SlurmConf.read(file.toFile())).conf();
        assertThat(ControllerHost.refusal(conf, ControllerHost.named(kernelName))
                        .orElse("yes"))
                .isEqualTo(expected.equals("yes") ? "yes" : "This host (" + expected + ") not a valid controller");
    }

    @Test
    void eachOfTwoControllersStarts(@TempDir Path dir) throws Exception {
        Path file = Files.writeString(
                dir.resolve("slurm.conf"),
                "ClusterName=c\nSlurmctldHost=first\nSlurmctldHost=ctl\nNodeName=n1\nPartitionName=p Nodes=ALL\n");
        SlurmConf conf = ((SlurmConf.Parsed.Ok) SlurmConf.read(file.toFile())).conf();
        assertThat(ControllerHost.refusal(conf, ControllerHost.named("first"))).isEmpty();
        assertThat(ControllerHost.refusal(conf, ControllerHost.named("ctl"))).isEmpty();
        assertThat(ControllerHost.named("ctl").index(conf)).isEqualTo(1);
    }
}
