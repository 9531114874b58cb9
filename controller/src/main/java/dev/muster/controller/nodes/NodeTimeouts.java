package dev.muster.controller.nodes;

import dev.muster.core.command.Command;
import dev.muster.core.state.Node;
import java.util.Optional;

/** Commands for nodes that do not answer. */
public final class NodeTimeouts {
    /** Heartbeats that may be missing before a connected node counts as quiet. */
    static final int BEATS_MISSED = 3;

    private NodeTimeouts() {}

    private static boolean shouldAnswer(Node node) {
        return !node.has(Node.Flag.DOWN)
                && !node.has(Node.Flag.FUTURE)
                && !node.isSilentByOrder()
                && (!node.has(Node.Flag.CLOUD) || !node.bootId().isEmpty());
    }

    /**
     * Returns the command for a node that is silent, or answers again. An open connection proves nothing: a host that
     * lost its power closes none. With {@code NodeLost} the caller closes the connection, so that a node that was only
     * slow registers again.
     *
     * @param connected there is a connection to the node
     * @param silentS seconds since it was last heard of
     * @param timeoutS SlurmdTimeout; 0 never
     */
    public static Optional<Command> verdict(Node node, boolean connected, long silentS, int timeoutS) {
        if (timeoutS <= 0 || !shouldAnswer(node)) {
            return Optional.empty();
        }
        int quietS = Math.max(timeoutS / 3, connected ? BEATS_MISSED * NodeLinks.HEARTBEAT_S : 5);
        if (silentS > (connected ? Math.max(timeoutS, quietS) : timeoutS)) {
            return Optional.of(new Command.NodeLost(node.name()));
        }
        boolean flagged = node.has(Node.Flag.NOT_RESPONDING);
        if (silentS > quietS && !flagged && !node.has(Node.Flag.UNKNOWN)) {
            return Optional.of(new Command.NodeResponding(node.name(), false));
        }
        return connected && flagged && silentS <= quietS
                ? Optional.of(new Command.NodeResponding(node.name(), true))
                : Optional.empty();
    }
}
