package dev.muster.node.meter;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.api.SlurmdMessages.TaskUsage;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.ReadUse;
import dev.muster.model.node.NodeMessages.StepUse;
import dev.muster.model.node.NodeMessages.UsePoint;
import dev.muster.model.node.NodeMessages.UseRead;
import dev.muster.node.os.ProcessTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What steps used over time: a line for each look of {@link TaskSamples} in a file {@code JOB.ATTEMPT.STEP} of its own,
 * which stays when the step is over. A file never grows beyond {@link #POINTS_MAX} lines: then every second one is
 * dropped, and so long steps have coarser ones. Nothing is synced; what a crash takes away is a part of a picture.
 */
public final class StepUsageFiles {
    public static final String DIRECTORY = "uses";
    static final int POINTS_MAX = 240;
    /** Most files of steps; those of the steps that ended last are kept. */
    static final int FILES_MAX = 1_000;
    /** Most steps of one job in an answer. */
    private static final int STEPS_MAX = 64;

    private final Path directory;
    private final int filesMax;
    private final DaemonLog log;

    public StepUsageFiles(Path directory, DaemonLog log) {
        this(directory, FILES_MAX, log);
    }

    public StepUsageFiles(Path directory, int filesMax, DaemonLog log) {
        this.directory = directory;
        this.filesMax = filesMax;
        this.log = log;
    }

    /** A look at a step's tasks. */
    public void saw(ProcessTable.Running step, List<TaskUsage> tasks) {
        if (tasks.isEmpty()) {
            return;
        }
        UsePoint all = new UsePoint(System.currentTimeMillis() / 1000, 0, 0, 0, 0);
        for (TaskUsage t : tasks) {
            all = new UsePoint(
                    all.time(),
                    all.cpuMs() + t.cpuMs(),
                    all.residentKb() + t.residentKb(),
                    all.readBytes() + t.readBytes(),
                    all.writtenBytes() + t.writeBytes());
        }
        try {
            add(directory.resolve(step.jobId() + "." + step.attempt() + "." + step.stepId()), all);
        } catch (IOException e) {
            log.error("what step " + step.jobId() + "." + step.stepId() + " uses cannot be kept: "
                    + ErrorSentence.reason(e));
        }
    }

    synchronized void add(Path file, UsePoint point) throws IOException {
        if (!Files.exists(file)) {
            Files.createDirectories(directory);
            Files.setPosixFilePermissions(
                    directory, java.nio.file.attribute.PosixFilePermissions.fromString("rwx------"));
            makeRoom();
        }
        Files.writeString(file, line(point), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        List<UsePoint> points = points(file);
        if (points.size() < POINTS_MAX) {
            return;
        }
        StringBuilder half = new StringBuilder();
        for (int i = 1; i < points.size(); i += 2) {
            half.append(line(points.get(i)));
        }
        Path next = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(next, half);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Makes room for one more. */
    private void makeRoom() throws IOException {
        List<Path> all;
        try (Stream<Path> list = Files.list(directory)) {
            all = list.collect(Collectors.toCollection(ArrayList::new));
        }
        if (all.size() < filesMax) {
            return;
        }
        all.sort(Comparator.comparingLong(p -> p.toFile().lastModified()));
        // a tenth at a time: the list is read anew for each step that begins
        for (Path old : all.subList(0, all.size() - filesMax + Math.max(1, filesMax / 10))) {
            Files.deleteIfExists(old);
        }
    }

    private static String line(UsePoint p) {
        return p.time() + " " + p.cpuMs() + " " + p.residentKb() + " " + p.readBytes() + " " + p.writtenBytes() + "\n";
    }

    private static List<UsePoint> points(Path file) throws IOException {
        List<UsePoint> out = new ArrayList<>();
        for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
            point(line).ifPresent(out::add);
        }
        return out;
    }

    /** Empty for a line that was cut off. */
    private static Optional<UsePoint> point(String line) {
        String[] w = line.split(" ");
        if (w.length != 5 || !line.matches("[0-9 ]{9,120}")) {
            return Optional.empty();
        }
        try {
            return Optional.of(new UsePoint(
                    Long.parseLong(w[0]),
                    Long.parseLong(w[1]),
                    Long.parseLong(w[2]),
                    Long.parseLong(w[3]),
                    Long.parseLong(w[4])));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Reads the use of all sampled steps of a job's attempt. */
    public synchronized UseRead read(ReadUse q) {
        String begin = q.jobId() + "." + q.attempt() + ".";
        List<StepUse> out = new ArrayList<>();
        if (!Files.isDirectory(directory)) {
            return new UseRead(q.id(), out, "");
        }
        try (Stream<Path> list = Files.list(directory)) {
            for (Path p : list.filter(f -> f.getFileName().toString().startsWith(begin))
                    .limit(STEPS_MAX)
                    .toList()) {
                String step = p.getFileName().toString().substring(begin.length());
                if (step.matches("-?[0-9]{1,10}")) {
                    out.add(new StepUse((int) Long.parseLong(step), points(p)));
                }
            }
        } catch (IOException e) {
            return new UseRead(q.id(), List.of(), ErrorSentence.reason(e));
        }
        return new UseRead(q.id(), out, "");
    }
}
