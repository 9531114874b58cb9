package dev.muster.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** A daemon's pid file. */
public final class PidFile {
    private final Path path;

    private PidFile(Path path) {
        this.path = path;
    }

    /** @throws IOException if it cannot be written */
    public PidFile(String path) throws IOException {
        this(Path.of(path));
        Path parent = this.path.getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.write(this.path, (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII));
        Files.setPosixFilePermissions(this.path, PosixFilePermissions.fromString("rw-r--r--"));
    }

    /** As Slurm has it, a daemon serves also where the file cannot be written, and the log says so. */
    public static PidFile make(String key, String path, DaemonLog log) {
        try {
            return new PidFile(path);
        } catch (IOException e) {
            log.error("Unable to open pidfile `" + path + "' (" + key + "): " + StartErrors.reason(e));
            return new PidFile(Path.of(path));
        }
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
