package dev.muster.core.step;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.StepDesc;
import java.util.List;
import java.util.Map;

/**
 * The memory of its job that a step reserves. A step with a memory request is limited to it, and other steps cannot
 * have that memory while it runs. A step without one, or with 0, may use all memory of the job and reserves none; with
 * {@code --overlap} a step reserves none either.
 */
final class StepMemory {
    /** A number of tasks greater than any possible one. */
    static final int ANY = Integer.MAX_VALUE / 4096;

    private final Job job;
    private final ResourceRequest request;
    private final boolean counts;

    StepMemory(State state, Job job, StepDesc step) {
        this.job = job;
        request = step.request();
        counts = asks(step) && state.memoryConsumed(job.desc());
    }

    /** Returns whether the step requests memory; memory per CPU is no request of a step without CPUs of its own. */
    private static boolean asks(StepDesc d) {
        ResourceRequest r = d.request();
        boolean perCpu = r.memPerCpuMb() > 0 && (!r.overcommit() || d.wholeNodes());
        return !r.memAll() && (r.memPerNodeMb() > 0 || perCpu || r.memPerGpuMb() > 0);
    }

    /** Tests whether the step asks for memory by GPUs, and its job has none. */
    boolean isOfNoGpus() {
        return counts && isByGpus() && job.run().allocation().nodes().stream().allMatch(s -> gpus(s.gres()) == 0);
    }

    /**
     * Returns how many of the step's tasks there is memory for on a node; memory asked for by GPUs shows only when the
     * step has them.
     */
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
            return cpus >= cpusPerTask ? ANY : 0;
        }
        return (int) Math.min(ANY, cpus / cpusPerTask);
    }

    /**
     * Returns the memory on a node, in MiB, for a number of CPUs and these devices; memory per CPU counts once for each
     * CPU.
     */
    long of(Allocation.Share share, int cpus, Map<String, IndexSet> devices) {
        if (!counts) {
            return share.memoryMb();
        }
        if (request.memPerNodeMb() > 0) {
            return request.memPerNodeMb();
        }
        if (request.memPerCpuMb() > 0) {
            return SaturatingMath.times(request.memPerCpuMb(), (long) cpus);
        }
        return SaturatingMath.times(request.memPerGpuMb(), (long) gpus(devices));
    }

    /** Tests whether memory that depends on the step's devices is more than what is free. */
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
