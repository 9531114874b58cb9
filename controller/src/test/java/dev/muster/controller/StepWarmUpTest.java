package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.controller.config.ConfigBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A warm-up that starts no step would warm nothing and never be missed. */
class StepWarmUpTest {
    @TempDir
    private Path directory;

    private int steps(String text) throws Exception {
        Path file = directory.resolve("slurm.conf");
        Files.writeString(
                file,
                "SelectTypeParameters=CR_CORE_MEMORY\nMessageTimeout=10\nClusterName=c\nSlurmctldHost=h\n" + text);
        if (!(SlurmConf.read(file.toFile()) instanceof SlurmConf.Parsed.Ok ok)) {
            throw new AssertionError(text);
        }
        return new StepWarmUp(ConfigBridge.command(ok.conf(), 0)).run(System.nanoTime() + 60_000_000_000L);
    }

    @Test
    void stepsComeToTheirEnd() throws Exception {
        assertThat(steps("NodeName=n[1-9] CPUs=2 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES\n"))
                .isEqualTo(300);
    }

    @Test
    void anIdleClusterWithoutNodesEndsAtOnce() throws Exception {
        assertThat(steps("NodeName=n1 State=DOWN\nPartitionName=p Nodes=n1 Default=NO\n"))
                .isZero();
    }
}
