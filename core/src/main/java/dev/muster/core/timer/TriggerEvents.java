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
                        .ifPresent(was -> after.nodes().find(name).ifPresent(is -> compare(was, is)));
            }
        }
    }

    private void compare(Node was, Node now) {
        note("down", now, now.has(Node.Flag.DOWN) && !was.has(Node.Flag.DOWN));
        note("up", now, was.has(Node.Flag.DOWN) && !now.has(Node.Flag.DOWN));
        note("drained", now, isDrained(now) && !isDrained(was));
        note(
                "draining",
                now,
                now.has(Node.Flag.DRAIN)
                        && !was.has(Node.Flag.DRAIN)
                        && !now.jobs().isEmpty());
        note("resume", now, isOut(was) && !isOut(now));
        note("fail", now, now.has(Node.Flag.FAIL) && !was.has(Node.Flag.FAIL));
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
