package dev.muster.controller.engine;

import dev.muster.journal.JournalGenerations;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * StateSaveLocation: its owner, the entries that slurmctld makes and their modes, and the file {@code highest}, which
 * remembers the newest entry of the journal. Used by the controller when it starts and once a second after that.
 */
public final class StateDirectory {
    private static final String KEY = "StateSaveLocation=";
    private static final String NAME_FILE = "clustername";
    private static final String HIGHEST_FILE = "highest";
    private static final int NAME_BYTES_MAX = 1024;
    /** Files that Slurm's own slurmctld keeps its state in. */
    private static final List<String> OF_SLURM = List.of(
            "job_state",
            "node_state",
            "part_state",
            "resv_state",
            "trigger_state",
            "assoc_mgr_state",
            "assoc_usage",
            "qos_usage",
            "last_tres",
            "fed_mgr_state",
            "last_config_lite",
            "priority_last_decay_ran");

    static final FileAttribute<?> OWN_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    static final FileAttribute<?> OWN_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path directory;
    private HighestIds written = HighestIds.NONE;

    private StateDirectory(Path directory) {
        this.directory = directory;
    }

    /** A name that only a state directory of slurmctld has, and names that may hold very many files. */
    public static final String MARK = "journal";

    public static final List<String> LARGE = List.of("blobs");
    /** Names that slurmctld reads and writes at the start. */
    public static final List<String> NEEDED = List.of(MARK, "accounting", "blobs", "lease", NAME_FILE, HIGHEST_FILE);

    /**
     * @param clean forgets what was there ({@code -c})
     * @throws IOException with a sentence that names the key, if the directory is another cluster's, Slurm's own, or
     *     cannot be used
     */
    public static StateDirectory open(Path directory, String cluster, boolean clean, Consumer<String> complain)
            throws IOException {
        StateDirectory out = new StateDirectory(directory);
        out.make("");
        checkAccess(directory);
        out.checkName(cluster);
        out.checkForeign(complain);
        if (clean) {
            StateReset.wipe(directory);
            Files.deleteIfExists(directory.resolve(HIGHEST_FILE));
        }
        for (String part : List.of("journal", "blobs", "accounting")) {
            out.make(part);
        }
        out.keepName(cluster);
        return out;
    }

    /**
     * Makes a part of the directory, which is this daemon's alone, whatever its umask and whatever it was; the
     * directory itself stays as the site made it. What is above it must be there: a file system that is not mounted
     * would otherwise be an empty state.
     */
    private void make(String part) throws IOException {
        Path place = directory.resolve(part);
        try {
            if (part.isEmpty()) {
                if (!Files.isDirectory(place)) {
                    Files.createDirectory(place, OWN_DIRECTORY);
                }
                return;
            }
            if (!Files.isDirectory(place)) {
                Files.createDirectory(place, OWN_DIRECTORY);
            }
            Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new IOException(
                    KEY + directory + ": cannot create " + (part.isEmpty() ? "it" : part) + ": "
                            + ErrorSentence.reason(e),
                    e);
        }
    }

    /** @throws IOException in Slurm's words, if this process cannot use the directory */
    public static void checkAccess(Path directory) throws IOException {
        if (Files.isDirectory(directory)
                && (!Files.isReadable(directory) || !Files.isWritable(directory) || !Files.isExecutable(directory))) {
            throw new IOException("Incorrect permissions on state save loc: " + directory);
        }
    }

    private void checkName(String cluster) throws IOException {
        Path file = directory.resolve(NAME_FILE);
        if (!Files.exists(file)) {
            return;
        }
        String known = new String(bytes(file), StandardCharsets.UTF_8).strip();
        if (!known.equals(cluster)) {
            throw new IOException("CLUSTER NAME MISMATCH. slurmctld has been started with \"ClusterName=" + cluster
                    + "\", but read \"" + known
                    + "\" from the state files in " + KEY + directory
                    + ". Running multiple clusters from a shared StateSaveLocation WILL CAUSE "
                    + "CORRUPTION. Remove " + file
                    + " to override this safety check if this is intentional (e.g., the ClusterName has changed).");
        }
    }

    private byte[] bytes(Path file) throws IOException {
        try (var in = Files.newInputStream(file)) {
            return in.readNBytes(NAME_BYTES_MAX);
        } catch (IOException e) {
            throw new IOException(
                    KEY + directory + ": cannot read " + file.getFileName() + ": " + ErrorSentence.reason(e), e);
        }
    }

    private void checkForeign(Consumer<String> complain) throws IOException {
        List<String> foreign = OF_SLURM.stream()
                .filter(name -> Files.exists(directory.resolve(name)))
                .toList();
        if (foreign.isEmpty()) {
            return;
        }
        String what = KEY + directory + " holds the state of Slurm's own slurmctld (" + String.join(", ", foreign)
                + "), which is not read here";
        if (hasJournal()) {
            complain.accept(what + ": it is left as it is");
            return;
        }
        throw new IOException(what
                + ". Name an empty directory, and set FirstJobId above the last JobId of Slurm, so that no number is "
                + "given twice. "
                + "Let jobs end there before the change, or submit them again.");
    }

    private boolean hasJournal() throws IOException {
        Path journal = JournalGenerations.newest(directory);
        if (!Files.isDirectory(journal)) {
            return false;
        }
        try (Stream<Path> files = Files.list(journal)) {
            return files.findAny().isPresent();
        }
    }

    private void keepName(String cluster) throws IOException {
        Path file = directory.resolve(NAME_FILE);
        if (Files.exists(file)) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            return;
        }
        try {
            // a name of its own: another controller may start at the same time
            Path next = Files.createTempFile(directory, NAME_FILE, ".new", OWN_FILE);
            try (FileChannel out = FileChannel.open(next, StandardOpenOption.WRITE)) {
                out.write(ByteBuffer.wrap((cluster + "\n").getBytes(StandardCharsets.UTF_8)));
                out.force(true);
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new IOException(KEY + directory + ": cannot create " + NAME_FILE + ": " + ErrorSentence.reason(e), e);
        }
    }

    public Path path() {
        return directory;
    }

    // ---- how far the journal had come

    /** Returns the numbers that were remembered last; none without a readable file. */
    public HighestIds remembered() {
        try {
            String[] words =
                    Files.readString(directory.resolve(HIGHEST_FILE)).strip().split(" ");
            return words.length == 3
                    ? new HighestIds(Long.parseLong(words[0]), Integer.parseInt(words[1]), Long.parseLong(words[2]))
                    : HighestIds.NONE;
        } catch (IOException | NumberFormatException e) {
            return HighestIds.NONE;
        }
    }

    /**
     * Remembers durable numbers. Written without a sync: it is a second witness beside the journal, which is synced.
     *
     * @return what went wrong
     */
    public Optional<String> remember(HighestIds durable) {
        if (durable.equals(written)) {
            return Optional.empty();
        }
        byte[] line = String.format(
                        java.util.Locale.ROOT, "%d %d %d%n", durable.index(), durable.jobId(), durable.sluid())
                .getBytes(StandardCharsets.US_ASCII);
        try (FileChannel out = FileChannel.open(
                directory.resolve(HIGHEST_FILE),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                OWN_FILE)) {
            out.write(ByteBuffer.wrap(line), 0);
            out.truncate(line.length);
            written = durable;
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(ErrorSentence.reason(e));
        }
    }
}
