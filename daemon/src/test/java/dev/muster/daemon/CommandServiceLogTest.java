package dev.muster.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandServiceLogTest {
    @TempDir
    Path dir;

    @Test
    void firstLetterOfALogLineIsItsLevel() throws IOException {
        Path file = dir.resolve("log");
        DaemonLog log = new DaemonLog("test", file.toString(), false, DaemonLog.INFO, "", 0);
        CommandServiceLog.write("iservice does not start", log);
        CommandServiceLog.write("vservice started", log);
        CommandServiceLog.write("", log);
        log.level(DaemonLog.VERBOSE);
        CommandServiceLog.write("vservice started again", log);
        assertThat(Files.readAllLines(file))
                .map(l -> l.replaceAll("^\\[[^]]*] ", ""))
                .containsExactly("service does not start", "service started again");
    }
}
