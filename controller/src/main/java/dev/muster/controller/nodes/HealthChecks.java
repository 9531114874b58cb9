package dev.muster.controller.nodes;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.core.state.Node;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;

/** Schedules HealthCheckProgram: on all nodes of a state at once, or with CYCLE spread over the interval. */
public final class HealthChecks {
    private static final List<String> ANY = List.of("ANY");
    private long lastS;
    private int next;

    /**
     * Sends nodes the health checks that are due. Called once a second.
     *
     * @param nowS any clock that only goes forward
     * @param send to the nodes it is due on
     */
    public void tick(SlurmConf conf, Iterable<Node> nodes, long nowS, BiConsumer<String, NodeMessages.ToNode> send) {
        long interval = conf.number(Key.HEALTH_CHECK_INTERVAL);
        if (interval <= 0 || conf.text(Key.HEALTH_CHECK_PROGRAM).isEmpty()) {
            return;
        }
        List<String> states = conf.list(Key.HEALTH_CHECK_NODE_STATE).stream()
                .map(s -> s.toUpperCase(Locale.ROOT))
                .toList();
        if (states.contains("START_ONLY") || states.contains("REBOOT_ONLY")) {
            return;
        }
        boolean cycle = states.contains("CYCLE");
        List<String> wanted = states.stream().filter(s -> !s.equals("CYCLE")).toList();
        List<Node> due = new ArrayList<>();
        nodes.forEach(n -> {
            if (meant(n, wanted.isEmpty() ? ANY : wanted)) {
                due.add(n);
            }
        });
        if (cycle && !due.isEmpty()) {
            long each = Math.max(1, (due.size() + interval - 1) / interval);
            // as many a second as make the round within the interval; with fewer nodes than seconds, one every so often
            if (due.size() < interval && nowS - lastS < interval / due.size()) {
                return;
            }
            for (int i = 0; i < each; i++) {
                send.accept(due.get(next++ % due.size()).name(), new NodeMessages.CheckHealth());
            }
            lastS = nowS;
        } else if (nowS - lastS >= interval) {
            due.forEach(n -> send.accept(n.name(), new NodeMessages.CheckHealth()));
            lastS = nowS;
        }
    }

    private static boolean meant(Node n, List<String> states) {
        String base = n.baseState();
        for (String state : states) {
            boolean hit = switch (state) {
                case "ANY" -> true;
                case "ALLOC" -> base.equals("ALLOCATED");
                case "MIXED" -> base.equals("MIXED");
                case "IDLE" -> base.equals("IDLE");
                case "NONDRAINED_IDLE" -> base.equals("IDLE") && !n.has(Node.Flag.DRAIN);
                default -> false;
            };
            if (hit) {
                return true;
            }
        }
        return false;
    }
}
