package dev.muster.core.tres;

import dev.muster.core.state.Node;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.List;

/**
 * mps and shard: parts of GPUs. Parts of one GPU follow each other. They are as many of each GPU as gres.conf says
 * beside its file; where it says of none they are dealt evenly, and what is left over falls to the last. A job has
 * parts of one GPU of a node.
 */
public final class SharedGpus {
    private static final List<String> NAMES = List.of("mps", "shard");

    private SharedGpus() {}

    public static boolean isShared(String gres) {
        return NAMES.contains(gres);
    }

    /**
     * Parts of a node's GPUs.
     *
     * @param first the first part of each GPU in turn, and behind the last GPU how many there are
     */
    public record Parts(List<Integer> first) {
        static final Parts NONE = new Parts(List.of(0));

        /** Tests that nothing belongs to GPUs: the node has none of it, or no GPUs. */
        public boolean isEmpty() {
            return total() == 0;
        }

        public int total() {
            return first.getLast();
        }

        public int gpus() {
            return first.size() - 1;
        }

        public int count(int gpu) {
            return gpu < gpus() ? first.get(gpu + 1) - first.get(gpu) : 0;
        }

        public IndexSet of(int gpu) {
            return count(gpu) == 0 ? IndexSet.empty() : IndexSet.range(first.get(gpu), first.get(gpu + 1) - 1, 1);
        }

        /** Returns the number of parts of all these GPUs together. */
        public int count(IndexSet gpus) {
            int sum = 0;
            for (int g = gpus.first(); g >= 0; g = gpus.next(g + 1)) {
                sum += count(g);
            }
            return sum;
        }

        /** Returns the number of parts of the GPU that has most. */
        public int most() {
            int largest = 0;
            for (int g = 0; g < gpus(); g++) {
                largest = Math.max(largest, count(g));
            }
            return largest;
        }

        /** Returns the GPUs whose parts these are. */
        public IndexSet gpusOf(IndexSet parts) {
            IndexSet out = IndexSet.empty();
            for (int g = 0; g < gpus(); g++) {
                int next = count(g) == 0 ? -1 : parts.next(first.get(g));
                out = next >= 0 && next < first.get(g + 1) ? out.with(g) : out;
            }
            return out;
        }
    }

    public static Parts parts(List<Node.Gres> devices, String name) {
        int gpus = 0;
        int parts = 0;
        List<Integer> each = List.of();
        for (Node.Gres g : devices) {
            gpus += g.name().equals("gpu") ? g.count() : 0;
            parts += g.name().equals(name) ? g.count() : 0;
            each = g.name().equals(name) && !g.parts().isEmpty() ? g.parts() : each;
        }
        if (gpus == 0 || parts == 0 || !isShared(name)) {
            return Parts.NONE;
        }
        List<Integer> first = new ArrayList<>(List.of(0));
        for (int g = 0; g < gpus; g++) {
            int left = parts - first.getLast();
            int listed = g < each.size() ? each.get(g) : 0;
            first.add(first.getLast() + (each.isEmpty() ? left / (gpus - g) : Math.min(left, listed)));
        }
        return new Parts(List.copyOf(first));
    }

    /**
     * Tests whether one GPU of a node gives parts at a time: while jobs have parts of one, the node's other GPUs give
     * none; so for mps, unless gres.conf has Flags=all_sharing.
     */
    public static boolean isOneSharing(List<Node.Gres> devices, String name) {
        List<String> flags = devices.stream()
                .filter(g -> g.name().equals(name))
                .flatMap(g -> g.flags().stream())
                .toList();
        return flags.contains("one_sharing") || name.equals("mps") && !flags.contains("all_sharing");
    }

    /**
     * Tests whether the request combines whole GPUs with parts of GPUs, or parts with a GPU frequency, which is not
     * possible.
     */
    public static boolean clash(dev.muster.model.job.ResourceRequest r, String frequency) {
        boolean whole = false;
        boolean part = false;
        for (String tres : List.of(r.tresPerNode(), r.tresPerJob(), r.tresPerTask(), r.tresPerSocket())) {
            for (Tres.Item item : Tres.isValid(tres) ? Tres.gres(tres) : List.<Tres.Item>of()) {
                whole |= item.name().equals("gpu") && item.count() > 0;
                part |= isShared(item.name()) && item.count() > 0;
            }
        }
        return part && (whole || !frequency.isEmpty());
    }
}
