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
    final TreeSet<String> failed = new TreeSet<>();

    PowerTransitions(State before, State after) {
        this.before = before;
        this.after = after;
    }

    /** Adds a node to the lists that its change belongs to. A node that is new or gone belongs to none. */
    void add(String name) {
        Optional<Node> is = after.nodes().find(name);
        Optional<Node> was = before.nodes().find(name);
        if (is.isPresent() && was.isPresent()) {
            add(was.get(), is.get());
        }
    }

    private void add(Node was, Node is) {
        boolean wakes = began(was, is, Node.Flag.POWERING_UP);
        boolean hadPower = !was.has(Node.Flag.POWERED_DOWN);
        if (began(was, is, Node.Flag.POWERING_DOWN)) {
            put(stopping, is.powerAction(), is);
        }
        if (wakes && !hadPower) {
            put(starting, is.powerAction(), is);
        }
        if (began(was, is, Node.Flag.REBOOT_ISSUED)) {
            put(rebooting, is.powerAction(), is);
        }
        // a node that had power comes up by a reboot
        if (wakes && hadPower) {
            put(changingFeatures, String.join(",", is.wanted()), is);
        }
        if (was.has(Node.Flag.POWERING_UP)
                && (began(was, is, Node.Flag.DOWN) || began(was, is, Node.Flag.POWERED_DOWN))) {
            failed.add(is.name());
        }
    }

    private static boolean began(Node was, Node is, Node.Flag flag) {
        return is.has(flag) && !was.has(flag);
    }

    private static void put(Map<String, TreeSet<String>> nodes, String key, Node node) {
        nodes.computeIfAbsent(key, k -> new TreeSet<>()).add(node.name());
    }
}
