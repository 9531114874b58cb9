package dev.muster.core.tres;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The channels by which nodes of an NVIDIA IMEX domain share memory ({@code SwitchType=switch/nvidia_imex}): each job
 * has one for all of its nodes from its start to its end, or one for each of its segments
 * ({@code --network=unique-channel-per-segment}). No two jobs have the same channel.
 */
public final class ImexChannels {
    /** The word of {@code --network}, in lower case. */
    public static final String EACH_SEGMENT = "unique-channel-per-segment";

    private ImexChannels() {}

    /** Returns how many channels there are, numbered from 0; none without such a switch. */
    public static int count(Settings settings) {
        return settings.options().steps().imexChannels();
    }

    /**
     * Returns the job's nodes by segments: they follow each other in the order of the blocks. One of all without a
     * size.
     */
    public static List<List<String>> segments(List<String> nodes, Topology topology, int size) {
        if (size <= 0 || topology.kind() != Topology.Kind.BLOCK || nodes.size() <= size) {
            return List.of(nodes);
        }
        List<String> rest = new ArrayList<>(nodes);
        List<String> order = new ArrayList<>();
        for (Topology.Block block : topology.blocks()) {
            block.nodes().stream().filter(rest::remove).forEach(order::add);
        }
        order.addAll(rest);
        List<List<String>> out = new ArrayList<>();
        for (int i = 0; i < order.size(); i += size) {
            out.add(List.copyOf(order.subList(i, Math.min(order.size(), i + size))));
        }
        return out;
    }

    /** Returns the channels that no job has. */
    public static IndexSet free(State state) {
        IndexSet free =
                count(state.settings()) == 0 ? IndexSet.empty() : IndexSet.range(0, count(state.settings()) - 1, 1);
        for (Job job : state.jobs().values()) {
            free = job.holdsNodes() && !job.run().allocation().channels().isEmpty()
                    ? free.minus(numbers(job.run().allocation()))
                    : free;
        }
        return free;
    }

    /** Returns the channel numbers that an allocation has. */
    public static IndexSet numbers(Allocation a) {
        IndexSet out = IndexSet.empty();
        for (Allocation.Channel c : a.channels()) {
            out = out.with(c.number());
        }
        return out;
    }

    /** Gives each segment one of the free channels; empty where they are too few. */
    public static Optional<List<Allocation.Channel>> of(List<List<String>> segments, IndexSet free) {
        if (free.count() < segments.size()) {
            return Optional.empty();
        }
        List<Allocation.Channel> out = new ArrayList<>();
        IndexSet left = free;
        for (List<String> segment : segments) {
            int number = left.first();
            left = left.without(number);
            out.add(new Allocation.Channel(
                    number, segments.size() == 1 ? "" : HostList.of(segment).compressed()));
        }
        return Optional.of(List.copyOf(out));
    }

    /** Returns the channel that the job uses on a node; none without such a switch. */
    public static Optional<Integer> on(Allocation a, String node) {
        for (Allocation.Channel c : a.channels()) {
            if (c.nodes().isEmpty()
                    || HostList.parse(c.nodes()) instanceof HostList.Parsed.Ok ok
                            && ok.list().contains(node)) {
                return Optional.of(c.number());
            }
        }
        return Optional.empty();
    }
}
