package dev.muster.model.cluster;

import java.util.ArrayList;
import java.util.List;

/** Tree in which messages reach many nodes over few connections: each node passes on to at most TreeWidth others. */
public final class LaunchTree {
    /** Slurm's largest TreeWidth: no tree, every node is reached directly. */
    public static final int WIDTH_MAX = 65_533;

    /**
     * Interval of a relay's heartbeats, in milliseconds. A node that receives none for {@link #SILENT_MS} goes around
     * the relay.
     */
    public static final int BEAT_MS = 2_500;

    public static final int SILENT_MS = 10_000;

    private LaunchTree() {}

    /**
     * Neighbours in the list stay together. The first of each branch is reached directly and reaches the others of it,
     * in branches again.
     *
     * @param width at least 1
     * @return at most width branches, none empty, of sizes that differ by one at most, the larger ones first
     */
    public static <T> List<List<T>> branches(List<T> nodes, int width) {
        int count = Math.min(Math.max(1, width), nodes.size());
        List<List<T>> out = new ArrayList<>(count);
        int from = 0;
        for (int i = 0; i < count; i++) {
            int size = nodes.size() / count + (i < nodes.size() % count ? 1 : 0);
            out.add(List.copyOf(nodes.subList(from, from + size)));
            from += size;
        }
        return out;
    }

    /** Length of the longest chain of connections to one of {@code nodes} nodes. */
    public static int levels(int nodes, int width) {
        int levels = 0;
        for (int remaining = nodes;
                remaining > 0;
                remaining = (remaining + Math.max(1, width) - 1) / Math.max(1, width) - 1) {
            levels++;
        }
        return levels;
    }

    /**
     * Task numbers as srun writes them, {@code 0-3,8}.
     *
     * @throws IllegalArgumentException where it is no such list, or names more than most
     */
    public static List<Integer> ranks(String text, int maximum) {
        List<Integer> out = new ArrayList<>();
        for (String part : text.isEmpty() ? new String[0] : text.split(",")) {
            int dash = part.indexOf('-');
            int from = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
            int to = dash < 0 ? from : Integer.parseInt(part.substring(dash + 1));
            if (from < 0 || to < from || to - from >= maximum - out.size()) {
                throw new IllegalArgumentException("bad list of tasks");
            }
            for (int rank = from; rank <= to; rank++) {
                out.add(rank);
            }
        }
        return out;
    }
}
