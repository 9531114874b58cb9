package dev.muster.core.step;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Order in which the nodes of a job run the tasks of its steps: neighbours have ranks that follow each other. */
final class StepOrder {
    private StepOrder() {}

    /** A word of SelectTypeParameters: tasks go over blocks as over any other nodes. */
    private static final String NOT_BY_BLOCK = "CR_NO_DIST_TOPO_BLOCK";

    /**
     * Returns the job's nodes as the topology of its partition orders them, also where the step says how tasks go over
     * nodes; elsewhere in the allocation's order.
     */
    static List<Allocation.Share> ranked(State state, Job job) {
        List<List<Allocation.Share>> groups = groups(state, job);
        List<Allocation.Share> out = new ArrayList<>();
        groups.forEach(out::addAll);
        return out;
    }

    /**
     * Returns the same nodes, but begins with one block after the other, so that small steps do not all meet in the
     * first.
     */
    static List<Allocation.Share> rotated(State state, Job job, int stepId) {
        List<List<Allocation.Share>> groups = groups(state, job);
        List<Allocation.Share> out = new ArrayList<>();
        for (int i = 0; i < groups.size(); i++) {
            out.addAll(groups.get((i + Math.max(0, stepId)) % groups.size()));
        }
        return out;
    }

    /** Returns the job's nodes by blocks; all in one group where there are no blocks. */
    private static List<List<Allocation.Share>> groups(State state, Job job) {
        List<Allocation.Share> all = job.run().allocation().nodes();
        Topology topology = state.settings()
                .topology(state.partitions()
                        .find(job.desc().partition())
                        .map(p -> p.info().topology())
                        .orElse(""));
        if (topology.kind() == Topology.Kind.FLAT && topology.alphaRank()) {
            return List.of(named(
                    all,
                    HostList.of(all.stream().map(Allocation.Share::node).toList())
                            .sorted()
                            .names()));
        }
        if (topology.kind() != Topology.Kind.BLOCK || state.settings().selects(NOT_BY_BLOCK)) {
            return List.of(all);
        }
        List<List<Allocation.Share>> out = new ArrayList<>();
        List<Allocation.Share> rest = new ArrayList<>(all);
        for (Topology.Block block : topology.blocks()) {
            List<Allocation.Share> here = named(rest, block.nodes());
            rest.removeAll(here);
            if (!here.isEmpty()) {
                out.add(here);
            }
        }
        if (!rest.isEmpty()) {
            out.add(rest);
        }
        return out;
    }

    /** Returns the shares of the named nodes, in the order of the names. */
    private static List<Allocation.Share> named(List<Allocation.Share> shares, List<String> names) {
        var byName = shares.stream().collect(Collectors.toMap(Allocation.Share::node, Function.identity()));
        return names.stream().filter(byName::containsKey).map(byName::get).toList();
    }
}
