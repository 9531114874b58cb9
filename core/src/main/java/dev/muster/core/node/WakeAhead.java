package dev.muster.core.node;

import dev.muster.core.command.Planner;
import dev.muster.core.options.PowerSavingOptions;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Nodes that plans have for a job soon: those without power are started in time, so that they are there when it begins,
 * and the others are not stopped in between. A plan that is not there any more asks for nothing: its nodes are stopped
 * when they have been without work, and without a plan, for as long as any other.
 */
public final class WakeAhead {
    /**
     * Seconds added to the time that a node last took to come up: the queue is looked at once a second, and the next
     * time it may take longer.
     */
    private static final int SPARE_S = 2;

    private static final int SPARE_SHARE = 8;

    private final State state;
    private final DecisionTime now;
    private final PowerSavingTimes power;
    private final Map<String, Long> lastPlanned;
    private final Set<String> soon = new HashSet<>();
    private final Set<String> dueNow = new HashSet<>();
    private int longestBootS = -1;

    /** @param lastPlanned by node, the second at which a plan last had it soon: renewed here */
    WakeAhead(State state, DecisionTime now, PowerSavingTimes power, Planner planner, Map<String, Long> lastPlanned) {
        this.state = state;
        this.now = now;
        this.power = power;
        this.lastPlanned = lastPlanned;
        PowerSavingOptions options = state.settings().options().power();
        if (options.wakesAhead() && options.starts()) {
            int rate = options.limits().startsPerMinute();
            long asleep = rate <= 0
                    ? 0
                    : state.nodes().values().stream().filter(Node::isAsleep).count();
            look(
                    planner.upcoming(state, now.seconds() + power.longestS() + (rate <= 0 ? 0 : 60 * asleep / rate)),
                    rate);
        }
        soon.forEach(n -> lastPlanned.put(n, now.seconds()));
        lastPlanned.keySet().removeIf(n -> !state.nodes().has(n));
    }

    private void look(List<Planner.Estimate> plans, int rate) {
        Set<String> sleepers = new HashSet<>();
        for (Planner.Estimate plan : plans) {
            List<Node> here = new ArrayList<>();
            for (String name : plan.nodes()) {
                Node node = state.nodes().find(name).orElse(null);
                if (node != null
                        && node.has(Node.Flag.POWERED_DOWN)
                        && PowerSavingTimes.canStart(state.settings(), node)) {
                    sleepers.add(name);
                    here.add(node);
                }
                if (node != null
                        && plan.start()
                                <= now.seconds()
                                        + power.of(node).stopS()
                                        + power.of(node).startS()) {
                    soon.add(name);
                }
            }
            // ResumeRate: nodes of earlier plans are started first
            long turn = rate <= 0 || sleepers.isEmpty() ? 0 : 60L * ((sleepers.size() - 1) / rate);
            here.stream()
                    .filter(n -> now.seconds() + bootS(n) + turn >= plan.start())
                    .forEach(n -> dueNow.add(n.name()));
        }
        soon.addAll(dueNow);
    }

    /** Returns how long the node will likely take to come up, in seconds. */
    private int bootS(Node node) {
        int maxS = power.of(node).startS();
        int known = node.marks().bootS() > 0 ? node.marks().bootS() : longestBootS();
        return known == 0 ? maxS : Math.min(maxS, known + SPARE_S + known / SPARE_SHARE);
    }

    /** Returns the longest boot time of the nodes that have ever been started, in seconds; 0 if none was. */
    private int longestBootS() {
        if (longestBootS < 0) {
            longestBootS = state.nodes().values().stream()
                    .mapToInt(n -> n.marks().bootS())
                    .max()
                    .orElse(0);
        }
        return longestBootS;
    }

    /** Tests whether a node is without power and has to be started now to be there in time. */
    boolean isTimeFor(Node node) {
        return dueNow.contains(node.name());
    }

    /** Tests whether a plan has the node so soon that stopping it would mean starting it at once. */
    boolean isSoonFor(Node node) {
        return soon.contains(node.name());
    }

    /** Returns the second at which the node was last kept for a plan; 0 if it never was. */
    long lastPlanned(Node node) {
        return lastPlanned.getOrDefault(node.name(), 0L);
    }
}
