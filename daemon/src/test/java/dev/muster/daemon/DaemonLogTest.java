package dev.muster.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DaemonLogTest {
    @Test
    void exceptionWithoutMessageIsAnUnknownError(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("log");
        DaemonLog log = new DaemonLog("slurmd", file.toString(), false, 9, "");
        log.error(new IOException().getMessage());
        assertThat(Files.readString(file)).endsWith("error: unknown error\n");
    }
}
