package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.Now;
import dev.muster.core.Ports;
import dev.muster.core.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which ports of their nodes ({@code --resv-ports}) jobs get that start in a pass. */
final class PortDesk {
    private final State state;
    private final Now now;
    private final List<Allocation> begun = new ArrayList<>();

    PortDesk(State state, Now now) {
        this.state = state;
        this.now = now;
    }

    /** The allocation with its ports; empty while too few are free on its nodes. */
    Optional<Allocation> on(Allocation a, Need need) {
        if (need.network().ports() == 0) {
            return Optional.of(a);
        }
        int each = (need.tasks() + a.nodes().size() - 1) / a.nodes().size();
        int wanted = need.network().ports() > 0 ? need.network().ports() : Math.min(Ports.count(state.settings()), each + 1);
        return Ports.ofJob(state, a.nodeNames(), wanted, begun, (int) (now.seconds() % Integer.MAX_VALUE)).map(a::withPorts);
    }

    void take(Allocation a) {
        if (!a.ports().isEmpty()) {
            begun.add(a);
        }
    }
}
