package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Control groups of jobs and steps: tracked and killed through version 2 where it is mounted, memory limited through
 * whichever version has that controller. Where neither can be written, jobs run without, and one log line says so.
 */
final class Cgroups {
    private static final Path MOUNT = Path.of("/sys/fs/cgroup");

    private final String node;
    private final boolean limitMemory;
    private final Optional<Path> tracking;
    private final Optional<Path> memoryV1;
    private final boolean memoryV2;
    private final DaemonLog log;

    private Cgroups(String node, boolean limitMemory, Optional<Path> tracking, Optional<Path> memoryV1,
            boolean memoryV2, DaemonLog log) {
        this.node = node;
        this.limitMemory = limitMemory;
        this.tracking = tracking;
        this.memoryV1 = memoryV1;
        this.memoryV2 = memoryV2;
        this.log = log;
    }

    /** The groups of one step. */
    record Groups(List<Path> join, List<Path> kill, String oomEvents) {
        static final Groups NONE = new Groups(List.of(), List.of(), "");
    }

    /** @param spool tells nodes of the same name apart, where several clusters share a machine */
    static Cgroups detect(String nodeName, Path spool, boolean limitMemory, DaemonLog log) {
        String node = "slurm_" + nodeName + "_" + Integer.toHexString(spool.toString().hashCode());
        Optional<Path> v2 = List.of(MOUNT, MOUNT.resolve("unified")).stream()
                .filter(p -> Files.exists(p.resolve("cgroup.controllers")))
                .findFirst();
        Optional<Path> tracking = v2.map(p -> p.resolve(node)).filter(Cgroups::make);
        boolean hasMemory = tracking.isPresent()
                && Os.read(v2.get().resolve("cgroup.controllers")).orElse("").contains("memory")
                && write(v2.get().resolve("cgroup.subtree_control"), "+memory")
                && write(tracking.get().resolve("cgroup.subtree_control"), "+memory");
        Optional<Path> v1 = Optional.of(MOUNT.resolve("memory"))
                .filter(p -> limitMemory && !hasMemory && Files.exists(p.resolve("memory.limit_in_bytes")))
                .map(p -> p.resolve(node))
                .filter(Cgroups::make);
        if (tracking.isEmpty()) {
            log.info("no writable cgroup v2: processes are tracked by their parents and sessions");
        }
        if (limitMemory && !hasMemory && v1.isEmpty()) {
            log.info("no writable memory cgroup: memory limits are not enforced through cgroups");
        }
        return new Cgroups(node, limitMemory, tracking, v1, hasMemory, log);
    }

    boolean limitsMemory() {
        return limitMemory && (memoryV2 || memoryV1.isPresent());
    }

    Groups forStep(int jobId, int attempt, int stepId, long jobMemoryMb, long stepMemoryMb) {
        List<Path> join = new ArrayList<>();
        List<Path> kill = new ArrayList<>();
        String oomEvents = "";
        if (tracking.isPresent()) {
            Path job = tracking.get().resolve(jobName(jobId, attempt));
            Path step = job.resolve("step_" + SpecBuilder.stepName(stepId));
            if (make(job) && (!memoryV2 || write(job.resolve("cgroup.subtree_control"), "+memory")) && make(step)) {
                join.add(step);
                kill.add(step);
                if (memoryV2 && limitMemory) {
                    limit(job.resolve("memory.max"), jobMemoryMb);
                    limit(step.resolve("memory.max"), stepMemoryMb);
                    oomEvents = step.resolve("memory.events").toString();
                }
            }
        }
        if (memoryV1.isPresent()) {
            Path job = memoryV1.get().resolve(jobName(jobId, attempt));
            Path step = job.resolve("step_" + SpecBuilder.stepName(stepId));
            if (make(job) && hierarchical(job) && make(step)) {
                limit(job.resolve("memory.limit_in_bytes"), jobMemoryMb);
                limit(step.resolve("memory.limit_in_bytes"), stepMemoryMb);
                join.add(step);
                oomEvents = step.resolve("memory.oom_control").toString();
            }
        }
        return new Groups(join, kill, oomEvents);
    }

    private static boolean hierarchical(Path job) {
        Path file = job.resolve("memory.use_hierarchy");
        return !Files.exists(file) || Os.read(file).orElse("").trim().equals("1") || write(file, "1");
    }

    /** Kills whatever the step's group holds: the last resort when its stepd is gone. */
    void kill(int jobId, int attempt, int stepId) {
        tracking.ifPresent(t -> write(t.resolve(jobName(jobId, attempt)).resolve("step_" + SpecBuilder.stepName(stepId))
                .resolve("cgroup.kill"), "1"));
    }

    /** True if no process is in the job's group, as far as there is one. */
    boolean isEmpty(int jobId, int attempt) {
        return tracking.map(t -> Os.read(t.resolve(jobName(jobId, attempt)).resolve("cgroup.events")).orElse(""))
                .map(text -> !text.contains("populated 1"))
                .orElse(true);
    }

    void removeStep(int jobId, int attempt, int stepId) {
        for (Path top : tops()) {
            remove(top.resolve(jobName(jobId, attempt)).resolve("step_" + SpecBuilder.stepName(stepId)));
        }
    }

    void removeJob(int jobId, int attempt) {
        for (Path top : tops()) {
            remove(top.resolve(jobName(jobId, attempt)));
        }
    }

    private List<Path> tops() {
        List<Path> out = new ArrayList<>();
        tracking.ifPresent(out::add);
        memoryV1.ifPresent(out::add);
        return out;
    }

    private static String jobName(int jobId, int attempt) {
        return attempt <= 1 ? "job_" + jobId : "job_" + jobId + "." + attempt;
    }

    private void limit(Path file, long memoryMb) {
        if (memoryMb > 0 && !write(file, Long.toString(memoryMb << 20))) {
            log.error("cannot limit memory through " + file);
        }
    }

    private static boolean make(Path directory) {
        try {
            Files.createDirectories(directory);
            return Files.isWritable(directory.resolve("cgroup.procs"));
        } catch (IOException e) {
            return false;
        }
    }

    private static void remove(Path directory) {
        try {
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // still in use by a process that is just dying: removed with the next job of that name, or never in the way
        }
    }

    private static boolean write(Path file, String text) {
        try {
            Files.writeString(file, text);
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
