package dev.muster.node.hardware;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.CpuFreq;
import dev.muster.node.os.Os;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Sets the frequency of a step's CPUs where the kernel lets it be set (cpufreq in /sys), and sets it back at the step's
 * end.
 */
public final class CpuFrequency {
    private static final List<String> FILES = List.of("scaling_governor", "scaling_min_freq", "scaling_max_freq");

    private final Path root;
    private final DaemonLog log;
    /** Values before the change, by step and file. */
    private final Map<String, Map<Path, String>> before = new HashMap<>();

    /** @param root "/" or a copy of its sys for tests */
    public CpuFrequency(Path root, DaemonLog log) {
        this.root = root;
        this.log = log;
    }

    /** @param step names what {@link #reset} sets back; cpus: by the kernel's numbers */
    public synchronized void set(String step, CpuFreq wanted, Iterable<Integer> cpus) {
        Map<Path, String> old = new HashMap<>();
        for (int cpu : cpus) {
            Path directory = root.resolve("sys/devices/system/cpu/cpu" + cpu + "/cpufreq");
            if (!Files.isDirectory(directory)) {
                log.info("StepId=" + step + " asked for --cpu-freq=" + wanted.text() + ": the frequency of CPU " + cpu
                        + " cannot be set on this node");
                break;
            }
            FILES.forEach(
                    f -> Os.read(directory.resolve(f)).ifPresent(text -> old.put(directory.resolve(f), text.trim())));
            try {
                set(directory, wanted);
            } catch (IOException e) {
                log.error(
                        "StepId=" + step + ": cannot set the frequency of CPU " + cpu + ": " + ErrorSentence.reason(e));
            }
        }
        if (!old.isEmpty()) {
            before.put(step, old);
        }
    }

    private static void set(Path directory, CpuFreq wanted) throws IOException {
        List<Long> steps = frequencies(directory);
        boolean fixed = wanted.min().isEmpty() && !wanted.max().isEmpty();
        if (!wanted.min().isEmpty()) {
            write(directory, "scaling_min_freq", khz(wanted.min(), steps));
        }
        if (!wanted.max().isEmpty() && !fixed) {
            write(directory, "scaling_max_freq", khz(wanted.max(), steps));
        }
        if (fixed) {
            write(directory, "scaling_governor", "userspace");
            write(directory, "scaling_setspeed", khz(wanted.max(), steps));
        }
        if (!wanted.governor().isEmpty()) {
            write(directory, "scaling_governor", wanted.governor().toLowerCase(Locale.ROOT));
        }
    }

    private static void write(Path directory, String file, String value) throws IOException {
        Files.writeString(directory.resolve(file), value);
    }

    /** Frequencies of the CPU, lowest first; only the two ends if the kernel does not list the steps between. */
    private static List<Long> frequencies(Path directory) {
        List<Long> out = new ArrayList<>();
        String listed = Os.read(directory.resolve("scaling_available_frequencies"))
                .orElse("")
                .trim();
        for (String f : listed.isEmpty() ? new String[0] : listed.split("\\s+")) {
            out.add(Long.parseLong(f));
        }
        if (out.isEmpty()) {
            for (String end : List.of("cpuinfo_min_freq", "cpuinfo_max_freq")) {
                Optional<String> text =
                        Os.read(directory.resolve(end)).map(String::trim).filter(t -> !t.isEmpty());
                text.ifPresent(t -> out.add(Long.parseLong(t)));
            }
        }
        out.sort(null);
        return out;
    }

    private static String khz(String value, List<Long> steps) throws IOException {
        if (Character.isDigit(value.charAt(0))) {
            long asked = Long.parseLong(value);
            return Long.toString(steps.stream()
                    .filter(s -> s >= asked)
                    .findFirst()
                    .orElse(steps.isEmpty() ? asked : steps.getLast()));
        }
        if (steps.isEmpty()) {
            throw new IOException("it does not say what it can do");
        }
        return Long.toString(steps.get(
                switch (value) {
                    case "Low" -> 0;
                    case "Medium" -> (steps.size() - 1) / 2;
                    case "Highm1" -> Math.max(0, steps.size() - 2);
                    default -> steps.size() - 1;
                }));
    }

    /**
     * Sets back what the step changed. The lower end first would be refused while the upper one is below it: tried
     * twice.
     */
    public synchronized void reset(String step) {
        Map<Path, String> old = before.getOrDefault(step, Map.of());
        before.remove(step);
        for (int round = 0; round < 2; round++) {
            boolean last = round == 1;
            old.forEach((file, text) -> {
                try {
                    Files.writeString(file, text);
                } catch (IOException e) {
                    if (last) {
                        log.error("StepId=" + step + ": cannot set back " + file + ": " + ErrorSentence.reason(e));
                    }
                }
            });
        }
    }
}
