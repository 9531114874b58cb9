package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.controller.config.ConfigBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CoreSpecCount of a node's line → the cores that jobs do not get, as Debian's Slurm says. */
class SpecialCoresTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Sockets=2 CoresPerSocket=4 CoreSpecCount=2 |                                   | 3,7",
                "Sockets=2 CoresPerSocket=4 CoreSpecCount=3 |                                   | 3,6-7",
                "Sockets=2 CoresPerSocket=4 CoreSpecCount=2 | SchedulerParameters=spec_cores_first | 0,4",
                "Sockets=2 CoresPerSocket=4 CoreSpecCount=3 | SchedulerParameters=spec_cores_first | 0-1,4",
                "Sockets=1 CoresPerSocket=8 CoreSpecCount=2 |                                   | 6-7",
                "Sockets=2 CoresPerSocket=4 CpuSpecList=1,5 | SchedulerParameters=spec_cores_first | 1,5"
            })
    void coreSpecReservesCoresOfEachSocketInTurn(String node, String setting, String kept) throws Exception {
        Path file = directory.resolve("slurm.conf");
        Files.writeString(
                file,
                "ClusterName=c\nSlurmctldHost=h\n" + (setting == null ? "" : setting + "\n")
                        + "NodeName=n CPUs=8 ThreadsPerCore=1 " + node
                        + "\nPartitionName=p Nodes=n\n");
        if (!(SlurmConf.read(file.toFile()) instanceof SlurmConf.Parsed.Ok ok)) {
            throw new AssertionError(node);
        }
        assertThat(ConfigBridge.command(ok.conf(), 0)
                        .nodes()
                        .getFirst()
                        .reservedUnits()
                        .compact())
                .isEqualTo(kept);
    }
}
