package dev.muster.core.testkit;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Tres;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Places one job on the first nodes of its partition that have room. Each node gets as many tasks as fit, but leaves a
 * task for each further node that the job needs.
 */
final class FirstFit {
    private final State state;
    private final ResourceRequest request;
    private final Partition partition;
    private final boolean consumesMemory;
    private final PartitionLimits.Memory memory;
    private final List<Tres.Item> gres;
    private final Set<String> required;
    private final Set<String> reserved;
    private final int nodesMin;
    private final int nodesMax;
    private final int tasks;
    private final int cpusPerTask;

    FirstFit(State state, JobDesc desc, Partition partition) {
        this.state = state;
        this.partition = partition;
        request = desc.request();
        consumesMemory = partition.consumesMemory(state.settings());
        memory = consumesMemory
                ? PartitionLimits.memory(request, partition, state.settings())
                : new PartitionLimits.Memory(0, 0, false);
        gres = GresRequest.of(request).perNode();
        required = HostList.nameSet(request.nodeList());
        nodesMin = Math.max(Math.max(1, required.size()), request.nodesMin());
        tasks = Math.max(
                nodesMin, request.tasks() > 0 ? request.tasks() : nodesMin * Math.max(1, request.tasksPerNode()));
        int nodesMaxUnset = request.nodesMin() > 0 ? request.nodesMin() : tasks;
        nodesMax = Math.max(nodesMin, request.nodesMax() > 0 ? request.nodesMax() : nodesMaxUnset);
        reserved = state.reservations()
                .find(desc.charge().reservation())
                .map(r -> Set.copyOf(r.nodes()))
                .orElse(Set.of());
        cpusPerTask = Math.max(1, request.cpusPerTask());
    }

    /**
     * Returns the allocation on these nodes, on as few of them as possible; empty if too few have room.
     *
     * @param preferred nodes that are tried before others
     */
    Optional<Allocation> on(Map<String, FreeNode> nodes, Set<String> preferred) {
        List<FreeNode> candidates = candidates(nodes, preferred);
        for (int most = nodesMin; most <= Math.min(nodesMax, candidates.size()); most++) {
            Map<FreeNode, Integer> picked = pick(candidates, most);
            if (!picked.isEmpty()) {
                List<Allocation.Share> shares = new ArrayList<>();
                picked.forEach((node, count) -> shares.add(share(node, count)));
                shares.sort(Comparator.comparingInt(
                        s -> nodes.get(s.node()).node.spec().order()));
                return Optional.of(new Allocation(1, shares));
            }
        }
        return Optional.empty();
    }

    /** Returns the number of tasks by node, on this number of nodes at most; empty if not all tasks have room. */
    private Map<FreeNode, Integer> pick(List<FreeNode> candidates, int most) {
        Map<FreeNode, Integer> picked = new LinkedHashMap<>();
        int left = tasks;
        for (FreeNode node : candidates) {
            int nodesToCome = Math.max(0, nodesMin - picked.size() - 1);
            int here = Math.min(tasksOn(node), left - nodesToCome);
            boolean lastTakesRest = picked.size() + 1 < most || here == left;
            if (here > 0 && picked.size() < most && lastTakesRest) {
                picked.put(node, here);
                left -= here;
            }
        }
        long requiredFound = picked.keySet().stream()
                .filter(n -> required.contains(n.node.name()))
                .count();
        return left > 0 || requiredFound < required.size() ? Map.of() : picked;
    }

    /** Returns the nodes of the partition that the job may use: those of {@code -w}, preferred nodes, awake nodes. */
    private List<FreeNode> candidates(Map<String, FreeNode> nodes, Set<String> preferred) {
        Set<String> excluded = HostList.nameSet(request.excludeList());
        return partition.nodes().stream()
                .filter(name -> nodes.containsKey(name) && !excluded.contains(name))
                .filter(name -> reserved.isEmpty() || reserved.contains(name))
                .map(nodes::get)
                .filter(n -> FirstFitPlanner.matchesFeatures(request.features(), n.node.features()))
                .sorted(Comparator.comparing((FreeNode n) -> !required.contains(n.node.name()))
                        .thenComparing(n -> !preferred.contains(n.node.name()))
                        .thenComparing(n -> n.node.isAsleep()))
                .toList();
    }

    private int tasksOn(FreeNode node) {
        if (isExclusive() && !node.isIdle() || request.memPerNodeMb() > node.allMemoryMb()) {
            return 0;
        }
        for (Tres.Item item : gres) {
            if (node.devices(item.name(), item.type()).count() < item.count()) {
                return 0;
            }
        }
        int most = Math.min(node.cpus() / cpusPerTask, request.tasksPerNode() > 0 ? request.tasksPerNode() : tasks);
        if (request.overcommit()) {
            most = node.cpus() > 0 ? tasks : 0;
        }
        while (most > 0 && consumesMemory && memoryMb(node, most) > node.memoryMb()) {
            most--;
        }
        return most;
    }

    private boolean isExclusive() {
        return request.exclusive() == ResourceRequest.Exclusive.NODE || partition.isExclusive();
    }

    private int units(FreeNode node, int tasksHere) {
        return isExclusive() ? node.freeUnits() : Math.min(node.freeUnits(), node.unitsFor(tasksHere * cpusPerTask));
    }

    private long memoryMb(FreeNode node, int tasksHere) {
        if (memory.all()) {
            return node.allMemoryMb();
        }
        long cpus = (long) units(node, tasksHere) * node.node.spec().cpusPerUnit();
        return memory.perNodeMb() > 0 ? memory.perNodeMb() : memory.perCpuMb() * cpus;
    }

    private Allocation.Share share(FreeNode node, int tasksHere) {
        IndexSet units = node.firstUnits(units(node, tasksHere));
        Map<String, IndexSet> devices = new TreeMap<>();
        for (Tres.Item item : gres) {
            IndexSet free = node.devices(item.name(), item.type());
            devices.merge(item.name(), FreeNode.first(free, item.count()), IndexSet::union);
        }
        String bootId = node.node.isAsleep() ? "" : node.node.bootId();
        return new Allocation.Share(
                node.node.name(),
                Allocation.Agent.SLURMD,
                bootId,
                units,
                units.count() * node.node.spec().cpusPerUnit(),
                memoryMb(node, tasksHere),
                devices,
                !state.settings().awaitProlog() && !bootId.isEmpty(),
                false,
                0);
    }
}
