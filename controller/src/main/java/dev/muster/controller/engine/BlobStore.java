package dev.muster.controller.engine;

import dev.muster.json.Bytes;
import dev.muster.transport.Hash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Scripts and environments by the SHA-256 of their content. The journal holds each once, so a file here needs no sync
 * of its own until a snapshot lets the journal forget it: {@link #sync}.
 */
public final class BlobStore {
    /**
     * Age at which files without a reference are removed: a submission that is on its way may refer to a younger one.
     */
    static final long UNUSED_KEPT_MS = 3_600_000;
    /**
     * Number of contents kept in memory, the last that were read. Tasks of an array and series of submissions share
     * theirs.
     */
    private static final int RECENT_MAX = 64;

    private static final int RECENT_BYTES_MAX = 1 << 18;
    private final Path directory;
    private final Map<String, Bytes> recent =
            Collections.synchronizedMap(new LinkedHashMap<>(RECENT_MAX * 2, 0.75f, true) {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Bytes> eldest) {
                    return size() > RECENT_MAX;
                }
            });
    private final Set<Path> unsynced = ConcurrentHashMap.newKeySet();
    /** Contents of submissions that are being decided: a refused one leaves no file. */
    private final Map<String, Pending> pending = new HashMap<>();

    private record Pending(Bytes content, int holders) {}

    /** @throws IOException if the directory cannot be made */
    public BlobStore(Path directory) throws IOException {
        this.directory = directory;
        Files.createDirectories(directory, StateDirectory.OWN_DIRECTORY);
    }

    public static String hash(Bytes content) {
        return content.isEmpty() ? "" : Hash.hex(Hash.sha256(content.toArray()));
    }

    private Path file(String hash) {
        return directory.resolve(hash.substring(0, 2)).resolve(hash);
    }

    /** Holds the content of a submission until {@link #settle}: a launch in the meantime reads it from memory. */
    public void offer(String hash, Bytes content) {
        if (!hash.isEmpty()) {
            synchronized (pending) {
                pending.merge(hash, new Pending(content, 1), (had, one) -> new Pending(had.content, had.holders + 1));
            }
        }
    }

    /**
     * Ends an offer. The content of an accepted submission is in the journal by then; if its file cannot be written it
     * stays in memory until {@link #sync}.
     */
    public void settle(String hash, boolean accepted) {
        Pending held;
        synchronized (pending) {
            held = pending.get(hash);
        }
        if (held == null) {
            return;
        }
        if (accepted) {
            try {
                put(hash, held.content);
            } catch (UncheckedIOException e) {
                return;
            }
        }
        synchronized (pending) {
            pending.computeIfPresent(hash, (k, p) -> p.holders == 1 ? null : new Pending(p.content, p.holders - 1));
        }
    }

    /** Writes the content if it is not there yet. */
    public void put(String hash, Bytes content) {
        if (hash.isEmpty()) {
            return;
        }
        try {
            if (Files.exists(file(hash))) {
                keepFromRemoval(hash);
                return;
            }
            Path file = file(hash);
            Files.createDirectories(file.getParent(), StateDirectory.OWN_DIRECTORY);
            Path fresh = Files.createTempFile(file.getParent(), "new", "");
            Files.write(fresh, content.toArray());
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
            unsynced.add(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An old file that is needed again is as young as a new one: {@link #removeUnused} may run with an older state. */
    private void keepFromRemoval(String hash) throws IOException {
        FileTime now = FileTime.fromMillis(System.currentTimeMillis());
        Path file = file(hash);
        if (now.toMillis() - Files.getLastModifiedTime(file).toMillis() > UNUSED_KEPT_MS / 4) {
            Files.setLastModifiedTime(file, now);
        }
    }

    /** @throws UncheckedIOException if it is not there or not what its name says */
    public Bytes read(String hash) {
        if (hash.isEmpty()) {
            return Bytes.EMPTY;
        }
        Bytes known = recent.get(hash);
        if (known != null) {
            return known;
        }
        synchronized (pending) {
            Pending held = pending.get(hash);
            if (held != null) {
                return held.content;
            }
        }
        try {
            Bytes content = Bytes.of(Files.readAllBytes(file(hash)));
            if (!hash(content).equals(hash)) {
                throw new IOException("damaged blob " + file(hash));
            }
            if (content.length() <= RECENT_BYTES_MAX) {
                recent.put(hash, content);
            }
            return content;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes everything written so far durable: after it the journal may forget what it holds. */
    @SuppressWarnings("ModifyCollectionInEnhancedForLoop") // a concurrent set, which bears removals
    public void sync() throws IOException {
        Map<String, Pending> held;
        synchronized (pending) {
            held = new HashMap<>(pending);
        }
        try {
            held.forEach((hash, p) -> put(hash, p.content));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        Set<Path> directories = new java.util.TreeSet<>();
        for (Path file : unsynced) {
            if (Files.exists(file)) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
                directories.add(file.getParent());
            }
            unsynced.remove(file);
        }
        directories.add(directory);
        for (Path d : directories) {
            try (FileChannel channel = FileChannel.open(d, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }

    /** Removes what no job refers to. */
    public void removeUnused(java.util.function.Predicate<String> used, long nowMs) throws IOException {
        try (Stream<Path> files = Files.walk(directory, 2)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!used.test(file.getFileName().toString())
                        && Files.getLastModifiedTime(file).toMillis() + UNUSED_KEPT_MS < nowMs) {
                    recent.remove(file.getFileName().toString());
                    Files.deleteIfExists(file);
                }
            }
        }
    }
}
