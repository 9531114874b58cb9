package dev.muster.core;

import dev.muster.model.HostList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * How tasks of steps are bound that say nothing of it: as all nodes of the job have it in their CpuBind; where those differ or have none, as the
 * partition; then as TaskPluginParam. Of slurm.conf(5), CpuBind.
 */
public final class TaskBinding {
    private TaskBinding() {}

    /** As an option of {@link Settings}: {@code cores=n[1-4];none=m1}. @param words by node */
    public static String ofNodes(Map<String, String> words) {
        Map<String, List<String>> byWord = new TreeMap<>();
        new TreeMap<>(words).forEach((node, word) -> byWord.computeIfAbsent(word, k -> new java.util.ArrayList<>()).add(node));
        StringJoiner out = new StringJoiner(";");
        byWord.forEach((word, nodes) -> out.add(word + "=" + HostList.of(nodes).compressed()));
        return out.toString();
    }

    static String of(Settings settings, Job job) {
        return ofNodes(settings.options().getOrDefault(Settings.NODE_BIND, ""), job.run().allocation().nodeNames())
                .or(() -> ofPartition(settings.options().getOrDefault(Settings.PARTITION_BIND, ""), job.desc().partition()))
                .orElse(settings.options().getOrDefault(Settings.TASK_BIND, ""));
    }

    private static Optional<String> ofNodes(String option, List<String> nodes) {
        for (String group : option.split(";")) {
            int equals = group.indexOf('=');
            if (equals > 0 && HostList.parse(group.substring(equals + 1)) instanceof HostList.Parsed.Ok ok && !nodes.isEmpty()) {
                java.util.Set<String> those = new java.util.HashSet<>(ok.list().names());
                if (those.containsAll(nodes)) {
                    return Optional.of(group.substring(0, equals));
                }
                if (nodes.stream().anyMatch(those::contains)) {
                    return Optional.empty();
                }
            }
        }
        return Optional.empty();
    }

    /** @param option {@code debug=cores;long=none} */
    private static Optional<String> ofPartition(String option, String partition) {
        for (String one : option.split(";")) {
            if (one.startsWith(partition + "=")) {
                return Optional.of(one.substring(partition.length() + 1));
            }
        }
        return Optional.empty();
    }
}
