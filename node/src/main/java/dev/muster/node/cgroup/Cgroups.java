package dev.muster.node.cgroup;

import static java.util.Objects.requireNonNull;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.job.StepId;
import dev.muster.node.config.CgroupSettings;
import dev.muster.node.os.Os;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Control groups of jobs and steps: {@code slurm_NODE/job_N/step_S} in version 2 and in each hierarchy of version 1
 * that is needed. A controller is used through whichever version has it. Where none can be written, jobs run without,
 * and a line of the log says so.
 */
public final class Cgroups {
    private final String node;
    private final CgroupSettings confinement;
    private final Optional<Path> v2;
    private final List<String> v2Controllers;
    private final Map<String, Path> v1;
    private final long totalMb;
    private final DaemonLog log;

    private Cgroups(
            String node,
            CgroupSettings confinement,
            Optional<Path> v2,
            List<String> v2Controllers,
            Map<String, Path> v1,
            long totalMb,
            DaemonLog log) {
        this.node = node;
        this.confinement = confinement;
        this.v2 = v2;
        this.v2Controllers = v2Controllers;
        this.v1 = v1;
        this.totalMb = totalMb;
        this.log = log;
    }

    /** The groups of one step. */
    public record Groups(List<Path> join, List<Path> kill, String oomEvents) {}

    /**
     * What a group may use.
     *
     * @param cpus the machine's numbers, {@code 0-3,8}; "" for all
     * @param gres indices by GRES name
     */
    public record Share(long memoryMb, String cpus, Map<String, List<Integer>> gres) {}

    /** @param spool tells nodes of the same name apart, where several clusters share a machine */
    public static Cgroups detect(String nodeName, Path spool, CgroupSettings c, long totalMb, DaemonLog log) {
        String node =
                "slurm_" + nodeName + "_" + Integer.toHexString(spool.toString().hashCode());
        Path mount = Path.of(c.conf().mountpoint());
        String plugin = c.conf().plugin();
        boolean mayV1 = List.of("autodetect", "cgroup/v1").contains(plugin);
        boolean mayV2 = List.of("autodetect", "cgroup/v2").contains(plugin) && !c.isNone();
        Optional<Path> root = List.of(mount, mount.resolve("unified")).stream()
                .filter(p -> mayV2 && Files.exists(p.resolve("cgroup.controllers")))
                .findFirst();
        Optional<Path> v2 = root.map(p -> p.resolve(node)).filter(Cgroups::make);
        List<String> inV2 = new ArrayList<>();
        Map<String, Path> v1 = new TreeMap<>();
        for (String controller : needed(c)) {
            if (v2.isPresent()
                    && delegated(root.get(), controller)
                    && write(v2.get().resolve("cgroup.subtree_control"), "+" + controller)) {
                inV2.add(controller);
            } else if (mayV1
                    && Files.exists(mount.resolve(controller).resolve("cgroup.procs"))
                    && makeV1(mount.resolve(controller).resolve(node))) {
                v1.put(controller, mount.resolve(controller).resolve(node));
            } else {
                log.error("no writable " + controller + " cgroup: " + whyMissing(controller));
            }
        }
        if (c.track() && v2.isEmpty()) {
            Path freezer = mount.resolve("freezer").resolve(node);
            if (mayV1 && makeV1(freezer)) {
                v1.put("freezer", freezer);
            } else {
                log.info("no writable cgroup: processes are tracked by their parents and sessions");
            }
        }
        return new Cgroups(node, c, v2, List.copyOf(inV2), v1, totalMb, log);
    }

    private static List<String> needed(CgroupSettings c) {
        List<String> out = new ArrayList<>();
        if (c.memory()) {
            out.add("memory");
        }
        if (c.cores()) {
            out.add("cpuset");
        }
        if (c.devices()) {
            out.add("devices");
        }
        return out;
    }

    private static String whyMissing(String controller) {
        return switch (controller) {
            case "memory" -> "memory limits are not enforced through cgroups";
            case "cpuset" -> "ConstrainCores has no effect";
            default -> "ConstrainDevices has no effect (it needs the devices controller of cgroup/v1)";
        };
    }

    private static boolean delegated(Path root, String controller) {
        return List.of(Os.read(root.resolve("cgroup.controllers"))
                                .orElse("")
                                .trim()
                                .split(" "))
                        .contains(controller)
                && write(root.resolve("cgroup.subtree_control"), "+" + controller);
    }

    public boolean limitsMemory() {
        return confinement.memory() && has("memory");
    }

    /** Jobs reach only their own devices, which are then numbered from 0. */
    public boolean limitsDevices() {
        return confinement.devices() && has("devices");
    }

    private boolean has(String controller) {
        return v2Controllers.contains(controller) || v1.containsKey(controller);
    }

    /** One at a time: a group is ready for use before anybody finds it made. */
    public synchronized Groups forStep(int jobId, int attempt, int stepId, Share jobShare, Share stepShare) {
        List<Path> join = new ArrayList<>();
        List<Path> kill = new ArrayList<>();
        String oomEvents = "";
        for (Path top : tops()) {
            Path job = top.resolve(jobName(jobId, attempt));
            Path step = job.resolve(stepDirectory(stepId));
            boolean two = v2.filter(top::equals).isPresent();
            String controller = two ? "" : controller(top);
            List<String> controllers = two ? v2Controllers : List.of(controller);
            // a group below keeps the one above from becoming narrower: each is confined before the next is made
            boolean made = two ? make(job) && share(job) : makeV1(job);
            controllers.forEach(one -> limit(one, two, job, jobShare));
            if (!made || !(two ? make(step) : makeV1(step))) {
                log.error("cannot make " + step);
                continue;
            }
            controllers.forEach(one -> limit(one, two, step, stepShare));
            join.add(step);
            if (two || controller.equals("freezer")) {
                kill.add(step);
            }
            if (controllers.contains("memory")) {
                oomEvents = step.resolve(two ? "memory.events" : "memory.oom_control")
                        .toString();
            }
        }
        return new Groups(join, kill, oomEvents);
    }

    /** Another limit for what the job has all together. */
    public synchronized void confineMemory(int jobId, int attempt, long memoryMb) {
        for (Path top : tops()) {
            Path job = top.resolve(jobName(jobId, attempt));
            boolean two = v2.filter(top::equals).isPresent();
            boolean counts =
                    two ? v2Controllers.contains("memory") : controller(top).equals("memory");
            if (counts && java.nio.file.Files.isDirectory(job)) {
                memory(two, job, confinement.memory(memoryMb, totalMb));
            }
        }
    }

    private boolean share(Path job) {
        return v2Controllers.stream().allMatch(c -> write(job.resolve("cgroup.subtree_control"), "+" + c));
    }

    private void limit(String controller, boolean two, Path group, Share share) {
        switch (controller) {
            case "memory" -> memory(two, group, confinement.memory(share.memoryMb(), totalMb));
            case "cpuset" -> {
                if (!share.cpus().isEmpty() && !write(group.resolve("cpuset.cpus"), share.cpus())) {
                    log.error("cannot confine " + group + " to CPUs " + share.cpus());
                }
            }
            case "devices" ->
                denied(share.gres()).forEach(device -> {
                    if (!write(group.resolve("devices.deny"), device + " rwm")) {
                        log.error("cannot keep " + group + " from device " + device);
                    }
                });
            default -> {}
        }
    }

    private void memory(boolean two, Path group, CgroupSettings.Memory m) {
        if (two) {
            limit(group.resolve("memory.max"), m.hard());
            limit(group.resolve("memory.high"), m.soft() < m.hard() ? m.soft() : 0);
            if (m.withSwap() > 0) {
                write(group.resolve("memory.swap.max"), Long.toString(m.withSwap() - m.hard()));
            }
            return;
        }
        limit(group.resolve("memory.limit_in_bytes"), m.hard());
        limit(group.resolve("memory.soft_limit_in_bytes"), m.soft());
        limit(group.resolve("memory.memsw.limit_in_bytes"), m.withSwap());
        if (confinement.swap() && !confinement.conf().memorySwappiness().isEmpty()) {
            write(group.resolve("memory.swappiness"), confinement.conf().memorySwappiness());
        }
    }

    private void limit(Path file, long bytes) {
        if (bytes > 0 && !write(file, Long.toString(bytes))) {
            log.error("cannot limit memory through " + file);
        }
    }

    /** Devices of gres.conf that are not in the share, as {@code c 195:0}. */
    private List<String> denied(Map<String, List<Integer>> gres) {
        List<String> out = new ArrayList<>();
        confinement.files().forEach((name, devices) -> {
            for (int i = 0; i < devices.size(); i++) {
                if (!gres.getOrDefault(name, List.of()).contains(i)) {
                    devices.get(i).forEach(file -> number(file).ifPresent(out::add));
                }
            }
        });
        // a file that several devices share belongs to every job that has one of them
        confinement
                .files()
                .forEach((name, devices) -> gres.getOrDefault(name, List.of()).stream()
                        .filter(i -> i < devices.size())
                        .flatMap(i -> devices.get(i).stream())
                        .forEach(file -> number(file).ifPresent(out::remove)));
        return out;
    }

    private static Optional<String> number(String file) {
        try {
            Path path = Path.of(file).toRealPath();
            int device = (Integer) Files.getAttribute(path, "unix:mode") & 0170000;
            long rdev = (Long) Files.getAttribute(path, "unix:rdev");
            if (device != 0020000 && device != 0060000) {
                return Optional.empty(); // an ordinary file stands for a device in tests
            }
            long major = rdev >>> 8 & 0xfff | rdev >>> 32 & ~0xfffL;
            long minor = rdev & 0xff | rdev >>> 12 & ~0xffL;
            return Optional.of((device == 0020000 ? "c " : "b ") + major + ":" + minor);
        } catch (IOException | RuntimeException e) {
            return Optional.empty();
        }
    }

    /** The controller of a hierarchy of version 1: the directory below which slurmd's own group lies. */
    private static String controller(Path top) {
        return requireNonNull(top.getParent(), "slurmd's group lies below a controller")
                .getFileName()
                .toString();
    }

    /** Kills whatever the step's group holds: the last resort when its stepd is gone. */
    public void kill(int jobId, int attempt, int stepId) {
        for (Path top : tops()) {
            Path step = top.resolve(jobName(jobId, attempt)).resolve(stepDirectory(stepId));
            if (v2.filter(top::equals).isPresent()) {
                write(step.resolve("cgroup.kill"), "1");
            } else if (controller(top).equals("freezer")) {
                Os.read(step.resolve("cgroup.procs")).stream()
                        .flatMap(String::lines)
                        .forEach(pid -> Os.kill(Long.parseLong(pid), Os.SIGNAL_KILL));
            }
        }
    }

    public void removeStep(int jobId, int attempt, int stepId) {
        for (Path top : tops()) {
            remove(top.resolve(jobName(jobId, attempt)).resolve(stepDirectory(stepId)));
        }
    }

    public void removeJob(int jobId, int attempt) {
        for (Path top : tops()) {
            remove(top.resolve(jobName(jobId, attempt)));
        }
    }

    private List<Path> tops() {
        List<Path> out = new ArrayList<>(v1.values());
        v2.ifPresent(out::add);
        return out;
    }

    private static String jobName(int jobId, int attempt) {
        return attempt <= 1 ? "job_" + jobId : "job_" + jobId + "." + attempt;
    }

    private static String stepDirectory(int stepId) {
        return "step_" + StepId.name(stepId);
    }

    private static boolean make(Path directory) {
        try {
            Files.createDirectories(directory);
            return Files.isWritable(directory.resolve("cgroup.procs"));
        } catch (IOException e) {
            return false;
        }
    }

    /** A fresh cpuset is empty and a fresh memory group may count for itself alone: both follow the group above. */
    private static boolean makeV1(Path directory) {
        boolean fresh = !Files.exists(directory);
        if (!make(directory)) {
            return false;
        }
        for (String file : fresh ? List.of("cpuset.mems", "cpuset.cpus") : List.<String>of()) {
            Path above = directory.resolveSibling(file);
            if (Files.exists(above)
                    && !write(directory.resolve(file), Os.read(above).orElse("").trim())) {
                return false;
            }
        }
        Path hierarchy = directory.resolve("memory.use_hierarchy");
        return !Files.exists(hierarchy) || Os.read(hierarchy).orElse("").trim().equals("1") || write(hierarchy, "1");
    }

    private static void remove(Path directory) {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> inner = Files.newDirectoryStream(directory, Files::isDirectory)) {
            inner.forEach(Cgroups::remove);
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // still in use by a process that is just dying: removed with the next job of that name, or never in the way
        }
    }

    private static boolean write(Path file, String text) {
        try {
            Files.write(file, text.getBytes(StandardCharsets.US_ASCII), java.nio.file.StandardOpenOption.WRITE);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public String toString() {
        return "cgroups of " + node + ": " + tops();
    }
}
