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
public record GpuJobDefaults(long cpusPerGpu, long memPerGpuMb) {
    public static final GpuJobDefaults NONE = new GpuJobDefaults(0, 0);

    /** {@code DefCpuPerGPU=2,DefMemPerGPU=1000}, as scontrol has it; empty for anything else. */
    public static Optional<GpuJobDefaults> parse(String text) {
        GpuJobDefaults out = NONE;
        for (String word : text.isEmpty() ? new String[0] : text.split(",")) {
            String[] pair = word.strip().split("=", 2);
            boolean number = pair.length == 2 && Digits.only(pair[1], 12);
            if (!number || !pair[0].equalsIgnoreCase("DefCpuPerGPU") && !pair[0].equalsIgnoreCase("DefMemPerGPU")) {
                return Optional.empty();
            }
            long n = Long.parseLong(pair[1]);
            out = pair[0].equalsIgnoreCase("DefCpuPerGPU")
                    ? new GpuJobDefaults(n, out.memPerGpuMb)
                    : new GpuJobDefaults(out.cpusPerGpu, n);
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
