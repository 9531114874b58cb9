package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.Node;
import dev.muster.model.IndexSet;
import java.util.Map;
import java.util.TreeMap;

/** What is free on a node now. Mutable; owned by the core thread. */
final class NodeSlot {
    final int index;
    Node.Spec spec;
    boolean usable;
    /** Without power: it is started for whoever gets it. */
    boolean asleep;
    IndexSet freeUnits;
    long freeMemoryMb;
    final Map<String, IndexSet> freeGres = new TreeMap<>();
    int holders;
    /** How many jobs hold each unit: more than one where they share it. */
    private int[] unitHolders = new int[0];
    /** Of these, jobs of a partition that share; empty where nobody does. */
    private final Map<String, int[]> sharers = new TreeMap<>();
    /** CPUs held by jobs of each partition; a job of several counts in all of them. */
    private final Map<String, Integer> cpusHeld = new TreeMap<>();

    NodeSlot(int index, Node node) {
        this.index = index;
        take(node);
    }

    /** Takes the node's configuration up; everything on it counts as free until {@link #hold}. */
    void take(Node node) {
        spec = node.spec();
        usable = node.isUsable();
        freeUnits = IndexSet.range(0, Math.max(0, spec.units() - 1), 1);
        if (spec.units() == 0) {
            freeUnits = IndexSet.empty();
        }
        freeUnits = freeUnits.minus(spec.reservedUnits());
        freeMemoryMb = Math.max(0, spec.memoryMb() - spec.memSpecLimitMb());
        freeGres.clear();
        for (Node.Gres g : spec.gres()) {
            if (g.count() > 0) {
                freeGres.merge(g.name(), IndexSet.range(g.first(), g.first() + g.count() - 1, 1), IndexSet::union);
            }
        }
        holders = 0;
        unitHolders = new int[spec.units()];
        sharers.clear();
        cpusHeld.clear();
    }

    void hold(Allocation.Share share, String partitions) {
        hold(share, partitions, false);
    }

    void release(Allocation.Share share, String partitions) {
        release(share, partitions, false);
    }

    /** @param unitsOnly cores come and go, memory and devices stay: what suspension does */
    void hold(Allocation.Share share, String partitions, boolean unitsOnly) {
        for (int u = share.cores().first(); u >= 0; u = share.cores().next(u + 1)) {
            if (u < unitHolders.length) {
                unitHolders[u]++;
            }
        }
        freeUnits = freeUnits.minus(share.cores());
        holders++;
        count(partitions, share.cpus());
        if (!unitsOnly) {
            holdRest(share);
        }
    }

    void release(Allocation.Share share, String partitions, boolean unitsOnly) {
        IndexSet free = share.cores();
        for (int u = share.cores().first(); u >= 0; u = share.cores().next(u + 1)) {
            if (u < unitHolders.length && --unitHolders[u] > 0) {
                free = free.without(u);
            }
        }
        freeUnits = freeUnits.union(free.minus(spec.reservedUnits()));
        holders--;
        count(partitions, -share.cpus());
        if (!unitsOnly) {
            releaseRest(share);
        }
    }

    /** Jobs of a partition that share came to units, or left them. */
    void share(String partition, IndexSet units, int jobs) {
        int[] counts = sharers.computeIfAbsent(partition, p -> new int[spec.units()]);
        for (int u = units.first(); u >= 0; u = units.next(u + 1)) {
            if (u < counts.length) {
                counts[u] += jobs;
            }
        }
    }

    /** Units that only jobs of the partition have which share, and fewer than so many. */
    IndexSet shareable(String partition, int most) {
        int[] counts = sharers.get(partition);
        IndexSet out = IndexSet.empty();
        for (int u = 0; counts != null && u < counts.length; u++) {
            if (counts[u] > 0 && counts[u] < most && counts[u] == unitHolders[u]) {
                out = out.with(u);
            }
        }
        return out;
    }

    boolean isShared() {
        return !sharers.isEmpty();
    }

    void holdRest(Allocation.Share share) {
        freeMemoryMb -= share.memoryMb();
        share.gres().forEach((name, devices) -> freeGres.computeIfPresent(name, (n, free) -> free.minus(devices)));
    }

    void releaseRest(Allocation.Share share) {
        freeMemoryMb += share.memoryMb();
        share.gres().forEach((name, devices) -> freeGres.computeIfPresent(name, (n, free) -> free.union(devices)));
    }

    private void count(String partitions, int cpus) {
        for (String name : partitions.split(",")) {
            cpusHeld.merge(name, cpus, Integer::sum);
        }
    }

    int cpusHeld(String partition) {
        return cpusHeld.getOrDefault(partition, 0);
    }

    /** Devices of a type: all if type is "". */
    IndexSet devices(String name, String type) {
        if (type.isEmpty()) {
            return freeGres.getOrDefault(name, IndexSet.empty());
        }
        IndexSet wanted = IndexSet.empty();
        for (Node.Gres g : spec.gres()) {
            if (g.name().equals(name) && g.type().equals(type) && g.count() > 0) {
                wanted = wanted.union(IndexSet.range(g.first(), g.first() + g.count() - 1, 1));
            }
        }
        return freeGres.getOrDefault(name, IndexSet.empty()).intersect(wanted);
    }

    boolean isIdle() {
        return holders == 0;
    }
}
