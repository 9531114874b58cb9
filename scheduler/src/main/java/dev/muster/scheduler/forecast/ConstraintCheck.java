package dev.muster.scheduler.forecast;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.tres.GpuCores;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.scheduler.node.Candidate;
import dev.muster.scheduler.node.FeatureConstraint;
import dev.muster.scheduler.node.GpuPlaces;
import dev.muster.scheduler.node.LayeredResourceRequest;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSelector;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.SelectedNode;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SharingPolicy;
import dev.muster.scheduler.request.SwitchWait;
import dev.muster.scheduler.timeline.LicenseAllocator;
import dev.muster.scheduler.timeline.LicensePlan;
import dev.muster.scheduler.timeline.PlanningNodes;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks in a plan of the whole queue what a need asks of nodes beyond the amounts that its class names: shapes of
 * nodes, limits of partitions on each node, company, and how nodes hang together, as the pass over the queue asks for
 * them.
 */
final class ConstraintCheck {
    /** A running job's cores and devices of a node, until that slot. */
    private record RunningShare(Job job, Allocation.Share share, int end) {}

    /** Running jobs by node, for nodes with GPUs near some of their cores. */
    private final Map<Integer, List<RunningShare>> places = new HashMap<>();
    /** Nodes with GPUs near some of their cores, as they are in the slot that was asked for last. */
    private final Map<Integer, NodeAtSlot> thens = new HashMap<>();

    private record NodeAtSlot(int slot, NodeSlot node) {}

    /**
     * Nodes looked at in one plan for needs with a topology constraint; beyond that, jobs are planned without the
     * constraint.
     */
    private static final long LOOKS_MAX = 40_000_000;

    private final State state;
    private final boolean memoryConsumed;
    private final PlanningNodes planningNodes;
    private final List<String> nodes;
    private final TimeGrid times;
    private final Map<String, Integer> numbers;
    private final LicensePlan licenses;
    /** Nodes as if they were idle. */
    private final NodeSlot[] empty;

    private final Map<String, Integer> leaves = new HashMap<>();
    /** CPUs of each node that a partition's jobs have, by partition with MaxCPUsPerNode, slot and node. */
    private final Map<String, int[][]> held = new HashMap<>();
    /** Jobs on each node with their last slot, where a job restricts sharing. */
    private final Map<Integer, List<PolicySpan>> company = new HashMap<>();

    private boolean isMinded;
    /** Numbers of the nodes that a need names, by reservation ("" for none) and need. */
    private final Map<String, Map<ResourceNeed, int[]>> named = new HashMap<>();
    /** Nodes of the same switch or block as each node, by topology, where a job wants it exclusively. */
    private final Map<String, Map<Integer, int[]>> mates = new HashMap<>();
    /** Whether some switch has all nodes below it, by tree. */
    private final IdentityHashMap<Topology, Boolean> whole = new IdentityHashMap<>();
    /** The first slot in which the current job no longer waits for its switch count. */
    private int patience;

    private long looks;

    /** A sharing policy of a job on a node, in these slots. */
    private record PolicySpan(SharingPolicy policy, int from, int end) {}

    ConstraintCheck(
            State state,
            PlanningNodes planningNodes,
            TimeGrid times,
            Map<String, Integer> numbers,
            LicensePlan licenses) {
        this.state = state;
        this.memoryConsumed = state.memoryConsumed();
        this.planningNodes = planningNodes;
        this.nodes = planningNodes.names();
        this.times = times;
        this.numbers = numbers;
        this.licenses = licenses;
        this.empty = new NodeSlot[nodes.size()];
        List<Topology.Block> units = state.settings().topology("").units();
        for (int i = 0; i < units.size(); i++) {
            int leaf = i;
            units.get(i).nodes().forEach(name -> leaves.put(name, leaf));
        }
        for (Partition p : state.partitions().values()) {
            if (Partition.cpusMax(p.info().maxCpusPerNode()) >= 0) {
                held.put(p.name(), new int[times.count()][planningNodes.nodes()]);
            }
        }
    }

    /** @param job that is planned next and wants few switches; @return until which slot it does */
    int patience(int job, long nowS) {
        patience = state.jobs()
                .find(job)
                .map(j -> times.slotAt(SwitchWait.switchesS(j, state, nowS)))
                .orElse(0);
        return patience;
    }

    /** Tests whether the bounds of the class say all that it asks of a node. */
    static boolean isPlain(NeedClass c) {
        return c.simple && c.need.shape().cpusMax() < 0;
    }

    /** Notes a sharing policy that restricts which jobs share its nodes; call it before {@link #held}. */
    void mind(SharingPolicy policy) {
        isMinded = true;
        if (policy.topo()) {
            mates.computeIfAbsent(policy.topology(), this::mates);
        }
    }

    private Map<Integer, int[]> mates(String topology) {
        Map<Integer, int[]> out = new HashMap<>();
        for (Topology.Block unit : state.settings().topology(topology).units()) {
            int[] members = unit.nodes().stream()
                    .mapToInt(n -> numbers.getOrDefault(n, -1))
                    .filter(n -> n >= 0)
                    .toArray();
            for (int n : members) {
                out.put(n, members);
            }
        }
        return out;
    }

    /** Notes that a running job has this share of a node until that slot. */
    void held(Job job, int node, Allocation.Share share, int end) {
        Optional<Partition> first =
                isMinded ? state.partitions().find(job.desc().firstPartition()) : Optional.empty();
        first.ifPresent(p ->
                addPolicy(node, new PolicySpan(SharingPolicy.of(job.desc(), p, state.settings()), 0, end)));
        for (String partition : held.isEmpty() ? List.<String>of() : job.desc().partitionList()) {
            holds(partition, node, share.chargedCpus(), 0, end);
        }
    }

    /** Notes that a job has CPUs of a node, or of a part of one, in these slots. */
    void holds(ResourceNeed need, int number, int cpus, int from, int end) {
        holds(need.partition(), planningNodes.node(number), cpus, from, end);
        if (isMinded) {
            addPolicy(planningNodes.node(number), new PolicySpan(need.apart(), from, end));
        }
    }

    private void addPolicy(int node, PolicySpan stay) {
        company.computeIfAbsent(node, n -> new ArrayList<>()).add(stay);
    }

    private void holds(String partition, int node, int cpus, int from, int end) {
        int[][] slots = held.get(partition);
        for (int s = from; slots != null && s < end; s++) {
            slots[s][node] += cpus;
        }
    }

    NodeSlot node(int n) {
        if (empty[n] == null) {
            empty[n] = new NodeSlot(n, state.nodes().at(nodes.get(n)));
            empty[n].leaf = leaves.getOrDefault(nodes.get(n), -1);
        }
        return empty[n];
    }

    /** Returns the numbers of the nodes that the need names; empty if one of them is not there. */
    int[] named(ResourceNeed need, String within) {
        return named.computeIfAbsent(within, w -> new IdentityHashMap<>()).computeIfAbsent(need, k -> {
            int[] out = HostList.distinct(k.nodeList()).stream()
                    .mapToInt(name -> planningNodes.number(numbers.getOrDefault(name, -1), within))
                    .toArray();
            for (int n : out) {
                if (n < 0) {
                    return new int[0];
                }
            }
            return out;
        });
    }

    /** Returns the tasks that fit on the node with these free resources in all slots, without regard to devices. */
    long tasks(NeedClass c, int n, int cpus, long memoryMb, boolean idle, int from, int end) {
        ResourceNeed need = c.need;
        NodeSlot node = node(n);
        int cpusLeft = cpus;
        int[][] had = held.get(need.partition());
        if (had != null && need.shape().cpusMax() >= 0) {
            for (int s = from; s < end; s++) {
                cpusLeft = Math.min(cpusLeft, need.shape().cpusMax() - had[s][planningNodes.node(n)]);
            }
            if (cpusLeft < (need.exclusive() ? node.spec.cpus() : 1)) {
                return 0;
            }
        }
        return NodeSelector.tasksFitting(
                need, node, cpusLeft / Math.max(1, node.spec.cpusPerUnit()), memoryMb, idle, memoryConsumed);
    }

    /** Notes that a running job has these cores and devices until that slot. */
    void lies(Job job, int n, Allocation.Share share, int end) {
        if (node(n).gpuCores != GpuCores.NONE) {
            places.computeIfAbsent(n, k -> new ArrayList<>()).add(new RunningShare(job, share, end));
        }
    }

    /**
     * Returns how many of the tasks find cores near their GPUs beside the jobs that run now and still do in this slot.
     * Cores of planned jobs are not known.
     */
    long near(ResourceNeed need, int n, int slot, long tasks) {
        if (tasks <= 0
                || !GpuPlaces.insists(need)
                || planningNodes.node(n) != n
                || node(n).gpuCores == GpuCores.NONE
                || !places.containsKey(n)) {
            return tasks;
        }
        NodeAtSlot then = thens.get(n);
        if (then == null || then.slot != slot) {
            then = new NodeAtSlot(slot, new NodeSlot(n, state.nodes().at(nodes.get(n))));
            for (RunningShare p : places.get(n)) {
                if (p.end > slot) {
                    then.node.hold(p.share, p.job.desc().partition());
                }
            }
            thens.put(n, then);
        }
        int maxTasks = (int) Math.min(tasks, NodeSelector.tasksByGres(need, then.node));
        return GpuPlaces.tasks(need, then.node, GpuPlaces.open(need, then.node, then.node.freeUnits), maxTasks);
    }

    /**
     * Tests whether a job that does not share with this one is on the node in these slots, or on its switch or block if
     * one of the two wants that exclusively.
     */
    boolean keepsOff(SharingPolicy policy, int number, int from, int end) {
        if (!isMinded) {
            return false;
        }
        int n = planningNodes.node(number);
        for (PolicySpan s : company.getOrDefault(n, List.of())) {
            if (s.from < end && s.end > from && !policy.goesWith(s.policy)) {
                return true;
            }
        }
        for (Map.Entry<String, Map<Integer, int[]>> t : mates.entrySet()) {
            for (int mate : t.getValue().getOrDefault(n, NO_MATES)) {
                for (PolicySpan s : company.getOrDefault(mate, List.of())) {
                    if (s.from < end && s.end > from && (policy.owns(t.getKey()) || s.policy.owns(t.getKey()))) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private static final int[] NO_MATES = {};

    // ---- nodes together

    /** Tests whether the need's nodes cannot be picked one after the other: it matters which others it gets. */
    boolean isTogether(NeedClass c, int slot) {
        if (c.simple && c.single || !mayLook()) {
            return false;
        }
        ResourceNeed need = c.need;
        return need.shape().contiguous()
                || !FeatureConstraint.isPlain(need.features())
                || hangsTogether(need, slot)
                || !layers(need, slot, slot + 1).isEmpty();
    }

    boolean mayLook() {
        return looks <= LOOKS_MAX;
    }

    private boolean hangsTogether(ResourceNeed need, int slot) {
        Topology t = need.network().in(state.settings());
        return need.nodesWanted() > 1
                && switch (t.kind()) {
                    case FLAT -> false;
                    case TREE ->
                        need.network().switches() > 0 && slot < patience
                                || !t.onRequest()
                                        && !whole.computeIfAbsent(
                                                t,
                                                k -> k.switches().stream()
                                                        .anyMatch(s -> s.nodes().size() >= planningNodes.nodes()));
                    case BLOCK, TORUS, RING -> true;
                };
    }

    private LayeredResourceRequest layers(ResourceNeed need, int from, int end) {
        boolean none =
                need.licenses().items().isEmpty() || state.settings().layered().isEmpty();
        return none
                ? NO_LAYERS
                : new LayeredResourceRequest(
                        state.settings().layered(),
                        need.licenses(),
                        pool -> licenses.left(pool, from, end, need.reservation()));
    }

    private static final LayeredResourceRequest NO_LAYERS =
            new LayeredResourceRequest(List.of(), LicenseRequest.Wanted.NONE, pool -> 0);

    /**
     * Returns the nodes that the need gets of the able ones; empty if they do not satisfy it.
     *
     * @param able nodes with the tasks that each has room for; required nodes come first
     * @param required number of required nodes
     */
    List<SelectedNode> pick(ResourceNeed need, List<Candidate> able, int required, int from, int end) {
        looks += able.size();
        LayeredResourceRequest layers = layers(need, from, end);
        List<Candidate> those = layers.isEmpty()
                ? able
                : able.stream().filter(c -> layers.allows(c.node().spec.name())).toList();
        if (those.size() < able.size() && !those.containsAll(able.subList(0, required))) {
            return List.of();
        }
        ResourceNeed asked = from < patience ? need : need.onAnySwitches();
        return NodeSelector.pick(asked, those, required, need.network().in(state.settings()), layers);
    }

    /** Returns the licenses of layered resources that a job on these nodes takes. */
    List<LicenseRequest.Item> layersTaken(ResourceNeed need, int[] found, int count, int from, int end) {
        LayeredResourceRequest layers = layers(need, from, end);
        if (layers.isEmpty()) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(nodes.get(found[i]));
        }
        return layers.taken(names);
    }

    /** Returns the licenses that the need requests on any node. */
    LicenseRequest.Wanted anywhere(ResourceNeed need) {
        return LicenseAllocator.anywhere(need.licenses(), state.settings().layered());
    }
}
