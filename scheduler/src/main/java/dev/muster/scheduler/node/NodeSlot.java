package dev.muster.scheduler.node;

import dev.muster.core.node.PowerSavingTimes;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.tres.GpuCores;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.SharedGpus;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SharingPolicy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Free resources of a node now. Mutable; owned by the core thread. */
public final class NodeSlot {
    public final int index;
    public Node.Spec spec;
    public GpuCores gpuCores = GpuCores.NONE;
    GpuLinks gpuLinks = GpuLinks.NONE;
    public boolean usable;
    /** The node is powered down: it is started for the job that gets it. */
    public boolean asleep;
    /** The node is powering up, or will be for any job, and has not registered yet. */
    public boolean coming;
    /** Whether other nodes may be started. */
    public boolean startable = true;
    /** State=CLOUD. */
    boolean cloud;
    /** Features that the node has or can be rebooted with; below, those that it has. */
    public List<String> features = List.of();
    /** The node's Extra, as its administrator or its slurmd said it. */
    public String extra = "";

    List<String> active = List.of();
    public IndexSet freeUnits;
    public long freeMemoryMb;
    public final Map<String, IndexSet> freeGres = new TreeMap<>();
    /** Devices that reservations withhold from the job that is being placed: {@link PassReservations#allowed}. */
    public Map<String, IndexSet> withheld = Map.of();

    public int holders;
    /** Number of jobs that hold each unit: more than one where they share it. */
    private int[] unitHolders = new int[0];
    /** Number of sharing jobs on each unit, by partition; empty where no job shares. */
    private final Map<String, int[]> sharers = new TreeMap<>();
    /** CPUs held by jobs of each partition; a job of several counts in all of them. */
    private final Map<String, Integer> cpusHeld = new TreeMap<>();
    /** Number of such jobs on each unit, by partition. */
    private final Map<String, int[]> unitsHeld = new TreeMap<>();
    /** Number of jobs on the node by sharing policy. */
    private final Map<SharingPolicy, Integer> company = new HashMap<>();
    /**
     * The node's leaf switch or block in each topology; below, which that is of the cluster's {@link Topology#units},
     * -1 where it is in none.
     */
    private Unit[] spots = {};

    public int leaf = -1;
    /** Hears of every change of what is free here. */
    public Consumer<NodeSlot> watcher = slot -> {};

    /** Number of jobs on nodes of a leaf switch or block, and of these those that want it for themselves. */
    private static final class Unit {
        private final String topology;
        private int jobs;
        private int alone;

        private Unit(String topology) {
            this.topology = topology;
        }
    }

    /** @param topologies the cluster's first */
    public static void join(List<Topology> topologies, Map<String, NodeSlot> nodes) {
        for (Topology t : topologies) {
            List<Topology.Block> units = t.units();
            for (int i = 0; i < units.size(); i++) {
                Unit counted = new Unit(t.name());
                for (String name : units.get(i).nodes()) {
                    NodeSlot slot = nodes.get(name);
                    if (slot != null) {
                        slot.spots = Arrays.copyOf(slot.spots, slot.spots.length + 1);
                        slot.spots[slot.spots.length - 1] = counted;
                        slot.leaf = t == topologies.getFirst() ? i : slot.leaf;
                    }
                }
            }
        }
    }

    public NodeSlot(int index, Node node) {
        this.index = index;
        take(node);
    }

    /** Takes the node's configuration up; everything on it counts as free until {@link #hold}. */
    void take(Node node) {
        gpuCores = spec == node.spec() ? gpuCores : GpuCores.of(node.spec());
        gpuLinks = spec == node.spec() ? gpuLinks : GpuLinks.of(node.spec());
        spec = node.spec();
        usable = node.isUsable();
        cloud = node.has(Node.Flag.CLOUD);
        features = node.features();
        extra = node.extra();
        active = node.activeFeatures();
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
        unitsHeld.clear();
        company.clear();
    }

    /** Takes over what the node is now. A node that can be started is had as well, after those that are there. */
    public void judge(Node node, Settings settings) {
        coming = node.has(Node.Flag.POWERING_UP) || node.has(Node.Flag.POWER_UP);
        asleep = node.wanted().isEmpty() && (startable || coming) && PowerSavingTimes.canStart(settings, node);
        features = node.features();
        extra = node.extra();
        active = node.activeFeatures();
        usable = node.isUsable() || asleep;
    }

    public void hold(Allocation.Share share, String partitions) {
        hold(share, partitions, false);
    }

    public void release(Allocation.Share share, String partitions) {
        release(share, partitions, false);
    }

    /** @see Allocation.Share#units */
    public IndexSet units(Allocation.Share share) {
        return share.units(spec);
    }

    /** @param unitsOnly cores come and go, memory and devices stay: what suspension does */
    public void hold(Allocation.Share share, String partitions, boolean unitsOnly) {
        IndexSet units = units(share);
        for (int u = units.first(); u >= 0; u = units.next(u + 1)) {
            if (u < unitHolders.length) {
                unitHolders[u]++;
            }
        }
        freeUnits = freeUnits.minus(units);
        holders++;
        count(partitions, share.chargedCpus());
        countUnits(partitions, units, 1);
        if (!unitsOnly) {
            takeRest(share);
        }
        watcher.accept(this);
    }

    public void release(Allocation.Share share, String partitions, boolean unitsOnly) {
        IndexSet units = units(share);
        IndexSet free = units;
        for (int u = units.first(); u >= 0; u = units.next(u + 1)) {
            if (u < unitHolders.length && --unitHolders[u] > 0) {
                free = free.without(u);
            }
        }
        freeUnits = freeUnits.union(free.minus(spec.reservedUnits()));
        holders--;
        count(partitions, -share.chargedCpus());
        countUnits(partitions, units, -1);
        if (!unitsOnly) {
            giveRest(share);
        }
        watcher.accept(this);
    }

    /** Jobs of a partition that share came to units, or left them. */
    public void share(String partition, IndexSet units, int jobs) {
        int[] counts = sharers.computeIfAbsent(partition, p -> new int[spec.units()]);
        for (int u = units.first(); u >= 0; u = units.next(u + 1)) {
            if (u < counts.length) {
                counts[u] += jobs;
            }
        }
    }

    /** Returns the units that only sharing jobs of the partition have, fewer of them than OverSubscribe allows. */
    public IndexSet shareable(String partition, ResourceNeed.Sharing sharing) {
        int[] counts = sharers.get(partition);
        int[] shy = sharing.alike() ? sharers.get(ResourceNeed.Sharing.uninvited(partition)) : null;
        int maxSharers = sharing.jobs();
        IndexSet out = IndexSet.empty();
        for (int u = 0; counts != null && u < counts.length; u++) {
            if (counts[u] > 0
                    && counts[u] < maxSharers
                    && counts[u] == unitHolders[u]
                    && (shy == null || shy[u] == 0)) {
                out = out.with(u);
            }
        }
        return out;
    }

    public boolean isShared() {
        return !sharers.isEmpty();
    }

    void holdRest(Allocation.Share share) {
        takeRest(share);
        watcher.accept(this);
    }

    void releaseRest(Allocation.Share share) {
        giveRest(share);
        watcher.accept(this);
    }

    private void takeRest(Allocation.Share share) {
        freeMemoryMb -= share.memoryMb();
        share.gres().forEach((name, devices) -> freeGres.computeIfPresent(name, (n, free) -> free.minus(devices)));
    }

    private void giveRest(Allocation.Share share) {
        freeMemoryMb += share.memoryMb();
        share.gres().forEach((name, devices) -> freeGres.computeIfPresent(name, (n, free) -> free.union(devices)));
    }

    /** Returns as many of the units of each socket as MaxCPUsPerSocket leaves to the partition's jobs. */
    public IndexSet withinSockets(IndexSet units, String partition, int cpusMax) {
        int perSocket = Math.max(1, spec.units() / Math.max(1, spec.sockets()));
        int[] held = unitsHeld.getOrDefault(partition, new int[spec.units()]);
        int[] left = new int[spec.units() / perSocket + 1];
        java.util.Arrays.fill(left, cpusMax / Math.max(1, spec.cpusPerUnit()));
        for (int u = 0; u < held.length; u++) {
            left[u / perSocket] -= held[u];
        }
        IndexSet out = IndexSet.empty();
        for (int u = units.first(); u >= 0; u = units.next(u + 1)) {
            out = left[u / perSocket]-- > 0 ? out.with(u) : out;
        }
        return out;
    }

    /** Returns those of these units whose whole socket is among them. */
    public IndexSet wholeSockets(IndexSet units) {
        int perSocket = Math.max(1, spec.units() / Math.max(1, spec.sockets()));
        IndexSet out = units;
        for (int from = 0; from < spec.units(); from += perSocket) {
            IndexSet socket = IndexSet.range(from, Math.min(spec.units(), from + perSocket) - 1, 1);
            out = socket.minus(spec.reservedUnits()).minus(units).isEmpty() ? out : out.minus(socket);
        }
        return out;
    }

    /** Returns all of the given units that lie in a socket in which one of these lies. */
    IndexSet ofSockets(IndexSet units, IndexSet among) {
        int perSocket = Math.max(1, spec.units() / Math.max(1, spec.sockets()));
        IndexSet out = units;
        for (int u = units.first(); u >= 0; u = units.next((u / perSocket + 1) * perSocket)) {
            int from = u / perSocket * perSocket;
            out = out.union(among.intersect(IndexSet.range(from, from + perSocket - 1, 1)));
        }
        return out;
    }

    private static String[] names(String partitions) {
        return partitions.indexOf(',') < 0 ? new String[] {partitions} : partitions.split(",");
    }

    private void countUnits(String partitions, IndexSet units, int jobs) {
        for (String name : names(partitions)) {
            int[] held = unitsHeld.computeIfAbsent(name, n -> new int[spec.units()]);
            for (int u = units.first(); u >= 0; u = units.next(u + 1)) {
                if (u < held.length) {
                    held[u] += jobs;
                }
            }
        }
    }

    private void count(String partitions, int cpus) {
        for (String name : names(partitions)) {
            cpusHeld.merge(name, cpus, Integer::sum);
        }
    }

    /** Counts a job with this policy that came, or went with -1. */
    void addPolicy(SharingPolicy policy, int jobs) {
        for (Unit u : spots) {
            u.jobs += jobs;
            u.alone += policy.owns(u.topology) ? jobs : 0;
        }
        company.merge(policy, jobs, (a, b) -> a + b == 0 ? null : a + b);
    }

    /** Returns whether the job may share the node with the jobs on it. */
    public boolean accepts(SharingPolicy policy) {
        for (Unit u : spots) {
            if (u.alone > 0 || u.jobs > 0 && policy.owns(u.topology)) {
                return false;
            }
        }
        for (SharingPolicy other : company.keySet()) {
            if (!policy.goesWith(other)) {
                return false;
            }
        }
        return true;
    }

    int cpusHeld(String partition) {
        return cpusHeld.getOrDefault(partition, 0);
    }

    /** Returns the devices of a type: all if type is "". */
    IndexSet devices(String name, String type) {
        if (!SharedGpus.parts(spec.gres(), name).isEmpty()) {
            return parts(name, 0, ResourceNeed.Gpus.PLAIN);
        }
        if (name.equals("gpu")) {
            return wholeGpus(type);
        }
        if (type.isEmpty()) {
            return open(name);
        }
        return open(name).intersect(GresRequest.devices(spec, name, type));
    }

    /** Returns the free devices without those that reservations withhold. */
    IndexSet open(String name) {
        IndexSet free = freeGres.getOrDefault(name, IndexSet.empty());
        return withheld.isEmpty() ? free : free.minus(withheld.getOrDefault(name, IndexSet.empty()));
    }

    /** Returns the GPUs of which no job has a part. */
    private IndexSet wholeGpus(String type) {
        IndexSet out = open("gpu");
        out = type.isEmpty() ? out : out.intersect(GresRequest.devices(spec, "gpu", type));
        for (String name : freeGres.keySet()) {
            out = SharedGpus.isShared(name) ? out.minus(sharedGpus(name, SharedGpus.parts(spec.gres(), name))) : out;
        }
        return out;
    }

    /** Returns the GPUs of which a job has a part. */
    private IndexSet sharedGpus(String name, SharedGpus.Parts parts) {
        return parts.isEmpty()
                ? IndexSet.empty()
                : parts.gpusOf(IndexSet.range(0, parts.total() - 1, 1).minus(open(name)));
    }

    /** Returns the GPUs of which there may be parts for one more. */
    private IndexSet sharing(String name, SharedGpus.Parts parts) {
        IndexSet gpus = open("gpu");
        IndexSet shared = SharedGpus.isOneSharing(spec.gres(), name) ? sharedGpus(name, parts) : IndexSet.empty();
        return shared.isEmpty() ? gpus : gpus.intersect(shared);
    }

    /** Returns the parts that one task would have of each GPU that has enough for a task. */
    private IndexSet partsOfTasks(String name, int each) {
        SharedGpus.Parts parts = SharedGpus.parts(spec.gres(), name);
        IndexSet out = IndexSet.empty();
        IndexSet gpus = sharing(name, parts);
        for (int gpu = gpus.first(); gpu >= 0; gpu = gpus.next(gpu + 1)) {
            IndexSet free = open(name).intersect(parts.of(gpu));
            out = free.count() < each ? out : out.union(UnitSets.firstOf(free, each));
        }
        return out;
    }

    /**
     * Returns free parts of one GPU: of the one that has enough with the fewest left over, or with the most free if the
     * job wants that. Where none has enough, of the one with the most, or of all where a job may have parts of several.
     */
    IndexSet parts(String name, int count, ResourceNeed.Gpus how) {
        if (how.taskParts() > 0) {
            return partsOfTasks(name, how.taskParts());
        }
        SharedGpus.Parts parts = SharedGpus.parts(spec.gres(), name);
        IndexSet best = IndexSet.empty();
        IndexSet all = IndexSet.empty();
        IndexSet gpus = sharing(name, parts);
        for (int gpu = gpus.first(); gpu >= 0; gpu = gpus.next(gpu + 1)) {
            IndexSet free = open(name).intersect(parts.of(gpu));
            boolean fits = count > 0 && free.count() >= count;
            boolean better = fits && best.count() >= count && !how.leastLoaded()
                    ? free.count() < best.count()
                    : free.count() > best.count();
            best = better ? free : best;
            all = all.union(free);
        }
        return (count == 0 || best.count() < count) && how.severalShared() ? all : best;
    }

    /** Returns the number of GPUs of any type that are free, at least in part. */
    public int freeGpus() {
        return freeGres.isEmpty()
                ? 0
                : freeGres.getOrDefault("gpu", IndexSet.empty()).count();
    }

    public boolean isIdle() {
        return holders == 0;
    }

    /** Returns the free resources of the node as text. */
    public String fingerprint() {
        return spec.name()
                + ' '
                + usable
                + ' '
                + freeUnits
                + ' '
                + freeMemoryMb
                + ' '
                + freeGres
                + ' '
                + holders
                + '\n';
    }
}
