package dev.muster.scheduler;

import dev.muster.core.Planner;
import dev.muster.core.Power;
import dev.muster.core.State;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** max_powered_nodes: of nodes without power only so many are started for jobs. Where no more may be, those that have none cannot be used. */
final class PowerBudget {
    private final Scheduler scheduler;
    private int left = Integer.MAX_VALUE;

    PowerBudget(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Nodes are others. */
    void clear() {
        left = Integer.MAX_VALUE;
    }

    /** As it is when a pass begins. */
    void renew(State state) {
        int now = Power.left(state);
        if (now == left) {
            return;
        }
        boolean more = now > left;
        left = now;
        for (NodeSlot node : scheduler.nodes()) {
            node.startable = left > 0;
            node.judge(state.nodes().at(node.spec.name()), state.settings());
            scheduler.changed(node);
            if (more && node.asleep) {
                // who would have needed more of them than there might have been is looked at anew
                scheduler.free().freer(node.index);
            }
        }
        scheduler.unavailable().changed();
    }

    /** @param starts of the pass so far; @param others nodes that other components of the job get */
    boolean allows(List<Chooser.Pick> picks, List<Planner.Start> starts, Set<String> others) {
        if (left == Integer.MAX_VALUE) {
            return true;
        }
        Set<String> names = new HashSet<>(others);
        picks.forEach(p -> names.add(p.node().spec.name()));
        starts.forEach(s -> names.addAll(s.allocation().nodeNames()));
        return names.stream().map(scheduler::node).filter(n -> n != null && n.asleep && !n.coming).count() <= Math.max(0, left);
    }
}
