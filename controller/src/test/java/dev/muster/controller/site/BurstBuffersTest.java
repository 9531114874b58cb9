package dev.muster.controller.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.controller.Site;
import dev.muster.controller.lua.BufferScript;
import dev.muster.core.command.Command;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BurstBuffersTest {
    @TempDir
    private Path dir;

    private SlurmConf conf(String lines) throws IOException {
        Path file = dir.resolve("slurm.conf");
        Files.writeString(file, """
                ClusterName=c
                SlurmctldHost=h
                StateSaveLocation=%s
                NodeName=n1
                PartitionName=p Nodes=ALL Default=YES
                %s
                """.formatted(dir, lines));
        return switch (SlurmConf.read(file.toFile())) {
            case SlurmConf.Parsed.Ok ok -> ok.conf();
            case SlurmConf.Parsed.Invalid bad ->
                throw new AssertionError(bad.errors().toString());
        };
    }

    /** All functions succeed; stage-in begins with one that lasts until the file {@code go} is there. */
    private String script() {
        StringBuilder out = new StringBuilder();
        for (String function : BufferScript.FUNCTIONS) {
            out.append("function ").append(function).append("() return slurm.SUCCESS end\n");
        }
        return out.append("""
                function slurm_bb_setup()
                  os.execute("touch %1$s/begun; while ! test -e %1$s/go; do sleep 0.05; done")
                  return slurm.SUCCESS
                end
                """.formatted(dir)).toString();
    }

    private static State stagingIn() {
        Site site = new Site();
        site.submit("");
        BurstBuffer staging = new BurstBuffer(1, BurstBuffer.Stage.STAGING_IN, 1, 0, 0, "", 0, "", false, 0, List.of());
        return site.core().state().apply(new Entry(1, 1, -1, "Test", List.of(new Change.BufferChanged(staging))));
    }

    @Test
    void stageInThatHasBegunEndsWithTheSettingsThatItBeganWith() throws IOException, InterruptedException {
        Files.writeString(dir.resolve("burst_buffer.lua"), script());
        SlurmConf with = conf("BurstBufferType=burst_buffer/lua");
        BlockingQueue<Command> commands = new LinkedBlockingQueue<>();
        BurstBuffers buffers = new BurstBuffers(
                () -> with, new DaemonLog("slurmctld", dir + "/log", false, 3, ""), commands::add, h -> Bytes.EMPTY);
        assertThat(buffers.configure(with)).isEmpty();
        buffers.resume(stagingIn());
        for (int i = 0; i < 600 && !Files.exists(dir.resolve("begun")); i++) {
            Thread.sleep(50);
        }
        assertThat(buffers.configure(conf(""))).isEmpty();
        Files.createFile(dir.resolve("go"));
        assertThat(commands.poll(30, TimeUnit.SECONDS)).isEqualTo(new Command.BufferStage(1, 1, true, "", 0));
    }
}
