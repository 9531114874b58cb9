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
import dev.muster.model.ResourceRequest;
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

    /** So many different requests are remembered. */
    private static final int WORDS_MAX = 20_000;

    /** Nodes of each partition that nobody can have, as of one {@link #version}. */
    private record Known(long version, Map<String, Gone> of) {}

    /** What the answer hangs on: some QOS lift a partition's limits. */
    private record Asked(ResourceRequest request, String qos) {}

    /**
     * What nobody can have of a partition, and what was said to requests because of that.
     *
     * @param specs of its nodes, as they were configured then, and features that they may change to
     */
    private record Gone(Partition partition, List<String> nodes, Object[] specs, Map<Asked, String> words) {
        boolean isAs(Partition p, List<String> gone, Object[] now) {
            boolean same = p == partition && gone.equals(nodes) && now.length == specs.length;
            for (int i = 0; same && i < now.length; i++) {
                same = now[i] == specs[i];
            }
            return same;
        }
    }

    private volatile Known known = new Known(-1, Map.of());
    /** Goes up when a node comes or goes, or is another than before; jobs on it do not matter. Written by the core thread alone. */
    private volatile long version;

    /** A node has come or gone, or nodes or partitions are configured anew. By the core thread. */
    void changed() {
        version++;
    }

    /** Goes up with each change that answers hang on. */
    long version() {
        return version;
    }

    /** "" if the nodes that are there and nobody else's suffice, once they are free. @param now seconds since 1970 */
    public String words(State state, JobDesc desc, long now) {
        Optional<Partition> partition = state.partitions().find(desc.partition().split(",")[0]);
        String missing = missing(state, desc);
        List<String> others = partition.isPresent() && missing.isEmpty() ? reserved(state, desc, partition.get(), now) : List.of();
        if (others.isEmpty()) {
            return missing;
        }
        List<String> both = new ArrayList<>(gone(state, partition.get()).nodes);
        both.addAll(others);
        return Feasibility.fitsWithout(state, desc, partition.get(), both) ? "" : RESERVED;
    }

    /** As {@link #words} of nodes that nobody can have; whatever reservations leave. Cheap for requests like others before. */
    public String missing(State state, JobDesc desc) {
        return missing(state, desc, desc.partition().split(",")[0]);
    }

    /** Likewise in one of its partitions. */
    String missing(State state, JobDesc desc, String in) {
        Optional<Partition> partition = state.partitions().find(in);
        Optional<Gone> gone = partition.map(p -> gone(state, p)).filter(g -> !g.nodes.isEmpty());
        if (gone.isEmpty()) {
            return "";
        }
        if (gone.get().words.size() > WORDS_MAX) {
            gone.get().words.clear();
        }
        return gone.get().words.computeIfAbsent(new Asked(desc.request(), desc.charge().qos()),
                a -> missing(state, desc, partition.get(), gone.get().nodes));
    }

    /** Nobody else has to wait for a job that waits for such nodes. */
    static boolean isNamed(String words) {
        return words.startsWith(NAMED);
    }

    private static String missing(State state, JobDesc desc, Partition partition, List<String> gone) {
        List<String> named = Feasibility.names(desc.request().nodeList()).stream().filter(gone::contains).toList();
        if (!named.isEmpty()) {
            return NAMED + HostList.of(named).compressed();
        }
        if (partition.nodes().size() - gone.size() < desc.request().nodesMin()) {
            return TOO_FEW;
        }
        return Feasibility.fitsWithout(state, desc, partition, gone) ? "" : NAMED + HostList.of(gone).compressed();
    }

    /** Whole nodes that somebody has reserved in the time that the job may take, if it began now. */
    private static List<String> reserved(State state, JobDesc desc, Partition partition, long now) {
        if (state.reservations().size() == 0 || !desc.charge().reservation().isEmpty()) {
            return List.of();
        }
        int limitMin = Limits.timeLimitMin(desc, partition);
        long until = Need.end(now, limitMin);
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

    private Gone gone(State state, Partition partition) {
        Known now = known;
        long at = version;
        if (now.version != at) {
            // what was said holds on as long as the same nodes are gone and nothing is configured anew
            now = new Known(at, new ConcurrentHashMap<>(now.of));
            now.of.replaceAll((name, before) -> state.partitions().find(name).map(p -> look(state, p, before)).orElse(before));
            known = now;
        }
        Gone gone = now.of.computeIfAbsent(partition.name(), name -> look(state, partition, null));
        return gone.partition == partition ? gone : look(state, partition, gone);
    }

    private static Gone look(State state, Partition partition, Gone before) {
        List<String> gone = new ArrayList<>();
        Object[] specs = new Object[2 * partition.nodes().size()];
        int at = 0;
        for (String name : partition.nodes()) {
            Optional<Node> n = state.nodes().find(name).filter(x -> !x.has(Node.Flag.FUTURE));
            specs[at++] = n.<Object>map(Node::spec).orElse(null);
            specs[at++] = n.<Object>map(Node::changeable).orElse(null);
            if (n.isPresent() && !n.get().isUsable() && !Power.canStart(state.settings(), n.get())) {
                gone.add(name);
            }
        }
        return before != null && before.isAs(partition, gone, specs) ? before
                : new Gone(partition, List.copyOf(gone), specs, new ConcurrentHashMap<>());
    }
}
