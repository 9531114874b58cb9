package dev.muster.model.job;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The variables by which programs find the GPUs they may use, as the flags of gres.conf name them. */
public final class GpuVariables {
    private static final List<Map.Entry<String, String>> FLAGS = List.of(
            Map.entry("nvidia_gpu_env", "CUDA_VISIBLE_DEVICES"),
            Map.entry("amd_gpu_env", "ROCR_VISIBLE_DEVICES"),
            Map.entry("intel_gpu_env", "ZE_AFFINITY_MASK"),
            Map.entry("opencl_env", "GPU_DEVICE_ORDINAL"));
    private static final String NONE = "no_gpu_env";
    /** gres.conf flag that puts UUIDs into the variables of {@link #NAME_UUIDS}. */
    public static final String BY_UUID = "env_uuid";
    /** Variables in which drivers accept UUIDs. */
    public static final Set<String> NAME_UUIDS = Set.of("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES");

    private GpuVariables() {}

    /**
     * Their names; all where no flag speaks of them.
     *
     * @param flags of the node's GPUs, those that mean something else among them
     */
    public static List<String> of(Collection<String> flags) {
        List<String> lower = flags.stream().map(f -> f.toLowerCase(Locale.ROOT)).toList();
        if (lower.contains(NONE)) {
            return List.of();
        }
        List<String> out = new ArrayList<>();
        for (boolean all : new boolean[] {false, true}) {
            for (Map.Entry<String, String> flag : FLAGS) {
                if (out.size() < FLAGS.size() && (all || lower.contains(flag.getKey()))) {
                    out.add(flag.getValue());
                }
            }
            if (!out.isEmpty()) {
                break;
            }
        }
        return List.copyOf(out);
    }

    /**
     * Replaces GPU indexes by UUIDs in a variable's value.
     *
     * @param ids comma-separated indexes of the node's GPUs
     * @param uuids by index; "" where unknown, which keeps the index. An empty list keeps all indexes
     */
    public static String withUuids(String variable, String ids, List<String> uuids) {
        if (uuids.isEmpty() || !NAME_UUIDS.contains(variable) || !ids.matches("[0-9]{1,6}(,[0-9]{1,6})*")) {
            return ids;
        }
        return Stream.of(ids.split(","))
                .map(id -> {
                    int number = Integer.parseInt(id);
                    return number < uuids.size() && !uuids.get(number).isEmpty() ? uuids.get(number) : id;
                })
                .collect(Collectors.joining(","));
    }

    /** Returns whether a flag selects the variables to set. */
    public static boolean isFlag(String flag) {
        return flag.equalsIgnoreCase(NONE)
                || FLAGS.stream().anyMatch(f -> f.getKey().equalsIgnoreCase(flag));
    }

    /** The flag that AutoDetect implies if no flag is set; "" for none. */
    public static String ofDetector(String autoDetect) {
        return switch (autoDetect.toLowerCase(Locale.ROOT)) {
            case "nvml", "nvidia" -> "nvidia_gpu_env";
            case "rsmi" -> "amd_gpu_env";
            case "oneapi" -> "intel_gpu_env";
            default -> "";
        };
    }
}
