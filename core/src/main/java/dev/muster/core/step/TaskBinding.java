package dev.muster.core.step;

import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.format.HostList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * How tasks of steps are bound that say nothing of it: as all nodes of the job have it in their CpuBind; where those
 * differ or have none, as the partition; then as TaskPluginParam. Of slurm.conf(5), CpuBind.
 */
public final class TaskBinding {
    private TaskBinding() {}

    /**
     * As an option of {@link Settings}: {@code cores=n[1-4];none=m1}.
     *
     * @param words by node
     */
    public static String ofNodes(Map<String, String> words) {
        Map<String, List<String>> byWord = new TreeMap<>();
        new TreeMap<>(words)
                .forEach((node, word) -> byWord.computeIfAbsent(word, k -> new java.util.ArrayList<>())
                        .add(node));
        StringJoiner out = new StringJoiner(";");
        byWord.forEach((word, nodes) -> out.add(word + "=" + HostList.of(nodes).compressed()));
        return out.toString();
    }

    static String of(State state, Job job) {
        Map<String, String> options = state.settings().options();
        return ofNodes(
                        options.getOrDefault(Settings.NODE_BIND, ""),
                        job.run().allocation().nodeNames())
                .or(() -> state.partitions()
                        .find(job.desc().partition())
                        .map(p -> p.info().cpuBind())
                        .filter(word -> !word.isEmpty()))
                .orElse(options.getOrDefault(Settings.TASK_BIND, ""));
    }

    /** A node's own word, "" for none. */
    public static String ofNode(Settings settings, String node) {
        return byNode(settings).getOrDefault(node, "");
    }

    /** The option with other words for some nodes, "" for none. */
    public static Map<String, String> changed(Settings settings, Map<String, String> changes) {
        if (changes.isEmpty()) {
            return Map.of();
        }
        Map<String, String> words = new TreeMap<>(byNode(settings));
        words.putAll(changes);
        words.values().removeIf(String::isEmpty);
        return Map.of(Settings.NODE_BIND, ofNodes(words));
    }

    private static Map<String, String> byNode(Settings settings) {
        Map<String, String> out = new TreeMap<>();
        for (String group :
                settings.options().getOrDefault(Settings.NODE_BIND, "").split(";")) {
            int equals = group.indexOf('=');
            if (equals > 0 && HostList.parse(group.substring(equals + 1)) instanceof HostList.Parsed.Ok ok) {
                ok.list().names().forEach(node -> out.put(node, group.substring(0, equals)));
            }
        }
        return out;
    }

    private static Optional<String> ofNodes(String option, List<String> nodes) {
        for (String group : option.split(";")) {
            int equals = group.indexOf('=');
            if (equals > 0
                    && HostList.parse(group.substring(equals + 1)) instanceof HostList.Parsed.Ok ok
                    && !nodes.isEmpty()) {
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
}
