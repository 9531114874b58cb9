package dev.muster.node.meter;

import dev.muster.model.api.SlurmdMessages.TaskUsage;
import dev.muster.model.job.UsageSample;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Use of GPUs and their memory by processes, from nvidia-smi, which measures for a second.
 *
 * @param percent by process, over all GPUs, as the kilobytes
 */
public record GpuUse(Map<Integer, Long> percent, Map<Integer, Long> kb) {
    public static final List<String> COMMAND = List.of("nvidia-smi", "pmon", "-c", "1", "-s", "um");
    private static final long KB_PER_MB = 1024;

    /**
     * What a step has of it so far.
     *
     * @param untilMs of the last look
     * @param seenMs that looks stand for
     * @param percentMs each of these milliseconds times the percent of a GPU that was busy
     */
    record Sum(long untilMs, long seenMs, long percentMs, long mostPercent, long mostKb) {
        static final Sum NONE = new Sum(0, 0, 0, 0, 0);

        UsageSample metered() {
            long mean = seenMs == 0 ? 0 : Math.round((double) percentMs / seenMs);
            return untilMs == 0 ? UsageSample.NONE : new UsageSample(0, 0, 1, mean, mostPercent, mostKb, mostKb);
        }
    }

    /** Reads a table with a head that names its columns; a dash is no value. */
    public static GpuUse parse(String text) {
        Map<Integer, Long> percent = new HashMap<>();
        Map<Integer, Long> kb = new HashMap<>();
        List<String> columns = List.of();
        for (String line : text.lines().map(String::strip).toList()) {
            List<String> words =
                    new ArrayList<>(List.of(line.replaceFirst("^#", "").strip().split("\\s+")));
            if (line.startsWith("#")) {
                columns = words.contains("pid") ? words : columns;
                continue;
            }
            int pid = columns.indexOf("pid");
            if (pid < 0 || words.size() <= pid || !words.get(pid).matches("[0-9]{1,9}")) {
                continue;
            }
            int process = Integer.parseInt(words.get(pid));
            percent.merge(process, number(words, columns.indexOf("sm")), Long::sum);
            kb.merge(process, number(words, columns.indexOf("fb")) * KB_PER_MB, Long::sum);
        }
        return new GpuUse(percent, kb);
    }

    private static long number(List<String> words, int index) {
        return index >= 0 && index < words.size() && words.get(index).matches("[0-9]{1,9}")
                ? Long.parseLong(words.get(index))
                : 0;
    }

    /** Some process of these tasks is on a GPU: of a job without GPUs as well, where devices are not confined. */
    boolean isUsedBy(List<TaskUsage> tasks) {
        return tasks.stream().flatMap(t -> t.pids().stream()).anyMatch(p -> percent.containsKey(p));
    }

    /** @param beganMs when the step did: its first look stands for the time since */
    Sum and(Sum before, List<TaskUsage> tasks, long beganMs, long nowMs) {
        long busy = 0;
        long memory = 0;
        for (TaskUsage t : tasks) {
            for (int pid : t.pids()) {
                busy += percent.getOrDefault(pid, 0L);
                memory += kb.getOrDefault(pid, 0L);
            }
        }
        long ms = Math.max(1, nowMs - (before.untilMs == 0 ? beganMs : before.untilMs));
        return new Sum(
                nowMs,
                before.seenMs + ms,
                before.percentMs + ms * busy,
                Math.max(before.mostPercent, busy),
                Math.max(before.mostKb, memory));
    }
}
