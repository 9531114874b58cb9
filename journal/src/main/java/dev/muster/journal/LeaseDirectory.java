package dev.muster.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The lease of a journal in a directory that several controllers share: the files by which they agree on the leader.
 *
 * <p>{@code epoch} holds the number of the current term and the member that leads in it. Only a member that begins a
 * term writes it, under a file lock. {@code heartbeat.N} is the sign of life of member N: its own process alone writes
 * it. A member judges the age of another's heartbeat by its own clock: the hosts' clocks need not agree.
 *
 * <p>Files are written in place and opened for each read, so that a network file system with close-to-open consistency
 * (NFS) shows each write to the other host.
 */
final class LeaseDirectory {
    private static final String NAME = "lease";
    private static final int RECORD_BYTES = 128;
    private static final int READS_MAX = 50;
    private static final int READ_PAUSE_MS = 20;

    private final Path directory;

    /** @param state StateSaveLocation */
    LeaseDirectory(Path state) {
        directory = state.resolve(NAME);
    }

    /** The current term and the member that leads in it. Term 0: none has begun. */
    record Epoch(long term, int member) {
        static final Epoch NONE = new Epoch(0, -1);
    }

    /** What a member last did. */
    enum Activity {
        LEADS,
        /** It has left its term, and another one may begin at once. */
        RELEASED,
        STANDS_BY
    }

    /**
     * A sign of life.
     *
     * @param count grows with each heartbeat of a process
     * @param successor member that is to lead next; -1 for any
     */
    record Heartbeat(long term, long count, Activity activity, int successor) {}

    boolean exists() {
        return Files.exists(directory.resolve("id"));
    }

    /** Returns the directory's id, making it if it is absent. Hosts with different ids do not share the directory. */
    UUID id() throws IOException {
        Path file = directory.resolve("id");
        if (!Files.exists(file)) {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Path fresh = Files.createTempFile(directory, "id", "");
            Files.writeString(fresh, UUID.randomUUID().toString());
            try {
                Files.createLink(file, fresh); // unlike a move, it keeps what another host has made meanwhile
            } catch (FileAlreadyExistsException e) {
                // the other host's id counts
            } catch (UnsupportedOperationException e) {
                Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
            }
            Files.deleteIfExists(fresh);
        }
        return UUID.fromString(Files.readString(file).strip());
    }

    Epoch epoch() throws IOException {
        String[] words = record(directory.resolve("epoch"));
        return words.length < 2 ? Epoch.NONE : new Epoch(Long.parseLong(words[0]), Integer.parseInt(words[1]));
    }

    /**
     * Begins the term after one.
     *
     * @return whether it has begun: another member may have been faster
     */
    boolean begin(Epoch before, int member) throws IOException {
        try (FileChannel channel = FileChannel.open(
                        directory.resolve("epoch"),
                        Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                        DirectoryLock.OWN_FILE);
                FileLock lock = channel.tryLock()) {
            if (lock == null || !epoch().equals(before)) {
                return false;
            }
            write(channel, before.term() + 1 + " " + member);
            channel.force(true);
            Directories.sync(directory);
            return true;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    Optional<Heartbeat> heartbeat(int member) throws IOException {
        String[] words = record(directory.resolve("heartbeat." + member));
        return words.length < 4
                ? Optional.empty()
                : Optional.of(new Heartbeat(
                        Long.parseLong(words[0]),
                        Long.parseLong(words[1]),
                        Activity.valueOf(words[2]),
                        Integer.parseInt(words[3])));
    }

    void beat(int member, Heartbeat heartbeat) throws IOException {
        try (FileChannel channel = FileChannel.open(
                directory.resolve("heartbeat." + member),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                DirectoryLock.OWN_FILE)) {
            write(
                    channel,
                    heartbeat.term() + " " + heartbeat.count() + " " + heartbeat.activity() + " "
                            + heartbeat.successor());
        }
    }

    /** Writes a record with its own check: a reader may meet half of it. */
    private static void write(FileChannel channel, String words) throws IOException {
        String line = words + " " + Integer.toHexString(words.hashCode());
        byte[] bytes = (line + " ".repeat(RECORD_BYTES - 1 - line.length()) + "\n").getBytes(StandardCharsets.US_ASCII);
        Disk.REAL.write(channel, ByteBuffer.wrap(bytes), 0);
    }

    /** Returns the words of a record without its check; none where it was never written. */
    private static String[] record(Path file) throws IOException {
        for (int i = 0; i < READS_MAX; i++) {
            String line;
            try {
                line = Files.readString(file, StandardCharsets.US_ASCII).strip();
            } catch (NoSuchFileException e) {
                return new String[0];
            }
            if (line.isEmpty()) {
                return new String[0]; // made, and not written yet
            }
            int check = line.lastIndexOf(' ');
            if (check > 0
                    && Integer.toHexString(line.substring(0, check).hashCode()).equals(line.substring(check + 1))) {
                return line.substring(0, check).split(" ");
            }
            pause();
        }
        throw new IOException(file + " is damaged");
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(READ_PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
