package dev.muster.core;

import dev.muster.model.IndexSet;
import java.util.List;

/**
 * mps and shard: parts of GPUs. Parts of one GPU follow each other, so many as fall to each. A job has parts of one GPU of a node, with
 * Flags=all_sharing of several.
 */
public final class SharedGpus {
    private static final List<String> NAMES = List.of("mps", "shard");

    private SharedGpus() {}

    public static boolean isShared(String gres) {
        return NAMES.contains(gres);
    }

    /** Parts of each GPU of a node; 0 if it has no GPUs to share. */
    public static int perGpu(List<Node.Gres> devices, String name) {
        int gpus = 0;
        int parts = 0;
        for (Node.Gres g : devices) {
            gpus += g.name().equals("gpu") ? g.count() : 0;
            parts += g.name().equals(name) ? g.count() : 0;
        }
        return gpus == 0 ? 0 : parts / gpus;
    }

    /** All parts of one GPU. */
    public static IndexSet parts(int gpu, int perGpu) {
        return perGpu == 0 ? IndexSet.empty() : IndexSet.range(gpu * perGpu, (gpu + 1) * perGpu - 1, 1);
    }

    /** The GPUs whose parts these are. */
    public static IndexSet gpusOf(IndexSet parts, int perGpu) {
        IndexSet out = IndexSet.empty();
        for (int part = perGpu == 0 ? -1 : parts.first(); part >= 0; part = parts.next((part / perGpu + 1) * perGpu)) {
            out = out.with(part / perGpu);
        }
        return out;
    }

    /** Both whole GPUs and parts of them, or parts with a frequency of their own: nobody can have that. */
    public static boolean clash(dev.muster.model.ResourceRequest r, String frequency) {
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
