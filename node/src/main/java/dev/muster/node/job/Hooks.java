package dev.muster.node.job;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.GpuVariables;
import dev.muster.model.job.MultiProgram;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.node.step.SpecBuilder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Prolog, Epilog and their like: run as the daemon's user, with a fixed environment, within a time limit. */
public final class Hooks {
    public static final String PROLOG_ERROR = dev.muster.model.node.NodeMessages.LaunchFailed.PROLOG_ERROR;
    static final String EPILOG_ERROR = "Epilog error";
    /** The health program may not stand in its own way. */
    static final int HEALTH_SECONDS = 60;

    private static final String JOIN_AND_RUN =
            "program=$1; shift; for group; do echo $$ > \"$group/cgroup.procs\"; done; exec \"$program\"";
    private final Settings settings;
    private final DaemonLog log;
    private final Semaphore turns;
    private final AtomicBoolean checking = new AtomicBoolean();

    private final PrologEpilogRuns running;

    /** @param running those of this process, also of its slurmd with the configuration before */
    public Hooks(Settings settings, DaemonLog log, PrologEpilogRuns running) {
        this.settings = settings;
        this.log = log;
        this.running = running;
        this.turns = new Semaphore(settings.around().serial() ? 1 : Integer.MAX_VALUE);
    }

    /**
     * Runs a job's prolog, or waits for the one that a slurmd with the configuration before has begun.
     *
     * @param ended called on the loop with the error, "" for none
     */
    void startProlog(EventLoop loop, JobShare share, Supplier<List<Path>> groups, Consumer<String> ended) {
        start(loop, share, "prolog", () -> prolog(share, groups.get()), PROLOG_ERROR, ended);
    }

    /** The same of its epilog. */
    void startEpilog(EventLoop loop, JobShare share, Supplier<List<Path>> groups, Consumer<String> ended) {
        start(loop, share, "epilog", () -> epilog(share, groups.get()), EPILOG_ERROR, ended);
    }

    private void start(
            EventLoop loop, JobShare share, String hook, Supplier<String> run, String failure, Consumer<String> ended) {
        String name = String.join(
                " ", settings.nodeName(), Integer.toString(share.jobId()), Integer.toString(share.attempt()), hook);
        var _ = running.run(name, run, failure)
                .thenAccept(error -> loop.post(() -> {
                    running.taken(name);
                    ended.accept(error);
                }));
    }

    boolean hasProlog() {
        return !settings.prologs().isEmpty();
    }

    boolean hasEpilog() {
        return !settings.epilogs().isEmpty();
    }

    /** @param groups that it runs in (PrologFlags=RunInJob); answers "" or what went wrong */
    private String prolog(JobShare share, List<Path> groups) {
        return runAll(
                "prolog",
                settings.prologs(),
                environment(share, "prolog_slurmd"),
                settings.prologTimeoutSeconds(),
                groups);
    }

    /** Runs the epilog as {@link #prolog} runs the prolog. */
    private String epilog(JobShare share, List<Path> groups) {
        return runAll(
                "epilog",
                settings.epilogs(),
                environment(share, "epilog_slurmd"),
                settings.epilogTimeoutSeconds(),
                groups);
    }

    /** HealthCheckProgram: what it finds it tells slurmctld itself. Not twice at the same time. */
    public void health() {
        if (settings.around().health().isEmpty() || !checking.compareAndSet(false, true)) {
            return;
        }
        try {
            runOne(settings.around().health(), basic(), settings.around().healthTimeoutSeconds(), List.of())
                    .ifPresent(e -> log.error("health_check failed: " + e));
        } finally {
            checking.set(false);
        }
    }

    /** RebootProgram. It takes the machine down, or this daemon. */
    public void reboot() {
        if (settings.around().powerActions().containsKey(settings.around().reboot())) {
            powerAction(settings.around().reboot());
            return;
        }
        if (settings.around().reboot().isEmpty()) {
            log.error("RebootProgram isn't defined in config");
            return;
        }
        log.info("Node reboot request being processed");
        runOne(settings.around().reboot(), powerful(), HEALTH_SECONDS, List.of(), List.of(settings.nodeName()))
                .ifPresent(e -> log.error("RebootProgram failed: " + e));
    }

    /** The program of a PowerAction of this node. */
    public void powerAction(String action) {
        String program = settings.around().powerActions().getOrDefault(action, "");
        if (program.isEmpty()) {
            log.error("PowerAction=" + action + " isn't defined in config with Location=slurmd");
            return;
        }
        log.info("PowerAction=" + action + " being processed");
        List<String> arguments = new ArrayList<>(MultiProgram.words(program));
        String path = arguments.removeFirst();
        arguments.add(settings.nodeName());
        runOne(path, powerful(), HEALTH_SECONDS, List.of(), arguments)
                .ifPresent(e -> log.error("PowerAction=" + action + " failed: " + e));
    }

    private Map<String, String> powerful() {
        Map<String, String> out = basic();
        out.put("SLURM_NODE_NAME", settings.nodeName());
        return out;
    }

    /** UnkillableStepProgram. */
    void unkillable(JobShare share, String step) {
        if (!settings.around().unkillable().isEmpty()) {
            Map<String, String> environment = basic();
            environment.put("SLURM_JOB_ID", Integer.toString(share.jobId()));
            environment.put("SLURM_STEP_ID", step);
            runOne(settings.around().unkillable(), environment, HEALTH_SECONDS, List.of())
                    .ifPresent(e -> log.error("UnkillableStepProgram failed: " + e));
        }
    }

    /** The environment of every program of the site. */
    public Map<String, String> basic() {
        Map<String, String> out = new TreeMap<>();
        out.put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        out.put("SLURM_CLUSTER_NAME", settings.cluster());
        out.put("SLURM_CONF", settings.configFile());
        out.put("SLURMD_NODENAME", settings.nodeName());
        return out;
    }

    /**
     * What the controller says of devices; nothing else of a job's environment is told to programs that run as root.
     */
    private static final java.util.Set<String> DEVICES = java.util.Set.of(
            "CUDA_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            "ZE_AFFINITY_MASK",
            "GPU_DEVICE_ORDINAL",
            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");

    private Map<String, String> environment(JobShare share, String context) {
        Map<String, String> out = basic();
        for (String entry : share.environment()) {
            int equals = entry.indexOf('=');
            // an environment has no NUL: the user's text must not make the site's program fail, which would drain the
            // node
            if (equals > 0
                    && entry.indexOf('\0') < 0
                    && (entry.startsWith("SLURM") || DEVICES.contains(entry.substring(0, equals)))) {
                out.put(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        String gpus = SpecBuilder.indices(share.gres().getOrDefault("gpu", "")).stream()
                .map(String::valueOf)
                .collect(java.util.stream.Collectors.joining(","));
        if (!gpus.isEmpty()) {
            out.put("SLURM_JOB_GPUS", gpus);
            GpuVariables.of(settings.around().gpuFlags())
                    .forEach(v -> out.put(
                            v, GpuVariables.withUuids(v, gpus, settings.around().gpuUuids())));
        }
        out.put("SLURM_JOB_ID", Integer.toString(share.jobId()));
        out.put("SLURM_JOBID", Integer.toString(share.jobId()));
        out.put("SLURM_JOB_UID", Integer.toString(share.owner().uid()));
        out.put("SLURM_UID", Integer.toString(share.owner().uid()));
        out.put("SLURM_JOB_GID", Integer.toString(share.owner().gid()));
        out.put("SLURM_JOB_USER", share.owner().user());
        out.put("SLURM_SCRIPT_CONTEXT", context);
        return out;
    }

    private String runAll(
            String kind,
            List<String> programs,
            Map<String, String> environment,
            int timeoutSeconds,
            List<Path> groups) {
        turns.acquireUninterruptibly();
        try {
            for (String program : programs) {
                Optional<String> error = runOne(program, environment, timeoutSeconds, groups);
                if (error.isPresent()) {
                    log.error("[job " + environment.get("SLURM_JOB_ID") + "] " + kind + " failed: " + error.get());
                    return kind.equals("prolog") ? PROLOG_ERROR : EPILOG_ERROR;
                }
            }
            return "";
        } finally {
            turns.release();
        }
    }

    public static Optional<String> runOne(
            String program, Map<String, String> environment, int timeoutSeconds, List<Path> groups) {
        return runOne(program, environment, timeoutSeconds, groups, List.of());
    }

    /** @param arguments of a program that runs in no group */
    private static Optional<String> runOne(
            String program,
            Map<String, String> environment,
            int timeoutSeconds,
            List<Path> groups,
            List<String> arguments) {
        if (!new File(program).canExecute()) {
            return Optional.of(program + ": not executable");
        }
        List<String> command = new ArrayList<>();
        if (!groups.isEmpty()) {
            command.addAll(List.of("/bin/sh", "-c", JOIN_AND_RUN, "slurmd"));
        }
        command.add(program);
        groups.forEach(g -> command.add(g.toString()));
        command.addAll(arguments);
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(new File("/"))
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            builder.environment().putAll(environment);
            Process process = builder.start();
            if (timeoutSeconds > 0 && !process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                return Optional.of(program + ": timed out after " + timeoutSeconds + " s");
            }
            int code = process.waitFor();
            return code == 0 ? Optional.empty() : Optional.of(program + ": exit status " + code);
        } catch (IOException e) {
            return Optional.of(program + ": " + ErrorSentence.reason(e));
        } catch (RuntimeException e) {
            return Optional.of(
                    program + ": " + e); // a program that cannot be begun has failed, as one that exits with an error
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(program + ": interrupted");
        }
    }
}
