package dev.muster.scheduler;

import dev.muster.core.Node;
import dev.muster.core.Partition;
import dev.muster.core.Power;
import dev.muster.core.State;
import dev.muster.model.HostList;
import dev.muster.model.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a job is told that could run if only all nodes of its partition were there: somebody must bring nodes back, waiting does not help. Slurm's
 * words, of which users and programs know the beginning.
 */
public final class Unavailable {
    public static final String NAMED = "ReqNodeNotAvail, UnavailableNodes:";
    static final String TOO_FEW = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";

    /** Nodes of each partition that nobody can have, as of one version of the nodes. */
    private record Known(Object nodes, Object partitions, Map<String, List<String>> of) {}

    private static volatile Known known = new Known(null, null, Map.of());

    private Unavailable() {}

    /** "" if the nodes that are there suffice, once they are free. */
    public static String words(State state, JobDesc desc) {
        Optional<Partition> partition = state.partitions().find(desc.partition().split(",")[0]);
        List<String> gone = partition.map(p -> gone(state, p)).orElse(List.of());
        if (gone.isEmpty()) {
            return "";
        }
        List<String> named = Feasibility.names(desc.request().nodeList()).stream().filter(gone::contains).toList();
        if (!named.isEmpty()) {
            return NAMED + HostList.of(named).compressed();
        }
        if (partition.get().nodes().size() - gone.size() < desc.request().nodesMin()) {
            return TOO_FEW;
        }
        return Feasibility.fitsWithout(state, desc, partition.get(), gone) ? "" : NAMED + HostList.of(gone).compressed();
    }

    private static List<String> gone(State state, Partition partition) {
        Known now = known;
        if (now.nodes != state.nodes() || now.partitions != state.partitions()) {
            now = new Known(state.nodes(), state.partitions(), new ConcurrentHashMap<>());
            known = now;
        }
        return now.of.computeIfAbsent(partition.name(), name -> {
            List<String> out = new ArrayList<>();
            for (String node : partition.nodes()) {
                Optional<Node> n = state.nodes().find(node).filter(x -> !x.has(Node.Flag.FUTURE));
                if (n.isPresent() && !n.get().isUsable() && !Power.canStart(state.settings(), n.get())) {
                    out.add(node);
                }
            }
            return List.copyOf(out);
        });
    }
}
