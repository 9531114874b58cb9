package dev.muster.controller.site;

import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** Nodes that change their power state in one journal entry, by what has to be done with them. */
final class PowerTransitions {
    private final State before;
    private final State after;

    /** Nodes to power down, by the action that the request named; so the next two. */
    final Map<String, TreeSet<String>> stopping = new TreeMap<>();

    final Map<String, TreeSet<String>> starting = new TreeMap<>();
    final Map<String, TreeSet<String>> rebooting = new TreeMap<>();
    /** Nodes that reboot to change their features, by the wanted features. */
    final Map<String, TreeSet<String>> changingFeatures = new TreeMap<>();
    /** Nodes that did not come up within ResumeTimeout. */
    final TreeSet<String> notResumed = new TreeSet<>();

    PowerTransitions(State before, State after) {
        this.before = before;
        this.after = after;
    }

    /** Adds a node to the lists that its change belongs to. A node that is new or gone belongs to none. */
    void add(String name) {
        Optional<Node> current = after.nodes().find(name);
        Optional<Node> previous = before.nodes().find(name);
        if (current.isPresent() && previous.isPresent()) {
            add(previous.get(), current.get());
        }
    }

    private void add(Node previous, Node current) {
        boolean wakes = began(previous, current, Node.Flag.POWERING_UP);
        boolean hadPower = !previous.has(Node.Flag.POWERED_DOWN);
        if (began(previous, current, Node.Flag.POWERING_DOWN)) {
            put(stopping, current.powerAction(), current);
        }
        if (wakes && !hadPower) {
            put(starting, current.powerAction(), current);
        }
        if (began(previous, current, Node.Flag.REBOOT_ISSUED)) {
            put(rebooting, current.powerAction(), current);
        }
        // a node that had power comes up by a reboot
        if (wakes && hadPower) {
            put(changingFeatures, String.join(",", current.wanted()), current);
        }
        if (previous.has(Node.Flag.POWERING_UP)
                && (began(previous, current, Node.Flag.DOWN) || began(previous, current, Node.Flag.POWERED_DOWN))) {
            notResumed.add(current.name());
        }
    }

    private static boolean began(Node previous, Node current, Node.Flag flag) {
        return current.has(flag) && !previous.has(flag);
    }

    private static void put(Map<String, TreeSet<String>> nodes, String key, Node node) {
        nodes.computeIfAbsent(key, k -> new TreeSet<>()).add(node.name());
    }
}
