package dev.muster.core.step;

import dev.muster.model.format.HostList;
import dev.muster.model.job.Distribution;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Layout of a step: which of its ranks run on which of its nodes. */
public final class TaskLayout {
    private TaskLayout() {}

    /**
     * Returns the ranks of each node.
     *
     * @param slots how many tasks each node has room for; together at least as many as there are tasks
     */
    static List<List<Integer>> of(Distribution distribution, List<Integer> slots, int tasks) {
        List<List<Integer>> ranks = new ArrayList<>();
        slots.forEach(s -> ranks.add(new ArrayList<>()));
        switch (distribution.nodes()) {
            case CYCLIC -> deal(ranks, slots, tasks, 1);
            case PLANE -> deal(ranks, slots, tasks, distribution.plane());
            // arbitrary layouts come by their own list: without one they are as if nothing was said
            case UNSET, BLOCK, ARBITRARY ->
                block(
                        ranks,
                        distribution.packing() == Distribution.Packing.PACK
                                ? packed(slots, tasks)
                                : even(slots, tasks));
        }
        return ranks;
    }

    /** Deals the counts one by one over the nodes, so that none stays without, then fills them in order. */
    private static int[] even(List<Integer> slots, int tasks) {
        int[] counts = new int[slots.size()];
        int left = tasks;
        while (left > 0) {
            for (int i = 0; i < counts.length && left > 0; i++) {
                if (counts[i] < slots.get(i)) {
                    counts[i]++;
                    left--;
                }
            }
        }
        return counts;
    }

    /** A node is full before the next one gets more than the one task that every node has. */
    private static int[] packed(List<Integer> slots, int tasks) {
        int[] counts = new int[slots.size()];
        int left = tasks;
        for (int i = 0; i < counts.length && left > 0; i++) {
            counts[i] = 1;
            left--;
        }
        for (int i = 0; i < counts.length && left > 0; i++) {
            int more = Math.min(left, slots.get(i) - counts[i]);
            counts[i] += more;
            left -= more;
        }
        return counts;
    }

    private static void block(List<List<Integer>> ranks, int[] counts) {
        int rank = 0;
        for (int i = 0; i < counts.length; i++) {
            for (int k = 0; k < counts[i]; k++) {
                ranks.get(i).add(rank++);
            }
        }
    }

    private static void deal(List<List<Integer>> ranks, List<Integer> slots, int tasks, int plane) {
        int rank = 0;
        while (rank < tasks) {
            for (int i = 0; i < slots.size() && rank < tasks; i++) {
                for (int k = 0; k < plane && rank < tasks && ranks.get(i).size() < slots.get(i); k++) {
                    ranks.get(i).add(rank++);
                }
            }
        }
    }

    /**
     * Returns the node of each rank as the user listed it: the names in their order, ranges spread out, repetitions
     * kept.
     */
    public static Optional<List<String>> listed(String hosts) {
        List<String> out = new ArrayList<>();
        int depth = 0;
        StringBuilder item = new StringBuilder();
        for (char c : (hosts + ",").toCharArray()) {
            if (c == '[') {
                depth++;
            } else if (c == ']') {
                depth--;
            }
            if (c != ',' || depth > 0) {
                item.append(c);
                continue;
            }
            if (!item.isEmpty()) {
                if (!(HostList.parse(item.toString()) instanceof HostList.Parsed.Ok ok)) {
                    return Optional.empty();
                }
                out.addAll(ok.list().names());
                item.setLength(0);
            }
        }
        return Optional.of(out);
    }
}
