package dev.muster.controller;

import dev.muster.core.Node;
import dev.muster.core.State;
import dev.muster.model.accounting.AccountingRows.EventRow;

/** What of a node's states accounting keeps: times in which it was down, drained or failing. */
final class NodeEvents {
    private NodeEvents() {}

    /** As sacctmgr lists it; "" of a node that can be used. */
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

    static EventRow row(State state, String node, long time, String shown) {
        Node n = state.nodes().at(node);
        return new EventRow(state.settings().clusterName(), node, time, shown, shown.isEmpty() ? "" : n.reason(),
                shown.isEmpty() || n.reason().isEmpty() ? "" : Integer.toString(n.reasonUid()),
                "cpu=" + n.spec().cpus() + ",mem=" + n.spec().memoryMb() + ",billing=" + n.spec().cpus(), "");
    }
}
