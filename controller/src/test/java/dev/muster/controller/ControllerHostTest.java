package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which words of SlurmctldHost let slurmctld start on host ctl of example.org, as in real Slurm. */
class ControllerHostTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "ctl                      | yes",
        "ctl(10.0.0.9)            | yes",
        "ctl.example.org          | yes",
        "localhost                | yes",
        "first,ctl                | yes",
        "127.0.0.1                | no",
        "alias                    | no",
        "elsewhere(127.0.0.1)     | no",
        "ctl.example.com          | no",
        "CTL                      | no",
    })
    void names(String words, String valid, @TempDir Path dir) throws Exception {
        StringBuilder text = new StringBuilder("ClusterName=c\nNodeName=n1\nPartitionName=p Nodes=ALL\n");
        for (String word : words.split(",")) {
            text.append("SlurmctldHost=").append(word).append('\n');
        }
        Path file = Files.writeString(dir.resolve("slurm.conf"), text);
        SlurmConf conf = ((SlurmConf.Parsed.Ok) SlurmConf.read(file.toFile())).conf();
        assertThat(ControllerHost.refusal(conf, new ControllerHost("ctl", "ctl.example.org")).orElse("yes"))
                .isEqualTo(valid.equals("yes") ? "yes" : "This host (ctl/ctl.example.org) not a valid controller");
    }
}
