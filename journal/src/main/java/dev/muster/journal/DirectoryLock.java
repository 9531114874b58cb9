package dev.muster.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Keeps a second process away from a directory; the kernel gives the lock back when the holder dies. */
final class DirectoryLock implements AutoCloseable {
    /** The directory's files are the daemon's alone, whatever its umask. */
    static final FileAttribute<?> OWN_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    static final String FILE_NAME = "lock";

    private final FileChannel channel;

    private DirectoryLock(FileChannel channel) {
        this.channel = channel;
    }

    static DirectoryLock take(Path directory) throws IOException {
        Path file = directory.resolve(FILE_NAME);
        FileChannel channel =
                FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OWN_FILE);
        if (!locked(channel)) {
            channel.close();
            throw new JournalException(directory + " is in use by process " + holder(file));
        }
        channel.truncate(0);
        channel.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)));
        return new DirectoryLock(channel);
    }

    private static boolean locked(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException inThisProcess) {
            return false;
        }
    }

    private static String holder(Path file) throws IOException {
        String pid = Files.readString(file, StandardCharsets.US_ASCII).strip();
        return pid.isEmpty() ? "(unknown)" : pid;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
