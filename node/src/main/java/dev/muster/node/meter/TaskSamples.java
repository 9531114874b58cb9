package dev.muster.node.meter;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.SlurmdMessages.TaskUsage;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.job.UsageSample;
import dev.muster.model.node.NodeMessages.Usage;
import dev.muster.node.config.Settings;
import dev.muster.node.os.CpuClock;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.spool.StatusFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Looks at the tasks of running steps from time to time (JobAcctGatherFrequency, --acctg-freq) and keeps the most that
 * each had in the step's directory, so that it outlives a slurmd. What the kernel says at a task's end is added: CPU
 * time and the memory of the largest process, also of tasks without a sample. Only samples have the virtual memory, and
 * the memory of all processes of a task together.
 */
public final class TaskSamples {
    private static final String FILE = "samples";

    /**
     * The most of each task so far, by rank.
     *
     * @param cpuMs that tasks used between two samples with a known CPU frequency
     * @param khzTimes each of these milliseconds times that
     * @param gpus what it had of them
     */
    private record StepSamples(Map<String, TaskPeaks.Task> tasks, long cpuMs, long khzTimes, GpuUse.Sum gpus) {}

    private final EventLoop loop;
    private final Settings.Sensing how;
    private final boolean byGroup;
    private final IntFunction<List<ProcessTable.Running>> tasksDue;
    private final Supplier<Optional<GpuUse>> gpus;
    private final BiConsumer<ProcessTable.Running, List<TaskUsage>> seen;
    private final DaemonLog log;
    private int second;

    /**
     * @param tasksDue the steps to be looked at in a second since the start of slurmd; asked on the loop
     * @param gpus what processes do on them, where there are any
     * @param seen receives each sample
     */
    public TaskSamples(
            EventLoop loop,
            Settings.Sensing how,
            boolean byGroup,
            IntFunction<List<ProcessTable.Running>> tasksDue,
            Supplier<Optional<GpuUse>> gpus,
            BiConsumer<ProcessTable.Running, List<TaskUsage>> seen,
            DaemonLog log) {
        this.loop = loop;
        this.how = how;
        this.byGroup = byGroup;
        this.tasksDue = tasksDue;
        this.gpus = gpus;
        this.seen = seen;
        this.log = log;
    }

    public void start() {
        if (how.tasks().on()) {
            loop.later(1000L, this::round);
        }
    }

    private void round() {
        List<ProcessTable.Running> steps = tasksDue.apply(++second);
        if (steps.isEmpty()) {
            start();
            return;
        }
        EventLoop.aside(() -> {
            Optional<GpuUse> use = gpus.get();
            ProcessTable table = new ProcessTable(byGroup, how.tasks());
            for (ProcessTable.Running step : steps) {
                List<TaskUsage> tasks =
                        table.of(step, new Sensors.Reading(0, 0, 0)).tasks();
                keep(step.directory(), tasks, use.filter(u -> step.withGpus() || u.isUsedBy(tasks)));
                seen.accept(step, tasks);
            }
            start();
        });
    }

    /** Adds a sample to those in the step's directory. */
    void keep(Path stepDirectory, List<TaskUsage> seen, Optional<GpuUse> gpus) {
        StepSamples before = load(stepDirectory);
        Map<String, TaskPeaks.Task> all = new TreeMap<>(before.tasks());
        long cpuMs = before.cpuMs;
        long khzTimes = before.khzTimes;
        for (TaskUsage t : seen) {
            if (t.rank() >= 0) {
                TaskPeaks.Task peaks = all.get(Integer.toString(t.rank()));
                long had = peaks == null ? 0 : peaks.cpuUs() / 1000;
                long more = t.khz() > 0 ? Math.max(0, t.cpuMs() - had) : 0;
                cpuMs += more;
                khzTimes += more * t.khz();
                all.merge(
                        Integer.toString(t.rank()),
                        new TaskPeaks.Task(
                                t.rank(),
                                t.cpuMs() * 1000,
                                t.residentKb(),
                                t.virtualKb(),
                                t.pages(),
                                t.readBytes(),
                                t.writeBytes()),
                        TaskPeaks.Task::and);
            }
        }
        try {
            Path next = stepDirectory.resolve(FILE + ".new");
            Files.write(
                    next,
                    Codec.encode(
                            new StepSamples(all, cpuMs, khzTimes, gpuUse(stepDirectory, seen, gpus, before.gpus))));
            Files.move(next, stepDirectory.resolve(FILE), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } catch (java.nio.file.NoSuchFileException gone) {
            // the step is over meanwhile
        } catch (IOException e) {
            log.error(stepDirectory.resolve(FILE) + " cannot be written: " + ErrorSentence.reason(e));
        }
    }

    private static GpuUse.Sum gpuUse(Path stepDirectory, List<TaskUsage> seen, Optional<GpuUse> gpus, GpuUse.Sum before)
            throws IOException {
        if (gpus.isEmpty()) {
            return before;
        }
        long beganMs = Files.readAttributes(stepDirectory, BasicFileAttributes.class)
                .creationTime()
                .toMillis();
        return gpus.get().and(before, seen, beganMs, System.currentTimeMillis());
    }

    /** GPU use of a running step so far. */
    public static UsageSample metered(Path stepDirectory) {
        return load(stepDirectory).gpus.metered();
    }

    private static StepSamples load(Path stepDirectory) {
        try {
            return Codec.decode(Files.readAllBytes(stepDirectory.resolve(FILE)), StepSamples.class);
        } catch (IOException | Json.MalformedException e) {
            return new StepSamples(Map.of(), 0, 0, GpuUse.Sum.NONE);
        }
    }

    /**
     * What a step used when it is over: with its single tasks.
     *
     * @param clock says how fast CPUs run now, for a step without samples
     */
    public static Usage ended(Path stepDirectory, Optional<StatusFile> status, CpuClock clock) {
        Usage usage = status.map(StatusFile::usage).orElse(StatusFile.NO_USAGE);
        StepSamples kept = load(stepDirectory);
        Map<String, TaskPeaks.Task> seen = kept.tasks();
        TaskPeaks peaks = TaskPeaks.NONE;
        long read = 0;
        long written = 0;
        for (StatusFile.Task task : status.map(StatusFile::tasks).orElse(List.of())) {
            TaskPeaks.Task own = task.use();
            TaskPeaks.Task before = seen.get(Integer.toString(task.rank()));
            TaskPeaks.Task all = before == null ? own : own.and(before);
            peaks = peaks.and(all);
            read += all.readBytes();
            written += all.writeBytes();
        }
        return new Usage(
                usage.userCpuUs(),
                usage.systemCpuUs(),
                Math.max(usage.maxRssKb(), peaks.rssKb().max()),
                Math.max(usage.maxVmKb(), peaks.vmKb().max()),
                Math.max(usage.readBytes(), read),
                Math.max(usage.writeBytes(), written),
                Math.max(usage.maxPages(), peaks.pages().max()),
                0,
                0,
                0,
                peaks,
                meanKhz(kept, usage, clock),
                kept.gpus.metered());
    }

    private static long meanKhz(StepSamples kept, Usage usage, CpuClock clock) {
        if (kept.cpuMs > 0) {
            return kept.khzTimes / kept.cpuMs;
        }
        return usage.userCpuUs() + usage.systemCpuUs() > 0 ? clock.mean() : 0;
    }
}
