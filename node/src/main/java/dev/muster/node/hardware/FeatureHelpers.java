package dev.muster.node.hardware;

import dev.muster.config.sister.HelpersConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.node.os.NodeProgram;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The programs of helpers.conf: what features this node has, and which it is to have after its next boot. */
public final class FeatureHelpers {
    private final HelpersConf conf;
    private final String node;
    private final Map<String, String> environment;
    private final DaemonLog log;

    public FeatureHelpers(HelpersConf conf, String node, Map<String, String> environment, DaemonLog log) {
        this.conf = conf;
        this.node = node;
        this.environment = environment;
        this.log = log;
    }

    public List<String> available() {
        return conf.of(node).stream().map(HelpersConf.Feature::name).distinct().toList();
    }

    /** Asks the helpers for the active ones among the known features. Each program runs once. */
    public List<String> active() {
        List<String> known = available();
        Set<String> out = new LinkedHashSet<>();
        conf.of(node).stream()
                .map(HelpersConf.Feature::helper)
                .distinct()
                .forEach(helper -> run(helper)
                        .ifPresent(text -> text.lines()
                                .map(String::trim)
                                .filter(known::contains)
                                .forEach(out::add)));
        return List.copyOf(out);
    }

    /** Answers whether all were set. */
    public boolean set(List<String> features) {
        boolean all = true;
        for (HelpersConf.Feature feature : conf.of(node)) {
            all &= !features.contains(feature.name())
                    || run(feature.helper(), feature.name()).isPresent();
        }
        return all;
    }

    /** Whether one of those that are not active yet is not to be had as the node runs. */
    public boolean needReboot(List<String> wanted, List<String> active) {
        return conf.of(node).stream()
                .anyMatch(f -> wanted.contains(f.name()) && !active.contains(f.name()) && !f.rebootless());
    }

    private Optional<String> run(String... command) {
        try {
            return Optional.of(NodeProgram.ask(List.of(command), environment, conf.execSeconds()));
        } catch (NodeProgram.Failed e) {
            log.error("node_features/helpers: " + String.join(" ", command) + ": " + e.getMessage());
            return Optional.empty();
        }
    }
}
