package dev.muster.core.node;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Features that nodes get by a reboot, cloud nodes by their start (NodeFeaturesPlugins=node_features/helpers), as
 * helpers.conf describes them to the core.
 */
public final class ChangingFeatures {
    private ChangingFeatures() {}

    /** Returns the names in an expression of {@code -C}. */
    public static List<String> names(String expression) {
        if (expression.isEmpty()) {
            return List.of();
        }
        List<String> out = new ArrayList<>();
        for (String name : expression.replaceAll("\\*[0-9]+", "").split("[&|,()\\[\\]]")) {
            if (!name.isEmpty()) {
                out.add(name);
            }
        }
        return out;
    }

    /**
     * Returns the changeable features of a registering node. A cloud node starts with the features that its waiting
     * jobs request, whatever its helpers find, and keeps them until it is stopped.
     */
    static List<String> active(State state, Node node, NodeMessages.Register m) {
        if (!node.has(Node.Flag.CLOUD)) {
            return m.active();
        }
        Set<String> out = new LinkedHashSet<>(m.active());
        if (!node.has(Node.Flag.POWERING_UP)) {
            out.addAll(node.active());
        }
        for (int id : node.jobs()) {
            Job job = state.jobs().at(id);
            if (job.run()
                    .allocation()
                    .on(node.name())
                    .filter(s -> s.bootId().isEmpty())
                    .isPresent()) {
                out.addAll(names(job.desc().request().features()));
            }
        }
        out.retainAll(m.features());
        return List.copyOf(out);
    }

    private static boolean isChangeable(State state, List<String> asked) {
        for (Node n : state.nodes().values()) {
            for (String feature : n.changeable()) {
                if (asked.contains(feature)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Returns why an expression with changeable features cannot be honoured: a reboot brings all of what is asked for.
     */
    public static Optional<Decision.Rejected> objection(State state, String expression) {
        List<String> asked = names(expression);
        // most jobs ask for none: a submission should not wait for a look at all nodes
        if (asked.isEmpty() || !isChangeable(state, asked)) {
            return Optional.empty();
        }
        if (expression.matches(".*[|*\\[].*")) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.INVALID_FEATURE, "Features that need a reboot can only be joined by &"));
        }
        for (Set<String> group : state.settings().options().nodes().features().exclusive()) {
            if (asked.stream().distinct().filter(group::contains).count() > 1) {
                return Optional.of(Decision.reject(SlurmErrno.INVALID_FEATURE));
            }
        }
        return Optional.empty();
    }
}
