package dev.muster.scheduler.timeline;

import static java.util.Objects.requireNonNull;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Node;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.SharedGpus;
import dev.muster.core.tres.Tres;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.node.JobDevices;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Free generic resources by node and slot, for each kind that a waiting job wants: GPUs of a type, shards and others.
 * The plan counts devices and does not choose them. Parts of GPUs and whole GPUs exclude each other as if every part
 * were of a GPU of its own.
 */
public final class DevicePlan {
    /** All devices of a name, or those of one type; "" for any. */
    record Kind(String name, String type) {}

    /** @param free by slot and node */
    private record Column(Kind kind, int[][] free) {}

    private final State state;
    private final PlanningNodes planningNodes;
    private final List<String> nodes;
    private final int slots;
    /** Free CPUs beside devices, by slot and node; below, free memory: GPUs may bring both along. */
    private final int[][] cpus;

    private final int[][] memoryMb;
    private final Map<Kind, Column> columns = new LinkedHashMap<>();

    public DevicePlan(State state, PlanningNodes planningNodes, int[][] cpus, int[][] memoryMb) {
        this.state = state;
        this.planningNodes = planningNodes;
        this.nodes = planningNodes.names();
        this.slots = cpus.length;
        this.cpus = cpus;
        this.memoryMb = memoryMb;
    }

    /** Notes the devices that a waiting job wants; call it before {@link #fill}. */
    public void want(ResourceNeed need) {
        for (Kind kind : kinds(need)) {
            columns.computeIfAbsent(kind, this::column);
        }
    }

    public static Set<Kind> kinds(ResourceNeed need) {
        Set<Kind> out = new LinkedHashSet<>();
        for (List<Tres.Item> items : List.of(need.gresPerNode(), need.gresPerTask(), need.gresPerJob())) {
            for (Tres.Item item : items) {
                out.add(new Kind(item.name(), ""));
                out.add(new Kind(item.name(), item.type()));
            }
        }
        return out;
    }

    private Column column(Kind kind) {
        return new Column(kind, new int[slots][nodes.size()]);
    }

    /** Returns the free devices of a name by slot and node; empty if no waiting job wants them. */
    public int[][] all(String name) {
        Column c = columns.get(new Kind(name, ""));
        return c == null ? new int[0][] : c.free;
    }

    /** Takes up what the nodes have. Jobs come afterwards, with {@link #held}. */
    public void fill() {
        // a request without a type takes devices of the types that others want
        Set<String> typed = columns.keySet().stream()
                .filter(k -> !k.type.isEmpty())
                .map(Kind::name)
                .collect(Collectors.toSet());
        for (int n = 0; n < nodes.size() && !typed.isEmpty(); n++) {
            state.nodes().at(nodes.get(n)).spec().gres().stream()
                    .filter(g -> typed.contains(g.name()))
                    .forEach(g -> columns.computeIfAbsent(new Kind(g.name(), g.type()), this::column));
        }
        for (Column c : columns.values()) {
            for (int n = 0; n < nodes.size(); n++) {
                Node.Spec spec = state.nodes().at(nodes.get(n)).spec();
                IndexSet all = devices(c.kind, spec);
                c.free[0][n] = (planningNodes.isPart(n)
                                ? all.intersect(own(planningNodes.part(n), spec, c.kind.name))
                                : all)
                        .count();
            }
            for (int s = 1; s < slots; s++) {
                System.arraycopy(c.free[0], 0, c.free[s], 0, nodes.size());
            }
        }
    }

    /**
     * Returns the devices that jobs of a reservation may have: its own where it has some of them, and any where it has
     * cores alone.
     */
    private static IndexSet own(PlanningNodes.Part part, Node.Spec spec, String device) {
        Reservation r = part.area().reservation();
        boolean some = r.gres().values().stream().anyMatch(g -> g.containsKey(device));
        return some
                ? r.gres().getOrDefault(spec.name(), Map.of()).getOrDefault(device, IndexSet.empty())
                : GresRequest.devices(spec, device, "");
    }

    private static IndexSet devices(Kind kind, Node.Spec spec) {
        return GresRequest.devices(spec, kind.name, kind.type);
    }

    /** Notes that a job has the share's devices until that slot. */
    public void held(int node, Allocation.Share share, int end) {
        for (Column c : share.gres().isEmpty() ? List.<Column>of() : columns.values()) {
            Node.Spec spec = state.nodes().at(nodes.get(node)).spec();
            IndexSet had = share.gres().getOrDefault(c.kind.name, IndexSet.empty());
            int count = c.kind.type.isEmpty()
                    ? had.count()
                    : had.intersect(devices(c.kind, spec)).count();
            for (Map.Entry<String, IndexSet> other : share.gres().entrySet()) {
                count += c.kind.name.equals(other.getKey()) ? 0 : besides(c, spec, other.getKey(), other.getValue());
            }
            take(c, node, count, 0, end);
        }
    }

    /** Whole GPUs are no parts for others, nor the other way round. */
    private static int besides(Column c, Node.Spec spec, String name, IndexSet had) {
        if (name.equals("gpu") && SharedGpus.isShared(c.kind.name)) {
            return SharedGpus.parts(spec.gres(), c.kind.name).count(had);
        }
        return !c.kind.name.equals("gpu") || !SharedGpus.isShared(name)
                ? 0
                : SharedGpus.parts(spec.gres(), name)
                        .gpusOf(had)
                        .intersect(devices(c.kind, spec))
                        .count();
    }

    private void take(Column c, int node, int count, int from, int end) {
        for (int s = from; s < end && count != 0; s++) {
            c.free[s][node] -= count;
        }
    }

    private int free(Tres.Item item, int node, int from, int end) {
        Kind kind = new Kind(item.name(), item.type());
        int[][] free = requireNonNull(columns.get(kind), "want() made a column for each request").free;
        int least = Integer.MAX_VALUE;
        for (int s = from; s < end; s++) {
            least = Math.min(least, free[s][node]);
        }
        return least;
    }

    /** Returns an upper bound of the need's tasks that find their devices on the node in all these slots. */
    public long tasks(ResourceNeed need, int node, int from, int end) {
        for (Tres.Item item : need.gresPerNode()) {
            if (free(item, node, from, end) < item.count()) {
                return 0;
            }
        }
        for (Tres.Item item : need.gresPerJob()) {
            if (item.count() > 0 && free(item, node, from, end) < 1) {
                return 0;
            }
        }
        long tasks = Long.MAX_VALUE;
        for (Tres.Item item : need.gresPerTask()) {
            tasks = item.count() == 0 ? tasks : Math.min(tasks, free(item, node, from, end) / item.count());
        }
        return tasks;
    }

    /** Returns the number of devices of a node that the need can have in all these slots. */
    public int usable(ResourceNeed need, Tres.Item item, int node, int from, int end) {
        int count = Math.max(0, free(item, node, from, end));
        if (item.name().equals("gpu") && need.gpus().cpus() > 0) {
            count = Math.min(
                    count,
                    Math.max(0, least(cpus, node, from, end)) / need.gpus().cpus());
            if (need.memPerCpuMb() > 0) {
                count = (int) Math.min(
                        count,
                        Math.max(0, least(memoryMb, node, from, end))
                                / need.memPerCpuMb()
                                / need.gpus().cpus());
            }
        }
        if (item.name().equals("gpu") && need.gpus().memoryMb() > 0) {
            count = (int) Math.min(
                    count,
                    Math.max(0, least(memoryMb, node, from, end)) / need.gpus().memoryMb());
        }
        return count;
    }

    private static int least(int[][] of, int node, int from, int end) {
        int least = Integer.MAX_VALUE;
        for (int s = from; s < end; s++) {
            least = Math.min(least, of[s][node]);
        }
        return least;
    }

    /** Tests whether these nodes together have all that the job asks for as a whole. */
    public boolean suffice(ResourceNeed need, int[] found, int count, int from, int end) {
        for (Tres.Item item : need.gresPerJob()) {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += usable(need, item, found[i], from, end);
            }
            if (sum < item.count()) {
                return false;
            }
        }
        return true;
    }

    /** Returns each node's part of the job's total devices, as dealt by {@link JobDevices}. */
    public int[][] dealt(ResourceNeed need, int[] found, int count, int from, int end) {
        int[][] out = new int[need.gresPerJob().size()][];
        for (int i = 0; i < out.length; i++) {
            Tres.Item item = need.gresPerJob().get(i);
            int[] usable = new int[count];
            for (int n = 0; n < count; n++) {
                usable[n] = usable(need, item, found[n], from, end);
            }
            out[i] = JobDevices.deal(item.count(), usable);
        }
        return out;
    }

    /**
     * Takes the devices of the need on the found nodes, each with its number of tasks.
     *
     * @param ofJob as {@link #dealt}
     */
    public void take(ResourceNeed need, int[] found, int[] tasks, int count, int[][] ofJob, int from, int end) {
        if (columns.isEmpty()) {
            return;
        }
        for (int i = 0; i < count; i++) {
            for (Tres.Item item : need.gresPerNode()) {
                take(item, found[i], item.count(), from, end);
            }
            for (Tres.Item item : need.gresPerTask()) {
                take(item, found[i], item.count() * tasks[i], from, end);
            }
        }
        for (int item = 0; item < ofJob.length; item++) {
            for (int i = 0; i < count; i++) {
                take(need.gresPerJob().get(item), found[i], ofJob[item][i], from, end);
            }
        }
    }

    private void take(Tres.Item item, int node, int count, int from, int end) {
        Node.Spec spec = state.nodes().at(nodes.get(node)).spec();
        Map<String, Integer> types =
                item.type().isEmpty() ? byType(spec, item.name(), node, count, from, end) : Map.of(item.type(), count);
        for (Column c : columns.values()) {
            boolean same = c.kind.name.equals(item.name());
            if (same) {
                take(c, node, c.kind.type.isEmpty() ? count : types.getOrDefault(c.kind.type, 0), from, end);
            } else if (item.name().equals("gpu") && SharedGpus.isShared(c.kind.name)) {
                take(c, node, count * SharedGpus.parts(spec.gres(), c.kind.name).most(), from, end);
            } else if (c.kind.name.equals("gpu") && SharedGpus.isShared(item.name())) {
                int perDevice = SharedGpus.parts(spec.gres(), item.name()).most();
                take(c, node, perDevice == 0 ? 0 : (count + perDevice - 1) / perDevice, from, end);
            }
        }
    }

    /** Deals devices without a type: they are of the first type that the node has, and then of the next. */
    private Map<String, Integer> byType(Node.Spec spec, String name, int node, int count, int from, int end) {
        Map<String, Integer> out = new LinkedHashMap<>();
        int left = count;
        for (Node.Gres g : spec.gres()) {
            if (g.name().equals(name) && columns.containsKey(new Kind(name, g.type())) && !out.containsKey(g.type())) {
                int here = Math.clamp(free(new Tres.Item(name, g.type(), 1), node, from, end), 0, left);
                out.put(g.type(), here);
                left -= here;
            }
        }
        return out;
    }
}
