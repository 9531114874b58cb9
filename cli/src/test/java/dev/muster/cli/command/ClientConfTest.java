package dev.muster.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands read slurm.conf as the daemons do. */
class ClientConfTest {
    @TempDir
    Path dir;

    private ClientConf read(String text) throws Exception {
        Path file = Files.writeString(dir.resolve("slurm.conf"), text);
        return ClientConf.read(file.toString(), (path, most) -> Files.readAllBytes(Path.of(path)));
    }

    @Test
    void includedFilesAreRead() throws Exception {
        Files.createDirectory(dir.resolve("d"));
        Files.writeString(dir.resolve("d/b.conf"), "WaitTime=2\n");
        Files.writeString(dir.resolve("d/a.conf"), "WaitTime=1\nInclude beside.conf\n");
        Files.writeString(dir.resolve("d/.c.conf"), "WaitTime=3\n");
        Files.writeString(dir.resolve("beside.conf"), "InactiveLimit=7\n");
        Files.writeString(dir.resolve("of-x"), "EioTimeout=9\n");
        ClientConf conf =
                read("ClusterName=x\nKillWait=5\nInclude d/*.conf\ninclude of-%c\nSlurmctld\\\nHost=h(1.2.3.4)\n");
        assertThat(conf.waitTime).isEqualTo(2);
        assertThat(conf.inactiveLimit).isEqualTo(7);
        assertThat(conf.eioTimeout).isEqualTo(9);
        assertThat(conf.killWait).isEqualTo(5);
        assertThat(conf.servers.toString()).contains("1.2.3.4");
    }
}
