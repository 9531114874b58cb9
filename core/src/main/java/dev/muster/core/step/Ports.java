package dev.muster.core.step;

import dev.muster.core.options.StepOptions;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.IndexSet;
import java.util.List;
import java.util.Optional;

/**
 * The ports of MpiParams that a job ({@code --resv-ports}) or else a step has for itself on each of its nodes: the same
 * numbers on all of them. A job's are its own from its start to its end, and its steps have theirs out of them.
 */
public final class Ports {
    private Ports() {}

    /** Returns how many ports there are on a node. */
    public static int count(Settings settings) {
        return range(settings).count();
    }

    private static StepOptions.PortRange range(Settings settings) {
        return settings.options().steps().ports();
    }

    /**
     * Returns the ports of a job that starts on these nodes; empty where too few are free.
     *
     * @param begun what starts at the same time and is not in the state yet
     * @param turn where in the range to begin
     */
    public static Optional<IndexSet> ofJob(
            State state, List<String> nodes, int wanted, List<Allocation> begun, int turn) {
        if (wanted > count(state.settings())) {
            return Optional.empty();
        }
        IndexSet taken = IndexSet.empty();
        for (String node : nodes) {
            taken = taken.union(taken(state, node));
        }
        for (Allocation a : begun) {
            taken = a.nodes().stream().anyMatch(s -> nodes.contains(s.node())) ? taken.union(a.ports()) : taken;
        }
        IndexSet ports = some(
                range(state.settings()).all().minus(taken),
                wanted,
                range(state.settings()).first(),
                turn,
                count(state.settings()));
        return ports.count() < wanted ? Optional.empty() : Optional.of(ports);
    }

    /** Returns at most {@code count} of the free ports, from a place in the range on. */
    private static IndexSet some(IndexSet free, int count, int first, int turn, int size) {
        IndexSet ports = IndexSet.empty();
        for (int i = 0; i < size && ports.count() < count; i++) {
            int port = first + (int) ((i + (long) turn) % size);
            ports = free.contains(port) ? ports.with(port) : ports;
        }
        return ports;
    }

    /**
     * Returns a step's ports, none where MpiParams has none, or the error: PORTS_BUSY where they would be free later.
     *
     * @param asked 0 for one more than the step has tasks on any of its nodes
     * @param turn where in the range to begin, so that ports are not used again at once: a stranger may still send to
     *     them
     */
    static Object ofStep(State state, Job job, List<Step.Part> nodes, int asked, int turn) {
        StepOptions.PortRange range = range(state.settings());
        if (asked <= 0 && range.count() == 0) {
            return IndexSet.empty();
        }
        IndexSet own = job.run().allocation().ports();
        IndexSet available = own.isEmpty() ? range.all() : own;
        int each = nodes.stream().mapToInt(p -> p.tasks().size()).max().orElse(0) + 1;
        int count = asked > 0 ? asked : Math.min(available.count(), each);
        if (count > available.count()) {
            return SlurmErrno.PORTS_INVALID;
        }
        IndexSet taken = IndexSet.empty();
        for (Step.Part part : nodes) {
            taken = taken.union(own.isEmpty() ? taken(state, part.node()) : ofSteps(job, part.node()));
        }
        IndexSet ports = some(available.minus(taken), count, range.first(), turn, range.count());
        return ports.count() < count ? SlurmErrno.PORTS_BUSY : ports;
    }

    /** Returns the ports of a node that jobs and their steps have. */
    private static IndexSet taken(State state, String node) {
        IndexSet taken = IndexSet.empty();
        for (int id : state.nodes().at(node).jobs()) {
            Job job = state.jobs().at(id);
            taken = taken.union(job.run().allocation().ports()).union(ofSteps(job, node));
        }
        return taken;
    }

    private static IndexSet ofSteps(Job job, String node) {
        IndexSet taken = IndexSet.empty();
        for (Step step : job.run().steps()) {
            if (step.state() == Step.State.RUNNING
                    && step.nodes().stream().anyMatch(p -> p.node().equals(node))) {
                taken = taken.union(step.ports());
            }
        }
        return taken;
    }
}
