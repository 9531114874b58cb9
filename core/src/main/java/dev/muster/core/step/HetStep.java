package dev.muster.core.step;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.Step;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.StepId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A heterogeneous step of one job while its components are placed one by one, each on nodes that no earlier component
 * has. So a node knows a step by its number alone, and no core or device counts twice.
 */
final class HetStep {
    private final Set<String> nodes = new TreeSet<>();
    private int components;

    /** Tests whether there are several components that are for the same job. */
    static boolean isOfOneJob(List<Command.CreateStep> parts) {
        return parts.size() > 1
                && parts.stream().allMatch(p -> p.jobId() == parts.getFirst().jobId());
    }

    /** Returns the nodes of the components so far. */
    Set<String> nodes() {
        return nodes;
    }

    /** Returns the step id of the next component. */
    int id(int number) {
        return StepId.of(number, components);
    }

    void add(Step component) {
        component.nodes().forEach(p -> nodes.add(p.node()));
        components++;
    }

    /**
     * Returns why there cannot be a next component of this kind, whatever else runs; in Slurm's words, which are the
     * whole of what srun says then.
     */
    Optional<Decision.Rejected> refusal(Job job, ResourceRequest request) {
        if (components >= StepId.COMPONENTS_MAX) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.NOT_SUPPORTED, "A step has " + StepId.COMPONENTS_MAX + " components at most"));
        }
        if (nodes.isEmpty()) {
            return Optional.empty();
        }
        Set<String> excluded = new TreeSet<>(nodes);
        names(request.excludeList()).stream()
                .filter(n -> job.run().allocation().on(n).isPresent())
                .forEach(excluded::add);
        List<String> wanted = names(request.nodeList());
        if (wanted.stream().anyMatch(n -> job.run().allocation().on(n).isEmpty())) {
            return Optional.empty(); // which is what it hears
        }
        int all = job.run().allocation().nodes().size();
        int minNodes = Math.max(1, request.nodesMin());
        if (minNodes > all - excluded.size()) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.INVALID_NODE_COUNT,
                    "Allocation failure of " + minNodes + " nodes: job size of " + all + ", already allocated "
                            + excluded.size() + " nodes to previous components."));
        }
        return wanted.stream().noneMatch(excluded::contains)
                ? Optional.empty()
                : Optional.of(new Decision.Rejected(
                        SlurmErrno.INVALID_NODE_NAME,
                        "Requested nodelist " + HostList.of(wanted).compressed() + " overlaps with excluded "
                                + HostList.of(List.copyOf(excluded)).compressed() + "."));
    }

    private static List<String> names(String hosts) {
        return !hosts.isEmpty() && HostList.parse(hosts) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : List.of();
    }
}
