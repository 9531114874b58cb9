package dev.muster.scheduler.node;

import dev.muster.core.tres.GpuCores;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Tres;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Lays the cores of a job with GPUs over the sockets of a node as Slurm does, observed by packaging/placement.sh. The
 * job gets its GPUs in the fewest groups (GPUs that are near the same cores), preferably those with most free cores.
 * Cores are first reserved for the most tasks that the node may get of the job, evenly over the groups, the remainder
 * in the last ones; then the cores of its tasks are chosen among these in the usual order. A job without a task count
 * chooses among all cores.
 */
final class GpuCoreSelector {
    private final ResourceNeed need;
    private final NodeSlot node;
    private final IndexSet free;
    private final int units;
    private final int nodes;
    private final List<GpuCores.Group> groups;

    /**
     * @param free units that the job may use
     * @param units number of units that the job gets
     * @param nodes number of the job's nodes
     */
    GpuCoreSelector(ResourceNeed need, NodeSlot node, IndexSet free, int units, int nodes) {
        this.need = need;
        this.node = node;
        this.free = free;
        this.units = units;
        this.nodes = nodes;
        this.groups = node.gpuCores.groups();
    }

    /** Returns whether the sockets of the job's cores give its GPUs: --gpus-per-socket where GPUs are near sockets. */
    static boolean choosesBySockets(ResourceNeed need, NodeSlot node) {
        return GpuPlaces.perSocket(need, node) > 0
                && need.shape().tasksGiven()
                && !need.exclusive()
                && !need.shape().spared().any();
    }

    /** Returns the units for the most tasks that the node may get, as limited by --ntasks-per-node and its GPUs. */
    private int unitsMax(int gpus) {
        long tasks = need.tasks();
        tasks = need.tasksPerNode() > 0 ? Math.min(tasks, need.tasksPerNode()) : tasks;
        int perTask = GresRequest.gpus(need.gresPerTask());
        tasks = perTask > 0 ? Math.min(tasks, node.devices("gpu", "").count() / perTask) : tasks;
        long cpus = Math.max((long) need.gpus().cpus() * gpus, need.overcommit() ? 1 : tasks * need.cpusPerTask());
        int usable = need.usableCpus(node.spec);
        return Math.clamp((cpus + usable - 1) / usable, units, Math.max(units, free.count()));
    }

    /** Chooses units of all sockets, for GPUs that are equally near all cores. */
    IndexSet spread() {
        if (!need.shape().tasksGiven()
                || need.exclusive()
                || need.shape().spared().any()) {
            return free;
        }
        int sockets = Math.max(1, node.spec.sockets());
        int each = Math.max(1, (node.spec.units() + sockets - 1) / sockets);
        List<IndexSet> parts = new ArrayList<>();
        for (int from = 0; from < node.spec.units(); from += each) {
            parts.add(free.intersect(IndexSet.range(from, from + each - 1, 1)));
        }
        return evenly(parts, unitsMax(0));
    }

    /**
     * Chooses GPUs and cores near them; empty if no set of groups has both.
     *
     * @param wanted GPUs by type
     */
    Optional<GpuPlaces.Placed> nearGpus(List<Tres.Item> wanted, int tasks) {
        int gpus = GresRequest.gpus(wanted);
        int able = GpuPlaces.reachable(need, node, node.devices("gpu", "")).count();
        // the node may get more GPUs of the whole job or of other tasks later: its cores are placed as if it got all
        int gpusOfJob = Math.max(
                GresRequest.gpus(need.gresPerJob()),
                need.shape().tasksGiven() && nodes > 1
                        ? GresRequest.gpus(need.gresPerTask()) * (need.tasks() - nodes + 1)
                        : 0);
        int planned = Math.max(gpus, Math.min(gpusOfJob, able));
        for (boolean each : need.gpus().enforced() ? new boolean[] {true} : new boolean[] {true, false}) {
            for (int count : planned > gpus ? new int[] {planned, gpus} : new int[] {gpus}) {
                for (int size = 1; size <= Math.min(Math.min(GpuPlaces.GROUPS_MAX, groups.size()), count); size++) {
                    List<GpuCores.Group> best = best(wanted, size, count, each);
                    if (!best.isEmpty()) {
                        return Optional.of(on(best, wanted, tasks));
                    }
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Selects the set of {@code size} groups that has the GPUs and the most free cores, the first of several. A core
     * near GPUs of two groups counts once.
     *
     * @param each every group has a core
     */
    private List<GpuCores.Group> best(List<Tres.Item> wanted, int size, int planned, boolean each) {
        List<GpuCores.Group> best = List.of();
        int mostCores = 0;
        for (List<GpuCores.Group> set : GpuPlaces.subsets(groups, size)) {
            int cores = union(near(set)).count();
            boolean all = set.stream().noneMatch(g -> free.intersect(g.units()).isEmpty());
            boolean enough = !need.gpus().enforced() || cores >= Math.max(units, size);
            if ((all || !each) && enough && cores > mostCores && has(set, wanted, planned)) {
                best = set;
                mostCores = cores;
            }
        }
        return best;
    }

    private boolean has(List<GpuCores.Group> set, List<Tres.Item> wanted, int planned) {
        IndexSet gpus = IndexSet.empty();
        for (GpuCores.Group g : set) {
            gpus = gpus.union(g.gpus());
        }
        for (Tres.Item item : wanted) {
            if (node.devices("gpu", item.type()).intersect(gpus).count() < item.count()) {
                return false;
            }
        }
        return node.devices("gpu", "").intersect(gpus).count() >= planned;
    }

    private GpuPlaces.Placed on(List<GpuCores.Group> set, List<Tres.Item> wanted, int tasks) {
        List<IndexSet> near = near(set);
        boolean enforced = need.gpus().enforced();
        int count = enforced ? Math.max(units, set.size()) : units;
        int all = near.stream().mapToInt(IndexSet::count).sum();
        IndexSet kept = need.shape().tasksGiven()
                ? evenly(near, Math.min(all, Math.max(count, unitsMax(GresRequest.gpus(wanted)))))
                : union(near);
        IndexSet chosen;
        if (all < count) {
            chosen = UnitSets.fillUp(union(near), free, node.freeUnits, count);
        } else if (enforced && kept.count() > count) {
            chosen = evenly(near, count);
        } else {
            chosen = SocketOrder.choose(need, node, kept, count, tasks);
        }

        IndexSet gpus = IndexSet.empty();
        for (Tres.Item item : wanted) {
            gpus = gpus.union(gpus(set, chosen, node.devices("gpu", item.type()).minus(gpus), item.count()));
        }
        return new GpuPlaces.Placed(chosen, gpus);
    }

    private List<IndexSet> near(List<GpuCores.Group> set) {
        List<IndexSet> out = new ArrayList<>();
        IndexSet before = IndexSet.empty();
        for (GpuCores.Group g : set) {
            IndexSet here = free.intersect(g.units()).minus(before);
            out.add(here);
            before = before.union(here);
        }
        return out;
    }

    /**
     * Takes GPUs from each group in turn, up to its number of the job's cores, then from groups with cores, then from
     * all.
     */
    private IndexSet gpus(List<GpuCores.Group> set, IndexSet cores, IndexSet open, int count) {
        int[] taken = new int[set.size()];
        int[] capacity = new int[set.size()];
        int[] here = new int[set.size()];
        for (int i = 0; i < capacity.length; i++) {
            capacity[i] = open.intersect(set.get(i).gpus()).count();
            here[i] = cores.intersect(set.get(i).units()).count();
        }
        int left = count;
        for (boolean capped : new boolean[] {true, false}) {
            for (boolean progress = true; left > 0 && progress; ) {
                progress = false;
                for (int i = 0; i < capacity.length && left > 0; i++) {
                    int cap = capped ? here[i] : capacity[i];
                    if (here[i] > 0 && taken[i] < Math.min(capacity[i], cap)) {
                        taken[i]++;
                        left--;
                        progress = true;
                    }
                }
            }
        }
        IndexSet out = IndexSet.empty();
        for (int i = 0; i < capacity.length; i++) {
            out = out.union(
                    node.gpuLinks.choose(open.intersect(set.get(i).gpus()).minus(out), taken[i]));
        }
        return left > 0 ? out.union(UnitSets.firstOf(open.minus(out), left)) : out;
    }

    /**
     * Places the job's cores evenly on the sockets that have the GPUs of --gpus-per-socket. Each socket with a core
     * gives its GPUs.
     */
    GpuPlaces.Placed ofSockets() {
        List<GpuCores.Group> set = groups.stream()
                .filter(g -> need.shape().perSocket().stream()
                        .filter(i -> i.name().equals("gpu"))
                        .allMatch(i -> node.devices("gpu", i.type())
                                        .intersect(g.gpus())
                                        .count()
                                >= i.count()))
                .toList();
        int sockets = Math.max(1, need.shape().sockets());
        List<IndexSet> near = near(set);
        int count = need.gpus().enforced() ? Math.max(units, Math.min(sockets, set.size())) : units;
        IndexSet chosen = UnitSets.fillUp(evenly(near, count), free, node.freeUnits, count);
        IndexSet gpus = IndexSet.empty();
        for (boolean used : new boolean[] {true, false}) {
            for (GpuCores.Group g : set) {
                boolean here = !chosen.intersect(g.units()).isEmpty();
                if (here == used && (used || sockets > 0)) {
                    for (Tres.Item item : need.shape().perSocket()) {
                        gpus = item.name().equals("gpu")
                                ? gpus.union(node.gpuLinks.choose(
                                        node.devices("gpu", item.type())
                                                .intersect(g.gpus())
                                                .minus(gpus),
                                        item.count()))
                                : gpus;
                    }
                    sockets--;
                }
            }
        }
        return new GpuPlaces.Placed(chosen, gpus);
    }

    /** Takes {@code count} units, as even as the parts allow; the remainder comes from the last parts. */
    private IndexSet evenly(List<IndexSet> parts, int count) {
        int[] taken = GpuPlaces.dealToLast(
                count, parts.stream().mapToInt(IndexSet::count).toArray());
        IndexSet out = IndexSet.empty();
        for (int i = 0; i < taken.length; i++) {
            out = out.union(UnitSets.idleFirst(parts.get(i), node.freeUnits, taken[i]));
        }
        return out;
    }

    private static IndexSet union(List<IndexSet> parts) {
        return parts.stream().reduce(IndexSet.empty(), IndexSet::union);
    }
}
