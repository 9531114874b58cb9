package dev.muster.controller.accounting;

import dev.muster.core.state.Change;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.accounting.AccountingRows.EventRow;
import dev.muster.model.accounting.AccountingRows.InstanceRow;
import java.util.Optional;

/** Events of nodes for accounting: times in which a node was down, drained or failing. */
final class NodeEvents {
    private NodeEvents() {}

    /** Returns the state of a node as sacctmgr lists it; "" for a usable node. */
    static String state(Node n) {
        String base = n.baseState();
        StringBuilder out = new StringBuilder();
        if (base.equals("DOWN")) {
            out.append(n.has(Node.Flag.NOT_RESPONDING) ? "DOWN*" : "DOWN");
        }
        if (n.has(Node.Flag.DRAIN)) {
            out.append(out.isEmpty() ? "DRAIN" : "+DRAIN");
        } else if (n.has(Node.Flag.FAIL)) {
            out.append(out.isEmpty() ? "FAIL" : "+FAIL");
        }
        return out.toString();
    }

    /** Returns the cloud instance of a node; empty without power or without a name. */
    private static Optional<InstanceRow> instance(State state, String node, long time) {
        return state.nodes()
                .find(node)
                .filter(n -> !n.has(Node.Flag.POWERED_DOWN))
                .filter(n -> !n.marks().instanceId().isEmpty()
                        || !n.marks().instanceType().isEmpty())
                .map(n -> new InstanceRow(
                        state.settings().clusterName(),
                        node,
                        time,
                        n.marks().instanceId(),
                        n.marks().instanceType(),
                        n.extra()));
    }

    /** Returns the name of the node of which a change may set the cloud instance; "" for none. */
    static String ofInstance(Change change) {
        if (change instanceof Change.NodeStateChanged c) {
            return c.node();
        }
        if (change instanceof Change.NodeMarked c) {
            return c.node();
        }
        if (change instanceof Change.NodeTextsChanged c) {
            return c.node();
        }
        if (change instanceof Change.NodeRemoved c) {
            return c.node();
        }
        return "";
    }

    /**
     * Returns the instance that a node has since an entry, or that it has none any more; empty if it has what it had.
     */
    static Optional<InstanceRow> instance(State before, State after, String node, long time) {
        Optional<InstanceRow> current = instance(after, node, time);
        return current.equals(instance(before, node, time))
                ? Optional.empty()
                : current.or(
                        () -> Optional.of(new InstanceRow(after.settings().clusterName(), node, time, "", "", "")));
    }

    static EventRow row(State state, String node, long time, String shown) {
        Node n = state.nodes().at(node);
        return new EventRow(
                state.settings().clusterName(),
                node,
                time,
                shown,
                shown.isEmpty() ? "" : n.reason(),
                shown.isEmpty() || n.reason().isEmpty() ? "" : Integer.toString(n.reasonUid()),
                "cpu=" + n.spec().cpus() + ",mem=" + n.spec().memoryMb() + ",billing="
                        + n.spec().cpus(),
                "");
    }
}
