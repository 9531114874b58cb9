package dev.muster.node.cgroup;

import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Ends steps whose processes together use more memory than the job has on this node: for nodes where no control group
 * can, or where the configuration asks for it. Looks now and then, so that short excesses go unseen.
 */
public final class MemoryWatch {
    private static final long PAGE_KB = 4;

    private final EventLoop loop;
    private final int pollSeconds;
    private final Supplier<List<Watched>> jobs;
    private final Excess excess;
    private long seconds;

    /**
     * One job's share and the stepds below which its processes hang.
     *
     * @param sampleSeconds how often the job wants it looked at; 0 for the node's own
     */
    public record Watched(int jobId, int attempt, long limitMb, List<Long> stepds, int sampleSeconds) {}

    public interface Excess {
        void found(int jobId, int attempt, long usedMb, long limitMb);
    }

    public MemoryWatch(EventLoop loop, int pollSeconds, Supplier<List<Watched>> jobs, Excess excess) {
        this.loop = loop;
        this.pollSeconds = pollSeconds;
        this.jobs = jobs;
        this.excess = excess;
    }

    public void start() {
        loop.later(1000L, this::round);
    }

    private void round() {
        seconds++;
        List<Watched> watched = jobs.get().stream()
                .filter(w -> seconds % Math.max(1, w.sampleSeconds > 0 ? w.sampleSeconds : pollSeconds) == 0)
                .toList();
        EventLoop.aside(() -> {
            if (!watched.isEmpty()) {
                endOverLimit(watched);
            }
            start();
        });
    }

    private void endOverLimit(List<Watched> watched) {
        Map<Long, List<Long>> children = children();
        for (Watched job : watched) {
            long usedMb = job.stepds.stream().mapToLong(s -> below(s, children)).sum() / 1024;
            if (usedMb > job.limitMb) {
                loop.post(() -> excess.found(job.jobId, job.attempt, usedMb, job.limitMb));
            }
        }
    }

    /** Resident memory of all processes below these, in KiB. */
    public static long residentKb(List<Long> stepds) {
        Map<Long, List<Long>> children = children();
        return stepds.stream().mapToLong(s -> below(s, children)).sum();
    }

    private static Map<Long, List<Long>> children() {
        Map<Long, List<Long>> children = new HashMap<>();
        for (long pid : Os.processes()) {
            String[] fields =
                    Os.statFields(Os.read(Path.of("/proc/" + pid + "/stat")).orElse(""));
            if (fields.length > 1) {
                children.computeIfAbsent(Long.parseLong(fields[1]), p -> new ArrayList<>())
                        .add(pid);
            }
        }
        return children;
    }

    /** KiB resident of everything below a process, without itself. */
    private static long below(long top, Map<Long, List<Long>> children) {
        long sum = 0;
        for (long pid : children.getOrDefault(top, List.of())) {
            sum += residentKb(pid) + below(pid, children);
        }
        return sum;
    }

    private static long residentKb(long pid) {
        String[] pages =
                Os.read(Path.of("/proc/" + pid + "/statm")).orElse("0 0").trim().split(" ");
        return pages.length > 1 ? Long.parseLong(pages[1]) * PAGE_KB : 0;
    }
}
