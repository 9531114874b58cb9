package dev.muster.node.os;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * How fast the node's CPUs run now, in kHz: by cpufreq in /sys, else by what /proc/cpuinfo says when it is first asked.
 */
public final class CpuClock {
    /** Field of /proc/PID/stat, counted as in {@link Os#statFields}: the CPU that the process ran on last. */
    static final int PROCESSOR = 36;

    private final Path root;
    /** The kernel asks each CPU: nothing to be done at the end of each of many short steps. */
    private static final long MEAN_HOLDS_NS = 10_000_000_000L;

    private Map<String, Long> table = Map.of();
    private long mean;
    private long meanAtNs;

    public CpuClock(Path root) {
        this.root = root;
    }

    public static CpuClock here() {
        return new CpuClock(Path.of("/"));
    }

    /** @param cpu its number. @return 0 where the kernel says none */
    public synchronized long khz(String cpu) {
        String khz = Os.read(root.resolve("sys/devices/system/cpu/cpu" + cpu + "/cpufreq/scaling_cur_freq"))
                .map(String::trim)
                .orElse("");
        return khz.matches("[0-9]{1,12}") ? Long.parseLong(khz) : table().getOrDefault(cpu, 0L);
    }

    /** Mean frequency of all CPUs, read every ten seconds at most; 0 if the kernel has none. */
    public synchronized long mean() {
        if (meanAtNs == 0 || System.nanoTime() - meanAtNs > MEAN_HOLDS_NS) {
            mean = Math.round(
                    table().keySet().stream().mapToLong(this::khz).average().orElse(0));
            meanAtNs = System.nanoTime();
        }
        return mean;
    }

    private Map<String, Long> table() {
        if (table.isEmpty()) {
            Map<String, Long> out = new HashMap<>();
            String cpu = "";
            for (String line : Os.read(root.resolve("proc/cpuinfo")).orElse("").split("\n")) {
                String value = line.substring(line.indexOf(':') + 1).strip();
                if (line.startsWith("processor")) {
                    cpu = value;
                    out.put(cpu, 0L);
                } else if (line.startsWith("cpu MHz") && value.matches("[0-9.]{1,20}")) {
                    out.put(cpu, Math.round(Double.parseDouble(value) * 1000));
                }
            }
            table = out;
        }
        return table;
    }
}
