package dev.muster.node.cgroup;

import dev.muster.config.sister.JobContainerConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.node.config.Settings;
import dev.muster.node.job.Hooks;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * namespace/tmpfs and namespace/linux: a mount namespace for each job, in which some directories are the job's own, and
 * with the latter processes and users of its own as well. What is the job's lies in BasePath/JOB and goes with it.
 * Blocks: runs on the starters' threads.
 */
public final class Namespaces {
    private static final String KEPT_AT = ".ns";
    private static final String SHARED_MEMORY = "/dev/shm";
    private static final int SCRIPT_SECONDS = 60;

    private final Settings settings;
    private final JobContainerConf conf;
    private final DaemonLog log;

    public Namespaces(Settings settings, DaemonLog log) {
        this.settings = settings;
        this.conf = settings.around().container();
        this.log = log;
    }

    public boolean isUsed() {
        return !conf.basePath().isEmpty();
    }

    private Path directory(int jobId) {
        return Path.of(conf.basePath()).resolve(Integer.toString(jobId));
    }

    /** The directory of the job's namespace, which is made if it is missing; empty if jobs have none. */
    public synchronized Optional<Path> of(JobShare share, Map<String, String> environment) throws IOException {
        if (!isUsed()) {
            return Optional.empty();
        }
        Path directory = directory(share.jobId());
        Path kept = directory.resolve(KEPT_AT);
        if (!isKept(kept)) {
            remove(share.jobId()); // of an earlier boot
            boolean made = false;
            try {
                make(share, directory, kept, environment);
                made = true;
            } finally {
                if (!made) {
                    remove(share.jobId());
                }
            }
        }
        return Optional.of(kept);
    }

    /** The directory of the job's namespace, "" if it has none any more. */
    public String kept(int jobId) {
        Path kept = isUsed() ? directory(jobId).resolve(KEPT_AT) : Path.of("/");
        return isUsed() && isKept(kept) ? kept.toString() : "";
    }

    /** The path on the node of a path in the job's namespace. */
    public Path outside(int jobId, Path inside) {
        for (int i = 0; isUsed() && i < conf.dirs().size(); i++) {
            Path dir = Path.of(conf.dirs().get(i));
            if (inside.startsWith(dir) && !conf.dirs().get(i).equals(SHARED_MEMORY)) {
                return directory(jobId).resolve("." + i).resolve(dir.relativize(inside));
            }
        }
        return inside;
    }

    private static boolean isKept(Path file) {
        return Os.read(Path.of("/proc/self/mounts")).orElse("").contains(" " + file + " nsfs ");
    }

    private void make(JobShare share, Path directory, Path kept, Map<String, String> environment) throws IOException {
        Path base = Path.of(conf.basePath());
        if (conf.autoBasePath()) {
            Files.createDirectories(base);
            JobSpool.setMode(base, "rwxr-xr-x");
        }
        Files.createDirectory(directory);
        JobSpool.setMode(directory, "rwx------");
        if (!conf.initScript().isEmpty()) {
            environment.put("SLURM_JOB_ID", Integer.toString(share.jobId()));
            environment.put("SLURM_JOB_MOUNT_SRC", directory.toString());
            Optional<String> error = Hooks.runOne(conf.initScript(), environment, SCRIPT_SECONDS, List.of());
            if (error.isPresent()) {
                throw new IOException("InitScript: " + error.get());
            }
        }
        List<String> command =
                new ArrayList<>(List.of(settings.stepd().toString(), "--namespace", "make", kept.toString(), kinds()));
        for (int i = 0; i < conf.dirs().size(); i++) {
            String dir = conf.dirs().get(i);
            if (dir.equals(SHARED_MEMORY)) {
                command.add(dir + "=");
                continue;
            }
            Path own = Files.createDirectory(directory.resolve("." + i));
            JobSpool.setMode(own, "rwx------");
            Os.own(own, share.owner().uid(), share.owner().gid());
            command.add(dir + "=" + own);
        }
        Os.Outcome made = Os.run(command);
        if (made.exitCode() != 0) {
            throw new IOException(
                    "cannot make the job's namespace: " + made.output().trim());
        }
        Optional<String> error = script(conf.cloneScript(), share.jobId(), kept, environment);
        if (error.isPresent()) {
            throw new IOException("CloneNSScript: " + error.get());
        }
    }

    private String kinds() {
        return (conf.shared() ? "slave" : "private")
                + (conf.processes() ? ",pid" : "")
                + (conf.users() ? ",user" : "")
                + (conf.users() && !conf.userScript().isEmpty() ? "=" + conf.userScript() : "");
    }

    private static Optional<String> script(
            JobContainerConf.Script script, int jobId, Path kept, Map<String, String> environment) {
        if (script.path().isEmpty()) {
            return Optional.empty();
        }
        Map<String, String> all = new HashMap<>(environment);
        all.put("SLURM_JOB_ID", Integer.toString(jobId));
        all.put("SLURM_NS", kept.toString());
        return Hooks.runOne(script.path(), all, Math.max(1, script.seconds()), List.of());
    }

    /** The job is over on this node: its directories go, with all that is in them. */
    public synchronized void remove(int jobId) {
        Path directory = directory(jobId);
        if (!isUsed() || !Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Path kept = directory.resolve(KEPT_AT);
        if (isKept(kept)) {
            script(conf.cloneEpilog(), jobId, kept, Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"))
                    .ifPresent(e -> log.error("CloneNSEpilog of job " + jobId + ": " + e));
        }
        try {
            Os.Outcome dropped = isKept(kept)
                    ? Os.run(List.of(settings.stepd().toString(), "--namespace", "drop", kept.toString()))
                    : new Os.Outcome(0, "");
            if (dropped.exitCode() != 0) {
                throw new IOException(dropped.output().trim());
            }
            JobSpool.removeTree(directory);
        } catch (IOException e) {
            log.error("cannot remove the directories of job " + jobId + " in " + directory + ": "
                    + ErrorSentence.reason(e));
        }
    }
}
