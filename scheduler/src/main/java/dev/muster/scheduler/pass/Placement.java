package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.scheduler.claim.NumberAllocator;
import dev.muster.scheduler.node.Candidate;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.FeatureConstraint;
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
import dev.muster.scheduler.timeline.LicenseAllocator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Finds a place for a need now, on candidate nodes with room for it ({@link FreeNodeUnits}). Flags around a call widen
 * one question only.
 */
final class Placement {
    private static final LayeredResourceRequest NO_LAYERS =
            new LayeredResourceRequest(List.of(), LicenseRequest.Wanted.NONE, pool -> 0);

    private final ClusterIndex cluster;
    private final JobQueue queue;
    private final State state;
    private final boolean memoryConsumed;
    private final EligibleNodes candidates;
    /** Bounds of a need below what each node must have free, where a class has some. */
    private final Function<ResourceNeed, Optional<NeedClass>> bounds;

    private final LicenseAllocator licenses;
    private final NumberAllocator numbers;
    private final FreeNodeUnits room;
    private final BackfillReservations plans;
    private final List<Planner.Start> starts;
    private final Map<String, String> bootIds = new HashMap<>();
    /** The last place that was looked for was not found because too few nodes have room. */
    private boolean tooFew;

    /** Layered resources of the need that is being placed. */
    private LayeredResourceRequest layers = NO_LAYERS;

    private Set<String> avoided = Set.of();
    /** Nodes that count no more under limits on nodes: they come first. */
    private Set<String> near = Set.of();

    /** @param starts what begins in this pass, as it grows */
    Placement(
            SchedulingContext context,
            State state,
            EligibleNodes candidates,
            Function<ResourceNeed, Optional<NeedClass>> bounds,
            FreeNodeUnits room,
            LicenseAllocator licenses,
            NumberAllocator numbers,
            BackfillReservations plans,
            List<Planner.Start> starts) {
        this.cluster = context.cluster();
        this.queue = context.queue();
        this.state = state;
        this.memoryConsumed = state.memoryConsumed();
        this.candidates = candidates;
        this.bounds = bounds;
        this.room = room;
        this.licenses = licenses;
        this.numbers = numbers;
        this.plans = plans;
        this.starts = starts;
    }

    FreeNodeUnits room() {
        return room;
    }

    /** Makes room with what leaves, and not with what is planned for those before. */
    Preemptor.Outcome blindly(Supplier<Preemptor.Outcome> making) {
        room.setBlind(true);
        try {
            return making.get();
        } finally {
            room.setBlind(false);
        }
    }

    /** Tests whether there would be room if nothing were kept for other jobs. */
    boolean isThereUnplanned(ResourceNeed need) {
        room.setUnplanned(true);
        try {
            return anywhere(need).isPresent();
        } finally {
            room.setUnplanned(false);
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
        room.setSharing(true);
        Optional<Allocation> together = place(need);
        room.setSharing(false);
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
            int tasks = isOpen(need, node) ? room.tasksNow(need, node) : 0;
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
                && !room.isSharing()
                && !room.isBlind()
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
        Optional<NeedClass> bounds = room.isSharing() ? Optional.empty() : this.bounds.apply(need);
        List<NodeSlot> nodes;
        if (freeOnly) {
            nodes = candidates.withRoom(need);
        } else if (room.isBlind() && required == 0 && avoided.isEmpty() && bounds.isPresent()) {
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
                        n -> room.freeNow(need, n),
                        bootIds,
                        memoryConsumed,
                        state.settings().awaitProlog())
                .flatMap(a -> numbers.on(a, need));
    }
}
