package dev.muster.scheduler;

import dev.muster.core.Limits;
import dev.muster.core.Node;
import dev.muster.core.Partition;
import dev.muster.core.Power;
import dev.muster.core.Reservation;
import dev.muster.core.State;
import dev.muster.model.HostList;
import dev.muster.model.JobDesc;
import dev.muster.model.ReservationFlag;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a job is told that could run if only all nodes of its partition were there: somebody must bring nodes back, waiting does not help. Slurm's
 * words, of which users and programs know the beginning.
 */
public final class Unavailable {
    public static final String WORD = "ReqNodeNotAvail, ";
    private static final String NAMED = WORD + "UnavailableNodes:";
    private static final String RESERVED = WORD + "May be reserved for other job";
    static final String TOO_FEW = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";

    /** Nodes of each partition that nobody can have, as of one version of the nodes. */
    private record Known(Object nodes, Object partitions, Map<String, List<String>> of) {}

    private static volatile Known known = new Known(null, null, Map.of());

    private Unavailable() {}

    /** "" if the nodes that are there and nobody else's suffice, once they are free. @param now seconds since 1970 */
    public static String words(State state, JobDesc desc, long now) {
        Optional<Partition> partition = state.partitions().find(desc.partition().split(",")[0]);
        List<String> gone = partition.map(p -> gone(state, p)).orElse(List.of());
        List<String> others = partition.map(p -> reserved(state, desc, p, now)).orElse(List.of());
        if (gone.isEmpty() && others.isEmpty()) {
            return "";
        }
        List<String> named = Feasibility.names(desc.request().nodeList()).stream().filter(gone::contains).toList();
        if (!named.isEmpty()) {
            return NAMED + HostList.of(named).compressed();
        }
        if (partition.get().nodes().size() - gone.size() < desc.request().nodesMin()) {
            return TOO_FEW;
        }
        if (!gone.isEmpty() && !Feasibility.fitsWithout(state, desc, partition.get(), gone)) {
            return NAMED + HostList.of(gone).compressed();
        }
        List<String> both = new ArrayList<>(gone);
        both.addAll(others);
        return others.isEmpty() || Feasibility.fitsWithout(state, desc, partition.get(), both) ? "" : RESERVED;
    }

    /** Whole nodes that somebody has reserved in the time that the job may take, if it began now. */
    private static List<String> reserved(State state, JobDesc desc, Partition partition, long now) {
        if (state.reservations().size() == 0 || !desc.charge().reservation().isEmpty()) {
            return List.of();
        }
        int limitMin = Limits.timeLimitMin(desc, partition);
        long until = limitMin < 0 ? Long.MAX_VALUE : now + limitMin * 60L;
        Set<String> out = new LinkedHashSet<>();
        for (Reservation r : state.reservations().values()) {
            boolean open = r.has(ReservationFlag.MAGNETIC) && r.admits(state, desc) || r.windows(now, now, until).isEmpty();
            for (String name : open ? List.<String>of() : r.nodes()) {
                state.nodes().find(name).map(Node::spec).filter(s -> r.unitsOn(s).count() >= s.units() - s.reservedUnits().count())
                        .ifPresent(s -> out.add(name));
            }
        }
        return List.copyOf(out);
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
