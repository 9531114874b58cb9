package dev.muster.core.tres;

import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.Optional;

/**
 * What the configuration has a job ask for where it does not say: CPUs and memory for each GPU. Of slurm.conf(5),
 * JobDefaults.
 *
 * @param cpusPerGpu 0 for what the cluster says, or nothing
 * @param memPerGpuMb MiB; 0 for what the cluster says, or nothing
 */
public record GpuDefaults(long cpusPerGpu, long memPerGpuMb) {
    private static final GpuDefaults NONE = new GpuDefaults(0, 0);

    /** {@code DefCpuPerGPU=2,DefMemPerGPU=1000}, as scontrol has it; empty for anything else. */
    public static Optional<GpuDefaults> parse(String text) {
        GpuDefaults out = NONE;
        for (String word : text.isEmpty() ? new String[0] : text.split(",")) {
            String[] pair = word.strip().split("=", 2);
            boolean number = pair.length == 2 && Digits.only(pair[1], 12);
            if (!number || !pair[0].equalsIgnoreCase("DefCpuPerGPU") && !pair[0].equalsIgnoreCase("DefMemPerGPU")) {
                return Optional.empty();
            }
            long n = Long.parseLong(pair[1]);
            out = pair[0].equalsIgnoreCase("DefCpuPerGPU")
                    ? new GpuDefaults(n, out.memPerGpuMb)
                    : new GpuDefaults(out.cpusPerGpu, n);
        }
        return Optional.of(out);
    }

    /** As {@link #parse} reads it and {@code scontrol show partition} prints it; "" for nothing. */
    public String text() {
        return (cpusPerGpu > 0 ? "DefCpuPerGPU=" + cpusPerGpu : "")
                + (cpusPerGpu > 0 && memPerGpuMb > 0 ? "," : "")
                + (memPerGpuMb > 0 ? "DefMemPerGPU=" + memPerGpuMb : "");
    }

    public static JobDesc with(JobDesc desc, State state) {
        ResourceRequest r = desc.request();
        boolean gpus = GresRequest.gpus(r.tresPerJob())
                        + GresRequest.gpus(r.tresPerNode())
                        + GresRequest.gpus(r.tresPerTask())
                        + GresRequest.gpus(r.tresPerSocket())
                > 0;
        GpuDefaults own = state.partitions()
                .find(desc.firstPartition())
                .flatMap(p -> parse(p.info().jobDefaults()))
                .orElse(NONE);
        GpuDefaults all = parse(state.settings().options().getOrDefault(Settings.JOB_DEFAULTS, ""))
                .orElse(NONE);
        long cpus = gpus && r.cpusPerTask() == 0 && r.cpusPerGpu() == 0 ? first(own.cpusPerGpu, all.cpusPerGpu) : 0;
        boolean memorySaid = r.memPerNodeMb() > 0 || r.memPerCpuMb() > 0 || r.memPerGpuMb() > 0 || r.memAll();
        long memoryMb = gpus && !memorySaid ? first(own.memPerGpuMb, all.memPerGpuMb) : 0;
        if (cpus == 0 && memoryMb == 0) {
            return desc;
        }
        Json.Obj out = Json.object(Codec.encode(r));
        if (cpus > 0) {
            out.put("cpusPerGpu", cpus);
        }
        if (memoryMb > 0) {
            out.put("memPerGpuMb", memoryMb);
        }
        return desc.withRequest(Codec.bind(out, ResourceRequest.class));
    }

    private static long first(long own, long all) {
        return own > 0 ? own : all;
    }
}
