package dev.muster.core.job;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code --mem-update}: once in a run a job gives back what it does not use of its memory. What it keeps on each node
 * is what it uses where it uses most, with the margin that it asked for, and never less than a tenth of what it had; no
 * node gets more than it had.
 */
public final class MemoryRules {
    private static final int LEAST_SHARE = 10;
    /**
     * Measured later than this after its time, as after a stop of slurmctld, it is another time: the job keeps what it
     * has.
     */
    public static final long LATEST_MS = 120_000;

    private MemoryRules() {}

    /**
     * Tests whether the job's memory is due to be given back: the job asked for it, its time has come and not gone by,
     * and it has not given back anything before.
     */
    public static boolean isDue(State state, Job job, long tickMs) {
        JobDesc.Extras e = job.desc().extras();
        if (e.memUpdateMin() <= 0 || job.state() != JobState.RUNNING || job.has(JobFlag.CONFIGURING)) {
            return false;
        }
        long lateMs = job.run().preSuspendMs() + tickMs - job.run().sinceTickMs() - e.memUpdateMin() * 60_000L;
        PartitionLimits.Memory asked = PartitionLimits.memory(state, job);
        return lateMs >= 0
                && lateMs < LATEST_MS
                && job.run().allocation().nodes().stream()
                        .noneMatch(s -> s.memoryMb()
                                < (asked.perNodeMb() > 0 ? asked.perNodeMb() : asked.perCpuMb() * s.cpus()));
    }

    public static Decision measured(State state, Command.MemoryMeasured c, DecisionTime now) {
        Job job = state.jobs()
                .find(c.jobId())
                .filter(j -> j.attempt() == c.attempt() && isDue(state, j, now.tickMs()))
                .orElse(null);
        if (job == null) {
            return Decision.of(List.of(), "");
        }
        long wanted = Math.ceilDiv(c.usedKb() * (100L + job.desc().extras().memUpdateMargin()), 100L * 1024);
        Map<String, Long> lower = new TreeMap<>();
        for (Allocation.Share s : job.run().allocation().nodes()) {
            long kept = Math.max(wanted, Math.max(1, Math.ceilDiv(s.memoryMb(), (long) LEAST_SHARE)));
            if (kept < s.memoryMb() && !s.released()) {
                lower.put(s.node(), kept);
            }
        }
        return Decision.of(lower.isEmpty() ? List.of() : List.of(new Change.JobMemoryLowered(job.id(), lower)), "");
    }
}
