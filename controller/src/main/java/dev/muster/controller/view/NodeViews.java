package dev.muster.controller.view;

import dev.muster.core.limits.McsLabel;
import dev.muster.core.limits.TresCounts;
import dev.muster.core.node.PowerSavingTimes;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.step.TaskBinding;
import dev.muster.core.tres.GpuCores;
import dev.muster.core.tres.TrackedTypes;
import dev.muster.json.RecordEditor;
import dev.muster.model.api.ClusterMessages.NodeInfo;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobFlag;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Nodes and partitions as queries show them. */
public final class NodeViews {
    private final State state;
    private final Function<String, NodeMessages.Heartbeat> beats;
    private final Function<Node, String> address;
    private final IntFunction<String> userName;
    private final McsLabel mcs;
    private final Optional<PowerSavingTimes> power;
    private final Map<String, List<String>> partitionsOf = new HashMap<>();
    private final Set<String> hidden = new HashSet<>();
    /** Nodes of reservations that are on: whether one of them is for maintenance. */
    private final Map<String, Boolean> reserved = new HashMap<>();
    /** Nodes of the same: the last of them. */
    private final Map<String, String> reservedBy = new HashMap<>();

    public NodeViews(
            State state,
            Function<String, NodeMessages.Heartbeat> beats,
            Function<Node, String> address,
            IntFunction<String> userName,
            long nowS) {
        for (Reservation r : state.reservations().values()) {
            if (r.isActive(nowS)) {
                r.nodes().forEach(n -> reserved.merge(n, r.has(ReservationFlag.MAINT), Boolean::logicalOr));
                r.nodes().forEach(n -> reservedBy.put(n, r.name()));
            }
        }
        this.state = state;
        this.beats = beats;
        this.address = address;
        this.userName = userName;
        this.mcs = McsLabel.of(state.settings());
        this.power = PowerSavingTimes.of(state);
        for (Partition p : state.partitions().values()) {
            for (String node : p.nodes()) {
                partitionsOf.computeIfAbsent(node, n -> new ArrayList<>()).add(p.name());
            }
        }
    }

    /** Leaves partitions out of the lists of their nodes. */
    public void hide(Predicate<Partition> partition) {
        state.partitions().values().stream().filter(partition).forEach(p -> hidden.add(p.name()));
    }

    /**
     * Resources of a node that jobs use. Those of completing jobs count as free, although no other job can have them
     * yet.
     */
    private record InUse(int cpus, long memoryMb, IndexSet cores, Map<String, IndexSet> gres, boolean completing) {}

    private InUse inUse(Node n) {
        Map<String, IndexSet> used = new TreeMap<>();
        boolean completing = false;
        IndexSet cores = IndexSet.empty();
        int cpus = n.cpusAllocated();
        long memoryMb = TresText.held(state, n.memoryAllocatedMb());
        for (int id : n.jobs()) {
            Job job = state.jobs().at(id);
            Optional<Allocation.Share> share =
                    job.run().allocation().on(n.name()).filter(x -> !x.released());
            completing |= job.has(JobFlag.COMPLETING);
            if (job.has(JobFlag.COMPLETING)) {
                cpus -= share.map(Allocation.Share::chargedCpus).orElse(0);
                memoryMb -= TresText.held(
                        state, share.map(Allocation.Share::memoryMb).orElse(0L));
                continue;
            }
            cores = share.map(x -> x.units(n.spec())).orElse(IndexSet.empty()).union(cores);
            share.map(Allocation.Share::gres)
                    .ifPresent(g -> g.forEach((name, devices) -> used.merge(name, devices, IndexSet::union)));
        }
        return new InUse(cpus, memoryMb, cores, used, completing);
    }

    public NodeInfo info(Node n) {
        Node.Spec s = n.spec();
        NodeMessages.Heartbeat beat = beats.apply(n.name());
        InUse inUse = inUse(n);
        TrackedTypes types = TrackedTypes.of(state.settings());
        Map<String, Integer> all = new TreeMap<>();
        types.all(all, n);
        TresCounts whole = new TresCounts(s.cpus(), s.memoryMb(), 1, all);
        long billing = partitionsOf.getOrDefault(n.name(), List.of()).stream()
                .mapToLong(p -> whole.billing(state, p))
                .max()
                .orElse(s.cpus());
        String tres = TresText.text(s.cpus(), s.memoryMb(), 0, billing, all).replace(",node=0", "");
        // cores that several jobs share count once
        int allocated = Math.min(inUse.cpus, inUse.cores.count() * s.cpusPerUnit());
        Map<String, Integer> usedCounts = new TreeMap<>();
        inUse.gres.forEach((name, devices) -> usedCounts.put(name, devices.count()));
        types.held(usedCounts, state, n.name(), inUse.gres);
        String tresUsed = allocated == 0
                ? ""
                : TresText.text(allocated, inUse.memoryMb, 0, usedCounts)
                        .replace(",node=0", "")
                        .replaceAll(",billing=[0-9]+", "");
        // a node that has had no work yet is idle since its start
        long busy = n.lastBusy() > 0 ? n.lastBusy() : n.startTime();
        return new NodeInfo(
                n.name(),
                s.hostname(),
                address.apply(n),
                s.port(),
                base(n.baseState(), allocated, s.cpus()),
                flags(n, inUse.completing, reserved.get(n.name())),
                n.reason(),
                n.reasonUid(),
                n.reason().isEmpty() ? "" : userName.apply(n.reasonUid()),
                n.reasonTime(),
                n.comment(),
                n.extra(),
                s.cpus(),
                s.cpus() - s.reservedUnits().count() * s.cpusPerUnit(),
                s.boards(),
                s.sockets(),
                s.coresPerSocket(),
                s.threadsPerCore(),
                allocated,
                s.memoryMb(),
                inUse.memoryMb,
                beat.freeMemoryMb(),
                s.tmpDiskMb(),
                s.memSpecLimitMb(),
                s.reservedUnits().isEmpty()
                        ? ""
                        : TaskCpus.cpuIds(s.reservedUnits(), s.cpusPerUnit()).ranges(),
                s.reservedUnits().count(),
                beat.load(),
                String.join(",", n.features()),
                String.join(",", n.activeFeatures()),
                gres(s),
                gresUsed(n, inUse.gres),
                "",
                s.weightValue(),
                -1,
                mcs.labelOf(state, n),
                partitionsOf.getOrDefault(n.name(), List.of()).stream()
                        .filter(p -> !hidden.contains(p))
                        .toList(),
                n.hardware().architecture(),
                n.hardware().operatingSystem(),
                n.version(),
                n.hardware().bootTime(),
                n.startTime(),
                busy,
                n.resumeAfter(),
                tres,
                tresUsed,
                s.topology(),
                n.jobs().size(),
                beat.metered(),
                beat.watts(),
                beat.averageWatts(),
                restricted(s),
                power.isEmpty() ? "" : power.get().idleText(n),
                n.marks().instanceId(),
                n.marks().instanceType(),
                !n.marks().certToken().isEmpty(),
                n.marks().certTime(),
                TaskBinding.ofNode(state.settings(), n.name()),
                s.bcastAddress(),
                reservedBy.getOrDefault(n.name(), ""));
    }

    private static String restricted(Node.Spec s) {
        IndexSet all = GpuCores.of(s).restricted();
        return all.isEmpty() ? "" : s.restrictedPerGpu() + "(" + all.ranges() + ")";
    }

    private static final Set<Node.Flag> NOT_SHOWN =
            EnumSet.of(Node.Flag.DOWN, Node.Flag.FUTURE, Node.Flag.UNKNOWN, Node.Flag.DRAINED_FOR_THIS);

    private static List<String> flags(Node n, boolean completing, @Nullable Boolean maintained) {
        List<String> out = new ArrayList<>();
        for (Node.Flag f : Node.Flag.values()) {
            // a node that is powered up does not answer before it has come
            boolean absent = f == Node.Flag.NOT_RESPONDING && n.has(Node.Flag.POWERING_UP);
            if ((n.has(f) || absent) && !NOT_SHOWN.contains(f)) {
                out.add(f.name());
            }
        }
        if (maintained != null) {
            if (maintained) {
                out.add("MAINT");
            }
            out.add("RESERVED");
        }
        boolean reboots = n.has(Node.Flag.REBOOT_REQUESTED) || n.has(Node.Flag.REBOOT_ISSUED);
        if (reboots
                && n.has(Node.Flag.DRAINED_FOR_THIS)
                && !n.has(Node.Flag.NEXT_DOWN)
                && !n.has(Node.Flag.NEXT_RESUME)) {
            out.add("NEXT_UNDRAIN");
        }
        if (completing) {
            out.add("COMPLETING");
        }
        return out;
    }

    static String gres(Node.Spec s) {
        StringBuilder out = new StringBuilder();
        for (Node.Gres g : s.gres()) {
            out.append(out.isEmpty() ? "" : ",")
                    .append(g.name())
                    .append(g.type().isEmpty() ? "" : ":" + g.type())
                    .append(':')
                    .append(g.count());
        }
        return out.toString();
    }

    /** Returns the base state of a node; one that only completing jobs use is shown as idle. */
    private static String base(String state, int allocated, int cpus) {
        boolean inUse = state.equals("ALLOCATED") || state.equals("MIXED");
        if (!inUse) {
            return state;
        }
        if (allocated == 0) {
            return "IDLE";
        }
        if (allocated < cpus) {
            return "MIXED";
        }
        return "ALLOCATED";
    }

    /** {@code gpu:a100:1(IDX:0)} for each configured kind. */
    private static String gresUsed(Node n, Map<String, IndexSet> used) {
        StringBuilder out = new StringBuilder();
        for (Node.Gres g : n.spec().gres()) {
            IndexSet ofType = g.count() == 0
                    ? IndexSet.empty()
                    : used.getOrDefault(g.name(), IndexSet.empty())
                            .intersect(IndexSet.range(g.first(), g.first() + g.count() - 1, 1));
            out.append(out.isEmpty() ? "" : ",")
                    .append(g.name())
                    .append(g.type().isEmpty() ? "" : ":" + g.type())
                    .append(':')
                    .append(ofType.count());
            if (!g.file().isEmpty() || g.name().equals("gpu")) { // what is only counted has no places
                out.append("(IDX:")
                        .append(ofType.isEmpty() ? "N/A" : ofType.ranges())
                        .append(')');
            }
        }
        return out.toString();
    }

    /** Totals follow the nodes as they are. */
    public PartitionInfo info(Partition p) {
        int cpus = 0;
        long memory = 0;
        Map<String, Integer> gres = new TreeMap<>();
        TrackedTypes types = TrackedTypes.of(state.settings());
        for (String name : p.nodes()) {
            Node node = state.nodes().find(name).orElse(null);
            if (node != null) {
                cpus += node.spec().cpus();
                memory += node.spec().memoryMb();
                types.all(gres, node);
            }
        }
        RecordEditor<PartitionInfo> fields = RecordEditor.of(p.info());
        fields.set("nodes", dev.muster.model.format.HostList.of(p.nodes()).compressed());
        fields.set("totalCpus", (long) cpus)
                .set("totalNodes", (long) p.nodes().size())
                .set(
                        "tres",
                        p.nodes().isEmpty()
                                ? ""
                                : TresText.text(
                                        cpus,
                                        memory,
                                        p.nodes().size(),
                                        new TresCounts(cpus, memory, p.nodes().size(), gres).billing(state, p.name()),
                                        gres));
        String own = p.info().preemptMode();
        fields.set("preemptModeSet", own);
        fields.set(
                "preemptMode",
                preemption(
                        own.isEmpty() ? state.settings().options().preemption().modeText() : own));
        if (power.isPresent()) {
            for (String time : List.of("resumeTimeout", "suspendTimeout", "suspendTime")) {
                fields.set(time, fields.text(time).isEmpty() ? "GLOBAL" : fields.text(time));
            }
        }
        return fields.record();
    }

    /** Returns the preemption modes with GANG first, as in Slurm, and without an OFF beside it. */
    static String preemption(String modes) {
        List<String> words = new ArrayList<>(List.of(modes.split(",")));
        words.sort(java.util.Comparator.comparing(w -> !w.equals("GANG")));
        if (words.size() > 1) {
            words.remove("OFF");
        }
        return String.join(",", words);
    }
}
