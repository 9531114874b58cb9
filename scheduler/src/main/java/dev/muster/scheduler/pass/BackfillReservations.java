package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.node.Candidate;
import dev.muster.scheduler.node.GpuPlaces;
import dev.muster.scheduler.node.LayeredResourceRequest;
import dev.muster.scheduler.node.NodeSelector;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.node.SelectedNode;
import dev.muster.scheduler.queue.EligibleNodes;
import dev.muster.scheduler.request.ReservationScope;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SwitchWait;
import dev.muster.scheduler.timeline.CapacityTimeline;
import dev.muster.scheduler.timeline.LicenseAllocator;
import dev.muster.scheduler.timeline.RunningJobTimeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Plans when and where a need fits later, on what running jobs leave and what is left of that by jobs that were planned
 * before it.
 */
final class BackfillReservations {
    private final State state;
    private final DecisionTime now;
    private final EligibleNodes candidates;
    private final PassReservations reserved;
    private final LicenseAllocator licenses;
    private final RunningJobTimeline runningJobs;
    private final boolean packing;
    private final boolean memoryConsumed;
    /** Units by node that a reservation takes later: free now, or freed before it starts. */
    private final Map<Integer, Integer> reservedUnits = new HashMap<>();
    /** Places in the grid of the nodes of a list; one object for each list. */
    private final IdentityHashMap<List<NodeSlot>, int[]> indices = new IdentityHashMap<>();
    /** The first slot in which a need may still fit. */
    private final IdentityHashMap<ResourceNeed, Integer> from = new IdentityHashMap<>();
    /** The first slot in which the job does not wait for few switches any more. */
    private int patience = Integer.MAX_VALUE;

    /** @param packing those that wait are given nodes that are not free now where there is a choice */
    BackfillReservations(
            State state,
            DecisionTime now,
            EligibleNodes candidates,
            PassReservations reserved,
            LicenseAllocator licenses,
            RunningJobTimeline runningJobs,
            boolean packing) {
        this.state = state;
        this.now = now;
        this.candidates = candidates;
        this.reserved = reserved;
        this.licenses = licenses;
        this.runningJobs = runningJobs;
        this.packing = packing;
        this.memoryConsumed = state.memoryConsumed();
    }

    Map<Integer, Integer> kept() {
        return reservedUnits;
    }

    private static int[] indices(List<NodeSlot> order) {
        return order.stream().mapToInt(n -> n.index).toArray();
    }

    /** Sets the job that is planned next, which has its own patience with few switches. */
    void turn(Job job) {
        patience = job.desc().request().switches().isEmpty()
                ? Integer.MAX_VALUE
                : runningJobs.times().slotAt(SwitchWait.switchesS(job, state, now.seconds()));
    }

    /**
     * Returns the first time at which the need fits; empty if there is none.
     *
     * @param keep these units for it
     */
    Optional<Planner.Estimate> earliest(ResourceNeed need, boolean keep) {
        return earliest(need, keep, 0);
    }

    /** @param notBefore a slot */
    private Optional<Planner.Estimate> earliest(ResourceNeed need, boolean keep, int notBefore) {
        List<NodeSlot> order = candidates.of(need, Set.of());
        long opens = reserved.opens(need.within()) - now.seconds();
        // each job has its own time to wait for few switches
        boolean choosy = need.network().switches() > 0;
        int first = Math.max(
                choosy ? 0 : from.getOrDefault(need, 0),
                opens > 0 ? runningJobs.times().slotAt(opens) : 0);
        for (int slot = Math.max(first, notBefore); slot < runningJobs.times().count(); slot++) {
            // what is free only becomes less in a pass: the next that needs the same finds nothing earlier
            from.put(need, slot);
            if (!runningJobs
                    .grid()
                    .mayFit(need, order, indices.computeIfAbsent(order, BackfillReservations::indices), slot)) {
                continue;
            }
            ResourceNeed asked = choosy && slot >= patience ? need.onAnySwitches() : need;
            List<SelectedNode> picks =
                    licenses.given(need, slot).isEmpty() ? List.of() : picksAt(asked, order, slot, Set.of());
            if (!picks.isEmpty()) {
                return Optional.of(
                        reserved(need, picks, slot, runningJobs.times().endSlot(slot, need.limitMin()), keep));
            }
        }
        from.put(need, runningJobs.times().count());
        return Optional.empty();
    }

    private static boolean isOpen(NodeSlot node, Set<String> avoided, LayeredResourceRequest layers) {
        return node.usable
                && !avoided.contains(node.spec.name())
                && (layers.isEmpty() || layers.allows(node.spec.name()));
    }

    /**
     * Returns how many tasks fit on the node in these slots.
     *
     * @param from when the first slot begins, seconds since 1970
     */
    private int tasksAt(ResourceNeed need, NodeSlot node, int slot, int end, long from) {
        CapacityTimeline g = runningJobs.grid();
        int barred = reserved.isEmpty() ? 0 : reserved.barred(need.within(), node, from, need.end(from));
        barred += node.freeUnits.count()
                - GpuPlaces.open(need, node, node.freeUnits).count();
        int tasks = NodeSelector.tasksFitting(
                need,
                node,
                g.unitsIn(node.index, slot, end) - barred,
                g.memoryIn(node.index, slot, end),
                g.idleIn(node.index, slot, end) && !(need.exclusive() && barred > 0),
                memoryConsumed);
        return tasks > 0 && slot == 0 ? Math.min(tasks, NodeSelector.tasksByGres(need, node)) : tasks;
    }

    /** Returns the nodes for the need if it began in that slot; empty if it does not fit then. */
    private List<SelectedNode> picksAt(ResourceNeed need, List<NodeSlot> order, int slot, Set<String> avoided) {
        CapacityTimeline g = runningJobs.grid();
        Set<String> requiredNames = HostList.nameSet(need.nodeList());
        int required = requiredNames.size();
        int end = runningJobs.times().endSlot(slot, need.limitMin());
        long from = now.seconds() + runningJobs.times().starts()[slot];
        LayeredResourceRequest layers = licenses.layers(need, slot);
        List<Candidate> able = new ArrayList<>();
        int found = 0;
        int[] index = indices.computeIfAbsent(order, BackfillReservations::indices);
        for (int i = 0; i < index.length; i++) {
            if (g.isFull(need, index[i], slot)) {
                continue;
            }
            NodeSlot node = order.get(i);
            boolean open = isOpen(node, avoided, layers) && (slot > 0 || node.accepts(need.apart()));
            int tasks = open ? tasksAt(need, node, slot, end, from) : 0;
            if (tasks > 0) {
                able.add(NodeSelector.candidate(node, tasks));
                found += i < required && requiredNames.contains(node.spec.name()) ? 1 : 0;
            }
        }
        if (slot > 0 && packing && able.size() > required) {
            // prefer nodes with few free units now, so that the others stay free for jobs that can start
            able.subList(required, able.size())
                    .sort(Comparator.comparingLong(
                                    (Candidate c) -> c.node().spec.weightValue())
                            .thenComparingInt(c -> c.node().freeUnits.count()));
        }
        if (found < required) {
            return List.of();
        }
        return NodeSelector.pick(
                slot == 0 ? need : need.withoutJobGres(),
                able,
                required,
                need.network().in(state.settings()),
                layers);
    }

    /** Returns all licenses that the need gets from that slot on with these nodes. */
    private List<LicenseRequest.Item> had(
            ResourceNeed need, List<LicenseRequest.Item> given, List<SelectedNode> picks, int slot) {
        List<LicenseRequest.Item> out = new ArrayList<>(given);
        out.addAll(licenses.layers(need, slot)
                .taken(picks.stream().map(p -> p.node().spec.name()).toList()));
        return out;
    }

    /**
     * Keeps room for all of them at the first time at which each finds nodes of its own; empty if there is none.
     *
     * @param less the same for their least times, for which it is kept where they begin earlier then
     */
    List<Planner.Estimate> together(List<ResourceNeed> needs, List<ResourceNeed> less) {
        List<Planner.Estimate> soon = less.equals(needs) ? List.of() : together(less, false);
        List<Planner.Estimate> whole = soon.isEmpty() ? List.of() : together(needs, false);
        boolean sooner = !soon.isEmpty()
                && (whole.isEmpty()
                        || soon.getFirst().start() < whole.getFirst().start());
        return together(sooner ? less : needs, true);
    }

    private List<Planner.Estimate> together(List<ResourceNeed> needs, boolean keep) {
        List<List<NodeSlot>> orders =
                needs.stream().map(n -> candidates.of(n, Set.of())).toList();
        for (int slot = 0; slot < runningJobs.times().count(); slot++) {
            Set<String> used = new HashSet<>();
            List<List<SelectedNode>> all = new ArrayList<>();
            List<List<LicenseRequest.Item>> had = new ArrayList<>();
            for (int i = 0; i < needs.size() && all.size() == i; i++) {
                Optional<List<LicenseRequest.Item>> given = licenses.given(needs.get(i), slot);
                List<SelectedNode> picks =
                        given.isEmpty() ? List.of() : picksAt(needs.get(i), orders.get(i), slot, used);
                if (!picks.isEmpty()) {
                    all.add(picks);
                    had.add(had(needs.get(i), given.get(), picks, slot));
                    licenses.keep(had.getLast(), slot, needs.get(i), false);
                    picks.forEach(p -> used.add(p.node().spec.name()));
                }
            }
            for (int i = 0; i < had.size(); i++) {
                licenses.keep(had.get(i), slot, needs.get(i), true);
            }
            if (all.size() == needs.size()) {
                List<Planner.Estimate> out = new ArrayList<>();
                for (int i = 0; i < needs.size(); i++) {
                    out.add(reserved(
                            needs.get(i),
                            all.get(i),
                            slot,
                            runningJobs.times().endSlot(slot, needs.get(i).limitMin()),
                            keep));
                }
                return out;
            }
        }
        return List.of();
    }

    private Planner.Estimate reserved(ResourceNeed need, List<SelectedNode> picks, int slot, int end, boolean keep) {
        if (keep) {
            licenses.given(need, slot).ifPresent(l -> licenses.keep(had(need, l, picks, slot), slot, need, false));
        }
        List<String> names = new ArrayList<>();
        int cpus = 0;
        for (SelectedNode pick : picks) {
            names.add(pick.node().spec.name());
            int perUnit = pick.node().spec.cpusPerUnit();
            int usable = need.usableCpus(pick.node().spec);
            int units;
            if (need.exclusive()) {
                units = pick.node().spec.units();
            } else {
                units = (Math.max(need.cpusGivenMin(), need.overcommit() ? 1 : pick.tasks() * need.cpusPerTask())
                                + usable
                                - 1)
                        / usable;
            }

            cpus += units * perUnit;
            long memory;
            if (need.memAll()) {
                memory = pick.node().spec.memoryMb();
            } else if (need.memPerNodeMb() > 0) {
                memory = need.memPerNodeMb();
            } else {
                memory = need.memPerCpuMb() * units * perUnit;
            }

            if (keep) {
                runningJobs.grid().take(pick.node().index, slot, end, units, memoryConsumed ? memory : 0);
                if (packing && slot > 0) {
                    reservedUnits.merge(pick.node().index, units, Integer::sum);
                }
            }
        }
        return new Planner.Estimate(now.seconds() + runningJobs.times().starts()[slot], names, cpus, need.partition());
    }

    /**
     * Returns when and where such a job would start behind all that wait; nothing is kept for it. Only of a pass of its
     * own.
     */
    Optional<Planner.Estimate> estimate(JobDesc desc, SchedulingContext context) {
        int reservations = 0;
        for (Job job : context.queue().jobs()) {
            if (reservations++ >= context.options().reservationsMax()) {
                break;
            }
            for (String name : job.desc().partitionList()) {
                state.partitions()
                        .find(name)
                        .ifPresent(p -> earliest(context.cluster().needs().of(job, p, state), true));
                break;
            }
        }
        return estimateIgnoringQueue(desc);
    }

    /** Estimates the start beside the reservations of this pass, at {@code --begin} at the earliest. */
    Optional<Planner.Estimate> estimateIgnoringQueue(JobDesc desc) {
        long begin = Math.max(now.seconds(), desc.timing().beginTime());
        int first = runningJobs.times().slotAt(begin - now.seconds() + 1) - 1;
        Optional<Planner.Estimate> best = Optional.empty();
        for (String name : desc.partitionList()) {
            Optional<Partition> partition = state.partitions().find(name);
            if (partition.isPresent() && PartitionLimits.reason(desc, partition.get(), state) == JobReason.NONE) {
                ResourceNeed plain = ResourceNeed.of(desc, partition.get(), state);
                for (String reservation : reserved.of(desc)) {
                    Optional<Planner.Estimate> here = earliest(plain.in(ReservationScope.of(reservation)), false, first)
                            .map(e -> new Planner.Estimate(
                                    Math.max(begin, e.start()), e.nodes(), e.cpus(), e.partition()));
                    if (here.isPresent()
                            && (best.isEmpty()
                                    || here.get().start() < best.get().start())) {
                        best = here;
                    }
                }
            }
        }
        return best;
    }
}
