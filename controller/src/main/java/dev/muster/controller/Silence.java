package dev.muster.controller;

import dev.muster.core.Command;
import dev.muster.core.Node;
import java.util.Optional;

/** What follows from a node's not being heard of. */
public final class Silence {
    private Silence() {}

    /**
     * @param connected  there is a connection to the node
     * @param silentS    seconds since it was last heard of
     * @param timeoutS   SlurmdTimeout; 0 never
     */
    public static Optional<Command> verdict(Node node, boolean connected, long silentS, int timeoutS) {
        if (timeoutS <= 0 || connected || node.has(Node.Flag.DOWN) || node.has(Node.Flag.FUTURE)
                || node.has(Node.Flag.CLOUD) && node.bootId().isEmpty()) {
            return Optional.empty();
        }
        if (silentS > timeoutS) {
            return Optional.of(new Command.NodeLost(node.name()));
        }
        if (silentS > Math.max(timeoutS / 3, 5) && !node.has(Node.Flag.NOT_RESPONDING) && !node.has(Node.Flag.UNKNOWN)) {
            return Optional.of(new Command.NodeResponding(node.name(), false));
        }
        return Optional.empty();
    }
}
