package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.claim.NumberAllocator;
import dev.muster.scheduler.claim.ReservationsInForce;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.node.Candidate;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.FeatureConstraint;
import dev.muster.scheduler.node.GpuPlaces;
import dev.muster.scheduler.node.LayeredResourceRequest;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeOrder;
import dev.muster.scheduler.node.NodeSelector;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.SelectedNode;
import dev.muster.scheduler.preempt.Preemptor;
import dev.muster.scheduler.queue.EligibleNodes;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.timeline.CapacityTimeline;
import dev.muster.scheduler.timeline.LicenseAllocator;
import dev.muster.scheduler.timeline.RunningJobTimeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Finds room for a need now: on free units that reservations leave to it and that no planned job needs before its end.
 * Flags around a call widen one question only.
 */
final class Placement {
    private static final LayeredResourceRequest NO_LAYERS = new LayeredResourceRequest(List.of(), LicenseRequest.Wanted.NONE, pool -> 0);

    private final ClusterIndex cluster;
    private final JobQueue queue;
    private final State state;
    private final long nowS;
    private final boolean memoryConsumed;
    private final EligibleNodes candidates;
    private final ClassVerdicts verdicts;
    private final PassReservations reserved;
    private final LicenseAllocator licenses;
    private final NumberAllocator numbers;
    private final RunningJobTimeline runningJobs;
    private final Optional<ReservationsInForce> reservationsInForce;
    private final BackfillReservations plans;
    private final List<Planner.Start> starts;
    private final Map<String, String> bootIds = new HashMap<>();
    /** Whether preempted jobs are off their nodes to see what fits then. */
    private boolean blind;
    /** Whether the place is looked for as if nothing were planned. */
    private boolean unplanned;
    /** The last place that was looked for was not found because too few nodes have room. */
    private boolean tooFew;

    private boolean sharing;
    /** Layered resources of the need that is being placed. */
    private LayeredResourceRequest layers = NO_LAYERS;

    private Set<String> avoided = Set.of();
    /** Nodes that count no more under limits on nodes: they come first. */
    private Set<String> near = Set.of();

    /** @param starts what begins in this pass, as it grows */
    Placement(
            SchedulingContext context,
            State state,
            long nowS,
            EligibleNodes candidates,
            ClassVerdicts verdicts,
            PassReservations reserved,
            LicenseAllocator licenses,
            NumberAllocator numbers,
            RunningJobTimeline runningJobs,
            Optional<ReservationsInForce> reservationsInForce,
            BackfillReservations plans,
            List<Planner.Start> starts) {
        this.cluster = context.cluster();
        this.queue = context.queue();
        this.state = state;
        this.nowS = nowS;
        this.memoryConsumed = state.memoryConsumed();
        this.candidates = candidates;
        this.verdicts = verdicts;
        this.reserved = reserved;
        this.licenses = licenses;
        this.numbers = numbers;
        this.runningJobs = runningJobs;
        this.reservationsInForce = reservationsInForce;
        this.plans = plans;
        this.starts = starts;
    }

    /** Makes room with what leaves, and not with what is planned for those before. */
    Preemptor.Outcome blindly(Supplier<Preemptor.Outcome> making) {
        blind = true;
        try {
            return making.get();
        } finally {
            blind = false;
        }
    }

    /** Tests whether there would be room if nothing were kept for other jobs. */
    boolean isThereUnplanned(ResourceNeed need) {
        unplanned = true;
        try {
            return anywhere(need).isPresent();
        } finally {
            unplanned = false;
        }
    }

    /** Finds a place with these nodes before others. */
    Optional<Allocation> near(Set<String> first, Supplier<Optional<Allocation>> finding) {
        near = first;
        try {
            return finding.get();
        } finally {
            near = Set.of();
        }
    }

    /** Tests whether the last place was not found because too few nodes have room. */
    boolean wereTooFew() {
        return tooFew;
    }

    /** Places the need on any nodes, and tests its licenses. */
    Optional<Allocation> anywhere(ResourceNeed need) {
        return avoiding(need, Set.of());
    }

    /**
     * Places the need on idle units; if these are too few and it may share, on units that jobs of its partition share.
     */
    private Optional<Allocation> idleOrShared(ResourceNeed need) {
        Optional<Allocation> alone = place(need);
        if (alone.isPresent() || need.jobsPerCore() == 1) {
            return alone;
        }
        sharing = true;
        Optional<Allocation> together = place(need);
        sharing = false;
        return together;
    }

    /**
     * Returns the number of candidate nodes of the need, whatever they have free; 0 for one that requires nodes by
     * name.
     */
    int candidateCount(ResourceNeed need) {
        return need.nodeList().isEmpty() ? candidates.of(need, Set.of()).size() : 0;
    }

    /** Places a need as {@link #anywhere}, on other nodes than these. */
    Optional<Allocation> avoiding(ResourceNeed need, Set<String> nodes) {
        Optional<List<LicenseRequest.Item>> given = licenses.given(need, 0);
        avoided = nodes;
        try {
            layers = licenses.layers(need, 0);
            Optional<Allocation> allocation = given.flatMap(g -> idleOrShared(need));
            return need.licenses().items().isEmpty()
                    ? allocation
                    : allocation.map(a -> a.withLicenses(LicenseRequest.text(with(given.get(), a))));
        } finally {
            avoided = Set.of();
            layers = NO_LAYERS;
        }
    }

    private List<LicenseRequest.Item> with(List<LicenseRequest.Item> given, Allocation a) {
        List<LicenseRequest.Item> out = new ArrayList<>(given);
        out.addAll(layers.taken(a.nodes().stream().map(Allocation.Share::node).toList()));
        return out;
    }

    /** Places the need on units that are free now, without a test of licenses. */
    Optional<Allocation> place(ResourceNeed need) {
        return place(need, need.network().in(state.settings()));
    }

    /**
     * A required node that is avoided or does not match is not among the candidates, of which required ones are first.
     */
    private static int countNamed(List<Candidate> able, Set<String> required) {
        int found = 0;
        for (int i = 0; i < Math.min(required.size(), able.size()); i++) {
            found += required.contains(able.get(i).node().spec.name()) ? 1 : 0;
        }
        return found;
    }

    /** Returns the nodes of the order that have room for a task; only the first of them where one node serves best. */
    private List<Candidate> able(
            ResourceNeed need, List<NodeSlot> order, boolean freeOnly, Optional<NeedClass> bounds, int required) {
        List<Candidate> out = new ArrayList<>();
        for (NodeSlot node : order) {
            if (freeOnly && node.freeUnits.isEmpty()
                    || need.exclusive() && !node.isIdle()
                    || bounds.isPresent() && !cluster.free().mayTake(bounds.get(), node.index)) {
                continue;
            }
            int tasks = isOpen(need, node) ? tasksNow(need, node) : 0;
            if (tasks > 0) {
                out.add(NodeSelector.candidate(node, tasks));
                if (required == 0 && tasks >= need.tasks() && isServedByFirst(need)) {
                    break;
                }
            }
        }
        return out;
    }

    /** Tests whether only nodes with free units can serve the need. */
    private boolean isFreeOnly(ResourceNeed need, int required) {
        return required == 0
                && !sharing
                && !blind
                && avoided.isEmpty()
                && !need.shape().spared().any();
    }

    /** Tests whether the first node with room for all tasks is the job's: no later node could serve the need better. */
    private boolean isServedByFirst(ResourceNeed need) {
        return !queue.power().isThrifty()
                && need.nodesWanted() == 1
                && need.gresPerJob().isEmpty()
                && FeatureConstraint.isPlain(need.features());
    }

    private boolean isOpen(ResourceNeed need, NodeSlot node) {
        return cluster.ready(node)
                && NodeSelector.canServe(need, node)
                && (layers.isEmpty() || layers.allows(node.spec.name()));
    }

    /** Returns "" for a node that boots before the job starts. */
    private String bootId(ResourceNeed need, NodeSlot node) {
        return node.asleep || NodeSelector.lacks(need, node)
                ? ""
                : state.nodes().at(node.spec.name()).bootId();
    }

    /** Places a need as {@link #place(ResourceNeed)} does, on nodes that are close in that topology. */
    Optional<Allocation> place(ResourceNeed need, Topology topology) {
        Set<String> requiredNames = HostList.nameSet(need.nodeList());
        int required = requiredNames.size();
        boolean freeOnly = isFreeOnly(need, required);
        Optional<NeedClass> bounds = sharing ? Optional.empty() : verdicts.bounds(need);
        List<NodeSlot> nodes;
        if (freeOnly) {
            nodes = candidates.withRoom(need);
        } else if (blind && required == 0 && avoided.isEmpty() && bounds.isPresent()) {
            nodes = candidates.able(need, bounds.get());
        } else {
            nodes = candidates.of(need, avoided);
        }
        List<NodeSlot> order = NodeOrder.of(nodes, required, near, plans.kept(), topology.kind() == Topology.Kind.FLAT);
        List<Candidate> able = able(need, order, freeOnly, bounds, required);
        int requiredFound = countNamed(able, requiredNames);
        able = queue.power().affordable(able, required, starts, avoided);
        tooFew = requiredFound < required
                || able.size() < need.nodesMin()
                || NodeSelector.roomFor(need, able) < need.tasks();
        if (requiredFound < required
                || tooFew && !need.overcommit() && need.tasksOn().isEmpty()) {
            return Optional.empty();
        }
        List<SelectedNode> picks = NodeSelector.pick(need, able, required, topology, layers);
        if (picks.isEmpty()) {
            return Optional.empty();
        }
        return queue.power().allows(picks, starts, avoided)
                ? bind(need, picks)
                : queue.power().thriftily(() -> place(need, topology));
    }

    private Optional<Allocation> bind(ResourceNeed need, List<SelectedNode> picks) {
        for (SelectedNode p : picks) {
            bootIds.put(p.node().spec.name(), bootId(need, p.node()));
        }
        return NodeSelector.bind(
                        need,
                        picks,
                        n -> freeNow(need, n),
                        bootIds,
                        memoryConsumed,
                        state.settings().awaitProlog())
                .flatMap(a -> numbers.on(a, need));
    }

    /** Returns the units that are free, or shared where that is looked for, and that reservations leave to the need. */
    private IndexSet freeNow(ResourceNeed need, NodeSlot node) {
        IndexSet free =
                sharing ? node.freeUnits.union(node.shareable(need.partition(), need.sharing())) : node.freeUnits;
        free = GpuPlaces.open(need, node, free);
        free = need.shape().socketCpusMax() < 0
                ? free
                : node.withinSockets(free, need.partition(), need.shape().socketCpusMax());
        free = reserved.isEmpty() ? free : free.intersect(reserved.allowed(need.within(), node, nowS, need.end(nowS)));
        return need.shape().whole() ? node.wholeSockets(free) : free;
    }

    /**
     * Tests whether reservations of this pass count; a preemptor may have its victims' units, but none reserved for
     * earlier jobs.
     */
    private boolean isPlanned(NodeSlot node) {
        return !runningJobs.isEmpty() && !(blind && (unplanned || node.isShared()));
    }

    private int tasksNow(ResourceNeed need, NodeSlot node) {
        if (!node.accepts(need.apart())) {
            return 0;
        }
        IndexSet free = freeNow(need, node);
        int units = free.count();
        long memory = node.freeMemoryMb;
        boolean idle = node.isIdle() && !(need.exclusive() && isPartlyBarred(need, node));
        if (isPlanned(node)) {
            CapacityTimeline grid = runningJobs.grid();
            int end = grid.times.endSlot(0, need.limitMin());
            // shared units are in no plan
            int shared = sharing ? units - node.freeUnits.intersect(free).count() : 0;
            units = Math.min(units, shared + Math.max(0, grid.unitsIn(node.index, 0, end)));
            memory = Math.min(memory, grid.memoryIn(node.index, 0, end));
            idle &= blind ? !grid.isKeptIn(node.index, 0, end) : grid.idleIn(node.index, 0, end);
        }
        if (reservationsInForce.isPresent()
                && !unplanned
                && reservationsInForce.get().touches(node)) {
            long until = need.end(nowS);
            int shared = sharing ? units - node.freeUnits.intersect(free).count() : 0;
            units = Math.min(units, shared + reservationsInForce.get().unitsUntil(node, until));
            memory = Math.min(memory, reservationsInForce.get().memoryUntil(node, until));
            idle &= !(need.exclusive() && reservationsInForce.get().comesBefore(node, until));
        }
        int tasks = NodeSelector.tasksFitting(need, node, units, memory, idle, memoryConsumed);
        return tasks == 0
                ? 0
                : GpuPlaces.tasks(need, node, free, Math.min(tasks, NodeSelector.tasksByGres(need, node)));
    }

    /** Returns whether a reservation takes part of the node, so that an exclusive job cannot have it whole. */
    boolean isPartlyBarred(ResourceNeed need, NodeSlot node) {
        return reserved.touches(need.within(), node, nowS, need.end(nowS));
    }

    /**
     * Returns whether a reservation of the whole node, or the job's need of a whole node, blocks the node until the
     * reservation ends.
     */
    boolean isBarred(ResourceNeed need, NodeSlot node) {
        return need.exclusive()
                ? isPartlyBarred(need, node)
                : reserved.isWholeFor(need.within(), node, nowS, need.end(nowS));
    }
}
