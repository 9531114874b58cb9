package dev.muster.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PidFileTest {
    private static final String OWN = ProcessHandle.current().pid() + "\n";

    @TempDir
    Path dir;

    private static DaemonLog log() throws IOException {
        return new DaemonLog("test", "", true, 0, "");
    }

    @Test
    void pidFileKeepsTheOldPidUntilTheDaemonServes() throws IOException {
        Path file = Files.writeString(dir.resolve("a.pid"), "1234567\n");
        PidFile pid = PidFile.open("PidFile", file.toString(), log());
        assertThat(file).hasContent("1234567\n");
        pid.remove();
        assertThat(file).as("another daemon's").hasContent("1234567\n");
        pid.write(log());
        assertThat(file).hasContent(OWN);
        pid.remove();
        assertThat(file).doesNotExist();
    }

    @Test
    void aLinkIsNotFollowed() throws IOException {
        Path victim = Files.writeString(dir.resolve("victim"), "x");
        Path file = Files.createSymbolicLink(dir.resolve("b.pid"), victim);
        PidFile.make("PidFile", file.toString(), log()).remove();
        assertThat(victim).hasContent("x");
    }

    @Test
    void aDirectoryThatIsMissingIsMade() throws IOException {
        Path file = dir.resolve("run/c.pid");
        PidFile.make("PidFile", file.toString(), log());
        assertThat(file).hasContent(OWN);
    }
}
