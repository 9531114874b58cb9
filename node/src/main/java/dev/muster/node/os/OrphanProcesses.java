package dev.muster.node.os;

import dev.muster.daemon.DaemonLog;
import dev.muster.node.cgroup.Cgroups;
import dev.muster.node.config.CgroupSettings;
import dev.muster.node.config.Settings;
import dev.muster.node.spool.StatusFile;
import dev.muster.node.step.NodeJob;
import dev.muster.node.step.NodeStep;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Processes that a killed stepd lost: those whose environment names the job and this node, and that have no living
 * stepd above them. Used where no control group can tell, and to check where one can.
 */
public final class OrphanProcesses {
    private static final int ROUNDS_MAX = 50;
    private static final long PAUSE_MS = 100;

    private OrphanProcesses() {}

    /**
     * Kills until nothing of the step is left, not on the node's thread.
     *
     * @param last what its stepd had written
     */
    public static void end(
            NodeJob job, NodeStep step, Optional<StatusFile> last, Settings settings, Cgroups cgroups, DaemonLog log) {
        Set<Long> tasks = new HashSet<>();
        last.ifPresent(s -> s.tasks().stream()
                .filter(t -> !t.ended() && t.pid() > 0) // 0 is the session of processes from outside a container
                .forEach(t -> tasks.add((long) t.pid())));
        for (int round = 0; round < ROUNDS_MAX; round++) {
            cgroups.kill(job.jobId(), job.attempt(), step.stepId);
            List<Long> left = find(job.jobId(), job.share.owner().uid(), settings, tasks);
            if (left.isEmpty()) {
                return;
            }
            left.forEach(pid -> Os.kill(pid, Os.SIGNAL_KILL));
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
        log.error(job.name() + ": processes of a killed slurmstepd do not end");
    }

    static List<Long> find(int jobId, int uid, Settings settings, Set<Long> taskPids) {
        Map<Long, Long> parents = new HashMap<>();
        Map<Long, Long> leaders = new HashMap<>();
        boolean byGroup = settings.confinement().tracking() == CgroupSettings.Tracking.GROUP;
        for (long pid : Os.processes()) {
            String[] fields =
                    Os.statFields(Os.read(Path.of("/proc/" + pid + "/stat")).orElse(""));
            if (fields.length > 3 && !fields[0].equals("Z")) {
                parents.put(pid, Long.parseLong(fields[1]));
                leaders.put(pid, Long.parseLong(fields[byGroup ? 2 : 3]));
            }
        }
        List<Long> out = new ArrayList<>();
        Map<Long, Boolean> stepds = new HashMap<>();
        for (long pid : parents.keySet()) {
            boolean ours = isOf(uid, pid)
                    && (taskPids.contains(leaders.get(pid)) || !byGroup && namesJob(pid, jobId, settings));
            if (ours && !hasStepdAbove(pid, parents, stepds)) {
                out.add(pid);
            }
        }
        return out;
    }

    /** Kills the processes below a slurmstepd that does not kill them itself. */
    public static void killBelow(long stepd, Settings settings) {
        if (stepd > 0 && isStepd(stepd)) {
            boolean byGroup = settings.confinement().tracking() == CgroupSettings.Tracking.GROUP;
            ProcessHandle.of(stepd).stream()
                    .flatMap(p -> byGroup ? p.children() : p.descendants())
                    .forEach(p -> Os.kill(p.pid(), Os.SIGNAL_KILL));
        }
    }

    private static boolean isOf(int uid, long pid) {
        String status = Os.read(Path.of("/proc/" + pid + "/status")).orElse("");
        int at = status.indexOf("\nUid:\t");
        return at >= 0 && status.startsWith(uid + "\t", at + 6);
    }

    private static boolean namesJob(long pid, int jobId, Settings settings) {
        Set<String> entries = new HashSet<>(
                List.of(Os.read(Path.of("/proc/" + pid + "/environ")).orElse("").split("\0")));
        return entries.contains("SLURM_JOB_ID=" + jobId)
                && entries.contains("SLURMD_NODENAME=" + settings.nodeName())
                && entries.contains("SLURM_CONF=" + settings.configFile());
    }

    private static boolean hasStepdAbove(long pid, Map<Long, Long> parents, Map<Long, Boolean> stepds) {
        long ancestor = pid;
        for (int depth = 0; depth < 1000 && ancestor > 1; depth++) {
            if (stepds.computeIfAbsent(ancestor, OrphanProcesses::isStepd)) {
                return true;
            }
            ancestor = parents.getOrDefault(ancestor, 1L);
        }
        return false;
    }

    private static boolean isStepd(long pid) {
        return Os.read(Path.of("/proc/" + pid + "/comm")).orElse("").startsWith("slurmstepd");
    }
}
