package dev.muster.core.step;

import dev.muster.core.command.Planner;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Tres;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.StepDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Finds a step's nodes, units and tasks within its job's allocation. */
final class StepPlacement {
    private final Job job;
    private final int id;
    private final Set<String> excludedNodes;
    private final StepDesc step;
    private final ResourceRequest request;
    private final State state;
    private final Planner planner;
    private final Distribution distribution;
    private final GresRequest gres;
    private final StepMemory memory;
    private final Map<String, Integer> leftOfJob = new TreeMap<>();

    StepPlacement(Job job, Step asked, State state, Planner planner, Set<String> excludedNodes) {
        this.planner = planner;
        this.excludedNodes = excludedNodes;
        this.job = job;
        this.id = asked.number();
        this.step = asked.desc();
        this.request = GresRequest.resolved(step.request());
        this.gres = GresRequest.of(request);
        this.state = state;
        this.memory = new StepMemory(state, job, step);
        this.distribution = Distribution.parse(request.distribution()).orElse(Distribution.UNSET);
    }

    /** Returns the step's parts, or the error: NODES_BUSY if the step would fit later. */
    Object parts() {
        Optional<SlurmErrno> refusal = refusal();
        if (refusal.isPresent()) {
            return refusal.get();
        }
        List<Allocation.Share> shares = candidates();
        shares.removeIf(s -> excludedNodes.contains(s.node()) || !hasFeatures(s.node()));
        if (shares.isEmpty()) {
            return request.features().isEmpty()
                    ? SlurmErrno.INVALID_NODE_COUNT
                    : SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE;
        }
        int nodesMin = Math.max(1, request.nodesMin());
        int nodesMax = nodesMax(nodesMin, shares.size());
        int tasks = request.tasks() > 0
                ? request.tasks()
                : SaturatingMath.times(nodesMin, Math.max(1, request.tasksPerNode()));
        int cpusPerTask = GresRequest.cpusPerTask(request, tasks, nodesMin);
        if (nodesMin > shares.size()) {
            return SlurmErrno.INVALID_NODE_COUNT;
        }
        if (tasks < nodesMin) {
            nodesMin = tasks;
            nodesMax = Math.min(nodesMax, tasks);
        }
        if (hasListedRanks()) {
            return listed(shares, cpusPerTask);
        }
        if (step.relative() != 0 && request.nodesMin() > 0 && request.nodesMin() < shares.size()) {
            // the step begins at the node of --relative, and waits for the nodes behind it if they can fit it
            List<Allocation.Share> next = shares.subList(0, request.nodesMin());
            Object ahead = fit(next, tasks, cpusPerTask, nodesMin, nodesMax, true);
            shares = ahead instanceof SlurmErrno ? shares : next;
        }
        Object whole = fit(shares, tasks, cpusPerTask, nodesMin, nodesMax, true);
        if (whole instanceof SlurmErrno) {
            return whole;
        }
        Object now = fit(shares, tasks, cpusPerTask, nodesMin, nodesMax, step.overlap());
        return now instanceof SlurmErrno ? SlurmErrno.NODES_BUSY : now;
    }

    /** {@code --distribution=arbitrary}: the node list says where each rank runs. */
    private boolean hasListedRanks() {
        return distribution.nodes() == Distribution.Nodes.ARBITRARY
                && !request.nodeList().isEmpty();
    }

    private boolean hasFeatures(String node) {
        return request.features().isEmpty()
                || planner.matches(request.features(), state.nodes().at(node).activeFeatures());
    }

    private int nodesMax(int nodesMin, int available) {
        if (request.nodesMax() > 0) {
            return request.nodesMax();
        }
        return request.nodesMin() > 0 ? nodesMin : Math.max(nodesMin, available);
    }

    private Optional<SlurmErrno> refusal() {
        if (!namesKnownGres()) {
            return Optional.of(
                    request.tresPerNode().endsWith("gres/") ? SlurmErrno.INVALID_TRES : SlurmErrno.INVALID_GRES);
        }
        if (memory.isOfNoGpus() || asksForMissingGres()) {
            return Optional.of(SlurmErrno.INVALID_GRES);
        }
        if (namesOthers() || namesExcluded()) {
            return Optional.of(SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE);
        }
        return Optional.empty();
    }

    /** Tests whether the request names a node that the job does not have. */
    private boolean namesOthers() {
        return !request.nodeList().isEmpty()
                && HostList.parse(request.nodeList()) instanceof HostList.Parsed.Ok ok
                && ok.list().names().stream()
                        .anyMatch(n -> job.run().allocation().on(n).isEmpty());
    }

    /**
     * Tests whether the request names a node that the step is not to have; of more than it may have, those are the ones
     * that it goes without.
     */
    private boolean namesExcluded() {
        if (request.nodeList().isEmpty()
                || request.excludeList().isEmpty()
                || !(HostList.parse(request.nodeList()) instanceof HostList.Parsed.Ok named)
                || !(HostList.parse(request.excludeList()) instanceof HostList.Parsed.Ok excluded)) {
            return false;
        }
        List<String> left = named.list().distinct().names().stream()
                .filter(n -> !excluded.list().contains(n))
                .toList();
        return left.size()
                < Math.max(
                        1,
                        request.nodesMin() > 0
                                ? Math.min(
                                        request.nodesMin(),
                                        named.list().distinct().size())
                                : named.list().distinct().size());
    }

    private List<Allocation.Share> candidates() {
        boolean anywhere = request.nodeList().isEmpty() && step.relative() == 0;
        List<Allocation.Share> all = new ArrayList<>(
                anywhere
                        ? StepOrder.rotated(state, job, id)
                        : job.run().allocation().nodes());
        if (!request.nodeList().isEmpty() && HostList.parse(request.nodeList()) instanceof HostList.Parsed.Ok ok) {
            // an arbitrary layout names a host once for each of its tasks
            List<String> wanted = ok.list().distinct().names();
            List<Allocation.Share> ordered = new ArrayList<>();
            for (String name : wanted) {
                Optional<Allocation.Share> share = job.run().allocation().on(name);
                if (share.isEmpty()) {
                    return List.of();
                }
                ordered.add(share.get());
            }
            for (Allocation.Share s : all) {
                if (!wanted.contains(s.node())) {
                    ordered.add(s);
                }
            }
            all = request.nodesMin() <= wanted.size() ? new ArrayList<>(ordered.subList(0, wanted.size())) : ordered;
        }
        if (!request.excludeList().isEmpty()
                && HostList.parse(request.excludeList()) instanceof HostList.Parsed.Ok ok) {
            all.removeIf(s -> ok.list().contains(s.node()));
        }
        return step.relative() > 0
                ? new ArrayList<>(all.subList(Math.min(step.relative(), all.size()), all.size()))
                : all;
    }

    private Object fit(
            List<Allocation.Share> shares,
            int tasks,
            int cpusPerTask,
            int nodesMin,
            int nodesMax,
            boolean ignoreOthers) {
        List<Allocation.Share> usable = new ArrayList<>();
        List<IndexSet> free = new ArrayList<>();
        List<Integer> slots = new ArrayList<>();
        boolean tooWide = false;
        boolean tooMuch = false;
        for (Allocation.Share share : shares) {
            IndexSet cores = ignoreOthers ? share.cores() : freeCores(share);
            int byMemory = memory.tasks(share, cpusPerTask, ignoreOthers);
            tooMuch |= byMemory == 0;
            int byCpus = tasksByCpus(share, cores, cpusPerTask);
            tooWide |= byCpus == 0;
            int fits = Math.min(byCpus, byMemory);
            if (request.tasksPerNode() > 0) {
                fits = Math.min(fits, request.tasksPerNode());
            }
            if (request.tasksPerSocket() > 0) {
                fits = Math.min(
                        fits,
                        request.tasksPerSocket()
                                * state.nodes()
                                        .find(share.node())
                                        .map(n -> Math.max(1, n.spec().sockets()))
                                        .orElse(1));
            }
            fits = Math.min(fits, tasksByGres(share, ignoreOthers));
            if (fits > 0 && gresFits(share, ignoreOthers)) {
                usable.add(share);
                free.add(cores);
                slots.add(fits);
            }
        }
        if (usable.size() < nodesMin) {
            if (tooMuch) {
                return SlurmErrno.INVALID_TASK_MEMORY;
            }
            if (tooWide) {
                return SlurmErrno.TOO_MANY_REQUESTED_CPUS;
            }
            return SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE;
        }
        int nodes = nodeCount(slots, tasks, nodesMin, nodesMax);
        if (nodes < 0) {
            return SlurmErrno.TOO_MANY_REQUESTED_CPUS;
        }
        return inOrder(usable, free, slots, nodes, tasks, cpusPerTask, ignoreOthers);
    }

    /**
     * Returns the tasks that the cores have room for. A step without {@code --exact} has all cores of a node and starts
     * only when no other step has one of them.
     */
    private int tasksByCpus(Allocation.Share share, IndexSet cores, int cpusPerTask) {
        if (cores.isEmpty() && !share.cores().isEmpty()
                || step.wholeNodes() && cores.count() < share.cores().count()) {
            return 0;
        }
        // with CR_CPU a job may have fewer CPUs than its cores have
        int cpus = Math.min(cores.count() * usablePerUnit(share), share.cpus());
        return request.overcommit() ? StepMemory.ANY : cpus / cpusPerTask;
    }

    /**
     * Orders the chosen nodes: whatever named first, they run their tasks in the order that the topology has them in.
     */
    private Object inOrder(
            List<Allocation.Share> usable,
            List<IndexSet> free,
            List<Integer> slots,
            int nodes,
            int tasks,
            int cpusPerTask,
            boolean ignoreOthers) {
        List<Allocation.Share> chosen = new ArrayList<>();
        List<IndexSet> units = new ArrayList<>();
        List<Integer> room = new ArrayList<>();
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < nodes; i++) {
            places.putIfAbsent(usable.get(i).node(), i);
        }
        for (Allocation.Share share : StepOrder.ranked(state, job)) {
            int place = places.getOrDefault(share.node(), -1);
            if (place >= 0) {
                chosen.add(share);
                units.add(free.get(place));
                room.add(slots.get(place));
            }
        }
        return assign(chosen, units, TaskLayout.of(distribution, room, tasks), cpusPerTask, ignoreOthers);
    }

    /** Places each rank where the list of hosts says, a host as often as it is named. */
    private Object listed(List<Allocation.Share> shares, int cpusPerTask) {
        Optional<List<String>> hosts = TaskLayout.listed(request.nodeList());
        if (hosts.isEmpty() || request.tasks() > hosts.get().size()) {
            return SlurmErrno.BAD_TASK_COUNT;
        }
        int tasks = request.tasks() > 0 ? request.tasks() : hosts.get().size();
        List<Allocation.Share> used = new ArrayList<>();
        List<List<Integer>> ranks = new ArrayList<>();
        // the nodes in the order of the allocation: the list says where ranks run, not which node is the step's
        // first
        for (Allocation.Share share :
                StepOrder.ranked(state, job).stream().filter(shares::contains).toList()) {
            List<Integer> here = new ArrayList<>();
            for (int rank = 0; rank < tasks; rank++) {
                if (hosts.get().get(rank).equals(share.node())) {
                    here.add(rank);
                }
            }
            if (!here.isEmpty()) {
                used.add(share);
                ranks.add(here);
            }
        }
        Object whole = listed(used, ranks, cpusPerTask, true);
        return whole instanceof SlurmErrno ? whole : listed(used, ranks, cpusPerTask, step.overlap());
    }

    private Object listed(
            List<Allocation.Share> used, List<List<Integer>> ranks, int cpusPerTask, boolean ignoreOthers) {
        List<IndexSet> free = new ArrayList<>();
        for (int i = 0; i < used.size(); i++) {
            Allocation.Share share = used.get(i);
            IndexSet cores = ignoreOthers ? share.cores() : freeCores(share);
            free.add(cores);
            // the list says how many tasks a node runs: where the job has less there, they share all that it has
            int all = Math.min(memory.tasks(share, cpusPerTask, true), tasksByCpus(share, share.cores(), cpusPerTask));
            int wanted = Math.min(ranks.get(i).size(), Math.max(1, all));
            if (memory.tasks(share, cpusPerTask, ignoreOthers) < wanted) {
                return ignoreOthers ? SlurmErrno.INVALID_TASK_MEMORY : SlurmErrno.NODES_BUSY;
            }
            if (tasksByCpus(share, cores, cpusPerTask) < wanted) {
                return ignoreOthers ? SlurmErrno.TOO_MANY_REQUESTED_CPUS : SlurmErrno.NODES_BUSY;
            }
        }
        return assign(used, free, ranks, cpusPerTask, ignoreOthers);
    }

    private static int nodeCount(List<Integer> slots, int tasks, int nodesMin, int nodesMax) {
        long sum = 0;
        for (int i = 0; i < slots.size() && i < nodesMax; i++) {
            sum += slots.get(i);
            if (i + 1 >= nodesMin && sum >= tasks) {
                return i + 1;
            }
        }
        return -1;
    }

    /** Returns the parts, or NODES_BUSY. */
    private Object assign(
            List<Allocation.Share> shares,
            List<IndexSet> free,
            List<List<Integer>> ranks,
            int cpusPerTask,
            boolean ignoreOthers) {
        List<Step.Part> parts = new ArrayList<>();
        leftOfJob.clear();
        for (int i = 0; i < shares.size(); i++) {
            Allocation.Share share = shares.get(i);
            int perUnit = cpusPerUnit(share);
            int usable = usablePerUnit(share);
            int wanted = step.wholeNodes() || request.overcommit()
                    ? free.get(i).count()
                    : Math.min(
                            free.get(i).count(),
                            SaturatingMath.dividedUp(
                                    SaturatingMath.times(ranks.get(i).size(), cpusPerTask), usable));
            IndexSet cores = IndexSet.empty();
            for (int core = free.get(i).first(), k = 0;
                    core >= 0 && k < wanted;
                    core = free.get(i).next(core + 1), k++) {
                cores = cores.with(core);
            }
            Map<String, IndexSet> devices =
                    gres(share, cores, ranks.get(i).size(), shares.size() - 1 - i, ignoreOthers);
            if (!ignoreOthers && misses(share, devices, shares.size())) {
                return SlurmErrno.NODES_BUSY;
            }
            long memoryMb = memory.of(share, cores.count() * usable, devices);
            if (memory.exceeds(share, memoryMb, ignoreOthers)) {
                return ignoreOthers ? SlurmErrno.INVALID_TASK_MEMORY : SlurmErrno.NODES_BUSY;
            }
            int cpus = Math.min(cores.count() * perUnit, share.cpus());
            parts.add(new Step.Part(
                    share.node(),
                    List.copyOf(ranks.get(i)),
                    cores,
                    cpus,
                    memoryMb,
                    devices,
                    false,
                    false,
                    ExitStatus.NONE,
                    Map.of(),
                    ""));
        }
        return !ignoreOthers && missesOfAll(shares) ? SlurmErrno.NODES_BUSY : parts;
    }

    /** Tests whether a node lacks such devices: each has at least one, where the step requests a sum over all nodes. */
    private boolean misses(Allocation.Share share, Map<String, IndexSet> devices, int nodes) {
        return gres.perJob().stream()
                .anyMatch(i -> i.count() >= nodes
                        && !share.gres()
                                .getOrDefault(i.name(), IndexSet.empty())
                                .isEmpty()
                        && devices.getOrDefault(i.name(), IndexSet.empty()).isEmpty());
    }

    /**
     * Tests whether other steps have devices that the step would have without them: of more than there are it is given
     * all.
     */
    private boolean missesOfAll(List<Allocation.Share> shares) {
        return gres.perJob().stream().anyMatch(i -> {
            int all =
                    shares.stream().mapToInt(s -> freeGres(s, i, true).count()).sum();
            return i.count() - leftOfJob.getOrDefault(i.name() + ":" + i.type(), i.count()) < Math.min(i.count(), all);
        });
    }

    /**
     * Sockets beyond those that the step's devices per socket were counted for: those of its cores, or as many as the
     * job asked for.
     */
    private int moreSockets(Allocation.Share share, IndexSet cores) {
        int perSocket = state.nodes()
                .find(share.node())
                .map(n -> n.spec().units() / Math.max(1, n.spec().sockets()))
                .orElse(0);
        int ofJob = request.socketsPerNode() > 0 ? 0 : job.desc().request().socketsPerNode();
        return Math.max(ofJob, cores.groups(Math.max(1, perSocket))) - Math.max(1, request.socketsPerNode());
    }

    private int cpusPerUnit(Allocation.Share share) {
        int each = share.cores().isEmpty()
                ? 1
                : (share.cpus() + share.cores().count() - 1) / share.cores().count();
        return state.nodes().find(share.node()).map(n -> n.spec().cpusPerUnit()).orElse(Math.max(1, each));
    }

    /** Fewer than a unit has where the job or the step leaves threads of its cores alone. */
    private int usablePerUnit(Allocation.Share share) {
        int threads = request.threadsUsed() > 0
                ? request.threadsUsed()
                : job.desc().request().threadsUsed();
        return threads > 0 ? Math.min(threads, cpusPerUnit(share)) : cpusPerUnit(share);
    }

    private IndexSet freeCores(Allocation.Share share) {
        IndexSet free = share.cores();
        for (Step other : job.run().steps()) {
            if (other.state() == Step.State.RUNNING
                    && other.id() >= 0
                    && !other.desc().overlap()
                    && !isBeside(other)) {
                for (Step.Part part : other.nodes()) {
                    if (part.node().equals(share.node()) && !part.done()) {
                        free = free.minus(part.cores());
                    }
                }
            }
        }
        return free;
    }

    /**
     * Tests --overcommit with --exact: the step starts as soon as one CPU is free, and blocks no CPU for other steps.
     */
    private static boolean isBeside(Step other) {
        return other.desc().request().overcommit() && !other.desc().wholeNodes();
    }

    private boolean gresFits(Allocation.Share share, boolean ignoreOthers) {
        Map<String, Integer> wanted = new TreeMap<>();
        gres.perNode().forEach(i -> wanted.merge(i.name(), i.count(), Integer::sum));
        return wanted.entrySet().stream()
                        .allMatch(w -> freeGres(share, w.getKey(), ignoreOthers).count() >= w.getValue())
                && gres.perNode().stream()
                        .allMatch(i -> freeGres(share, i, ignoreOthers).count() >= i.count());
    }

    /** Returns the number of tasks that find their devices on the node. */
    private int tasksByGres(Allocation.Share share, boolean ignoreOthers) {
        int tasks = Integer.MAX_VALUE;
        for (Tres.Item item : gres.perTask()) {
            if (item.count() > 0) {
                tasks = Math.min(tasks, freeGres(share, item, ignoreOthers).count() / item.count());
            }
        }
        return tasks;
    }

    /** Returns whether the step requests devices that the job lacks, per node or in total. */
    private boolean asksForMissingGres() {
        List<Allocation.Share> all = job.run().allocation().nodes();
        return Stream.of(gres.perNode(), gres.perTask(), gres.perJob())
                        .flatMap(List::stream)
                        .filter(i -> i.count() > 0)
                        .anyMatch(i ->
                                all.stream().allMatch(s -> freeGres(s, i, true).isEmpty()))
                || gres.perNode().stream()
                        .anyMatch(i ->
                                all.stream().allMatch(s -> freeGres(s, i, true).count() < i.count()))
                || gres.perJob().stream()
                        .anyMatch(i -> all.stream()
                                        .mapToInt(s -> freeGres(s, i, true).count())
                                        .sum()
                                < i.count());
    }

    /** Tests whether the request names only GRES that the cluster has, in words that can be read. */
    private boolean namesKnownGres() {
        for (String tres :
                List.of(request.tresPerNode(), request.tresPerJob(), request.tresPerTask(), request.tresPerSocket())) {
            if (!Tres.isValid(tres)
                    || Tres.gres(tres).stream()
                            .anyMatch(i -> i.count() > 0
                                    && !state.settings().gresTypes().contains(i.name()))) {
                return false;
            }
        }
        return true;
    }

    private static boolean asksForGres(Step step) {
        ResourceRequest r = step.desc().request();
        return !r.tresPerNode().isEmpty()
                || !r.tresPerTask().isEmpty()
                || !r.tresPerJob().isEmpty()
                || !r.tresPerSocket().isEmpty();
    }

    /** Returns the free devices of the item's type in the share. */
    private IndexSet freeGres(Allocation.Share share, Tres.Item item, boolean ignoreOthers) {
        IndexSet free = freeGres(share, item.name(), ignoreOthers);
        return item.type().isEmpty()
                ? free
                : state.nodes()
                        .find(share.node())
                        .map(n -> free.intersect(GresRequest.devices(n.spec(), item.name(), item.type())))
                        .orElse(free);
    }

    private IndexSet freeGres(Allocation.Share share, String name, boolean ignoreOthers) {
        IndexSet free = share.gres().getOrDefault(name, IndexSet.empty());
        if (ignoreOthers) {
            return free;
        }
        for (Step other : job.run().steps()) {
            if (other.state() == Step.State.RUNNING
                    && other.id() >= 0
                    && !other.desc().overlap()
                    && asksForGres(other)) {
                for (Step.Part part : other.nodes()) {
                    if (part.node().equals(share.node()) && !part.done()) {
                        free = free.minus(part.gres().getOrDefault(name, IndexSet.empty()));
                    }
                }
            }
        }
        return free;
    }

    /** Chooses the step's devices on a node. A step without a request of its own sees all of the job's devices. */
    private Map<String, IndexSet> gres(
            Allocation.Share share, IndexSet cores, int tasks, int nodesAfter, boolean ignoreOthers) {
        if (gres.perNode().isEmpty()
                && gres.perTask().isEmpty()
                && gres.perJob().isEmpty()) {
            return share.gres();
        }
        TreeMap<String, IndexSet> out = new TreeMap<>();
        gres.perNode().forEach(i -> take(out, share, i, i.count(), ignoreOthers));
        int sockets = moreSockets(share, cores);
        if (sockets > 0 && gres.perTask().isEmpty()) {
            Tres.gres(request.tresPerSocket())
                    .forEach(i -> take(out, share, i, SaturatingMath.times(i.count(), sockets), ignoreOthers));
        }
        gres.perTask().forEach(i -> take(out, share, i, SaturatingMath.times(i.count(), tasks), ignoreOthers));
        for (Tres.Item item : gres.perJob()) {
            String key = item.name() + ":" + item.type();
            int left = leftOfJob.getOrDefault(key, item.count());
            // one at least is left for each node still to come
            int taken = take(out, share, item, Math.min(left, Math.max(1, left - nodesAfter)), ignoreOthers);
            leftOfJob.put(key, left - taken);
        }
        return out;
    }

    private int take(
            Map<String, IndexSet> out, Allocation.Share share, Tres.Item item, int count, boolean ignoreOthers) {
        String name = item.name();
        IndexSet before = out.getOrDefault(name, IndexSet.empty());
        IndexSet free = freeGres(share, item, ignoreOthers).minus(before);
        IndexSet taken = before;
        for (int d = free.first(), k = 0; d >= 0 && k < count; d = free.next(d + 1), k++) {
            taken = taken.with(d);
        }
        if (!taken.isEmpty()) {
            out.put(name, taken);
        }
        return taken.count() - before.count();
    }
}
