package dev.muster.core.options;

import dev.muster.model.format.Digits;
import java.util.Optional;

/**
 * What the configuration has a job ask for where it does not say: CPUs and memory for each GPU. Of slurm.conf(5),
 * JobDefaults.
 *
 * @param cpusPerGpu 0 for what the cluster says, or nothing
 * @param memPerGpuMb MiB; 0 for what the cluster says, or nothing
 */
public record GpuDefaults(long cpusPerGpu, long memPerGpuMb) {
    public static final GpuDefaults NONE = new GpuDefaults(0, 0);

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
}
