package dev.muster.node.meter;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.hdf5.Hdf5;
import dev.muster.model.hdf5.Hdf5.Column;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Table;
import dev.muster.model.hdf5.Hdf5Writer;
import dev.muster.model.job.StepId;
import dev.muster.node.os.Os;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * acct_gather_profile/hdf5: {@code ProfileHDF5Dir/USER/JOB_STEP_NODE.h5}, with the groups and tables of Slurm's plugin.
 * While the step runs each series is a file of rows in the spool directory, so that no more than a sample is held and a
 * killed slurmd loses none; from these the file is made when the step is over here. What cannot be made stays, and is
 * tried again when slurmd starts.
 */
public final class Hdf5Sink implements ProfileSink {
    private static final String PLAN = "plan";
    private static final String TASKS = "task.";
    private static final DateTimeFormatter STARTED =
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.ROOT);
    /** A first line with a name for each column. */
    private static final int HEAD_MAX = 4096;

    private static final int BLOCK = 1 << 16;

    private final Path directory;
    private final Path spool;
    private final String node;
    private final DaemonLog log;

    /** @param spool of this node's slurmd */
    public Hdf5Sink(Path directory, Path spool, String node, DaemonLog log) {
        this.directory = directory;
        this.spool = spool.resolve("profile");
        this.node = node;
        this.log = log;
    }

    private static String name(Profiles.Plan plan) {
        return plan.jobId() + "_" + StepId.name(plan.stepId());
    }

    @Override
    public synchronized void begun(Profiles.Plan plan) {
        try {
            Path place = spool.resolve(name(plan));
            // what an earlier attempt left
            remove(place);
            Files.createDirectories(
                    spool, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.createDirectory(place);
            Files.write(place.resolve(PLAN), Codec.encode(plan));
        } catch (IOException e) {
            log.error("acct_gather_profile/hdf5: " + ErrorSentence.reason(e));
        }
    }

    @Override
    public synchronized void sample(
            Profiles.Plan plan, String series, String task, Map<String, Number> values, long epochS) {
        Path file = spool.resolve(name(plan)).resolve(series.equals("task") ? TASKS + task : task);
        String head = values.entrySet().stream()
                .map(v -> v.getKey() + (v.getValue() instanceof Double ? ":real" : ""))
                .collect(Collectors.joining(" ", "ElapsedTime EpochTime ", "\n"));
        int width = (values.size() + 2) * Hdf5.CELL;
        ByteBuffer row = ByteBuffer.allocate(width).order(ByteOrder.LITTLE_ENDIAN);
        row.putLong(Math.max(0, epochS - plan.beganMs() / 1000)).putLong(epochS);
        values.values()
                .forEach(v -> row.putLong(v instanceof Double d ? Double.doubleToRawLongBits(d) : v.longValue()));
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            long from = head.length() + Math.max(0, out.size() - head.length()) / width * width;
            if (out.size() < head.length()) {
                out.write(ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)), 0);
            }
            // over what a killed slurmd had written of a row
            out.write(row.flip(), from);
        } catch (java.nio.file.NoSuchFileException e) {
            // the step is over meanwhile
        } catch (IOException e) {
            log.error("acct_gather_profile/hdf5: " + ErrorSentence.reason(e));
        }
    }

    @Override
    public synchronized void ended(Profiles.Plan plan) {
        Path place = spool.resolve(name(plan));
        try {
            if (Files.isDirectory(place)) {
                write(plan, place);
                remove(place);
            }
        } catch (IOException e) {
            log.error("acct_gather_profile/hdf5: the series of step " + plan.jobId() + "." + StepId.name(plan.stepId())
                    + " stay in " + place + ": " + ErrorSentence.reason(e));
        }
    }

    /** Files of steps that ended while no slurmd was there to make them. */
    @Override
    public void resumed(Set<Profiles.Plan> live) {
        Set<String> going = live.stream().map(Hdf5Sink::name).collect(Collectors.toSet());
        try (DirectoryStream<Path> places = Files.newDirectoryStream(spool)) {
            for (Path place : places) {
                if (!going.contains(place.getFileName().toString())) {
                    ended(Codec.decode(Files.readAllBytes(place.resolve(PLAN)), Profiles.Plan.class));
                }
            }
        } catch (java.nio.file.NoSuchFileException e) {
            // no step was profiled here yet
        } catch (IOException e) {
            log.error("acct_gather_profile/hdf5: " + ErrorSentence.reason(e));
        } catch (Json.MalformedException e) {
            log.error("acct_gather_profile/hdf5: " + spool + ": " + e.getMessage());
        }
    }

    private static void remove(Path place) throws IOException {
        if (Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(place)) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
            Files.delete(place);
        }
    }

    // ---- the file

    private static Table table(Path file) throws IOException {
        byte[] begin;
        try (FileChannel in = FileChannel.open(file)) {
            ByteBuffer b = ByteBuffer.allocate((int) Math.min(HEAD_MAX, in.size()));
            in.read(b, 0);
            begin = b.array();
        }
        String text = new String(begin, StandardCharsets.US_ASCII);
        int head = text.indexOf('\n') + 1;
        List<Column> columns = new ArrayList<>();
        for (String word : text.substring(0, Math.max(0, head - 1)).split(" ")) {
            columns.add(new Column(word.replace(":real", ""), word.endsWith(":real")));
        }
        long rows = head == 0 ? 0 : (Files.size(file) - head) / ((long) columns.size() * Hdf5.CELL);
        return new Table(columns, rows, out -> copy(file, head, rows * columns.size() * Hdf5.CELL, out));
    }

    private static void copy(Path file, long from, long count, OutputStream out) throws IOException {
        try (FileChannel in = FileChannel.open(file)) {
            ByteBuffer b = ByteBuffer.allocate(BLOCK);
            for (long done = 0; done < count; ) {
                b.clear().limit((int) Math.min(BLOCK, count - done));
                int got = in.read(b, from + done);
                if (got <= 0) {
                    throw new IOException(file + " has become shorter");
                }
                out.write(b.array(), 0, got);
                done += got;
            }
        }
    }

    private Group content(Profiles.Plan plan, Path place) throws IOException {
        Map<String, Hdf5> series = new TreeMap<>();
        Map<String, Hdf5> tasks = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(place)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.startsWith(TASKS)) {
                    tasks.put(name.substring(TASKS.length()), table(file));
                } else if (!name.equals(PLAN)) {
                    series.put(name, table(file));
                }
            }
        }
        if (!tasks.isEmpty()) {
            series.put("Tasks", new Group(Map.of(), tasks));
        }
        String started = STARTED.format(Instant.ofEpochMilli(plan.beganMs()).atZone(ZoneId.systemDefault()));
        Map<String, Object> attributes = new TreeMap<>(Map.of(
                "Node Index",
                plan.nodeIndex(),
                "Node Name",
                node,
                "Number of Tasks",
                plan.tasks(),
                "CPUs per Task",
                plan.cpusPerTask(),
                "Start Time",
                started));
        return new Group(Map.of(), Map.of(node, new Group(attributes, series)));
    }

    /** The user's directory is not to be trusted: the file is made beside it, and comes into it by its name alone. */
    private void write(Profiles.Plan plan, Path place) throws IOException {
        if (plan.user().isEmpty() || plan.user().contains("/") || plan.user().startsWith(".")) {
            throw new IOException("no directory for a user named \"" + plan.user() + "\"");
        }
        Files.createDirectories(directory);
        Path own = directory.resolve(plan.user());
        try {
            Files.createDirectory(
                    own, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Os.own(own, plan.uid(), plan.gid());
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(own, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
        String name = name(plan) + "_" + node + ".h5";
        Path fresh = directory.resolve("." + name + ".new");
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
        try (OutputStream out =
                new BufferedOutputStream(Files.newOutputStream(fresh, LinkOption.NOFOLLOW_LINKS), BLOCK)) {
            Hdf5Writer.write(content(plan, place), out);
        }
        Os.own(fresh, plan.uid(), plan.gid());
        Files.move(fresh, own.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
