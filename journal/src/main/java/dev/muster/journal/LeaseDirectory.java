package dev.muster.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The lease of a journal in a directory that several controllers share: the files by which they agree on the leader.
 *
 * <p>{@code epoch} holds the number of the current term, the member that leads in it, and the newest complete
 * generation of the journal. Only a member that begins a term writes it, under a lock of the file {@code lock}, which
 * nothing else opens: POSIX drops a process's lock of a file when it closes any descriptor of that file.
 * {@code heartbeat.N} is the sign of life of member N: its own process alone writes it. A member judges the age of
 * another's heartbeat by its own clock: the hosts' clocks need not agree.
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
    private @Nullable UUID knownId;

    /** @param state StateSaveLocation */
    LeaseDirectory(Path state) {
        directory = state.resolve(NAME);
    }

    /**
     * The current term.
     *
     * @param term grows with each leader; 0 if none has begun
     * @param member the member that leads
     * @param generation term of the newest complete generation of the journal; 0 for the first
     */
    record Epoch(long term, int member, long generation) {
        static final Epoch NONE = new Epoch(0, -1, 0);

        /** @param newest highest term of the generations that a listing shows: no term is used twice */
        Epoch next(int leader, long newest) {
            return new Epoch(Math.max(term, newest) + 1, leader, term == 0 ? newest : generation);
        }

        /** Tests whether it is the same leader's term, whatever generation is complete. */
        boolean isTermOf(Epoch other) {
            return term == other.term && member == other.member;
        }

        private Epoch complete() {
            return new Epoch(term, member, term);
        }
    }

    /** State of a member at its last heartbeat. */
    enum Activity {
        /** Its term has begun, and it reads the journal. */
        STARTS,
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
    synchronized UUID id() throws IOException {
        if (knownId == null) {
            knownId = readId();
        }
        return knownId;
    }

    private UUID readId() throws IOException {
        Path file = directory.resolve("id");
        if (!Files.exists(file)) {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Path fresh = Files.createTempFile(directory, "id", "");
            try (FileChannel channel = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
                Disk.REAL.write(
                        channel, ByteBuffer.wrap(UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII)), 0);
                channel.force(true);
                link(file, fresh);
                Directories.sync(directory);
            } finally {
                Files.deleteIfExists(fresh);
            }
        }
        String id = Files.readString(file).strip();
        try {
            return UUID.fromString(id);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + " is damaged: remove it", e);
        }
    }

    /** Unlike a move, a link keeps what another host has made meanwhile. */
    private static void link(Path file, Path fresh) throws IOException {
        try {
            Files.createLink(file, fresh);
        } catch (FileAlreadyExistsException e) {
            // the other host's id counts
        } catch (UnsupportedOperationException | FileSystemException e) {
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE); // a file system without links
        }
    }

    Epoch epoch() throws IOException {
        String[] words = record(directory.resolve("epoch"));
        return words.length < 3
                ? Epoch.NONE
                : new Epoch(Long.parseLong(words[0]), Integer.parseInt(words[1]), Long.parseLong(words[2]));
    }

    /**
     * Begins a term.
     *
     * @param before the term that this member has seen last
     * @return whether it has begun: another member may have been faster
     */
    boolean begin(Epoch before, Epoch next) throws IOException {
        return replace(before, next);
    }

    /**
     * Notes that the generation of a term is complete: the next leader begins with its files. A directory listing alone
     * would not do, as a network file system may show an old one.
     *
     * @return false if another term has begun
     */
    boolean complete(Epoch term) throws IOException {
        return replace(term, term.complete());
    }

    /** Forgets all generations. The next term is none that was before. */
    void clear() throws IOException {
        Epoch before = epoch();
        if (exists() && !replace(before, new Epoch(before.term() + 1, before.member(), 0))) {
            throw new IOException(directory + ": another controller leads");
        }
    }

    private synchronized boolean replace(Epoch before, Epoch after) throws IOException {
        Set<StandardOpenOption> create = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try (FileChannel locked = FileChannel.open(directory.resolve("lock"), create, DirectoryLock.OWN_FILE);
                FileLock lock = locked.tryLock();
                FileChannel channel = FileChannel.open(directory.resolve("epoch"), create, DirectoryLock.OWN_FILE)) {
            if (lock == null || !epoch().equals(before)) {
                return false;
            }
            write(channel, after.term() + " " + after.member() + " " + after.generation());
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
