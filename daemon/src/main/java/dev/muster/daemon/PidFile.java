package dev.muster.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A daemon's pid file. */
public final class PidFile {
    private final Path path;

    /** @throws IOException if it cannot be written */
    public PidFile(String path) throws IOException {
        this.path = Path.of(path);
        Path parent = this.path.getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.write(this.path, (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** Removes it, if it is still ours. */
    public void remove() {
        try {
            String pid = Files.readString(path).trim();
            if (pid.equals(Long.toString(ProcessHandle.current().pid()))) {
                Files.delete(path);
            }
        } catch (IOException e) {
            // gone already, or another daemon's: nothing of ours to remove
        }
    }
}
