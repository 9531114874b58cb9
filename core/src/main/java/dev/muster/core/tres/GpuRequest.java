package dev.muster.core.tres;

import dev.muster.core.options.GpuJobDefaults;
import dev.muster.core.state.State;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;

/** Adds CPUs and memory to a job's GPUs, where the job asks for none: {@link GpuJobDefaults}. */
public final class GpuRequest {
    private GpuRequest() {}

    /** Returns the description with the CPUs and memory of its partition's JobDefaults, or else of the cluster's. */
    public static JobDesc with(JobDesc desc, State state) {
        ResourceRequest r = desc.request();
        boolean gpus = GresRequest.gpus(r.tresPerJob())
                        + GresRequest.gpus(r.tresPerNode())
                        + GresRequest.gpus(r.tresPerTask())
                        + GresRequest.gpus(r.tresPerSocket())
                > 0;
        GpuJobDefaults own = state.partitions()
                .find(desc.firstPartition())
                .flatMap(p -> GpuJobDefaults.parse(p.info().jobDefaults()))
                .orElse(GpuJobDefaults.NONE);
        GpuJobDefaults all = state.settings().options().submission().gpuDefaults();
        long cpus = gpus && r.cpusPerTask() == 0 && r.cpusPerGpu() == 0 ? first(own.cpusPerGpu(), all.cpusPerGpu()) : 0;
        boolean memorySaid = r.memPerNodeMb() > 0 || r.memPerCpuMb() > 0 || r.memPerGpuMb() > 0 || r.memAll();
        long memoryMb = gpus && !memorySaid ? first(own.memPerGpuMb(), all.memPerGpuMb()) : 0;
        if (cpus == 0 && memoryMb == 0) {
            return desc;
        }
        return desc.withRequest(r.withPerGpu(
                cpus > 0 ? SaturatingMath.toInt(cpus) : r.cpusPerGpu(), memoryMb > 0 ? memoryMb : r.memPerGpuMb()));
    }

    private static long first(long own, long all) {
        return own > 0 ? own : all;
    }
}
