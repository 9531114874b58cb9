package dev.muster.node.hardware;

import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.node.os.Os;
import dev.muster.node.os.Topology;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Hardware of this machine, from /proc and /sys. */
public final class HardwareProbe {
    private final Path root;
    private final Path tmpFs;

    /** @param root "/" or a copy of its proc and sys for tests */
    public HardwareProbe(Path root, Path tmpFs) {
        this.root = root;
        this.tmpFs = tmpFs;
    }

    public Hardware read(String gres) {
        TreeSet<Integer> cpus = onlineCpus();
        Set<String> sockets = new HashSet<>();
        Set<String> cores = new HashSet<>();
        for (int cpu : cpus) {
            Path topology = root.resolve("sys/devices/system/cpu/cpu" + cpu + "/topology");
            String socket = Os.read(topology.resolve("physical_package_id"))
                    .map(String::trim)
                    .orElse("0");
            String core = Os.read(topology.resolve("core_id")).map(String::trim).orElse(Integer.toString(cpu));
            String die = Os.read(topology.resolve("die_id")).map(String::trim).orElse("0");
            sockets.add(socket);
            cores.add(socket + "/" + die + "/" + core);
        }
        int socketCount = Math.max(1, sockets.size());
        int coresPerSocket = Math.max(1, cores.size() / socketCount);
        int threads = Math.max(1, cpus.size() / Math.max(1, cores.size()));
        return new Hardware(
                cpus.size(),
                1,
                socketCount,
                coresPerSocket,
                threads,
                memoryMb(),
                tmpDiskMb(),
                gres,
                architecture(),
                operatingSystem(),
                bootTime());
    }

    /** CPUs that exist here, by the kernel's numbers. */
    public TreeSet<Integer> onlineCpus() {
        return list(Os.read(root.resolve("sys/devices/system/cpu/online"))
                .map(String::trim)
                .orElse("0"));
    }

    private static TreeSet<Integer> list(String list) {
        TreeSet<Integer> out = new TreeSet<>();
        for (String range : list.isEmpty() ? new String[0] : list.split(",")) {
            String[] ends = range.split("-");
            int last = Integer.parseInt(ends[ends.length - 1]);
            for (int cpu = Integer.parseInt(ends[0]); cpu <= last; cpu++) {
                out.add(cpu);
            }
        }
        return out;
    }

    /**
     * The kernel's number of each CPU in Slurm's order: by socket, core and thread, so that the threads of a core are
     * neighbours, however the kernel counts them.
     */
    public List<Integer> cpusInOrder() {
        List<Integer> out = new ArrayList<>(onlineCpus());
        out.sort(Comparator.comparingInt((Integer cpu) -> topology(cpu, "physical_package_id", 0))
                .thenComparingInt(cpu -> topology(cpu, "die_id", 0))
                .thenComparingInt(cpu -> topology(cpu, "core_id", cpu))
                .thenComparingInt(cpu -> cpu));
        return out;
    }

    /** How the CPUs lie. */
    public Topology topology() {
        List<Integer> order = cpusInOrder();
        Map<Integer, Integer> sockets = new HashMap<>();
        order.forEach(cpu -> sockets.put(cpu, topology(cpu, "physical_package_id", 0)));
        Map<Integer, Integer> numa = new HashMap<>();
        TreeSet<Integer> nodes = new TreeSet<>();
        try (DirectoryStream<Path> all =
                Files.newDirectoryStream(root.resolve("sys/devices/system/node"), "node[0-9]*")) {
            for (Path each : all) {
                int node = Integer.parseInt(each.getFileName().toString().substring(4));
                nodes.add(node);
                list(Os.read(each.resolve("cpulist")).map(String::trim).orElse(""))
                        .forEach(cpu -> numa.put(cpu, node));
            }
        } catch (IOException | NumberFormatException e) {
            nodes.add(0); // a kernel without NUMA: one node
        }
        return new Topology(order, sockets, numa, nodes.isEmpty() ? new TreeSet<>(List.of(0)) : nodes);
    }

    private int topology(int cpu, String what, int fallback) {
        try {
            return Os.read(root.resolve("sys/devices/system/cpu/cpu" + cpu + "/topology/" + what))
                    .map(t -> Integer.parseInt(t.trim()))
                    .orElse(fallback);
        } catch (NumberFormatException e) {
            return fallback;
        }
    }

    public long memoryMb() {
        return memInfo("MemTotal:");
    }

    public long freeMemoryMb() {
        return memInfo("MemFree:");
    }

    private long memInfo(String field) {
        return Os.read(root.resolve("proc/meminfo")).stream()
                .flatMap(String::lines)
                .filter(l -> l.startsWith(field))
                .mapToLong(l -> Long.parseLong(
                                l.substring(field.length()).replace("kB", "").trim())
                        / 1024)
                .findFirst()
                .orElse(0);
    }

    /** The one-minute load, hundredths. */
    public int load() {
        String text = Os.read(root.resolve("proc/loadavg")).orElse("0 0 0");
        return (int) Math.round(Double.parseDouble(text.substring(0, text.indexOf(' '))) * 100);
    }

    public long uptimeSeconds() {
        String text = Os.read(root.resolve("proc/uptime")).orElse("0.0 0.0");
        return (long) Double.parseDouble(text.substring(0, text.indexOf(' ')));
    }

    private long bootTime() {
        return Os.read(root.resolve("proc/stat")).stream()
                .flatMap(String::lines)
                .filter(l -> l.startsWith("btime "))
                .mapToLong(l -> Long.parseLong(l.substring(6).trim()))
                .findFirst()
                .orElse(0);
    }

    private long tmpDiskMb() {
        try {
            return Files.getFileStore(tmpFs).getTotalSpace() >> 20;
        } catch (IOException e) {
            return 0;
        }
    }

    private static String architecture() {
        String name = System.getProperty("os.arch", "");
        return name.equals("amd64") ? "x86_64" : name;
    }

    private String operatingSystem() {
        Path kernel = root.resolve("proc/sys/kernel");
        return (Os.read(kernel.resolve("ostype")).orElse("Linux").trim() + " "
                        + Os.read(kernel.resolve("osrelease")).orElse("").trim() + " "
                        + Os.read(kernel.resolve("version")).orElse("").trim())
                .trim();
    }

    /** The two lines of {@code slurmd -C}. */
    public static String describe(String nodeName, Hardware h, String gres, long uptimeSeconds) {
        long days = uptimeSeconds / 86_400;
        long rest = uptimeSeconds % 86_400;
        return "NodeName=" + nodeName + " CPUs=" + h.cpus() + " Boards=" + h.boards() + " SocketsPerBoard="
                + h.sockets()
                + " CoresPerSocket=" + h.coresPerSocket() + " ThreadsPerCore=" + h.threadsPerCore() + " RealMemory="
                + h.memoryMb() + (gres.isEmpty() ? "" : " Gres=" + gres) + "\n"
                + String.format(Locale.ROOT, "UpTime=%d-%02d:%02d:%02d", days, rest / 3600, rest / 60 % 60, rest % 60);
    }
}
