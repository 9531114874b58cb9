package dev.muster.scheduler.node;

import static java.util.Objects.requireNonNull;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.ByNode;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.ResourceNeedTable;
import dev.muster.scheduler.request.SharingPolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The nodes, what is free on them and what the jobs on them hold, as the state's records say. Owned by the core thread;
 * only {@link #connected} may be called from others.
 */
public final class ClusterIndex {
    private final List<NodeSlot> nodes = new ArrayList<>();
    private final Map<String, NodeSlot> byName = new HashMap<>();
    private final Map<String, List<NodeSlot>> byPartition = new HashMap<>();
    private final Map<String, Long> cpus = new HashMap<>();
    private final NodeAllocations allocations = new NodeAllocations(byName);
    private final TreeMap<Integer, Job> holders = new TreeMap<>();
    private final HeldLicenses licenses = new HeldLicenses();
    private final ResourceNeedTable needs = new ResourceNeedTable();
    private final Map<Integer, Integer> runningTasks = new HashMap<>();
    private final List<NodeSlot> withheld = new ArrayList<>();
    private final Set<String> connected = ConcurrentHashMap.newKeySet();
    /** Number that goes up when a node connects or its connection ends. */
    private final AtomicInteger connections = new AtomicInteger();

    private final IntConsumer whenChanged;
    private int connectionsSeen;
    private volatile boolean everyNodeConnected;
    private Settings settings = State.EMPTY.settings();
    private FreeTable free = new FreeTable(0);
    /** Table of the cluster as if no job ran and every usable node could be used. */
    private FreeTable empty = new FreeTable(0);
    /** Whether some switch has all nodes below it, or there is no topology. */
    private boolean spannedByOneSwitch;

    private List<String> names = List.of();

    /** @param whenChanged gets the number of each node of which the free resources or the readiness have changed */
    public ClusterIndex(IntConsumer whenChanged) {
        this.whenChanged = whenChanged;
    }

    /** The work that a change of a node's record asks for. */
    public enum NodeChange {
        NONE,
        USABILITY,
        FEATURES,
        REBUILD
    }

    // ---- following the state

    /** Nodes and partitions as in that state, and no job on them. */
    public void reset(State state) {
        settings = state.settings();
        nodes.clear();
        byName.clear();
        byPartition.clear();
        cpus.clear();
        holders.clear();
        licenses.clear();
        needs.clear();
        runningTasks.clear();
        List<Node> sorted = new ArrayList<>(state.nodes().values());
        sorted.sort(Comparator.comparingLong((Node n) -> n.spec().weightValue())
                .thenComparingInt(n -> n.spec().order()));
        for (Node node : sorted) {
            NodeSlot slot = new NodeSlot(nodes.size(), node);
            slot.judge(node, settings);
            nodes.add(slot);
            byName.put(node.name(), slot);
        }
        names = nodes.stream().map(n -> n.spec.name()).toList();
        free = new FreeTable(nodes.size());
        empty = new FreeTable(nodes.size());
        nodes.forEach(n -> empty.update(n, !state.nodes().at(n.spec.name()).isClosedToJobs()));
        Topology topology = settings.topology("");
        spannedByOneSwitch = settings.topologies().size() < 2
                && (topology.kind() == Topology.Kind.FLAT
                        || topology.kind() == Topology.Kind.TREE
                                && topology.switches().stream()
                                        .anyMatch(w -> w.nodes().size() >= nodes.size()));
        nodes.forEach(n -> {
            n.watcher = this::changed;
            changed(n);
        });
        NodeSlot.join(settings.topologies(), byName);
        state.partitions().values().forEach(p -> {
            List<NodeSlot> members = new ArrayList<>();
            p.nodes().forEach(name -> Optional.ofNullable(byName.get(name)).ifPresent(members::add));
            members.sort(Comparator.comparingInt(s -> s.index));
            byPartition.put(p.name(), members);
            cpus.put(p.name(), members.stream().mapToLong(n -> n.spec.cpus()).sum());
        });
        allocations.reset(state);
    }

    /**
     * Follows a record about the node, and returns the work that it asks for.
     *
     * @return what follows from it; after REBUILD this index is of no use before its next {@link #reset}
     */
    public NodeChange follow(State before, State after, String node) {
        NodeSlot slot = byName.get(node);
        if (slot == null) {
            return NodeChange.NONE;
        }
        List<String> features = slot.features;
        String extra = slot.extra;
        boolean usable = slot.usable;
        slot.judge(after.nodes().at(node), after.settings());
        changed(slot);
        if (before.nodes().at(node).isClosedToJobs() != after.nodes().at(node).isClosedToJobs()) {
            return NodeChange.REBUILD;
        }
        boolean isExtraUsed = !extra.equals(slot.extra)
                && after.settings().options().requests().extraConstraints();
        if (isExtraUsed || !features.equals(slot.features)) {
            return NodeChange.FEATURES;
        }
        if (usable != slot.usable) {
            return NodeChange.USABILITY;
        }
        return NodeChange.NONE;
    }

    /** Adds a job that holds nodes from now on. */
    public void add(State state, Job job) {
        allocations.began(state, job);
        holders.put(job.id(), job);
        licenses.holds(job);
        runningTasks.merge(job.array().jobId(), 1, Integer::sum);
    }

    /** Removes a job that holds no nodes any more, or others than before. */
    public void remove(State state, Job job) {
        allocations.ended(state, job);
        holders.remove(job.id());
        licenses.forget(job.id());
        runningTasks.merge(job.array().jobId(), -1, Integer::sum);
    }

    /** Updates a job that stays on its nodes, of which it may hold something else than before. */
    public void update(Job was, Job now) {
        List<Allocation.Share> earlier = was.run().allocation().held();
        List<Allocation.Share> later = now.run().allocation().held();
        if (earlier != later) {
            ByNode.changed(earlier, later, i -> {
                allocations.release(was, earlier.get(i), false);
                allocations.hold(now, later.get(i), false);
            });
        }
        holders.put(now.id(), now);
        licenses.holds(now);
        if (was.run().limitTickMs() != now.run().limitTickMs()) {
            later.forEach(share -> Optional.ofNullable(byName.get(share.node())).ifPresent(slot -> {
                free.change(slot.index);
                // what is planned there may leave more room, or less
                free.markGrown(slot.index);
            }));
        }
    }

    /** Notes that the free resources of a node have changed, or whether it may be given work. */
    public void changed(NodeSlot slot) {
        free.update(slot, ready(slot));
        if (!free.quiet) {
            whenChanged.accept(slot.index);
        }
    }

    /** Notes that the node reboots for a job: it is usable once it sleeps. */
    public void rebooting(NodeSlot slot) {
        slot.usable = slot.asleep;
        changed(slot);
    }

    /**
     * Begins or ends probing, while which jobs are taken off their nodes and put back to see what would fit without
     * them: the listener gets none of these changes.
     */
    public void probing(boolean on) {
        free.quiet = on;
    }

    // ---- connections of nodes

    /** Counts every node as connected. */
    public void withoutConnections() {
        everyNodeConnected = true;
    }

    /**
     * Notes whether the controller is connected to a node: nothing new goes to one that it has no connection to.
     * Thread-safe.
     */
    public void connected(String node, boolean up) {
        if (up) {
            connected.add(node);
        } else {
            connected.remove(node);
        }
        connections.incrementAndGet();
    }

    /** Takes up which nodes have connected or lost their connection since the last call. */
    public void refreshConnections() {
        if (connectionsSeen != connections.get()) {
            connectionsSeen = connections.get();
            nodes.forEach(this::changed);
        }
    }

    public boolean ready(NodeSlot slot) {
        return slot.usable && (everyNodeConnected || slot.asleep || connected.contains(slot.spec.name()));
    }

    // ---- what a pass reads

    /** Returns the nodes by number: in the order in which they are given out, by weight and then as in slurm.conf. */
    public List<NodeSlot> nodes() {
        return nodes;
    }

    /** Returns the names of {@link #nodes}, in their order. */
    public List<String> names() {
        return names;
    }

    /** Returns the node of that name; null if there is no such node. */
    public @Nullable NodeSlot node(String name) {
        return byName.get(name);
    }

    /** A node that the caller has found here before, since the last {@link #reset}. */
    public NodeSlot at(String name) {
        return requireNonNull(byName.get(name), "the nodes of a pass stay until its end");
    }

    public List<NodeSlot> nodesOf(String partition) {
        return byPartition.getOrDefault(partition, List.of());
    }

    /** Returns the CPUs of the partition's nodes. */
    public long cpusOf(String partition) {
        return cpus.getOrDefault(partition, 0L);
    }

    public NodeAllocations allocations() {
        return allocations;
    }

    /** Returns the jobs that hold nodes, by number. */
    public Iterable<Job> holders() {
        return holders.values();
    }

    /** Returns the jobs that hold nodes, by their number. */
    public Map<Integer, Job> holdersById() {
        return holders;
    }

    public HeldLicenses licenses() {
        return licenses;
    }

    /** Returns the number of tasks of the array that hold nodes. */
    public int running(int arrayJobId) {
        return runningTasks.getOrDefault(arrayJobId, 0);
    }

    public FreeTable free() {
        return free;
    }

    public FreeTable empty() {
        return empty;
    }

    public ResourceNeedTable needs() {
        return needs;
    }

    /** Returns the need with its user in it, where another user's job on a node would matter to it. */
    public ResourceNeed known(ResourceNeed need, Job job) {
        return allocations.anyExclusive() ? needs.by(need, SharingPolicy.of(job.desc(), "NO", "", settings)) : need;
    }

    /** Returns the nodes of which reservations withheld devices in the last pass. */
    public List<NodeSlot> withheld() {
        return withheld;
    }

    /** Tests whether the need would certainly fit if no job ran; false where that is not certain. */
    public boolean fitsEmpty(NeedClass c) {
        return c.simple
                && spannedByOneSwitch
                && c.need.shape().cpusMax() < 0
                && (c.single || c.need.nodesMax() == 0 || c.tasks <= c.nodesMin)
                && c.need.network().isPlain()
                && !empty.isShort(c, new NeedClass.Memory());
    }
}
