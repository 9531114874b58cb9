package dev.muster.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The connections of a {@link SimController}: all that are open, and that of each registered node. */
final class NodeConnections {
    private final Map<String, SimConnection> registered = new TreeMap<>();
    private final List<SimConnection> open = new ArrayList<>();
    private final Map<String, Long> heardMs = new TreeMap<>();

    void accepted(SimConnection connection) {
        open.removeIf(c -> !c.controllerOpen);
        open.add(connection);
    }

    /** Makes the connection that of its node, and closes the one before. */
    void register(SimConnection connection) {
        SimConnection old = registered.put(connection.node().name(), connection);
        if (old != null && old != connection) {
            old.closeAtController();
        }
    }

    /** Returns whether it was the connection of its node. */
    boolean remove(SimConnection connection) {
        return registered.remove(connection.node().name(), connection);
    }

    void heard(String node, long nowMs) {
        heardMs.put(node, nowMs);
    }

    /** Returns the time at which the node was last heard; the other one for a node that was not. */
    long heardMs(String node, long otherwiseMs) {
        return heardMs.getOrDefault(node, otherwiseMs);
    }

    boolean isConnected(String node) {
        return registered.containsKey(node);
    }

    Optional<SimConnection> of(String node) {
        return Optional.ofNullable(registered.get(node));
    }

    /** Returns the connections of registered nodes as of now. */
    List<SimConnection> all() {
        return List.copyOf(registered.values());
    }

    /** The process dies: its connections end. */
    void crash() {
        open.forEach(SimConnection::closeAtController);
        open.clear();
        registered.clear();
        heardMs.clear();
    }
}
