package dev.muster.scheduler.claim;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.State;
import dev.muster.core.step.Ports;
import dev.muster.core.tres.ImexChannels;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Gives jobs that start in a pass their numbers: ports of their nodes ({@code --resv-ports}), and channels of the
 * fabric between them.
 */
public final class NumberAllocator {
    private final State state;
    private final DecisionTime now;
    private final List<Allocation> begun = new ArrayList<>();
    /** Free channels, computed on the first request. */
    private Optional<IndexSet> channels = Optional.empty();

    public NumberAllocator(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
    }

    /** Returns the allocation with its ports and channels; empty while too few are free. */
    public Optional<Allocation> on(Allocation a, ResourceNeed need) {
        return ports(a, need).flatMap(p -> channels(p, need));
    }

    private Optional<Allocation> ports(Allocation a, ResourceNeed need) {
        if (need.network().ports() == 0) {
            return Optional.of(a);
        }
        int each = (need.tasks() + a.nodes().size() - 1) / a.nodes().size();
        int wanted =
                need.network().ports() > 0 ? need.network().ports() : Math.min(Ports.count(state.settings()), each + 1);
        return Ports.ofJob(state, a.nodeNames(), wanted, begun, (int) (now.seconds() % Integer.MAX_VALUE))
                .map(a::withPorts);
    }

    private Optional<Allocation> channels(Allocation a, ResourceNeed need) {
        if (ImexChannels.count(state.settings()) == 0) {
            return Optional.of(a);
        }
        int segment = need.network().ownChannels() ? need.network().segment() : 0;
        channels = channels.or(() -> Optional.of(ImexChannels.free(state)));
        List<List<String>> segments =
                ImexChannels.segments(a.nodeNames(), need.network().in(state.settings()), segment);
        return ImexChannels.of(segments, channels.get()).map(a::withChannels);
    }

    public void take(Allocation a) {
        if (!a.ports().isEmpty()) {
            begun.add(a);
        }
        channels = channels.map(free -> free.minus(ImexChannels.numbers(a)));
    }
}
