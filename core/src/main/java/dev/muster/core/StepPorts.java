package dev.muster.core;

import dev.muster.model.IndexSet;
import dev.muster.model.SlurmErrno;
import java.util.List;

/** The ports of MpiParams that a step has for itself on each of its nodes: the same numbers on all of them. */
final class StepPorts {
    private StepPorts() {
    }

    /**
     * The ports, none where MpiParams has none, or the error: PORTS_BUSY where they would be free later.
     *
     * @param asked 0 for one more than the step has tasks on any of its nodes
     * @param turn where in the range to begin, so that ports are not used again at once: a stranger may still send to them
     */
    static Object reserve(State state, List<Step.Part> nodes, int asked, int turn) {
        String range = state.settings().options().getOrDefault(Settings.MPI_PORTS, "");
        if (asked <= 0 && range.isEmpty()) {
            return IndexSet.empty();
        }
        int dash = range.indexOf('-');
        int first = dash < 0 ? 0 : Integer.parseInt(range.substring(0, dash));
        int size = dash < 0 ? 0 : Integer.parseInt(range.substring(dash + 1)) - first + 1;
        int each = nodes.stream().mapToInt(p -> p.tasks().size()).max().orElse(0) + 1;
        int count = asked > 0 ? asked : Math.min(size, each);
        if (count > size) {
            return SlurmErrno.PORTS_INVALID;
        }
        IndexSet taken = taken(state, nodes);
        IndexSet ports = IndexSet.empty();
        for (int i = 0; i < size && ports.count() < count; i++) {
            int port = first + (int) ((i + (long) turn) % size);
            if (!taken.contains(port)) {
                ports = ports.with(port);
            }
        }
        return ports.count() < count ? SlurmErrno.PORTS_BUSY : ports;
    }

    private static IndexSet taken(State state, List<Step.Part> nodes) {
        IndexSet taken = IndexSet.empty();
        for (Step.Part part : nodes) {
            for (int id : state.nodes().at(part.node()).jobs()) {
                for (Step step : state.jobs().at(id).run().steps()) {
                    if (step.state() == Step.State.RUNNING && step.nodes().stream().anyMatch(p -> p.node().equals(part.node()))) {
                        taken = taken.union(step.ports());
                    }
                }
            }
        }
        return taken;
    }
}
