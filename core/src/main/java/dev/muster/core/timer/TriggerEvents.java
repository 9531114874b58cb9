package dev.muster.core.timer;

import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.job.JobState;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Events of nodes and the configuration since triggers were last looked at, and since when nodes are idle. Kept beside
 * the state and not with it: what happened before a restart is over.
 */
public final class TriggerEvents {
    private final Map<String, NavigableSet<String>> nodes = new TreeMap<>();
    private final Map<String, Long> idleSince = new HashMap<>();
    private boolean reconfigured;

    public void reset() {
        nodes.clear();
        idleSince.clear();
        reconfigured = false;
    }

    public void follow(State before, State after, Entry entry) {
        if (after.triggers().byId().size() == 0) {
            return;
        }
        for (Change change : entry.changes()) {
            reconfigured |= change instanceof Change.ConfigApplied;
            String name = change instanceof Change.NodeReleased c ? c.node() : AffectedEntities.node(change);
            if (!name.isEmpty()) {
                before.nodes()
                        .find(name)
                        .ifPresent(old -> after.nodes().find(name).ifPresent(node -> addEvents(old, node)));
            }
        }
    }

    /** Adds the events that a change of a node is for triggers. */
    private void addEvents(Node before, Node after) {
        note("down", after, after.has(Node.Flag.DOWN) && !before.has(Node.Flag.DOWN));
        note("up", after, before.has(Node.Flag.DOWN) && !after.has(Node.Flag.DOWN));
        note("drained", after, isDrained(after) && !isDrained(before));
        note(
                "draining",
                after,
                after.has(Node.Flag.DRAIN)
                        && !before.has(Node.Flag.DRAIN)
                        && !after.jobs().isEmpty());
        note("resume", after, isOut(before) && !isOut(after));
        note("fail", after, after.has(Node.Flag.FAIL) && !before.has(Node.Flag.FAIL));
    }

    /** Tests whether an administrator took the node out of service, who puts it back with RESUME. */
    private static boolean isOut(Node node) {
        return node.has(Node.Flag.DRAIN) || node.has(Node.Flag.FAIL);
    }

    private static boolean isDrained(Node node) {
        return node.has(Node.Flag.DRAIN) && node.jobs().isEmpty();
    }

    private void note(String event, Node node, boolean happened) {
        if (happened) {
            nodes.computeIfAbsent(event, k -> new TreeSet<>()).add(node.name());
        }
    }

    /** Returns the nodes that an event happened to. */
    NavigableSet<String> of(String event) {
        return nodes.getOrDefault(event, new TreeSet<>());
    }

    boolean wasReconfigured() {
        return reconfigured;
    }

    /** Forgets the events, because triggers were looked at. */
    void clear() {
        nodes.clear();
        reconfigured = false;
    }

    /** Returns since when the node has been seen idle, seconds since 1970; the present if it was busy. */
    long idleSince(Node node, long now) {
        if (!node.jobs().isEmpty() || !node.isUsable()) {
            idleSince.remove(node.name());
            return now;
        }
        return idleSince.computeIfAbsent(node.name(), k -> now);
    }

    static boolean isOver(java.util.Optional<Job> job) {
        return job.isEmpty() || job.get().state().isTerminal() && job.get().state() != JobState.PENDING;
    }
}
