package dev.muster.core.step;

import dev.muster.core.options.StepOptions;
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
 * Binding of the tasks of steps that ask for none: as all nodes of the job have it in their CpuBind; where those differ
 * or have none, as the partition; then as TaskPluginParam. Of slurm.conf(5), CpuBind.
 */
public final class TaskBinding {
    private TaskBinding() {}

    /**
     * Returns the nodes' bindings as an option of {@link Settings}: {@code cores=n[1-4];none=m1}.
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
        StepOptions options = state.settings().options().steps();
        return ofNodes(options.nodeBinds(), job.run().allocation().nodeNames())
                .or(() -> state.partitions()
                        .find(job.desc().partition())
                        .map(p -> p.info().cpuBind())
                        .filter(word -> !word.isEmpty()))
                .orElse(options.taskBind());
    }

    /** Returns a node's own word, "" for none. */
    public static String ofNode(Settings settings, String node) {
        return byNode(settings).getOrDefault(node, "");
    }

    /** Returns the option with other words for some nodes, "" for none. */
    public static Map<String, String> changed(Settings settings, Map<String, String> changes) {
        if (changes.isEmpty()) {
            return Map.of();
        }
        Map<String, String> words = new TreeMap<>(byNode(settings));
        words.putAll(changes);
        words.values().removeIf(String::isEmpty);
        return Map.of(StepOptions.NODE_BIND, ofNodes(words));
    }

    private static Map<String, String> byNode(Settings settings) {
        Map<String, String> out = new TreeMap<>();
        for (StepOptions.NodeBind bind : settings.options().steps().nodeBinds()) {
            bind.nodes().forEach(node -> out.put(node, bind.word()));
        }
        return out;
    }

    private static Optional<String> ofNodes(List<StepOptions.NodeBind> binds, List<String> nodes) {
        if (nodes.isEmpty()) {
            return Optional.empty();
        }
        for (StepOptions.NodeBind bind : binds) {
            if (bind.nodes().containsAll(nodes)) {
                return Optional.of(bind.word());
            }
            if (nodes.stream().anyMatch(bind.nodes()::contains)) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }
}
