package dev.muster.controller.nodes;

import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.ToNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages to nodes that were not connected which no record would repeat: signals and words for jobs. A node has them
 * when it is back, in their order; it passes over those for what is over by then. In memory: a slurmctld that is killed
 * has them no more.
 */
final class PendingNodeMessages {
    /** Most messages of one node; beyond, the oldest are dropped. */
    static final int MOST = 1_000;

    private final Map<String, Deque<ToNode>> byNode = new HashMap<>();

    /** Returns whether the message was stored. */
    synchronized boolean keep(String node, ToNode message) {
        if (!(message instanceof NodeMessages.Signal || message instanceof NodeMessages.Notify)) {
            return false;
        }
        Deque<ToNode> all = byNode.computeIfAbsent(node, n -> new ArrayDeque<>());
        if (all.size() == MOST) {
            all.removeFirst();
        }
        all.addLast(message);
        return true;
    }

    /** Removes and returns the messages of a node. */
    synchronized List<ToNode> take(String node) {
        Deque<ToNode> all = byNode.remove(node);
        return all == null ? List.of() : new ArrayList<>(all);
    }
}
