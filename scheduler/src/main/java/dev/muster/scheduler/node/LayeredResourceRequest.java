package dev.muster.scheduler.node;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.tres.Licenses;
import dev.muster.model.cluster.LayeredResource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/** Layered resources that a need asks for: on which nodes it can have them, and what it takes of which layers there. */
public final class LayeredResourceRequest {
    /** A resource, how many of it are asked for, and how many of each layer are free. */
    private record AskedResource(LayeredResource resource, int count, Map<LayeredResource.Layer, Integer> free) {
        boolean has(LayeredResource.Layer layer) {
            return free.getOrDefault(layer, 0) >= count;
        }

        public boolean allows(String node) {
            List<LayeredResource.Layer> of = resource.of(node);
            return resource.mode() == 1
                    ? of.stream().anyMatch(this::has)
                    : !of.isEmpty() && of.stream().allMatch(this::has);
        }
    }

    private final List<AskedResource> asked = new ArrayList<>();
    private final Map<String, Boolean> allowedByNode = new HashMap<>();

    /** @param free of a pool of {@link Licenses#pools}, over the time of the need */
    public LayeredResourceRequest(List<LayeredResource> all, LicenseRequest.Wanted wanted, ToIntFunction<String> free) {
        for (LicenseRequest.Item item : wanted.items()) {
            for (LayeredResource r : all) {
                if (r.name().equals(item.name()) && item.count() > 0) {
                    Map<LayeredResource.Layer, Integer> left = new HashMap<>();
                    r.layers().forEach(l -> left.put(l, free.applyAsInt(r.pool(l))));
                    asked.add(new AskedResource(r, item.count(), left));
                }
            }
        }
    }

    public boolean isEmpty() {
        return asked.isEmpty();
    }

    public boolean allows(String node) {
        return allowedByNode.computeIfAbsent(node, n -> asked.stream().allMatch(a -> a.allows(n)));
    }

    /**
     * Returns the candidates that can be had together, in several ways: in their order; those with room for most tasks
     * first; and each of the smallest layers first. Any of the nodes of a way may be picked. Empty if the required
     * ones, which are the first, cannot be had together.
     */
    List<List<Candidate>> ways(List<Candidate> able, int required) {
        AskedResource counted =
                asked.stream().filter(a -> a.resource.mode() == 3).findFirst().orElse(null);
        if (counted == null) {
            return List.of(able);
        }
        List<List<Candidate>> out = new ArrayList<>();
        add(out, within(counted, able, required, (_, _) -> 0));
        add(out, within(counted, able, required, Comparator.comparingInt(c -> -c.tasks())));
        for (LayeredResource.Layer leaf : counted.resource.layers()) {
            if (counted.resource.layers().stream()
                    .noneMatch(l -> l.nodes().size() < leaf.nodes().size()
                            && leaf.nodes().containsAll(l.nodes()))) {
                Set<String> first = new HashSet<>(leaf.nodes());
                add(
                        out,
                        within(
                                counted,
                                able,
                                required,
                                Comparator.comparingInt(
                                        c -> first.contains(c.node().spec.name()) ? 0 : 1)));
            }
        }
        return out;
    }

    private static void add(List<List<Candidate>> out, List<Candidate> way) {
        if (!way.isEmpty() && !out.contains(way)) {
            out.add(way);
        }
    }

    /**
     * Layers lie one within the other, so taking what still goes, one after the other, ends with as many as there can
     * be.
     */
    private static List<Candidate> within(
            AskedResource a, List<Candidate> able, int required, Comparator<Candidate> order) {
        List<Candidate> tried = new ArrayList<>(able);
        tried.subList(required, tried.size()).sort(order);
        Map<LayeredResource.Layer, Integer> left = new HashMap<>();
        a.free.forEach((layer, free) -> left.put(layer, free / a.count));
        List<Candidate> out = new ArrayList<>();
        for (int i = 0; i < tried.size(); i++) {
            List<LayeredResource.Layer> of =
                    a.resource.of(tried.get(i).node().spec.name());
            if (of.stream().allMatch(l -> left.getOrDefault(l, 0) > 0)) {
                of.forEach(l -> left.merge(l, -1, Integer::sum));
                out.add(tried.get(i));
            } else if (i < required) {
                return List.of();
            }
        }
        return out;
    }

    /** Returns the licenses that are taken with these nodes. */
    public List<LicenseRequest.Item> taken(List<String> nodes) {
        List<LicenseRequest.Item> out = new ArrayList<>();
        for (AskedResource a : asked) {
            List<LayeredResource.Layer> touched = new ArrayList<>(a.resource.layers().stream()
                    .filter(l -> nodes.stream().anyMatch(l.nodes()::contains))
                    .toList());
            if (a.resource.mode() == 1) {
                touched.removeIf(l -> !a.has(l));
                touched.sort(Comparator.comparingInt(l -> l.nodes().size()));
            }
            for (LayeredResource.Layer l :
                    a.resource.mode() == 1 ? touched.subList(0, Math.min(1, touched.size())) : touched) {
                long times = a.resource.mode() == 3
                        ? nodes.stream().filter(l.nodes()::contains).count()
                        : 1;
                out.add(new LicenseRequest.Item(
                        a.resource.pool(l), (int) Math.min(Integer.MAX_VALUE, a.count * times)));
            }
        }
        return out;
    }
}
