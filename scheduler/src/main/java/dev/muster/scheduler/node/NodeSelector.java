package dev.muster.scheduler.node;

import static java.util.Objects.requireNonNull;

import dev.muster.core.command.Planner;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.SharedGpus;
import dev.muster.core.tres.Tres;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Node selection: filter → score → pick → bind. Filter and score are given as how many tasks each candidate can take;
 * here nodes are picked among them and units, memory and devices bound.
 */
public final class NodeSelector {
    private NodeSelector() {}

    /** Returns a candidate with the devices that are free now. */
    public static Candidate candidate(NodeSlot node, int tasks) {
        return new Candidate(node, tasks, NodeSelector::usable);
    }

    /**
     * Returns how many tasks of a need fit into the free units and memory of a node; 0 if not even one.
     *
     * @param units free allocation units
     * @param idle no other job is on the node
     */
    public static int tasksFitting(
            ResourceNeed need, NodeSlot node, int units, long memoryMb, boolean idle, boolean memoryConsumed) {
        if (need.exclusive() && !idle || !need.shape().fits(node.spec)) {
            return 0;
        }
        int together = need.shape().whole() ? unitsPerSocket(node) : 1;
        units = usableUnits(need, node, units + need.shape().spared().more(node.spec), together);
        if (units < 0) {
            return 0;
        }
        int cpus = Math.min(
                units * need.usableCpus(node.spec), need.shape().spared().most(node.spec));
        if (cpus < Math.max(1, need.cpusPerNodeMin())) {
            return 0;
        }
        long memory = memoryConsumed ? memoryMb : node.spec.memoryMb();
        if (memory < memoryMin(need, node, memoryConsumed)) {
            return 0;
        }
        if (need.memPerCpuMb() > 0) {
            cpus = cpusWithMemory(need, node, units, cpus, together, memory);
            if (cpus < need.cpusPerNodeMin()) {
                return 0;
            }
        }
        int tasks = need.overcommit() ? Math.max(need.tasks(), 1) : cpus / need.cpusPerTask();
        if (need.overcommit() && cpus < 1 || tasks < need.tasksOn().getOrDefault(node.spec.name(), 0)) {
            return 0;
        }
        return forGpus(need, Math.min(tasks, tasksMax(need, node)), cpus, memory);
    }

    private static long memoryMin(ResourceNeed need, NodeSlot node, boolean memoryConsumed) {
        boolean all = need.memAll() && memoryConsumed;
        return Math.max(need.memPerNodeMb(), all ? node.spec.memoryMb() - node.spec.memSpecLimitMb() : 0);
    }

    private static int tasksMax(ResourceNeed need, NodeSlot node) {
        int perNode = need.tasksPerNode() > 0 ? need.tasksPerNode() : Integer.MAX_VALUE;
        int perSocket = need.shape().tasksPerSocket();
        return perSocket > 0 ? Math.min(perNode, perSocket * node.spec.sockets()) : perNode;
    }

    /**
     * Returns the CPUs that have their memory per CPU. Whole units, or whole sockets, are given, each with the memory
     * of all its CPUs.
     *
     * @param together units that are given together
     */
    private static int cpusWithMemory(
            ResourceNeed need, NodeSlot node, int units, int cpus, int together, long memoryMb) {
        int charged = Math.max(1, need.chargedCpus(node.spec));
        if (need.exclusive() || need.shape().allCores()) {
            long all = Math.min((long) units * charged, need.shape().spared().most(node.spec));
            return need.memPerCpuMb() * all <= memoryMb ? cpus : 0;
        }
        long maxCpus = need.shape().counted()
                ? memoryMb / need.memPerCpuMb()
                : memoryMb / (need.memPerCpuMb() * charged * together) * together * need.usableCpus(node.spec);
        return (int) Math.min(cpus, maxCpus);
    }

    /**
     * Returns the units of the free ones that the need may use: those within MaxCPUsPerNode, in whole sockets where
     * these are given whole. -1 if the need wants more of the node than is free.
     *
     * @param together units that are given together
     */
    private static int usableUnits(ResourceNeed need, NodeSlot node, int free, int together) {
        int units = free;
        if (need.shape().cpusMax() >= 0) {
            int left = need.shape().cpusMax() - node.cpusHeld(need.partition());
            if (need.exclusive() && ResourceNeed.SpecializedCores.openCpus(node.spec) > left) {
                return -1;
            }
            units = Math.min(units, left / node.spec.cpusPerUnit());
        }
        if (units >= node.spec.units() - node.spec.reservedUnits().count()) {
            return units;
        }
        if (need.shape().allCores()) {
            return -1;
        }
        return together > 1 ? units / together * together : units;
    }

    /** Bounds tasks by the CPUs and memory that each GPU brings along, which must be there for one GPU at least. */
    private static int forGpus(ResourceNeed need, int tasks, int cpus, long memoryMb) {
        int perTask = GresRequest.gpus(need.gresPerTask());
        int minGpus;
        if (GresRequest.gpus(need.gresPerNode()) > 0) {
            minGpus = GresRequest.gpus(need.gresPerNode());
        } else if (GresRequest.gpus(need.gresPerJob()) > 0) {
            minGpus = 1;
        } else {
            minGpus = perTask;
        }

        if ((long) need.gpus().cpus() * minGpus > cpus || need.gpus().memoryMb() * minGpus > memoryMb) {
            return 0;
        }
        if (perTask > 0 && need.gpus().cpus() > 0) {
            tasks = (int) Math.min(tasks, cpus / ((long) need.gpus().cpus() * perTask));
        }
        return perTask > 0 && need.gpus().memoryMb() > 0
                ? (int) Math.min(tasks, memoryMb / (need.gpus().memoryMb() * perTask))
                : tasks;
    }

    /**
     * Returns how many tasks there are devices for on this node: 0 if a per-node demand is not met, else a bound on
     * tasks.
     */
    public static int tasksByGres(ResourceNeed need, NodeSlot node) {
        for (Tres.Item item : need.gresPerNode()) {
            if (devices(need, node, item).count() < item.count() || !GpuPlaces.hasSockets(need, node)) {
                return 0;
            }
        }
        int cpus = Math.max(need.cpusPerTask(), need.cpusPerNodeMin());
        int ofSocket = Math.max(1, unitsPerSocket(node) * need.usableCpus(node.spec));
        for (Tres.Item item : need.shape().perSocket()) {
            if (node.devices(item.name(), item.type()).count() < item.count() * ((cpus + ofSocket - 1) / ofSocket)) {
                return 0;
            }
        }
        int tasks = Integer.MAX_VALUE;
        for (Tres.Item item : need.gresPerTask()) {
            if (item.count() > 0) {
                tasks = Math.min(tasks, devices(need, node, item).count() / item.count());
            }
        }
        for (Tres.Item item : need.gresPerJob()) {
            if (devices(need, node, item).isEmpty()) {
                return 0;
            }
        }
        return tasks;
    }

    /**
     * Picks nodes for all tasks: candidates come in order of preference, required nodes first. Empty if they do not
     * suffice.
     */
    public static List<SelectedNode> pick(
            ResourceNeed need, List<Candidate> candidates, int required, Topology topology) {
        for (int nodes : need.sizes()) {
            List<SelectedNode> picks = pick(need.exactly(nodes), candidates, required, topology);
            if (!picks.isEmpty()) {
                return picks;
            }
        }
        if (!need.sizes().isEmpty()) {
            return List.of();
        }
        if (FeatureConstraint.isPlain(need.features())) {
            return pickAny(need, candidates, required, topology);
        }
        for (FeatureConstraint.Choice choice : FeatureConstraint.choices(need.features())) {
            int[] counted = {required};
            List<Candidate> allowed = FeatureConstraint.allowed(choice, candidates, required, counted);
            List<SelectedNode> picks = allowed.isEmpty() ? List.of() : pickAny(need, allowed, counted[0], topology);
            if (!picks.isEmpty()) {
                return picks;
            }
        }
        return List.of();
    }

    /** Picks nodes as {@link #pick}, among nodes that can be had together. */
    public static List<SelectedNode> pick(
            ResourceNeed need,
            List<Candidate> candidates,
            int required,
            Topology topology,
            LayeredResourceRequest layers) {
        if (layers.isEmpty()) {
            return pick(need, candidates, required, topology);
        }
        for (List<Candidate> way : layers.ways(candidates, required)) {
            List<SelectedNode> picks = pick(need, way, required, topology);
            if (!picks.isEmpty()) {
                return picks;
            }
        }
        return List.of();
    }

    private static List<SelectedNode> pickAny(
            ResourceNeed need, List<Candidate> candidates, int required, Topology topology) {
        if (required == 0 && need.nodesWanted() == 1) {
            for (Candidate c : candidates) {
                if (c.tasks() >= need.tasks() && devices(need, List.of(c), 1)) {
                    return List.of(new SelectedNode(c.node(), need.tasks()));
                }
            }
        }
        List<Candidate> chosen;
        if (need.shape().contiguous()) {
            chosen = contiguous(need, candidates, required);
        } else if (topology.kind() != Topology.Kind.FLAT) {
            chosen = TopologySelector.choose(topology, need, candidates, required);
        } else {
            chosen = enough(need, candidates, required);
            if (chosen.isEmpty() && candidates.size() > required) {
                chosen = largestFirst(need, candidates, required);
            }
        }
        return chosen.isEmpty() ? List.of() : deal(need, chosen);
    }

    /** Takes neighbours: as many nodes as the need prefers, otherwise the most that lie together. */
    private static List<Candidate> contiguous(ResourceNeed need, List<Candidate> candidates, int required) {
        List<Candidate> neighbours = List.of();
        for (int nodes = need.nodesWanted(); nodes > need.nodesMin() && neighbours.isEmpty(); nodes--) {
            neighbours = neighbours(need.exactly(nodes), candidates, required);
        }
        return neighbours.isEmpty() ? neighbours(need, candidates, required) : neighbours;
    }

    /** Takes the nodes with room for the most tasks, then those with the most devices of a total that the job wants. */
    private static List<Candidate> largestFirst(ResourceNeed need, List<Candidate> candidates, int required) {
        List<Candidate> largest = new ArrayList<>(candidates.subList(required, candidates.size()));
        largest.sort(Comparator.comparingInt((Candidate c) -> -c.tasks()).thenComparingInt(c -> c.node().index));
        largest.addAll(0, candidates.subList(0, required));
        List<Candidate> chosen = enough(need, largest, required);
        return chosen.isEmpty() && !need.gresPerJob().isEmpty()
                ? enough(need, richest(need, largest, required), required)
                : chosen;
    }

    /** Orders the required nodes first, then those with the most devices that the job requests in total. */
    private static List<Candidate> richest(ResourceNeed need, List<Candidate> largest, int required) {
        List<Candidate> out = new ArrayList<>(largest);
        out.subList(required, out.size())
                .sort(Comparator.comparingInt(c -> -need.gresPerJob().stream()
                        .mapToInt(i -> c.devices(need, i))
                        .sum()));
        return out;
    }

    /**
     * Returns the first nodes in a row, none missing between them, that suffice and hold all required ones. A row
     * begins with the first required node if it can, or as short before it as will do.
     */
    private static List<Candidate> neighbours(ResourceNeed need, List<Candidate> candidates, int required) {
        List<Candidate> sorted = new ArrayList<>(candidates);
        sorted.sort(Comparator.comparingInt(c -> c.node().spec.order()));
        List<Candidate> named = candidates.subList(0, required);
        Set<Candidate> wanted = new HashSet<>(named);
        int first = 0;
        while (!named.isEmpty() && !wanted.contains(sorted.get(first))) {
            first++;
        }
        for (int i = 0; i < (named.isEmpty() ? sorted.size() : first + 1); i++) {
            int from = named.isEmpty() ? i : first - i;
            int to = from + 1;
            while (to < sorted.size()
                    && sorted.get(to).node().spec.order()
                            == sorted.get(to - 1).node().spec.order() + 1) {
                to++;
            }
            for (int end = from + 1; end <= to; end++) {
                List<Candidate> row = sorted.subList(from, end);
                if (row.containsAll(named) && enough(need, row, 0).size() == row.size()) {
                    return row;
                }
            }
        }
        return List.of();
    }

    static List<Candidate> enough(ResourceNeed need, List<Candidate> candidates, int required) {
        long tasks = 0;
        int maxNodes = need.nodesMax() > 0 ? need.nodesMax() : Integer.MAX_VALUE;
        for (int i = 0; i < candidates.size() && i < maxNodes; i++) {
            tasks += candidates.get(i).tasks();
            if (i + 1 >= Math.max(need.nodesMin(), required)
                    && tasks >= need.tasks()
                    && devices(need, candidates, i + 1)) {
                return candidates.subList(0, Math.max(i + 1, Math.min(need.nodesWanted(), candidates.size())));
            }
        }
        return List.of();
    }

    private static boolean devices(ResourceNeed need, List<Candidate> candidates, int nodes) {
        for (Tres.Item item : need.gresPerJob()) {
            int sum = 0;
            for (int i = 0; i < nodes; i++) {
                sum += candidates.get(i).devices(need, item);
            }
            if (sum < item.count()) {
                return false;
            }
        }
        return true;
    }

    private static IndexSet devices(ResourceNeed need, NodeSlot node, Tres.Item item) {
        return !SharedGpus.parts(node.spec.gres(), item.name()).isEmpty()
                ? node.parts(item.name(), 0, need.gpus())
                : node.devices(item.name(), item.type());
    }

    /** Returns the number of devices of the node that the need can have: each GPU brings its CPUs and memory along. */
    static int usable(ResourceNeed need, NodeSlot node, Tres.Item item) {
        IndexSet devices = devices(need, node, item);
        long count = item.name().equals("gpu")
                ? GpuPlaces.reachable(need, node, devices).count()
                : devices.count();
        if (item.name().equals("gpu") && need.gpus().cpus() > 0) {
            count = Math.min(
                    count,
                    unitsWithMemory(need, node)
                            * need.usableCpus(node.spec)
                            / need.gpus().cpus());
        }
        if (item.name().equals("gpu") && need.gpus().memoryMb() > 0) {
            count = Math.min(count, node.freeMemoryMb / need.gpus().memoryMb());
        }
        return (int) count;
    }

    /** Returns the number of free units that have the memory of their CPUs. */
    private static long unitsWithMemory(ResourceNeed need, NodeSlot node) {
        long free = node.freeUnits.count();
        return need.memPerCpuMb() == 0
                ? free
                : Math.min(free, node.freeMemoryMb / (need.memPerCpuMb() * Math.max(1, need.chargedCpus(node.spec))));
    }

    /** Returns the tasks that use up one allocation unit of the node, at most those that it has room for. */
    private static int ofOneUnit(ResourceNeed need, Candidate c) {
        return Math.max(1, Math.min(c.tasks(), need.usableCpus(c.node().spec) / need.cpusPerTask()));
    }

    /**
     * Deals tasks out as Slurm does: each node in turn takes all it has room for, but for each node still to come as
     * many tasks are left as use one unit up.
     */
    private static List<SelectedNode> deal(ResourceNeed need, List<Candidate> chosen) {
        int[] counts = new int[chosen.size()];
        int kept = 0;
        for (Candidate c : chosen) {
            kept += ofOneUnit(need, c);
        }
        // without a number of tasks there is one for each node
        int left = Math.max(need.tasks(), chosen.size());
        boolean dealt = need.shape().spread() && need.tasksOn().isEmpty();
        while (dealt && left > 0) {
            int before = left;
            for (int i = 0; i < counts.length && left > 0; i++) {
                boolean room = counts[i] < chosen.get(i).tasks();
                counts[i] += room ? 1 : 0;
                left -= room ? 1 : 0;
            }
            left = left == before ? 0 : left;
        }
        for (int i = 0; i < counts.length && !dealt; i++) {
            int listed = need.tasksOn().getOrDefault(chosen.get(i).node().spec.name(), 0);
            int one = ofOneUnit(need, chosen.get(i));
            kept -= one;
            int maxTasks = Math.max(left - kept, Math.min(one, left - (counts.length - 1 - i)));
            counts[i] = listed > 0 ? listed : Math.max(0, Math.min(chosen.get(i).tasks(), maxTasks));
            left -= counts[i];
        }
        List<SelectedNode> picks = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            picks.add(new SelectedNode(chosen.get(i).node(), counts[i]));
        }
        return picks;
    }

    private static int cpusOfTasks(ResourceNeed need, int tasks, int gpus) {
        int ofTasks = need.overcommit() ? 1 : tasks * need.cpusPerTask();
        return Math.max(Math.max(need.cpusGivenMin(), need.gpus().cpus() * gpus), ofTasks);
    }

    /**
     * Returns the memory that the job is given on a node. With memory per GPU, all GPUs of a node taken whole count, up
     * to the memory that the node has.
     */
    private static long memoryMb(
            ResourceNeed need, NodeSlot node, Map<String, IndexSet> devices, int chargedCpus, boolean memoryConsumed) {
        long all = node.spec.memoryMb() - node.spec.memSpecLimitMb();
        if (need.gpus().memoryMb() > 0) {
            int gpus = devices.getOrDefault("gpu", IndexSet.empty()).count();
            return Math.min(all, need.gpus().memoryMb() * gpus);
        }
        if (memoryConsumed && need.memAll()) {
            return all;
        }
        return need.memPerNodeMb() > 0 ? need.memPerNodeMb() : need.memPerCpuMb() * chargedCpus;
    }

    /**
     * Binds units, memory and devices on the picked nodes as they are free now. Empty if cores, GPUs or sockets that
     * must lie together are not free together.
     *
     * @param free units of a node that the job may have
     */
    public static Optional<Allocation> bind(
            ResourceNeed need,
            List<SelectedNode> picks,
            Function<NodeSlot, IndexSet> free,
            Map<String, String> bootIds,
            boolean memoryConsumed,
            boolean awaitProlog) {
        List<Allocation.Share> shares = new ArrayList<>();
        List<int[]> ofJob = new JobDevices(need, picks).dealt();
        for (int index = 0; index < picks.size(); index++) {
            SelectedNode pick = picks.get(index);
            NodeSlot node = pick.node();
            int perUnit = node.spec.cpusPerUnit();
            int usable = need.usableCpus(node.spec);
            IndexSet freeUnits = free.apply(node);
            Map<String, IndexSet> devices = devices(need, pick, ofJob, index);
            int gpus = devices.getOrDefault("gpu", IndexSet.empty()).count();
            ResourceNeed.SpecializedCores spared = need.shape().spared();
            freeUnits = spared.of(node.spec, freeUnits);
            freeUnits = need.shape().whole() ? node.wholeSockets(freeUnits) : freeUnits;
            boolean whole = need.exclusive() || need.shape().allCores();
            int cpus = whole ? freeUnits.count() * usable : cpusOfTasks(need, pick.tasks(), gpus);
            Optional<GpuPlaces.Placed> placed = GpuPlaces.place(
                    need, node, freeUnits, pick.tasks(), devices, (cpus + usable - 1) / usable, picks.size());
            if (placed.isEmpty()) {
                return Optional.empty();
            }
            IndexSet units = need.shape().whole()
                    ? node.ofSockets(placed.get().units(), freeUnits)
                    : placed.get().units();
            if (gpus > 0) {
                devices.put("gpu", placed.get().gpus());
            }
            boolean counted = need.shape().counted() && !whole;
            int given = Math.min(units.count() * perUnit, counted ? cpus : spared.most(node.spec));
            int charged = counted ? given : Math.min(given, units.count() * need.chargedCpus(node.spec));
            moreSockets(need, node, units, devices);
            shares.add(new Allocation.Share(
                    node.spec.name(),
                    Allocation.Agent.SLURMD,
                    bootIds.getOrDefault(node.spec.name(), ""),
                    units,
                    given,
                    memoryMb(need, node, devices, charged, memoryConsumed),
                    devices,
                    !awaitProlog && !bootIds.getOrDefault(node.spec.name(), "").isEmpty(),
                    false,
                    spared.charge(node.spec, given)));
        }
        // however they were found, the job has its nodes in the order of slurm.conf
        Map<String, NodeSlot> slots = new TreeMap<>();
        picks.forEach(p -> slots.put(p.node().spec.name(), p.node()));
        shares.sort(Comparator.comparingInt(s -> picked(slots, s.node()).spec.order()));
        return Optional.of(new Allocation(1, List.copyOf(shares)).withScriptOn(scriptOn(need, shares, slots)));
    }

    /** --batch: the script runs on the first node that has these features; "" for the first of all. */
    private static String scriptOn(ResourceNeed need, List<Allocation.Share> shares, Map<String, NodeSlot> slots) {
        return need.batch().isEmpty()
                ? ""
                : shares.stream()
                        .map(Allocation.Share::node)
                        .filter(n -> FeatureConstraint.match(need.batch(), picked(slots, n).features))
                        .findFirst()
                        .orElse("");
    }

    private static NodeSlot picked(Map<String, NodeSlot> slots, String node) {
        return requireNonNull(slots.get(node), "shares are of picked nodes");
    }

    private static int unitsPerSocket(NodeSlot node) {
        return Math.max(1, node.spec.units() / Math.max(1, node.spec.sockets()));
    }

    /** Devices per socket were taken for the sockets that were asked for: the cores may lie on more of them. */
    private static void moreSockets(ResourceNeed need, NodeSlot node, IndexSet units, Map<String, IndexSet> devices) {
        int sockets = GpuCoreSelector.choosesBySockets(need, node)
                ? 0
                : units.groups(unitsPerSocket(node)) - Math.max(1, need.shape().sockets());
        for (Tres.Item item : sockets > 0 ? need.shape().perSocket() : List.<Tres.Item>of()) {
            add(devices, need, node, item, item.count() * sockets);
        }
    }

    private static Map<String, IndexSet> devices(ResourceNeed need, SelectedNode pick, List<int[]> ofJob, int index) {
        TreeMap<String, IndexSet> out = new TreeMap<>();
        if (need.exclusive()) {
            pick.node().freeGres.keySet().forEach(name -> {
                IndexSet free = pick.node().open(name);
                boolean explicit =
                        pick.node().spec.gres().stream().anyMatch(g -> g.name().equals(name) && g.isExplicit());
                if (!free.isEmpty() && !SharedGpus.isShared(name) && !explicit) {
                    out.put(name, free);
                }
            });
        }
        IndexSet ofSockets = GpuPlaces.ofSockets(need, pick.node());
        if (!ofSockets.isEmpty()) {
            out.put("gpu", ofSockets);
        }
        for (Tres.Item item : need.gresPerNode()) {
            if (ofSockets.isEmpty() || !item.name().equals("gpu")) {
                add(out, need, pick.node(), item, item.count());
            }
        }
        for (Tres.Item item : need.gresPerTask()) {
            add(out, need, pick.node(), item, item.count() * pick.tasks());
        }
        for (int i = 0; i < ofJob.size(); i++) {
            add(out, need, pick.node(), need.gresPerJob().get(i), ofJob.get(i)[index]);
        }
        return out;
    }

    private static void add(Map<String, IndexSet> out, ResourceNeed need, NodeSlot node, Tres.Item item, int count) {
        IndexSet taken = out.getOrDefault(item.name(), IndexSet.empty());
        IndexSet free = !SharedGpus.parts(node.spec.gres(), item.name()).isEmpty()
                ? node.parts(item.name(), count, need.gpus())
                : node.devices(item.name(), item.type());
        IndexSet more = item.name().equals("gpu")
                ? node.gpuLinks.choose(free.minus(taken), count)
                : UnitSets.firstOf(free.minus(taken), count);
        if (!more.isEmpty()) {
            out.put(item.name(), taken.union(more));
        }
    }

    /** Returns how many tasks fit on all candidates together, or on the best where there may be one node only. */
    public static long roomFor(ResourceNeed need, List<Candidate> able) {
        long sum = 0;
        for (Candidate c : able) {
            sum = need.nodesMax() == 1 ? Math.max(sum, c.tasks()) : sum + c.tasks();
        }
        return sum;
    }

    /**
     * Tests whether the node has not the features that are asked for, and would have them after a reboot; or a reboot
     * is asked for in any case.
     */
    public static boolean lacks(ResourceNeed need, NodeSlot node) {
        return need.reboot() == ResourceNeed.Reboot.ALWAYS
                || !need.features().isEmpty() && !FeatureConstraint.match(need.features(), node.active);
    }

    /**
     * Returns whether the node has the job's features or can get them for this job: by a reboot if it has no other
     * jobs. A cloud node gets features with its next start, so it must be without power; with power it is left to
     * become idle and stop.
     */
    public static boolean canServe(ResourceNeed need, NodeSlot node) {
        boolean cloud = node.cloud && need.reboot() == ResourceNeed.Reboot.FOR_FEATURES;
        boolean settable = cloud ? node.asleep && !node.coming : !node.asleep;
        return !lacks(need, node) || need.reboot() != ResourceNeed.Reboot.NEVER && node.holders == 0 && settable;
    }

    /**
     * Returns the plan without the nodes that get the job's features only with their next start: they must become idle
     * and stop.
     */
    public static Planner.Estimate withoutStopping(State state, int jobId, Planner.Estimate plan) {
        String features =
                state.jobs().find(jobId).map(j -> j.desc().request().features()).orElse("");
        List<String> stays = features.isEmpty()
                ? plan.nodes()
                : plan.nodes().stream()
                        .filter(name -> state.nodes()
                                .find(name)
                                .filter(n -> n.has(Node.Flag.CLOUD)
                                        && !n.isAsleep()
                                        && !FeatureConstraint.match(features, n.activeFeatures()))
                                .isEmpty())
                        .toList();
        return stays.size() == plan.nodes().size()
                ? plan
                : new Planner.Estimate(plan.start(), stays, plan.cpus(), plan.partition());
    }
}
