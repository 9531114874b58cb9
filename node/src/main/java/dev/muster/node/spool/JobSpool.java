package dev.muster.node.spool;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.node.os.Os;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The node's directory: {@code job00012/} with the script (the user's), {@code job.json} and one {@code step.N/} per
 * step (the daemon's alone), and {@code launched}, one line for everything that was ever started here.
 *
 * <p>Nothing here is synced, on purpose: after a crash of the machine the boot id refuses old launches, and the
 * statuses, which must survive, are synced by stepd.
 */
public class JobSpool {
    /** Tombstones kept; older ones belong to attempts that the controller has long forgotten. */
    static final int TOMBSTONES_MAX = 200_000;

    static final int SOCKET_PATH_BYTES_MAX = 100;
    private static final String MPI_SOCKET = "mpi";
    private static final String JOB_FILE = "job.json";

    private static final Set<StandardOpenOption> OVERWRITE =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    private static final FileAttribute<?> OWN_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<?> OWN_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Path root;
    private final LinkedHashSet<String> launched = new LinkedHashSet<>();
    /** The file of launches may end within a line, which the next one must not continue. */
    private boolean torn;

    /** The record of a job for a restarted slurmd. */
    public record JobFile(
            JobShare share,
            String phase,
            int endKillWaitSeconds,
            String reason,
            Map<String, String> stepReasons,
            String error,
            long deadlineMs) {}

    public JobSpool(Path root) {
        this.root = root;
    }

    public void open() throws IOException {
        Files.createDirectories(root);
        setMode(root, "rwxr-xr-x");
        Path file = root.resolve("launched");
        if (Files.exists(file)) {
            launched.addAll(Files.readAllLines(file, StandardCharsets.US_ASCII));
        }
        if (launched.size() > TOMBSTONES_MAX) {
            List<String> all = new ArrayList<>(launched);
            launched.clear();
            launched.addAll(all.subList(all.size() - TOMBSTONES_MAX / 2, all.size()));
            Path next = root.resolve("launched.new");
            Files.write(next, launched, StandardCharsets.US_ASCII);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /**
     * Marks a launch. Returns false if the launch was marked before; it must not run again.
     *
     * @param start the attempt's start time: after "slurmctld -c" another job has the same id and attempt. "" if
     *     unknown, as in marks of earlier versions
     */
    public boolean mark(int jobId, int attempt, int stepId, String start) throws IOException {
        String plain = jobId + " " + attempt + " " + stepId;
        String line = start.isEmpty() ? plain : plain + " " + start;
        if (launched.contains(plain) || !launched.add(line)) {
            return false;
        }
        try {
            Files.writeString(
                    root.resolve("launched"),
                    (torn ? "\n" : "") + line + "\n",
                    StandardCharsets.US_ASCII,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            launched.remove(line);
            torn = true;
            throw e;
        }
        torn = false;
        return true;
    }

    /** Takes the mark of a launch back: its step never began. */
    public void forgetLaunch(int jobId, int attempt, int stepId, String start) {
        String plain = jobId + " " + attempt + " " + stepId;
        launched.remove(plain);
        launched.remove(plain + " " + start);
    }

    /** Returns the highest job id among the remembered launches; 0 without launches. */
    public int highestJobId() {
        return launched.stream()
                .mapToInt(line -> {
                    String id = line.substring(0, Math.max(0, line.indexOf(' ')));
                    return id.matches("\\d{1,9}") ? Integer.parseInt(id) : 0;
                })
                .max()
                .orElse(0);
    }

    public Path jobDirectory(int jobId, int attempt) {
        String name = String.format(java.util.Locale.ROOT, "job%05d", jobId);
        return root.resolve(attempt <= 1 ? name : name + "." + attempt);
    }

    public Path stepDirectory(int jobId, int attempt, int stepId) {
        return jobDirectory(jobId, attempt).resolve("step." + stepId);
    }

    /** A Unix socket's path is short: where the spool directory's is long, the socket lies elsewhere. */
    public Path socket(Path stepDirectory) {
        return socket(stepDirectory, "socket");
    }

    /** Returns the socket by which slurmd reaches the helper of a step whose tasks speak PMI over several nodes. */
    public Path mpiSocket(Path stepDirectory) {
        return socket(stepDirectory, MPI_SOCKET);
    }

    private static Path socket(Path stepDirectory, String name) {
        Path here = stepDirectory.resolve(name);
        if (here.toString().getBytes(StandardCharsets.UTF_8).length <= SOCKET_PATH_BYTES_MAX) {
            return here;
        }
        Path jobDirectory = requireNonNull(stepDirectory.getParent(), "a step's directory lies in its job's");
        return shortDirectory()
                .resolve(Integer.toHexString(here.toString().hashCode()) + "-"
                        + Integer.toHexString(here.toString().length())
                        + jobDirectory.getFileName()
                        + stepDirectory.getFileName());
    }

    private static Path shortDirectory() {
        return Path.of(Os.uid() == 0 ? "/run/muster-steps" : "/tmp/muster-steps-" + Os.uid());
    }

    public void makeJobDirectory(int jobId, int attempt) throws IOException {
        Path directory = jobDirectory(jobId, attempt);
        Files.createDirectories(directory);
        setMode(directory, "rwx--x--x");
    }

    public Path makeStepDirectory(int jobId, int attempt, int stepId) throws IOException {
        Path directory = stepDirectory(jobId, attempt, stepId);
        Files.createDirectory(directory, OWN_DIRECTORY);
        Path socketPlace = requireNonNull(socket(directory).getParent(), "a socket lies in a directory");
        if (!socketPlace.equals(directory)) {
            Files.createDirectories(socketPlace, OWN_DIRECTORY);
            if (!(Files.getAttribute(socketPlace, "unix:uid", LinkOption.NOFOLLOW_LINKS) instanceof Integer owner)
                    || owner != Os.uid()) {
                throw new IOException(socketPlace + " belongs to somebody else");
            }
        }
        return directory;
    }

    public void saveJob(int jobId, int attempt, JobFile job) throws IOException {
        Path file = jobDirectory(jobId, attempt).resolve(JOB_FILE);
        // the first one needs no older one kept: torn, it is the same as none
        Path next = Files.exists(file) ? file.resolveSibling(JOB_FILE + ".new") : file;
        try (SeekableByteChannel out = Files.newByteChannel(next, OVERWRITE, OWN_FILE)) {
            ByteBuffer content = ByteBuffer.wrap(Codec.encode(job));
            while (content.hasRemaining()) {
                out.write(content);
            }
        }
        if (next != file) {
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Every job found on disk. A job with an unreadable file is left alone and named in the list's place. */
    public List<Path> jobDirectories() throws IOException {
        List<Path> out = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(root, "job*")) {
            all.forEach(out::add);
        }
        out.sort(null);
        return out;
    }

    public Optional<JobFile> readJob(Path directory) {
        try {
            return Optional.of(Codec.decode(Files.readAllBytes(directory.resolve(JOB_FILE)), JobFile.class));
        } catch (IOException | Json.MalformedException e) {
            return Optional.empty();
        }
    }

    public List<Integer> steps(Path jobDirectory) throws IOException {
        List<Integer> out = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(jobDirectory, "step.*")) {
            for (Path step : all) {
                out.add(Integer.parseInt(step.getFileName().toString().substring(5)));
            }
        }
        out.sort(null);
        return out;
    }

    public Optional<StatusFile> status(Path stepDirectory) {
        try {
            return StatusFile.parse(Files.readAllBytes(stepDirectory.resolve("status")));
        } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    /** The process id that stepd wrote; 0 if it has not. */
    public long stepdPid(Path stepDirectory) {
        try (java.io.InputStream in = Files.newInputStream(stepDirectory.resolve("status"))) {
            return StatusFile.stepdPid(in.readNBytes(StatusFile.HEAD_BYTES));
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    /** Removes a job's directory; links in it are removed, never followed. */
    public void remove(int jobId, int attempt) throws IOException {
        Path directory = jobDirectory(jobId, attempt);
        for (int step :
                Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) ? steps(directory) : List.<Integer>of()) {
            Files.deleteIfExists(socket(stepDirectory(jobId, attempt, step)));
            Files.deleteIfExists(mpiSocket(stepDirectory(jobId, attempt, step)));
        }
        removeTree(directory);
    }

    /**
     * Deletes a directory and all below it, never through links. Files that another thread deletes meanwhile are
     * skipped.
     */
    public static void removeTree(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException error) throws IOException {
                if (error instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw error;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path done, IOException error) throws IOException {
                if (error != null && !(error instanceof NoSuchFileException)) {
                    throw error;
                }
                Files.deleteIfExists(done);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    public static void setMode(Path path, String mode) throws IOException {
        Set<java.nio.file.attribute.PosixFilePermission> wanted = PosixFilePermissions.fromString(mode);
        Files.setPosixFilePermissions(path, wanted);
    }
}
