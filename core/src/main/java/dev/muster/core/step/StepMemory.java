package dev.muster.core.step;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.Map;

/**
 * How much memory of its job's a step has for itself. One that says how much it needs is held to it, and as much is
 * there for nobody else while it runs. One that says nothing, or 0, may use all of its job's and keeps it from nobody;
 * with {@code --overlap} none is kept from others either.
 */
final class StepMemory {
    /** More tasks than there can be. */
    static final int ANY = Integer.MAX_VALUE / 4096;

    private final Job job;
    private final ResourceRequest request;
    private final boolean counts;

    StepMemory(State state, Job job, StepDesc step) {
        this.job = job;
        request = step.request();
        counts = asks(step) && state.memoryConsumed(job.desc());
    }

    /** So much for each CPU is nothing where a step has no CPUs for itself. */
    private static boolean asks(StepDesc d) {
        ResourceRequest r = d.request();
        boolean perCpu = r.memPerCpuMb() > 0 && (!r.overcommit() || d.wholeNodes());
        return !r.memAll() && (r.memPerNodeMb() > 0 || perCpu || r.memPerGpuMb() > 0);
    }

    /** It asks for memory by GPUs, and its job has none. */
    boolean isOfNoGpus() {
        return counts && isByGpus() && job.run().allocation().nodes().stream().allMatch(s -> gpus(s.gres()) == 0);
    }

    /** How many of its tasks there is memory for on a node; what is asked for by GPUs shows only when it has them. */
    int tasks(Allocation.Share share, int cpusPerTask, boolean ignoreOthers) {
        if (!counts || isByGpus()) {
            return ANY;
        }
        long free = free(share, ignoreOthers);
        if (request.memPerNodeMb() > 0) {
            return request.memPerNodeMb() <= free ? ANY : 0;
        }
        long cpus = free / request.memPerCpuMb();
        if (request.overcommit()) {
            if (cpus >= cpusPerTask) {
                return ANY;
            }
            return 0;
        }
        return (int) Math.min(ANY, cpus / cpusPerTask);
    }

    /**
     * What it has on a node with so many CPUs and these devices: with all CPUs of a node, that many times as much as
     * for one of them.
     */
    long of(Allocation.Share share, int cpus, Map<String, IndexSet> devices) {
        if (!counts) {
            return share.memoryMb();
        }
        if (request.memPerNodeMb() > 0) {
            return request.memPerNodeMb();
        }
        if (request.memPerCpuMb() > 0) {
            return request.memPerCpuMb() * cpus;
        }
        return request.memPerGpuMb() * gpus(devices);
    }

    /** What depends on the devices it is given is more than there is. */
    boolean exceeds(Allocation.Share share, long memoryMb, boolean ignoreOthers) {
        return counts && isByGpus() && memoryMb > free(share, ignoreOthers);
    }

    private boolean isByGpus() {
        return request.memPerNodeMb() == 0 && request.memPerCpuMb() == 0;
    }

    private static int gpus(Map<String, IndexSet> devices) {
        return devices.getOrDefault("gpu", IndexSet.empty()).count();
    }

    private long free(Allocation.Share share, boolean ignoreOthers) {
        long free = share.memoryMb();
        for (Step other : ignoreOthers ? List.<Step>of() : job.run().steps()) {
            if (other.state() == Step.State.RUNNING
                    && other.id() >= 0
                    && !other.desc().overlap()
                    && asks(other.desc())) {
                free -= other.on(share.node())
                        .filter(p -> !p.done())
                        .map(Step.Part::memoryMb)
                        .orElse(0L);
            }
        }
        return free;
    }
}
