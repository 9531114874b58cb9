package dev.muster.scheduler.forecast;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.tres.Licenses;
import dev.muster.model.format.IndexSet;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.SuspendedJobs;
import dev.muster.scheduler.queue.JobClassIndex;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SharingPolicy;
import dev.muster.scheduler.timeline.DevicePlan;
import dev.muster.scheduler.timeline.LicensePlan;
import dev.muster.scheduler.timeline.PlanningNodes;
import dev.muster.scheduler.timeline.RemainingTime;
import dev.muster.scheduler.timeline.RunningJobTimeline;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Free resources of each node, or part of one as {@link PlanningNodes} numbers them, in each slot of a plan. Running
 * jobs, up to their limits, and planned jobs take from it. Devices, licenses and sharing policies are noted with it.
 */
final class FutureCapacity {
    private final Forecast.Input in;
    private final JobSet cast;
    private final long laterS;
    private final boolean yearly;
    private final TimeGrid times;
    private final int count;
    private final Map<String, Integer> numbers = new HashMap<>();
    final PlanningNodes planningNodes;
    final int[][] cpus;
    final int[][] memoryMb;
    /**
     * Upper bound of the free CPUs of one node, by slot and block of 64 nodes; below it, the number of idle nodes by
     * slot.
     */
    final int[][] maxCpus;

    final int[] idle;
    /**
     * The slot after the last in which something is taken that was not there before: until then a node may become
     * fuller.
     */
    final int[] fuller;
    /** Free CPUs in all. */
    final long[] unused;
    /** Whether something is other than in the slot before, by slot. */
    private final boolean[] differs;
    /** CPUs of each whole node, of a part those of its node. */
    final int[] whole;

    final LicensePlan licenses;
    final DevicePlan devices;
    final ConstraintCheck constraints;
    /** Free GPUs by slot and node; empty if no waiting job wants GPUs. */
    int[][] gpus;

    /**
     * @param cast of the plan
     * @param times from slot 0 on
     * @param laterS seconds from now to slot 0
     * @param yearly jobs without a limit end after a year
     */
    FutureCapacity(Forecast.Input in, JobSet cast, TimeGrid times, long laterS, boolean yearly) {
        this.in = in;
        this.cast = cast;
        this.yearly = yearly;
        this.laterS = laterS;
        this.times = times;
        int slots = times.count();
        this.planningNodes = new PlanningNodes(in.state(), in.nodes(), times, in.nowS() + laterS);
        this.count = planningNodes.size();
        this.whole = Arrays.copyOf(in.whole().cpus, count);
        planningNodes.parts().forEach(p -> whole[p.number()] = whole[p.node()]);
        this.cpus = new int[slots][count];
        this.memoryMb = new int[slots][count];
        this.maxCpus = new int[slots][FreeTable.words(count)];
        this.idle = new int[slots];
        this.differs = new boolean[slots];
        this.unused = new long[slots];
        this.fuller = new int[count];
        this.licenses = new LicensePlan(Licenses.capacities(in.state()), times);
        this.devices = new DevicePlan(in.state(), planningNodes, cpus, memoryMb);
        for (int n = 0; n < planningNodes.nodes(); n++) {
            numbers.put(in.nodes().get(n), n);
        }
        this.constraints = new ConstraintCheck(in.state(), planningNodes, times, numbers, licenses);
        fill();
    }

    private void fill() {
        for (int n = 0; n < planningNodes.nodes(); n++) {
            boolean ready = in.free().isReady(n);
            cpus[0][n] = ready ? in.free().cpus[n] : Integer.MIN_VALUE / 2;
            memoryMb[0][n] = Math.clamp(in.free().memoryMb[n], Integer.MIN_VALUE / 2, Integer.MAX_VALUE / 2);
        }
        cast.needs.forEach(this::foresee);
        devices.fill();
        gpus = devices.all("gpu");
        IndexSet[] used = new IndexSet[planningNodes.parts().size()];
        for (Job job : cast.running) {
            long left = left(job);
            if (!isGone(left)) {
                licenses.running(job.desc().charge().reservation(), Licenses.held(job), left - laterS);
            }
            give(job, job.run().allocation().nodes(), left, !SuspendedJobs.gaveItsCores(in.state(), job), used);
            give(job, job.run().allocation().leaving(), RunningJobTimeline.LEAVING_S, true, used);
        }
        licenses.keep(in.state(), in.nowS() + laterS);
        for (PlanningNodes.Part p : planningNodes.parts()) {
            boolean ready = in.free().isReady(p.node());
            IndexSet had = used[p.number() - planningNodes.nodes()];
            int taken = had == null
                    ? 0
                    : had.count()
                            * in.state()
                                    .nodes()
                                    .at(in.nodes().get(p.node()))
                                    .spec()
                                    .cpusPerUnit();
            cpus[0][p.number()] = ready ? p.cpus() - taken : Integer.MIN_VALUE / 2;
            memoryMb[0][p.number()] = memoryMb[0][p.node()];
        }
        accumulate();
        keepReservations();
        sum();
    }

    /** Adds to each slot what has come back in the slots before it. */
    private void accumulate() {
        // no more than there is: what several share comes back with each of them
        int[] bound = new int[count];
        for (int n = 0; n < count; n++) {
            bound[n] = planningNodes.isPart(n) ? planningNodes.part(n).cpus() : whole[n];
            cpus[0][n] = Math.min(bound[n], cpus[0][n]);
        }
        for (int s = 1; s < times.count(); s++) {
            if (!differs[s]) {
                System.arraycopy(cpus[s - 1], 0, cpus[s], 0, count);
                System.arraycopy(memoryMb[s - 1], 0, memoryMb[s], 0, count);
                continue;
            }
            for (int n = 0; n < count; n++) {
                cpus[s][n] = Math.min(bound[n], cpus[s - 1][n] + cpus[s][n]);
                memoryMb[s][n] += memoryMb[s - 1][n];
            }
        }
    }

    private void sum() {
        for (int s = 0; s < times.count(); s++) {
            if (s > 0 && !differs[s]) {
                System.arraycopy(maxCpus[s - 1], 0, maxCpus[s], 0, maxCpus[s].length);
                idle[s] = idle[s - 1];
                unused[s] = unused[s - 1];
                continue;
            }
            for (int n = 0; n < count; n++) {
                maxCpus[s][n >>> 6] = Math.max(maxCpus[s][n >>> 6], cpus[s][n]);
                idle[s] += cpus[s][n] >= whole[n] ? 1 : 0;
                unused[s] += Math.max(0, cpus[s][n]);
            }
        }
    }

    /**
     * The part of the input that is the same for every stretch of a plan.
     *
     * @param running jobs that have nodes now
     * @param needs of those that wait, one of each kind of devices and company
     */
    record JobSet(List<Job> running, List<ResourceNeed> needs) {
        static JobSet of(Forecast.Input in) {
            Map<Object, ResourceNeed> needs = new HashMap<>();
            for (JobClassIndex.Lane lane : in.lanes()) {
                put(lane.need.need, needs);
            }
            in.special().values().forEach(ways -> ways.forEach(a -> put(a.need().need, needs)));
            return new JobSet(
                    in.state().jobs().values().stream().filter(Job::holdsNodes).toList(), List.copyOf(needs.values()));
        }

        private static void put(ResourceNeed need, Map<Object, ResourceNeed> needs) {
            needs.putIfAbsent(List.of(DevicePlan.kinds(need), need.apart()), need);
        }
    }

    /** Returns the seconds from now until the job ends. */
    private long left(Job job) {
        return yearly
                ? RemainingTime.yearly(in.state(), job, in.nowS(), in.tickMs())
                : RemainingTime.seconds(in.state(), job, in.tickMs());
    }

    /** Tests whether a job with this many seconds left ends before slot 0. */
    private boolean isGone(long leftS) {
        return laterS > 0 && leftS <= laterS;
    }

    private void foresee(ResourceNeed need) {
        devices.want(need);
        if (need.apart() != SharingPolicy.ANYBODY) {
            constraints.mind(need.apart());
        }
    }

    /**
     * @param cores it has them, not only what a suspended job keeps
     * @param used by part, units of a reservation that jobs have
     */
    private void give(Job job, List<Allocation.Share> shares, long afterS, boolean cores, IndexSet[] used) {
        int slot = isGone(afterS) ? 0 : Math.max(1, times.slotAt(Math.max(0, afterS - laterS)));
        for (Allocation.Share share : shares) {
            Integer n = numbers.get(share.node());
            if (n == null || share.released()) {
                continue;
            }
            int memory = (int) Math.min(Integer.MAX_VALUE / 2, share.memoryMb());
            if (slot < times.count() && cores) {
                differs[slot] = true;
                cpus[slot][n] += share.chargedCpus();
                memoryMb[slot][n] += memory;
            }
            if (slot == 0) {
                continue;
            }
            devices.held(n, share, Math.min(slot, times.count()));
            constraints.held(job, n, share, Math.min(slot, times.count()));
            if (cores) {
                constraints.lies(job, n, share, Math.min(slot, times.count()));
            }
            for (PlanningNodes.Part p : planningNodes.on(n)) {
                IndexSet here = cores ? constraints.node(n).units(share).intersect(p.units()) : IndexSet.empty();
                int i = p.number() - planningNodes.nodes();
                used[i] = used[i] == null ? here : used[i].union(here);
                devices.held(p.number(), share, Math.min(slot, times.count()));
                if (slot < times.count() && cores) {
                    cpus[slot][p.number()] += here.count()
                            * in.state().nodes().at(share.node()).spec().cpusPerUnit();
                    memoryMb[slot][p.number()] += memory;
                }
            }
        }
    }

    /** Withholds the nodes of reservations in their times. Of overlapping reservations the larger one counts. */
    private void keepReservations() {
        planningNodes.byNode().forEach((n, parts) -> {
            if (!in.free().isReady(n)) {
                return;
            }
            int last = parts.stream().mapToInt(p -> p.area().last()).max().orElse(0);
            for (int s = 1; s <= Math.min(last, times.count() - 1); s++) {
                for (PlanningNodes.Part p : parts) {
                    differs[s] |= p.isKept(s) != p.isKept(s - 1);
                }
            }
            for (int s = 0; s < last; s++) {
                int sum = 0;
                IndexSet before = IndexSet.empty();
                for (PlanningNodes.Part p : parts) {
                    if (p.isKept(s)) {
                        int here = Math.max(0, cpus[s][p.number()]);
                        sum = before.intersect(p.units()).isEmpty() ? sum + here : Math.max(sum, here);
                        before = before.union(p.units());
                    }
                }
                cpus[s][n] -= sum;
            }
            fuller[n] = Math.max(fuller[n], last);
        });
    }

    /**
     * Takes CPUs and memory in these slots. Memory is had of the whole node, and so are units of a reservation before
     * and after its time.
     */
    void occupy(int n, int slot, int end, int cpu, int memory) {
        for (int s = slot; s < end; s++) {
            idle[s] -= cpus[s][n] >= whole[n] ? 1 : 0;
            cpus[s][n] -= cpu;
            unused[s] -= cpu;
            memoryMb[s][n] -= memory;
        }
        List<PlanningNodes.Part> parts = planningNodes.on(planningNodes.node(n));
        for (PlanningNodes.Part p : parts) {
            for (int s = slot; s < end && p.number() != n; s++) {
                memoryMb[s][p.number()] -= memory;
            }
        }
        if (planningNodes.isPart(n)) {
            PlanningNodes.Part own = planningNodes.part(n);
            for (int s = slot; s < end; s++) {
                cpus[s][own.node()] -= own.isKept(s) ? 0 : cpu;
                memoryMb[s][own.node()] -= memory;
            }
            fuller[own.node()] = Math.max(fuller[own.node()], end);
        }
    }
}
