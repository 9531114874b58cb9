package dev.muster.daemon;

import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/**
 * A daemon's pid file. It is opened as the user that starts the daemon, and written when the daemon serves: until then
 * it names the one before.
 */
public final class PidFile {
    private final Path path;
    private final Optional<FileChannel> channel;

    private PidFile(Path path, Optional<FileChannel> channel) {
        this.path = path;
        this.channel = channel;
    }

    /** Opens the file. As in Slurm, a daemon also serves if that fails, and logs the failure. */
    public static PidFile open(String key, String path, DaemonLog log) {
        Path file = Path.of(path);
        try {
            if (file.getParent() != null) {
                Files.createDirectories(file.getParent());
            }
            FileChannel channel = FileChannel.open(
                    file,
                    Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
            return new PidFile(file, Optional.of(channel));
        } catch (IOException e) {
            log.error("Unable to open pidfile `" + path + "' (" + key + "): " + ErrorSentence.reason(e));
            return new PidFile(file, Optional.empty());
        }
    }

    /** Opened and written. */
    public static PidFile make(String key, String path, DaemonLog log) {
        PidFile out = open(key, path, log);
        out.write(log);
        return out;
    }

    /** Writes the number of this process. */
    public void write(DaemonLog log) {
        try {
            if (channel.isPresent()) {
                byte[] line = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
                channel.get().truncate(0);
                channel.get().write(ByteBuffer.wrap(line), 0);
            }
        } catch (IOException e) {
            log.error("Unable to write pidfile `" + path + "': " + ErrorSentence.reason(e));
        }
    }

    public Path path() {
        return path;
    }

    /** Removes it, if it is still ours; where the directory is root's alone, it is emptied. */
    public void remove() {
        try {
            String pid = Files.readString(path).trim();
            if (!pid.equals(Long.toString(ProcessHandle.current().pid()))) {
                return;
            }
            try {
                Files.delete(path);
            } catch (IOException e) {
                if (channel.isPresent()) {
                    channel.get().truncate(0);
                }
            }
        } catch (IOException e) {
            // gone already, or another daemon's: nothing of ours to remove
        }
    }
}
