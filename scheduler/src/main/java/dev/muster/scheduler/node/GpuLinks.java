package dev.muster.scheduler.node;

import dev.muster.core.state.Node;
import dev.muster.model.format.IndexSet;
import java.util.Arrays;

/**
 * The links between a node's GPUs, as Links of gres.conf says: a job with several GPUs gets those with the most links
 * among them.
 */
final class GpuLinks {
    /** Links of a node of which nothing is said. */
    static final GpuLinks NONE = new GpuLinks(new int[0][]);

    private final int[][] links;

    private GpuLinks(int[][] links) {
        this.links = links;
    }

    static GpuLinks of(Node.Spec spec) {
        if (spec.gres().stream()
                .noneMatch(g -> g.name().equals("gpu") && !g.links().isEmpty())) {
            return NONE;
        }
        int count = spec.gres().stream()
                .filter(g -> g.name().equals("gpu"))
                .mapToInt(g -> g.first() + g.count())
                .max()
                .orElse(0);
        int[][] out = new int[count][0];
        for (Node.Gres g : spec.gres()) {
            for (int i = 0;
                    g.name().equals("gpu") && i < Math.min(g.count(), g.links().size());
                    i++) {
                out[g.first() + i] = Arrays.stream(g.links().get(i).split(","))
                        .map(String::strip)
                        .filter(w -> w.matches("-?[0-9]{1,9}"))
                        .mapToInt(Integer::parseInt)
                        .toArray();
            }
        }
        return new GpuLinks(out);
    }

    /**
     * Chooses GPUs: from each start, adds the GPU with the most links to those chosen, and takes the set with the most
     * links; otherwise the first GPUs.
     */
    IndexSet choose(IndexSet free, int count) {
        if (links.length == 0 || count < 2 || count >= free.count()) {
            return UnitSets.firstOf(free, count);
        }
        IndexSet best = IndexSet.empty();
        long mostLinks = -1;
        for (int seed = free.first(); seed >= 0; seed = free.next(seed + 1)) {
            IndexSet chosen = IndexSet.of(seed);
            long sum = 0;
            while (chosen.count() < count) {
                int next = -1;
                for (int g = free.first(); g >= 0; g = free.next(g + 1)) {
                    next = !chosen.contains(g) && (next < 0 || between(g, chosen) > between(next, chosen)) ? g : next;
                }
                sum += between(next, chosen);
                chosen = chosen.with(next);
            }
            if (sum > mostLinks) {
                mostLinks = sum;
                best = chosen;
            }
        }
        return best;
    }

    private long between(int gpu, IndexSet chosen) {
        long sum = 0;
        for (int g = chosen.first(); g >= 0; g = chosen.next(g + 1)) {
            int forward = gpu < links.length && g < links[gpu].length ? links[gpu][g] : 0;
            int backward = g < links.length && gpu < links[g].length ? links[g][gpu] : 0;
            sum += Math.max(0, Math.max(forward, backward));
        }
        return sum;
    }
}
