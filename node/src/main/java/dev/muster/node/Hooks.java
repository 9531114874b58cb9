package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.node.NodeMessages.JobShare;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Prolog and Epilog: run as the daemon's user, with a fixed environment, within a time limit. */
final class Hooks {
    private final Settings settings;
    private final DaemonLog log;

    Hooks(Settings settings, DaemonLog log) {
        this.settings = settings;
        this.log = log;
    }

    boolean hasProlog() {
        return !settings.prologs().isEmpty();
    }

    boolean hasEpilog() {
        return !settings.epilogs().isEmpty();
    }

    /** @return "" or what went wrong */
    String prolog(JobShare share) {
        return runAll("prolog", settings.prologs(), environment(share, "prolog_slurmd"),
                settings.prologTimeoutSeconds());
    }

    /** @return "" or what went wrong */
    String epilog(JobShare share) {
        return runAll("epilog", settings.epilogs(), environment(share, "epilog_slurmd"),
                settings.epilogTimeoutSeconds());
    }

    private Map<String, String> environment(JobShare share, String context) {
        Map<String, String> out = new TreeMap<>();
        for (String entry : share.environment()) {
            int equals = entry.indexOf('=');
            if (equals > 0 && entry.startsWith("SLURM") || entry.startsWith("CUDA_VISIBLE_DEVICES=")) {
                out.put(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        out.put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        out.put("SLURM_CLUSTER_NAME", settings.cluster());
        out.put("SLURM_CONF", settings.configFile());
        out.put("SLURM_JOB_ID", Integer.toString(share.jobId()));
        out.put("SLURM_JOBID", Integer.toString(share.jobId()));
        out.put("SLURM_JOB_UID", Integer.toString(share.owner().uid()));
        out.put("SLURM_UID", Integer.toString(share.owner().uid()));
        out.put("SLURM_JOB_GID", Integer.toString(share.owner().gid()));
        out.put("SLURM_JOB_USER", share.owner().user());
        out.put("SLURMD_NODENAME", settings.nodeName());
        out.put("SLURM_SCRIPT_CONTEXT", context);
        return out;
    }

    private String runAll(String kind, List<String> programs, Map<String, String> environment, int timeoutSeconds) {
        for (String program : programs) {
            Optional<String> error = runOne(program, environment, timeoutSeconds);
            if (error.isPresent()) {
                log.error("[job " + environment.get("SLURM_JOB_ID") + "] " + kind + " failed: " + error.get());
                return kind.equals("prolog") ? "Prolog error" : "Epilog error";
            }
        }
        return "";
    }

    private static Optional<String> runOne(String program, Map<String, String> environment, int timeoutSeconds) {
        if (!Files.isExecutable(Path.of(program))) {
            return Optional.of(program + ": not executable");
        }
        try {
            ProcessBuilder builder = new ProcessBuilder(program)
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
            return Optional.of(program + ": " + Reasons.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(program + ": interrupted");
        }
    }
}
