package dev.muster.journal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The journal's directories in a StateSaveLocation that controllers share. Each term has a generation of its own,
 * {@code journal.TERM}, so that a former leader that comes back writes into files that no one reads any more. A
 * generation begins with the files of the one before: links of all that is complete, and a copy of the last segment.
 *
 * <p>The first generation, and the only one of a single controller, is {@code journal}.
 */
public final class JournalGenerations {
    private static final String FIRST = "journal";
    private static final String UNFINISHED = ".new";

    private JournalGenerations() {}

    /**
     * Returns the directory of the newest complete generation.
     *
     * @param state StateSaveLocation
     */
    public static Path newest(Path state) throws IOException {
        LeaseDirectory.Epoch epoch = new LeaseDirectory(state).epoch();
        return directory(state, epoch.term() == 0 ? highest(state) : epoch.generation());
    }

    /** Returns the highest term of a generation in the directory, complete or not; 0 for none. */
    static long highest(Path state) throws IOException {
        return all(state).stream()
                .filter(g -> !g.toString().endsWith(UNFINISHED))
                .mapToLong(JournalGenerations::term)
                .max()
                .orElse(0);
    }

    private static Path directory(Path state, long generation) {
        return state.resolve(generation == 0 ? FIRST : FIRST + "." + generation);
    }

    /**
     * Returns whether several controllers share, or have shared, the directory: its journal is written under a lease.
     */
    public static boolean isLeased(Path state) {
        return new LeaseDirectory(state).exists();
    }

    /** Returns all generations after the first, those included that were never complete. */
    private static List<Path> all(Path state) throws IOException {
        if (!Files.isDirectory(state)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(state)) {
            return files.filter(f -> f.getFileName().toString().matches(FIRST + "\\.[0-9]{1,18}(\\.new)?"))
                    .toList();
        }
    }

    private static long term(Path generation) {
        return Long.parseLong(generation.getFileName().toString().split("\\.")[1]);
    }

    /**
     * Makes the generation of a term. The term has begun already: what its predecessor's leader syncs from now on is
     * acknowledged to no caller.
     *
     * @param generation term of the newest complete generation
     * @return its directory
     */
    static Path begin(Path state, long generation, long term) throws IOException {
        Path source = directory(state, generation);
        List<Path> files = files(source);
        if (generation > 0 && files.isEmpty()) {
            throw new NoSuchFileException(source.toString()); // not visible yet, or removed by hand
        }
        Path done = directory(state, term);
        Path fresh = state.resolve(FIRST + "." + term + UNFINISHED);
        delete(fresh);
        Files.createDirectory(
                fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path lastSegment = files.stream()
                .filter(f -> f.getFileName().toString().startsWith(Segment.PREFIX))
                .reduce((a, b) -> b)
                .orElse(source);
        for (Path file : files) {
            Path target = fresh.resolve(file.getFileName());
            if (file.equals(lastSegment)) {
                copy(file, target);
            } else {
                link(file, target);
            }
        }
        Directories.sync(fresh);
        Files.move(fresh, done, StandardCopyOption.ATOMIC_MOVE);
        Directories.sync(state);
        return done;
    }

    /** Removes the generations before a term's, once that is in use. */
    static void removeBefore(Path state, long term) throws IOException {
        for (Path generation : all(state)) {
            if (term(generation) < term) {
                delete(generation);
            }
        }
        // the directory of the first generation stays: a StateSaveLocation is known by it
        for (Path file : files(state.resolve(FIRST))) {
            Files.deleteIfExists(file);
        }
        Files.deleteIfExists(state.resolve(FIRST).resolve(Segment.SPARE));
    }

    /** Removes all generations: {@code slurmctld -c}. */
    public static void removeAll(Path state) throws IOException {
        new LeaseDirectory(state).clear();
        removeBefore(state, Long.MAX_VALUE);
    }

    /** Returns segments and snapshots in the order of their entries. */
    private static List<Path> files(Path generation) throws IOException {
        if (!Files.isDirectory(generation)) {
            return List.of();
        }
        List<Path> out = new ArrayList<>();
        try (Stream<Path> all = Files.list(generation)) {
            all.filter(JournalGenerations::isJournal).sorted().forEach(out::add);
        }
        return out;
    }

    private static boolean isJournal(Path file) {
        String name = file.getFileName().toString();
        return name.startsWith(Segment.PREFIX) && name.endsWith(Segment.SUFFIX)
                || name.startsWith(SnapshotFile.PREFIX) && name.endsWith(SnapshotFile.SUFFIX);
    }

    private static void link(Path file, Path target) throws IOException {
        try {
            Files.createLink(target, file);
        } catch (UnsupportedOperationException | FileSystemException e) {
            copy(file, target); // a file system without links
        }
    }

    private static void copy(Path file, Path target) throws IOException {
        Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel channel = FileChannel.open(target, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(directory);
    }
}
