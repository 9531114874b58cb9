package dev.muster.node.step;

import dev.muster.node.cgroup.MemoryWatch;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.ProcessTable;
import dev.muster.node.spool.JobSpool;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Lists of the running steps of some jobs, with the process ids that their stepds wrote. Called on the
 * {@link EventLoop}.
 */
public final class RunningSteps {
    private static final List<String> SHARES_OF_GPUS = List.of("gpu", "mps", "shard");

    private RunningSteps() {}

    /**
     * @param second see {@link NodeJob#isLookedAt}
     * @param ofNode seconds between two looks where nothing asks for others
     */
    public static List<ProcessTable.Running> lookedAt(
            Collection<NodeJob> jobs, JobSpool spool, int second, int ofNode) {
        List<ProcessTable.Running> out = new ArrayList<>();
        for (NodeJob job : jobs) {
            for (NodeStep step : job.steps.values()) {
                if (step.phase == NodeStep.Phase.RUNNING && job.isLookedAt(step, second, ofNode)) {
                    out.add(new ProcessTable.Running(
                            job.jobId(),
                            job.attempt(),
                            step.stepId,
                            job.share.owner(),
                            step.directory,
                            spool.stepdPid(step.directory),
                            spool.status(step.directory),
                            SHARES_OF_GPUS.stream().anyMatch(job.share.gres()::containsKey)));
                }
            }
        }
        return out;
    }

    public static List<MemoryWatch.Watched> withMemoryLimit(Collection<NodeJob> jobs, JobSpool spool) {
        List<MemoryWatch.Watched> out = new ArrayList<>();
        for (NodeJob job : jobs) {
            List<Long> stepds = job.steps.values().stream()
                    .filter(s -> s.phase == NodeStep.Phase.RUNNING)
                    .map(s -> spool.stepdPid(s.directory))
                    .filter(p -> p > 0)
                    .toList();
            if (job.share.memoryMb() > 0 && !stepds.isEmpty()) {
                out.add(new MemoryWatch.Watched(
                        job.jobId(), job.attempt(), job.share.memoryMb(), stepds, job.sampleSeconds()));
            }
        }
        return out;
    }
}
