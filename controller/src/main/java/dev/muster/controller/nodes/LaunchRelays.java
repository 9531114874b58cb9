package dev.muster.controller.nodes;

import static java.util.Objects.requireNonNull;

import dev.muster.core.command.Decision;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.SharedLaunch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Launches that go to many nodes through some of them. A relay keeps nothing: it says which nodes have taken theirs,
 * and to those of which nothing is heard in time the controller speaks itself, after it has told them to leave what may
 * still come through the tree.
 */
public final class LaunchRelays {
    /**
     * Seconds after which a node that has no launch through others is spoken to directly. What else it is told waits as
     * long.
     */
    static final int WAIT_S = 10;

    private static final int NUMBERS_PER_MS_BITS = 12;

    private final AtomicLong newest;
    private final Map<Long, Tree> open = new ConcurrentHashMap<>();
    private final DaemonLog log;

    /** @param startMs of this controller: its numbers are beyond those of the one before */
    LaunchRelays(long startMs, DaemonLog log) {
        newest = new AtomicLong(startMs << NUMBERS_PER_MS_BITS);
        this.log = log;
    }

    /**
     * Returns the end of the messages from the given one on that launch the same step; the next one where that is no
     * launch.
     */
    static int together(List<Decision.Direct> messages, int from) {
        int to = from + 1;
        if (messages.get(from).message() instanceof Launch first) {
            while (to < messages.size()
                    && messages.get(to).message() instanceof Launch l
                    && l.stepId() == first.stepId()
                    && l.share().jobId() == first.share().jobId()) {
                to++;
            }
        }
        return to;
    }

    /** Returns the number of the last relayed launch. */
    long newest() {
        return newest.get();
    }

    /** The launches of one step on their way. */
    final class Tree {
        private final long id = newest.incrementAndGet();
        private final Map<String, NodeMessages.Relay> heads = new HashMap<>();
        /** Launches by node, of all nodes but the heads: whether the node has its launch. */
        private final Map<String, CompletableFuture<Boolean>> members = new HashMap<>();

        private final Map<String, List<String>> nodesBehind = new HashMap<>();
        private final AtomicInteger left;

        private Tree(SharedLaunch launch, int width) {
            for (List<SharedLaunch.Part> branch : LaunchTree.branches(launch.parts(), width)) {
                String head = branch.getFirst().node();
                heads.put(head, new NodeMessages.Relay(id, width, launch.with(branch)));
                List<String> rest = branch.subList(1, branch.size()).stream()
                        .map(SharedLaunch.Part::node)
                        .toList();
                nodesBehind.put(head, rest);
                rest.forEach(n -> members.put(n, new CompletableFuture<>()));
            }
            left = new AtomicInteger(members.size());
        }

        long id() {
            return id;
        }

        /** Returns the message to a node that relays it to others. */
        Optional<NodeMessages.ToNode> head(String node) {
            return Optional.ofNullable(heads.get(node));
        }

        /** Waits, bounded, until it is known whether a node has its launch; where it is not known, false. */
        boolean reached(String node) throws InterruptedException {
            CompletableFuture<Boolean> answer = requireNonNull(members.get(node), "a node that is no head is a member");
            try {
                return answer.get(WAIT_S, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                log.error("nothing is heard of the launch that node " + node
                        + " was to get through another: sent directly");
                settle(node, false);
                return false;
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }

        private void settle(String node, boolean reached) {
            CompletableFuture<Boolean> answer = members.get(node);
            if (answer != null && answer.complete(reached) && left.decrementAndGet() == 0) {
                open.remove(id);
            }
        }

        private void lost(String node) {
            settle(node, false);
            nodesBehind.getOrDefault(node, List.of()).forEach(n -> settle(n, false));
        }
    }

    /** @param launches of one step; empty where they differ in more than their nodes' own parts */
    public static Optional<SharedLaunch> shared(List<Decision.Direct> launches) {
        List<String> nodes = new ArrayList<>(launches.size());
        List<Launch> all = new ArrayList<>(launches.size());
        launches.forEach(m -> {
            nodes.add(m.node());
            all.add((Launch) m.message());
        });
        return SharedLaunch.of(nodes, all);
    }

    /** Sends them on their way through some of the nodes. */
    Tree plant(SharedLaunch launches, int width) {
        Tree tree = new Tree(launches, width);
        open.put(tree.id, tree);
        return tree;
    }

    /** Takes a relay's report of the nodes that it reached and missed. */
    void told(NodeMessages.Relayed m) {
        Tree tree = open.get(m.id());
        if (tree != null) {
            m.reached().forEach(n -> tree.settle(n, true));
            m.missed().forEach(n -> tree.settle(n, false));
        }
    }

    /** Notes that the connection to a node is gone, and with it what the node was to report. */
    void lost(String node) {
        open.values().forEach(tree -> tree.lost(node));
    }

    int open() {
        return open.size();
    }
}
