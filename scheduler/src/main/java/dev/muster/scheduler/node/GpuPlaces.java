package dev.muster.scheduler.node;

import dev.muster.core.tres.GpuCores;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.SharedGpus;
import dev.muster.core.tres.Tres;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Places a job's GPUs and cores together on a node: on as few groups of GPUs as will do, evenly over these, at least a
 * core in each. A job that does not insist (enforce-binding) gets what there is when they cannot lie so.
 */
public final class GpuPlaces {
    /** Number of groups of a node that are combined, the first ones. */
    static final int GROUPS_MAX = 10;

    private final ResourceNeed need;
    private final NodeSlot node;
    private final IndexSet free;
    private final GpuCores map;

    /** Cores and GPUs that a job gets of a node. */
    record Placed(IndexSet units, IndexSet gpus) {}

    private GpuPlaces(ResourceNeed need, NodeSlot node, IndexSet free) {
        this.need = need;
        this.node = node;
        this.free = free;
        this.map = node.gpuCores;
    }

    /** Tests whether the need asks for GPUs, or parts of them. */
    static boolean wantsGpus(ResourceNeed need) {
        return wants(need.gresPerNode()) || wants(need.gresPerTask()) || wants(need.gresPerJob());
    }

    private static boolean wants(List<Tres.Item> items) {
        return items.stream().anyMatch(i -> i.count() > 0 && (i.name().equals("gpu") || SharedGpus.isShared(i.name())));
    }

    /** Tests whether it matters on this node which cores come with which GPUs. */
    private static boolean matters(ResourceNeed need, NodeSlot node) {
        return node.gpuCores != GpuCores.NONE
                && !need.exclusive()
                && !need.shape().spared().any()
                && need.shape().perSocket().isEmpty()
                && wantsGpus(need);
    }

    /** Returns whether the job starts only with cores near its GPUs, or with GPUs near its number of sockets. */
    public static boolean insists(ResourceNeed need) {
        return need.gpus().enforced() && wantsGpus(need)
                || GresRequest.gpus(need.shape().perSocket()) > 0;
    }

    /** Returns whether enough sockets of the node have the free GPUs of {@code --gpus-per-socket}. */
    static boolean hasSockets(ResourceNeed need, NodeSlot node) {
        return perSocket(need, node) == 0 || !ofSockets(need, node).isEmpty();
    }

    static int perSocket(ResourceNeed need, NodeSlot node) {
        return node.gpuCores.groups().size() < 2
                ? 0
                : GresRequest.gpus(need.shape().perSocket());
    }

    /**
     * Chooses the GPUs of {@code --gpus-per-socket} from the first sockets with enough free ones; empty without that
     * option, or if too few sockets have them.
     */
    static IndexSet ofSockets(ResourceNeed need, NodeSlot node) {
        int sockets = Math.max(1, need.shape().sockets());
        IndexSet out = IndexSet.empty();
        if (perSocket(need, node) == 0) {
            return out;
        }
        for (GpuCores.Group g : node.gpuCores.groups()) {
            IndexSet here = IndexSet.empty();
            boolean all = true;
            for (Tres.Item item : need.shape().perSocket()) {
                if (item.name().equals("gpu")) {
                    IndexSet free =
                            node.devices("gpu", item.type()).intersect(g.gpus()).minus(here);
                    all &= free.count() >= item.count();
                    here = here.union(node.gpuLinks.choose(free, item.count()));
                }
            }
            if (all && sockets > 0) {
                out = out.union(here);
                sockets--;
            }
        }
        return sockets > 0 ? IndexSet.empty() : out;
    }

    /** Returns the free units that are not kept for others' GPUs. */
    public static IndexSet open(ResourceNeed need, NodeSlot node, IndexSet free) {
        return node.gpuCores.restricted().isEmpty() || need.exclusive() || wantsGpus(need)
                ? free
                : free.minus(node.gpuCores.restricted());
    }

    /** Returns how many of the given tasks fit with their GPUs. */
    public static int tasks(ResourceNeed need, NodeSlot node, IndexSet free, int tasks) {
        if (tasks == 0
                || !matters(need, node)
                || !need.gpus().enforced() && node.gpuCores.restricted().isEmpty()) {
            return tasks;
        }
        GpuPlaces places = new GpuPlaces(need, node, free);
        int low = 0;
        int high = tasks;
        while (low < high) {
            int middle = low + (high - low + 1) / 2;
            if (places.fits(middle)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** Returns the free GPUs that the job can reach with a free core near them, if it insists on that. */
    static IndexSet reachable(ResourceNeed need, NodeSlot node, IndexSet gpus) {
        if (!need.gpus().enforced() || !matters(need, node)) {
            return gpus;
        }
        IndexSet out = IndexSet.empty();
        for (GpuCores.Group g : node.gpuCores.groups()) {
            out = g.units().intersect(node.freeUnits).isEmpty()
                    ? out
                    : out.union(g.gpus().intersect(gpus));
        }
        return out;
    }

    /**
     * Chooses cores and GPUs for a number of tasks; empty if they do not fit. Returns the given ones unchanged where
     * places of GPUs do not matter.
     *
     * @param devices what the node gives otherwise
     * @param units cores that the node gives otherwise
     * @param nodes number of the job's nodes
     */
    static Optional<Placed> place(
            ResourceNeed need,
            NodeSlot node,
            IndexSet free,
            int tasks,
            Map<String, IndexSet> devices,
            int units,
            int nodes) {
        GpuPlaces places = new GpuPlaces(need, node, free);
        GpuCoreSelector sockets = new GpuCoreSelector(need, node, open(need, node, free), units, nodes);
        IndexSet gpus = devices.getOrDefault("gpu", IndexSet.empty());
        if (GpuCoreSelector.choosesBySockets(need, node)) {
            return Optional.of(sockets.ofSockets());
        }
        if (!matters(need, node) || gpus.isEmpty() && devices.keySet().stream().noneMatch(SharedGpus::isShared)) {
            IndexSet may = gpus.isEmpty() || !need.shape().perSocket().isEmpty()
                    ? places.beside(gpus, units)
                    : sockets.spread();
            return Optional.of(new Placed(SocketOrder.choose(need, node, may, units, tasks), gpus));
        }
        if (gpus.isEmpty()) {
            return places.withParts(devices, units);
        }
        List<Tres.Item> wanted = places.wanted(tasks, gpus.count());
        return node.gpuCores.restricted().isEmpty()
                ? sockets.nearGpus(wanted, tasks)
                        .or(() -> need.gpus().enforced() ? Optional.empty() : places.withGpus(wanted, units, gpus))
                : places.withGpus(wanted, units, gpus);
    }

    /**
     * Returns the units that the job may have; with --gpus-per-socket only those near its GPUs where these are enough.
     */
    private IndexSet beside(IndexSet gpus, int units) {
        IndexSet may = open(need, node, free);
        if (gpus.isEmpty() || perSocket(need, node) == 0) {
            return may;
        }
        IndexSet near = IndexSet.empty();
        for (GpuCores.Group g : map.groups()) {
            near = g.gpus().intersect(gpus).isEmpty() ? near : near.union(g.units());
        }
        IndexSet both = may.intersect(near);
        return both.count() >= units ? both : may;
    }

    private boolean fits(int tasks) {
        int perJob = GresRequest.gpus(need.gresPerJob());
        List<Tres.Item> wanted = wanted(tasks, perJob > 0 ? 1 : 0);
        int gpus = GresRequest.gpus(wanted);
        int cpus = Math.max(
                Math.max(need.cpusGivenMin(), need.gpus().cpus() * gpus),
                need.overcommit() ? 1 : tasks * need.cpusPerTask());
        int usable = need.usableCpus(node.spec);
        int units = (cpus + usable - 1) / usable;
        if (gpus > 0) {
            return withGpus(wanted, units, firstGpus(wanted)).isPresent();
        }
        Map<String, IndexSet> parts = new TreeMap<>();
        for (List<Tres.Item> items : List.of(need.gresPerNode(), need.gresPerTask(), need.gresPerJob())) {
            for (Tres.Item item : items) {
                if (SharedGpus.isShared(item.name())) {
                    int count = items == need.gresPerTask() ? item.count() * tasks : item.count();
                    parts.put(item.name(), UnitSets.firstOf(node.parts(item.name(), count, need.gpus()), count));
                }
            }
        }
        return withParts(parts, units).isPresent();
    }

    /**
     * Returns the number of GPUs by type for a number of tasks.
     *
     * @param ofJob the node's part of what is asked for all nodes together
     */
    private List<Tres.Item> wanted(int tasks, int ofJob) {
        List<Tres.Item> out = new ArrayList<>();
        for (Tres.Item item : need.gresPerNode()) {
            add(out, item, item.count());
        }
        for (Tres.Item item : need.gresPerTask()) {
            add(out, item, item.count() * tasks);
        }
        boolean one =
                need.gresPerJob().stream().filter(i -> i.name().equals("gpu")).count() == 1;
        for (Tres.Item item : need.gresPerJob()) {
            add(out, item, one ? Math.max(0, ofJob - GresRequest.gpus(out)) : item.count());
        }
        return out;
    }

    private static void add(List<Tres.Item> out, Tres.Item item, int count) {
        if (item.name().equals("gpu") && count > 0) {
            out.add(new Tres.Item("gpu", item.type(), count));
        }
    }

    private IndexSet firstGpus(List<Tres.Item> wanted) {
        IndexSet out = IndexSet.empty();
        for (Tres.Item item : wanted) {
            out = out.union(
                    node.gpuLinks.choose(node.devices("gpu", item.type()).minus(out), item.count()));
        }
        return out;
    }

    // ---- whole GPUs

    private Optional<Placed> withGpus(List<Tres.Item> wanted, int units, IndexSet otherwise) {
        if (!need.gpus().unbound()) {
            Optional<Placed> together = together(wanted, units);
            if (together.isPresent() || need.gpus().enforced()) {
                return together;
            }
        }
        IndexSet near = IndexSet.empty();
        for (GpuCores.Group g : map.groups()) {
            near = g.gpus().intersect(otherwise).isEmpty() || need.gpus().unbound() ? near : near.union(g.units());
        }
        IndexSet own = map.of(otherwise);
        IndexSet may = free.minus(map.restricted().minus(own));
        IndexSet taken = UnitSets.fillUp(IndexSet.empty(), may.intersect(own), node.freeUnits, units);
        taken = UnitSets.fillUp(taken, may.intersect(near), node.freeUnits, units);
        taken = UnitSets.fillUp(taken, may, node.freeUnits, units);
        return taken.count() < units ? Optional.empty() : Optional.of(new Placed(taken, otherwise));
    }

    /** Places GPUs and cores on the fewest groups. */
    private Optional<Placed> together(List<Tres.Item> wanted, int units) {
        int gpus = GresRequest.gpus(wanted);
        // of GPUs for the job as a whole this node may yet get more: its cores lie as if it got all
        int spread = Math.max(
                gpus,
                Math.min(
                        GresRequest.gpus(need.gresPerJob()),
                        reachable(need, node, node.devices("gpu", "")).count()));
        int count = Math.min(GROUPS_MAX, map.groups().size());
        for (int planned : spread > gpus ? new int[] {spread, gpus} : new int[] {gpus}) {
            for (int size = 1; size <= Math.min(count, planned); size++) {
                for (List<GpuCores.Group> set : subsets(map.groups(), size)) {
                    Optional<Placed> placed = on(set, wanted, planned, units);
                    if (placed.isPresent()) {
                        return placed;
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** Returns all sets of {@code size} of the first {@link #GROUPS_MAX} groups, those of the first groups first. */
    static List<List<GpuCores.Group>> subsets(List<GpuCores.Group> groups, int size) {
        int count = Math.min(GROUPS_MAX, groups.size());
        List<List<GpuCores.Group>> out = new ArrayList<>();
        for (int bits = 1; bits < 1 << count; bits++) {
            if (Integer.bitCount(bits) == size) {
                int chosen = bits;
                out.add(IntStream.range(0, count)
                        .filter(i -> (chosen & 1 << i) != 0)
                        .mapToObj(groups::get)
                        .toList());
            }
        }
        return out;
    }

    /** @param planned GPUs that the groups must have room for; the wanted ones are taken */
    private Optional<Placed> on(List<GpuCores.Group> groups, List<Tres.Item> wanted, int planned, int units) {
        int[] taken = new int[groups.size()];
        IndexSet gpus = IndexSet.empty();
        int room = 0;
        for (GpuCores.Group g : groups) {
            room += node.devices("gpu", "").intersect(g.gpus()).count();
        }
        for (Tres.Item item : wanted) {
            int[] capacity = new int[groups.size()];
            for (int i = 0; i < capacity.length; i++) {
                capacity[i] = node.devices("gpu", item.type())
                        .minus(gpus)
                        .intersect(groups.get(i).gpus())
                        .count();
            }
            int chunk = need.gresPerTask().stream()
                    .filter(t -> t.name().equals("gpu") && t.type().equals(item.type()))
                    .mapToInt(Tres.Item::count)
                    .findFirst()
                    .orElse(0);
            int[] each = chunk > 0
                    ? dealTasks(item.count(), chunk, capacity)
                    : deal(item.count(), capacity, new int[capacity.length]);
            if (Arrays.stream(each).sum() < item.count()) {
                return Optional.empty();
            }
            for (int i = 0; i < each.length; i++) {
                gpus = gpus.union(node.gpuLinks.choose(
                        node.devices("gpu", item.type())
                                .minus(gpus)
                                .intersect(groups.get(i).gpus()),
                        each[i]));
                taken[i] += each[i];
            }
        }
        boolean all = planned > gpus.count() || Arrays.stream(taken).allMatch(t -> t > 0);
        return room < planned || !all ? Optional.empty() : cores(groups, gpus, units);
    }

    /** Takes as many units as are wanted, at least one in each group; a job that does not insist gets none more. */
    private Optional<Placed> cores(List<GpuCores.Group> groups, IndexSet gpus, int units) {
        IndexSet may = free.minus(map.restricted().minus(map.of(gpus)));
        int[] capacity = new int[groups.size()];
        int[] minEach = new int[groups.size()];
        IndexSet near = IndexSet.empty();
        for (int i = 0; i < capacity.length; i++) {
            IndexSet here = may.intersect(groups.get(i).units());
            if (here.isEmpty()) {
                return Optional.empty();
            }
            // a core near GPUs of two groups counts once
            capacity[i] = here.minus(near).count();
            minEach[i] = Math.min(1, capacity[i]);
            near = near.union(here);
        }
        int count = need.gpus().enforced() ? Math.max(units, capacity.length) : units;
        if (count < capacity.length) {
            return Optional.empty();
        }
        int[] each = deal(count, capacity, minEach);
        IndexSet out = IndexSet.empty();
        for (int i = 0; i < each.length; i++) {
            IndexSet here = may.intersect(groups.get(i).units()).minus(out);
            int before = out.count();
            out = UnitSets.fillUp(out, here.intersect(map.restricted()), node.freeUnits, before + each[i]);
            out = UnitSets.fillUp(out, here, node.freeUnits, before + each[i]);
        }
        return out.count() < count ? Optional.empty() : Optional.of(new Placed(out, gpus));
    }

    /** Deals a count out evenly, what is over to the first; where there is no room for that, to the next. */
    private static int[] deal(int count, int[] capacity, int[] minEach) {
        int[] out = minEach.clone();
        int left = count - Arrays.stream(minEach).sum();
        while (left > 0) {
            int best = -1;
            for (int i = 0; i < out.length; i++) {
                best = out[i] < capacity[i] && (best < 0 || out[i] < out[best]) ? i : best;
            }
            if (best < 0) {
                return out;
            }
            out[best]++;
            left--;
        }
        return out;
    }

    /** Deals evenly, the remainder to the last; where one has no room for it, to the one before. */
    static int[] dealToLast(int count, int[] capacity) {
        return reversed(deal(count, reversed(capacity), new int[capacity.length]));
    }

    private static int[] reversed(int[] numbers) {
        return IntStream.range(0, numbers.length)
                .map(i -> numbers[numbers.length - 1 - i])
                .toArray();
    }

    /** Deals all GPUs of a task to one group if one has room for them, the remainder to the last. */
    private static int[] dealTasks(int count, int chunk, int[] capacity) {
        int[] tasks = dealToLast(
                count / chunk, Arrays.stream(capacity).map(m -> m / chunk).toArray());
        return Arrays.stream(tasks).sum() < count / chunk
                ? deal(count, capacity, new int[capacity.length])
                : Arrays.stream(tasks).map(t -> t * chunk).toArray();
    }

    // ---- parts of GPUs

    /**
     * Places parts of GPUs. Each part opens as many restricted units as one GPU has, wherever they are: parts of one
     * GPU may open those of others.
     */
    private Optional<Placed> withParts(Map<String, IndexSet> devices, int units) {
        int parts = 0;
        IndexSet gpus = IndexSet.empty();
        for (Map.Entry<String, IndexSet> e : devices.entrySet()) {
            if (SharedGpus.isShared(e.getKey())) {
                parts += e.getValue().count();
                gpus = gpus.union(SharedGpus.parts(node.spec.gres(), e.getKey()).gpusOf(e.getValue()));
            }
        }
        IndexSet its = gpus;
        List<GpuCores.Group> order = new ArrayList<>(map.groups());
        order.sort(
                java.util.Comparator.comparingInt(g -> g.gpus().intersect(its).isEmpty() ? 1 : 0));
        if (need.gpus().enforced()) {
            order.removeIf(g -> g.gpus().intersect(its).isEmpty());
        }
        int all = map.groups().stream().mapToInt(g -> g.gpus().count()).sum();
        int left = node.spec.restrictedPerGpu() * Math.min(parts, all);
        IndexSet out = IndexSet.empty();
        for (GpuCores.Group g : order) {
            IndexSet here = free.intersect(g.units()).minus(out);
            int before = out.count();
            out = UnitSets.fillUp(
                    out, here.intersect(map.restricted()), node.freeUnits, Math.min(units, before + left));
            left -= out.count() - before;
            out = UnitSets.fillUp(out, here.minus(map.restricted()), node.freeUnits, units);
        }
        out = need.gpus().enforced() ? out : UnitSets.fillUp(out, free.minus(map.restricted()), node.freeUnits, units);
        return out.count() < units ? Optional.empty() : Optional.of(new Placed(out, IndexSet.empty()));
    }
}
