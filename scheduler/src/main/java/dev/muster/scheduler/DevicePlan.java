package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.GresRequest;
import dev.muster.core.Node;
import dev.muster.core.Reservation;
import dev.muster.core.SharedGpus;
import dev.muster.core.State;
import dev.muster.core.Tres;
import dev.muster.model.IndexSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How many generic resources of each kind that somebody waits for are free on each node when: GPUs of a type, shards, or what else nodes have.
 * Which of them a job gets is not planned. Parts of GPUs and whole ones keep each other away as if every part were of a GPU of its own.
 */
final class DevicePlan {
    /** All of a name, or those of one type; "" for any. */
    private record Kind(String name, String type) {}

    /** @param free by slot and node */
    private record Column(Kind kind, int[][] free) {}

    private final State state;
    private final Ground ground;
    private final List<String> nodes;
    private final int slots;
    private final Map<Kind, Column> columns = new LinkedHashMap<>();

    DevicePlan(State state, Ground ground, int slots) {
        this.state = state;
        this.ground = ground;
        this.nodes = ground.names();
        this.slots = slots;
    }

    /** Somebody waits for such: before {@link #fill}. */
    void want(Need need) {
        for (List<Tres.Item> items : List.of(need.gresPerNode(), need.gresPerTask(), need.gresPerJob())) {
            for (Tres.Item item : items) {
                for (String type : List.of("", item.type())) {
                    columns.computeIfAbsent(new Kind(item.name(), type), k -> new Column(k, new int[slots][nodes.size()]));
                }
            }
        }
    }

    /** Free ones of a name by slot and node; empty if nobody waits for such. */
    int[][] all(String name) {
        Column c = columns.get(new Kind(name, ""));
        return c == null ? new int[0][] : c.free;
    }

    /** Takes up what the nodes have. Jobs come afterwards, with {@link #held}. */
    void fill() {
        for (Column c : columns.values()) {
            for (int n = 0; n < nodes.size(); n++) {
                Node.Spec spec = state.nodes().at(nodes.get(n)).spec();
                IndexSet all = devices(c.kind, spec);
                c.free[0][n] = (ground.isPart(n) ? all.intersect(own(ground.part(n), spec, c.kind.name)) : all).count();
            }
            for (int s = 1; s < slots; s++) {
                System.arraycopy(c.free[0], 0, c.free[s], 0, nodes.size());
            }
        }
    }

    /** What jobs of a reservation may have: its own where it has some of them, and any where it has cores alone. */
    private static IndexSet own(Ground.Part part, Node.Spec spec, String device) {
        Reservation r = part.area().reservation();
        boolean some = r.gres().values().stream().anyMatch(g -> g.containsKey(device));
        return some ? r.gres().getOrDefault(spec.name(), Map.of()).getOrDefault(device, IndexSet.empty()) : GresRequest.devices(spec, device, "");
    }

    private static IndexSet devices(Kind kind, Node.Spec spec) {
        return GresRequest.devices(spec, kind.name, kind.type);
    }

    /** A job has them until that slot. */
    void held(int node, Allocation.Share share, int end) {
        for (Column c : share.gres().isEmpty() ? List.<Column>of() : columns.values()) {
            Node.Spec spec = state.nodes().at(nodes.get(node)).spec();
            IndexSet had = share.gres().getOrDefault(c.kind.name, IndexSet.empty());
            int count = c.kind.type.isEmpty() ? had.count() : had.intersect(devices(c.kind, spec)).count();
            for (Map.Entry<String, IndexSet> other : share.gres().entrySet()) {
                count += c.kind.name.equals(other.getKey()) ? 0 : besides(c, spec, other.getKey(), other.getValue());
            }
            take(c, node, count, 0, end);
        }
    }

    /** Whole GPUs are no parts for others, nor the other way round. */
    private static int besides(Column c, Node.Spec spec, String name, IndexSet had) {
        if (name.equals("gpu") && SharedGpus.isShared(c.kind.name)) {
            return had.count() * SharedGpus.perGpu(spec.gres(), c.kind.name);
        }
        int per = c.kind.name.equals("gpu") && SharedGpus.isShared(name) ? SharedGpus.perGpu(spec.gres(), name) : 0;
        return per == 0 ? 0 : SharedGpus.gpusOf(had, per).intersect(devices(c.kind, spec)).count();
    }

    private void take(Column c, int node, int count, int from, int end) {
        for (int s = from; s < end && count != 0; s++) {
            c.free[s][node] -= count;
        }
    }

    private int free(Tres.Item item, int node, int from, int end) {
        int[][] free = columns.get(new Kind(item.name(), item.type())).free;
        int least = Integer.MAX_VALUE;
        for (int s = from; s < end; s++) {
            least = Math.min(least, free[s][node]);
        }
        return least;
    }

    /** So many tasks of the need find their devices on the node in all these slots, at most. */
    long tasks(Need need, int node, int from, int end) {
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

    /** Together these nodes have all that the job asks for as a whole. */
    boolean suffice(Need need, int[] found, int count, int from, int end) {
        for (Tres.Item item : need.gresPerJob()) {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += Math.max(0, free(item, found[i], from, end));
            }
            if (sum < item.count()) {
                return false;
            }
        }
        return true;
    }

    /** Takes what the need gets on nodes with so many tasks each. */
    void take(Need need, int[] found, int[] tasks, int count, int from, int end) {
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
        for (Tres.Item item : need.gresPerJob()) {
            int left = item.count();
            for (int i = 0; i < count && left > 0; i++) {
                // one at least for each node to come
                int here = Math.clamp(left - (count - 1 - i), 0, Math.max(0, free(item, found[i], from, end)));
                take(item, found[i], here, from, end);
                left -= here;
            }
        }
    }

    private void take(Tres.Item item, int node, int count, int from, int end) {
        Node.Spec spec = state.nodes().at(nodes.get(node)).spec();
        for (Column c : columns.values()) {
            boolean same = c.kind.name.equals(item.name());
            if (same && (c.kind.type.isEmpty() || c.kind.type.equals(item.type()) || isOfOneType(spec, item))) {
                take(c, node, count, from, end);
            } else if (!same && item.name().equals("gpu") && SharedGpus.isShared(c.kind.name)) {
                take(c, node, count * SharedGpus.perGpu(spec.gres(), c.kind.name), from, end);
            } else if (!same && c.kind.name.equals("gpu") && SharedGpus.isShared(item.name())) {
                int per = SharedGpus.perGpu(spec.gres(), item.name());
                take(c, node, per == 0 ? 0 : (count + per - 1) / per, from, end);
            }
        }
    }

    /** Whatever is taken without a type is of that one. */
    private static boolean isOfOneType(Node.Spec spec, Tres.Item item) {
        return item.type().isEmpty() && spec.gres().stream().filter(g -> g.name().equals(item.name())).map(Node.Gres::type).distinct().count() == 1;
    }
}
