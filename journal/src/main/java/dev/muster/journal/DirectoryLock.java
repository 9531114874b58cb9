package dev.muster.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps a second process away from a directory; the kernel gives the lock back when the holder dies. It also gives it
 * back when the holder closes any other descriptor of the file, so this process opens the file once.
 */
final class DirectoryLock implements AutoCloseable {
    /** The directory's files are the daemon's alone, whatever its umask. */
    static final FileAttribute<?> OWN_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    static final String FILE_NAME = "lock";

    /** Directories that this process has locked. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final FileChannel channel;
    private final Path held;

    private DirectoryLock(FileChannel channel, Path held) {
        this.channel = channel;
        this.held = held;
    }

    static DirectoryLock take(Path directory) throws IOException {
        Path real = directory.toRealPath();
        if (!HELD.add(real)) {
            throw new JournalException(directory + " is in use by process "
                    + ProcessHandle.current().pid());
        }
        try {
            return new DirectoryLock(open(directory), real);
        } catch (IOException | RuntimeException e) {
            HELD.remove(real);
            throw e;
        }
    }

    private static FileChannel open(Path directory) throws IOException {
        Path file = directory.resolve(FILE_NAME);
        FileChannel channel =
                FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OWN_FILE);
        if (!locked(channel)) {
            channel.close();
            throw new JournalException(directory + " is in use by process " + holder(file));
        }
        channel.truncate(0);
        channel.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)));
        return channel;
    }

    private static boolean locked(FileChannel channel) throws IOException {
        FileLock lock = channel.tryLock();
        return lock != null;
    }

    private static String holder(Path file) throws IOException {
        String pid = Files.readString(file, StandardCharsets.US_ASCII).strip();
        return pid.isEmpty() ? "(unknown)" : pid;
    }

    @Override
    public void close() throws IOException {
        if (channel.isOpen()) {
            channel.close();
            HELD.remove(held);
        }
    }
}
