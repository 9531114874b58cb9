package dev.muster.node.os;

import dev.muster.model.Identity;
import dev.muster.model.api.SlurmdMessages.StepProcesses;
import dev.muster.model.api.SlurmdMessages.TaskUsage;
import dev.muster.node.config.Settings;
import dev.muster.node.meter.Sensors;
import dev.muster.node.meter.TaskSamples;
import dev.muster.node.spool.StatusFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The machine's processes at one moment, and what steps use of it. Reads /proc once; belongs to the thread that made
 * it.
 */
public final class ProcessTable {
    private static final long PAGE_KB = 4;
    private static final long MS_PER_TICK = 10;
    // fields of /proc/PID/stat after the name
    private static final int PARENT = 1;
    private static final int GROUP = 2;
    private static final int MAJOR_FAULTS = 9;
    private static final int USER_TICKS = 11;
    private static final int CHILD_SYSTEM_TICKS = 14;
    private static final int VIRTUAL_BYTES = 20;
    private static final int RESIDENT_PAGES = 21;

    /**
     * A running step: its owner and the process below which its tasks hang.
     *
     * @param withGpus its job has GPUs or shares of them on this node
     */
    public record Running(
            int jobId,
            int attempt,
            int stepId,
            Identity owner,
            Path directory,
            long stepd,
            Optional<StatusFile> status,
            boolean withGpus) {}

    private final boolean byGroup;
    private final Settings.Tasks how;
    private final CpuClock clock = CpuClock.here();
    private final Map<Long, String[]> stats = new HashMap<>();
    private final Map<Long, List<Long>> children = new HashMap<>();

    /** @param byGroup only those in the process groups of its tasks are a step's; how: what counts as memory */
    public ProcessTable(boolean byGroup, Settings.Tasks how) {
        this.byGroup = byGroup;
        this.how = how;
        for (long pid : Os.processes()) {
            String[] fields =
                    Os.statFields(Os.read(Path.of("/proc/" + pid + "/stat")).orElse(""));
            if (fields.length > RESIDENT_PAGES) {
                stats.put(pid, fields);
                children.computeIfAbsent(Long.parseLong(fields[PARENT]), p -> new ArrayList<>())
                        .add(pid);
            }
        }
    }

    /** True if the process is the step's daemon or one of the step's. */
    public boolean isOf(long pid, Running step) {
        return isBelow(pid, step.stepd) && (pid == step.stepd || isTracked(pid, step));
    }

    private boolean isTracked(long pid, Running step) {
        return !byGroup
                || stats.containsKey(pid)
                        && step.status.stream()
                                .flatMap(s -> s.tasks().stream())
                                .anyMatch(t -> t.pid() == Long.parseLong(stats.get(pid)[GROUP]));
    }

    private boolean isBelow(long pid, long top) {
        long ancestor = pid;
        for (int depth = 0; ancestor > 1 && depth < 10_000; depth++) {
            if (ancestor == top) {
                return true;
            }
            String[] fields = stats.get(ancestor);
            ancestor = fields == null ? 0 : Long.parseLong(fields[PARENT]);
        }
        return false;
    }

    /** @param metered what the node's meters say of the time since its start */
    public StepProcesses of(Running step, Sensors.Reading metered) {
        List<TaskUsage> out = new ArrayList<>();
        TreeSet<Long> rest = new TreeSet<>(below(step.stepd));
        rest.removeIf(p -> p == step.stepd || !isTracked(p, step));
        int local = 0;
        for (StatusFile.Task task : step.status.map(StatusFile::tasks).orElse(List.of())) {
            int index = local++;
            if (!task.ended() && task.pid() > 0) {
                TreeSet<Long> own = new TreeSet<>(below(task.pid()));
                own.removeIf(p -> !isTracked(p, step));
                rest.removeAll(own);
                out.add(usage(task.rank(), index, task.pid(), own));
            }
        }
        if (!rest.isEmpty()) {
            out.add(usage(-1, -1, rest.first().intValue(), rest));
        }
        return new StepProcesses(
                step.jobId,
                step.stepId,
                out,
                metered.energyJ(),
                metered.inBytes(),
                metered.outBytes(),
                step.owner,
                TaskSamples.metered(step.directory).withFs(metered.fsRead(), metered.fsWritten()));
    }

    private List<Long> below(long top) {
        List<Long> out = new ArrayList<>();
        out.add(top);
        for (int i = 0; i < out.size(); i++) {
            out.addAll(children.getOrDefault(out.get(i), List.of()));
        }
        return out;
    }

    private TaskUsage usage(int rank, int local, int pid, TreeSet<Long> pids) {
        long ticks = 0;
        long resident = 0;
        long virtual = 0;
        long pages = 0;
        long read = 0;
        long written = 0;
        List<Integer> known = new ArrayList<>();
        for (long p : pids) {
            String[] f = stats.get(p);
            if (f == null) {
                continue;
            }
            known.add((int) p);
            for (int i = USER_TICKS; i <= CHILD_SYSTEM_TICKS; i++) {
                ticks += Long.parseLong(f[i]);
            }
            resident += residentKb(p, Long.parseLong(f[RESIDENT_PAGES]) * PAGE_KB);
            virtual += Long.parseLong(f[VIRTUAL_BYTES]) / 1024;
            pages += Long.parseLong(f[MAJOR_FAULTS]);
            String io = Os.read(Path.of("/proc/" + p + "/io")).orElse("");
            read += field(io, "rchar: ");
            written += field(io, "wchar: ");
        }
        String[] stat = stats.get((long) pid);
        return new TaskUsage(
                rank,
                local,
                pid,
                List.copyOf(known),
                ticks * MS_PER_TICK,
                resident,
                virtual,
                pages,
                read,
                written,
                stat == null || stat.length <= CpuClock.PROCESSOR ? 0 : clock.khz(stat[CpuClock.PROCESSOR]));
    }

    /** UsePss and NoShared; a process that is gone meanwhile has what it had. */
    private long residentKb(long pid, long all) {
        if (how.pss()) {
            String line = Os.read(Path.of("/proc/" + pid + "/smaps_rollup"))
                    .orElse("")
                    .lines()
                    .filter(l -> l.startsWith("Pss:"))
                    .findFirst()
                    .orElse("");
            String kb = line.replaceAll("[^0-9]", "");
            return kb.isEmpty() ? all : Long.parseLong(kb);
        }
        String[] pages = how.noShare()
                ? Os.read(Path.of("/proc/" + pid + "/statm")).orElse("").split(" ")
                : new String[0];
        return pages.length > 2 ? Math.max(0, Long.parseLong(pages[1]) - Long.parseLong(pages[2])) * PAGE_KB : all;
    }

    private static long field(String text, String name) {
        return text.lines()
                .filter(l -> l.startsWith(name))
                .mapToLong(l -> Long.parseLong(l.substring(name.length()).trim()))
                .findFirst()
                .orElse(0);
    }
}
