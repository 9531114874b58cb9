package dev.muster.scheduler.queue;

import dev.muster.core.command.Access;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.node.PowerSavingTimes;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import dev.muster.scheduler.node.Feasibility;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The reason text of a job that could run if all nodes of its partition were available: an administrator must return
 * nodes to service, waiting does not help. The words are Slurm's, and programs rely on their beginning.
 */
public final class UnavailableNodes {
    public static final String WORD = "ReqNodeNotAvail, ";
    private static final String NAMED = WORD + "UnavailableNodes:";
    private static final String RESERVED = WORD + "May be reserved for other job";
    public static final String MAINTENANCE = WORD + "Reserved for maintenance";
    static final String TOO_FEW =
            "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";

    /** Number of different requests whose words are kept. */
    private static final int WORDS_MAX = 20_000;

    /** Unavailable nodes by partition, as of one {@link #version}. */
    private record UnavailableByPartition(long version, Map<String, UnavailablePart> of) {}

    /** The part of a job on which the answer depends: some QOS lift a partition's limits. */
    private record AskedRequest(ResourceRequest request, String qos) {}

    /**
     * Unavailable nodes of a partition, and the words for requests because of them.
     *
     * @param specs of its nodes, as they were configured then, and features that they may change to
     */
    private record UnavailablePart(
            Partition partition, List<String> nodes, Object[] specs, Map<AskedRequest, String> words) {
        boolean isAs(Partition p, List<String> unusable, Object[] now) {
            boolean same = p == partition && unusable.equals(nodes) && now.length == specs.length;
            for (int i = 0; same && i < now.length; i++) {
                same = now[i] == specs[i];
            }
            return same;
        }
    }

    private volatile UnavailableByPartition known = new UnavailableByPartition(-1, Map.of());
    /**
     * Number that goes up when a node comes or goes, or is another than before; jobs on it do not matter. Written by
     * the core thread alone.
     */
    private volatile long version;

    /**
     * Invalidates all answers, because a node has come or gone, or nodes or partitions are configured anew. By the core
     * thread.
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // the core thread alone writes it
    public void changed() {
        version++;
    }

    /** Returns a number that goes up with each change on which answers depend. */
    public long version() {
        return version;
    }

    /**
     * Returns the reason text for a job whose nodes are down, drained or reserved; "" if the others suffice.
     *
     * @param now seconds since 1970
     */
    public String words(State state, JobDesc desc, long now) {
        Optional<Partition> partition = state.partitions().find(desc.firstPartition());
        String missing = missing(state, desc);
        Set<String> reservedForOthers =
                partition.isPresent() && missing.isEmpty() ? reserved(state, desc, partition.get(), now) : Set.of();
        if (reservedForOthers.isEmpty()) {
            return missing;
        }
        List<String> open = new ArrayList<>(nodesOf(state, desc, partition.get()));
        open.removeAll(reservedForOthers);
        if (open.isEmpty() && areAllReserved(state, desc, now)) {
            return MAINTENANCE;
        }
        List<String> closed = new ArrayList<>(partition.get().nodes());
        closed.removeAll(open);
        return Feasibility.fitsWithout(state, desc, partition.get(), closed) ? "" : RESERVED;
    }

    /**
     * Tests whether in each of the job's partitions all nodes that it might have are reserved for others within its
     * time.
     *
     * @param now seconds since 1970
     */
    public boolean areAllReserved(State state, JobDesc desc, long now) {
        if (state.reservations().size() == 0) {
            return false;
        }
        for (String name : desc.partitionList()) {
            Optional<Partition> partition = state.partitions().find(name);
            List<String> nodes = partition.map(p -> nodesOf(state, desc, p)).orElse(List.of());
            if (nodes.isEmpty() || !reserved(state, desc, partition.get(), now).containsAll(nodes)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the nodes of the partition that are there, within the job's reservation if it names one. */
    private List<String> nodesOf(State state, JobDesc desc, Partition partition) {
        List<String> nodes = new ArrayList<>(partition.nodes());
        nodes.removeAll(gone(state, partition).nodes);
        bound(state, desc)
                .filter(r -> !r.has(ReservationFlag.FLEX) && !r.has(ReservationFlag.ANY_NODES))
                .ifPresent(r -> nodes.retainAll(r.nodes()));
        return nodes;
    }

    /** Returns the reservation that the job names; empty where it names none or several. */
    private static Optional<Reservation> bound(State state, JobDesc desc) {
        return state.reservations().find(desc.charge().reservation());
    }

    /**
     * Returns the words as {@link #words} does, for unavailable nodes without regard to reservations. Words of equal
     * requests are cached.
     */
    public String missing(State state, JobDesc desc) {
        return missing(state, desc, desc.firstPartition());
    }

    /** Returns the words for one of the job's partitions. */
    public String missing(State state, JobDesc desc, String in) {
        Optional<Partition> partition = state.partitions().find(in);
        Optional<UnavailablePart> unusable = partition.map(p -> gone(state, p)).filter(g -> !g.nodes.isEmpty());
        if (unusable.isEmpty()) {
            return "";
        }
        if (unusable.get().words.size() > WORDS_MAX) {
            unusable.get().words.clear();
        }
        return unusable.get()
                .words
                .computeIfAbsent(
                        new AskedRequest(desc.request(), desc.charge().qos()),
                        a -> missing(state, desc, partition.get(), unusable.get().nodes));
    }

    /** Returns whether the words name unavailable nodes; no other job has to wait for such a job. */
    public static boolean isNamed(String words) {
        return words.startsWith(NAMED);
    }

    private static String missing(State state, JobDesc desc, Partition partition, List<String> unusable) {
        List<String> named = HostList.distinct(desc.request().nodeList()).stream()
                .filter(unusable::contains)
                .toList();
        if (!named.isEmpty()) {
            return NAMED + HostList.of(named).compressed();
        }
        if (partition.nodes().size() - unusable.size() < desc.request().nodesMin()) {
            return TOO_FEW;
        }
        return Feasibility.fitsWithout(state, desc, partition, unusable)
                ? ""
                : NAMED + HostList.of(unusable).compressed();
    }

    /** Returns the whole nodes that are reserved for others in the time that the job may take, if it began now. */
    private static Set<String> reserved(State state, JobDesc desc, Partition partition, long now) {
        Optional<Reservation> own = bound(state, desc);
        if (state.reservations().size() == 0
                || own.isEmpty() && !desc.charge().reservation().isEmpty()) {
            return Set.of();
        }
        long until = ResourceNeed.end(now, PartitionLimits.timeLimitMin(desc, partition));
        Set<String> out = new HashSet<>();
        for (Reservation r : state.reservations().values()) {
            boolean open = own.isPresent()
                    ? own.get().name().equals(r.name()) || own.get().ignores(r)
                    : r.has(ReservationFlag.MAGNETIC) && Access.admits(state, r, desc);
            // reserved cores count as busy resources, even all cores of a node
            boolean whole = r.units().isEmpty() || desc.request().exclusive() == ResourceRequest.Exclusive.NODE;
            for (String name : open || !whole || r.windows(now, now, until).isEmpty() ? List.<String>of() : r.nodes()) {
                state.nodes()
                        .find(name)
                        .map(Node::spec)
                        .filter(s -> r.unitsOf(s).count()
                                >= s.units() - s.reservedUnits().count())
                        .ifPresent(s -> out.add(name));
            }
        }
        return out;
    }

    private UnavailablePart gone(State state, Partition partition) {
        UnavailableByPartition now = known;
        long current = version;
        if (now.version != current) {
            // what was said holds on as long as the same nodes are gone and nothing is configured anew
            now = new UnavailableByPartition(current, new ConcurrentHashMap<>(now.of));
            now.of.replaceAll((name, before) -> state.partitions()
                    .find(name)
                    .map(p -> look(state, p, before))
                    .orElse(before));
            known = now;
        }
        UnavailablePart unusable = now.of.computeIfAbsent(partition.name(), name -> look(state, partition, null));
        return unusable.partition == partition ? unusable : look(state, partition, unusable);
    }

    private static UnavailablePart look(State state, Partition partition, @Nullable UnavailablePart before) {
        List<String> unusable = new ArrayList<>();
        Object[] specs = new Object[2 * partition.nodes().size()];
        int count = 0;
        for (String name : partition.nodes()) {
            Optional<Node> n = state.nodes().find(name).filter(x -> !x.isClosedToJobs());
            specs[count++] = n.<Object>map(Node::spec).orElse(null);
            specs[count++] = n.<Object>map(Node::changeable).orElse(null);
            if (n.isPresent() && !n.get().isUsable() && !PowerSavingTimes.canStart(state.settings(), n.get())) {
                unusable.add(name);
            }
        }
        return before != null && before.isAs(partition, unusable, specs)
                ? before
                : new UnavailablePart(partition, List.copyOf(unusable), specs, new ConcurrentHashMap<>());
    }
}
