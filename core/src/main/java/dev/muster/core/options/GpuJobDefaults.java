package dev.muster.core.options;

import dev.muster.model.format.Digits;
import java.util.Optional;

/**
 * CPUs and memory for each GPU that the configuration gives a job which asks for none: JobDefaults of slurm.conf(5).
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

    /** Returns the text that {@link #parse} reads and {@code scontrol show partition} prints; "" for nothing. */
    public String text() {
        return (cpusPerGpu > 0 ? "DefCpuPerGPU=" + cpusPerGpu : "")
                + (cpusPerGpu > 0 && memPerGpuMb > 0 ? "," : "")
                + (memPerGpuMb > 0 ? "DefMemPerGPU=" + memPerGpuMb : "");
    }
}
