package dev.muster.scheduler.forecast;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Job;
import dev.muster.core.state.Reservation;
import dev.muster.scheduler.claim.PlannedPlace;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSelector;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.timeline.PlanningNodes;
import dev.muster.scheduler.timeline.RemainingTime;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Seven days of a {@link Forecast}, and in coarse steps the year behind them. In that year the first jobs that do not
 * begin in the seven days have places, so that no later job is given nodes into their time. The next window begins
 * where this one's days end.
 */
final class ForecastWindow {
    /** Tasks of one array that are planned one by one. */
    private static final int TASKS_MAX = 2_000;
    /**
     * The outcome of a job's turn: all of it is placed, some of it is left for a later window, or no window will ever
     * have a place.
     */
    enum Outcome {
        PLACED,
        LEFT,
        NEVER
    }

    /** Places behind the seven days, at most. */
    private static final int BEHIND_MAX = 1_000;

    /** A job in the queue with the places that it still needs. */
    static final class QueuedJob {
        /** Alternatives of its request. */
        final List<Forecast.Alternative> alternatives;
        /** Number of its tasks that have a place. */
        private int done;

        QueuedJob(List<Forecast.Alternative> alternatives) {
            this.alternatives = alternatives;
        }

        private int tasks() {
            return Math.min(TASKS_MAX, alternatives.getFirst().tasks());
        }
    }

    /**
     * The resources of a job from one second since 1970 to another.
     *
     * @param found nodes or parts of them by {@link PlanningNodes}'s numbers
     * @param dealt of each of its resources for all nodes together how many of each node
     */
    private record PlannedRun(Forecast.Alternative job, long start, long to, int[] found, int[] tasks, int[][] dealt) {
        private boolean isEndless() {
            return to == Long.MAX_VALUE;
        }

        /** Returns the seat with parts of nodes as -1 and less: they have other numbers in another stretch. */
        private PlannedRun onNodes(PlanningNodes planningNodes) {
            return new PlannedRun(
                    job,
                    start,
                    to,
                    Arrays.stream(found)
                            .map(n -> planningNodes.isPart(n) ? -1 - planningNodes.node(n) : n)
                            .toArray(),
                    tasks,
                    dealt);
        }

        private PlannedRun on(PlanningNodes planningNodes) {
            return new PlannedRun(
                    job,
                    start,
                    to,
                    Arrays.stream(found)
                            .map(n -> n >= 0 ? n : part(planningNodes, -1 - n))
                            .toArray(),
                    tasks,
                    dealt);
        }

        private int part(PlanningNodes planningNodes, int node) {
            int number = planningNodes.number(node, job.within());
            return number < 0 ? node : number;
        }
    }

    private final Forecast.Input in;
    private final FutureCapacity.JobSet cast;
    /** Seconds from the begin of the first window to this one's; and its begin. */
    private final long laterS;

    private final long nowS;
    private final boolean last;
    private final boolean yearly;
    private final TimeGrid times;
    /** The first slot behind the seven days. */
    private final int near;

    private final FutureCapacity ahead;
    private final SlotSearch search;
    private final EarliestSlots slots = new EarliestSlots();
    private final Map<ReservedPart, long[]> masksWithin = new HashMap<>();

    private record ReservedPart(String reservation, int where) {}

    /** Jobs with a place that outlasts the seven days. */
    private final List<PlannedRun> lasting = new ArrayList<>();

    private int coarseCount;
    private int firstBehind = Integer.MAX_VALUE;
    private boolean any;
    private List<PlannedPlace> places = List.of();

    private ForecastWindow(
            Forecast.Input in,
            FutureCapacity.JobSet cast,
            long laterS,
            List<PlannedRun> before,
            boolean last,
            boolean yearly) {
        this.in = in;
        this.cast = cast;
        this.laterS = laterS;
        this.nowS = in.nowS() + laterS;
        this.last = last;
        this.yearly = yearly;
        this.times = laterS == 0 ? in.times() : TimeGrid.later(in.nodes().size());
        this.near = times.slotAt(TimeGrid.HORIZON_S);
        this.ahead = new FutureCapacity(in, cast, times, laterS, yearly);
        this.search = new SlotSearch(in, ahead, near);
        for (PlannedRun run : before) {
            long to = end(run);
            if (to > nowS) {
                occupy(
                        run.on(ahead.planningNodes),
                        0,
                        to == Long.MAX_VALUE ? times.count() : Math.max(1, times.slotAt(to - nowS)),
                        null);
                if (to > nowS + TimeGrid.HORIZON_S) {
                    lasting.add(run);
                }
            }
        }
    }

    static ForecastWindow first(Forecast.Input in) {
        return new ForecastWindow(in, FutureCapacity.JobSet.of(in), 0, List.of(), false, false);
    }

    private long end(PlannedRun run) {
        return yearly && run.isEndless() ? run.start + TimeGrid.YEAR_S : run.to;
    }

    /** Tests whether a job without a limit runs or is planned. */
    boolean areEndless() {
        return lasting.stream().anyMatch(PlannedRun::isEndless)
                || cast.running().stream().anyMatch(j -> leftS(j) >= RemainingTime.ENDLESS_S);
    }

    /** Returns the seconds from the first stretch's beginning until the job ends. */
    private long leftS(Job job) {
        return RemainingTime.seconds(in.state(), job, in.tickMs());
    }

    /**
     * Returns the next window, in which jobs without a limit end after a year; call it only if this window placed no
     * job.
     */
    ForecastWindow yearly() {
        return new ForecastWindow(in, cast, laterS + TimeGrid.HORIZON_S, lasting, false, true);
    }

    /**
     * Returns the next window; empty if no job finds a place in any.
     *
     * @param last whether the time behind its days counts
     */
    Optional<ForecastWindow> next(boolean last) {
        if (!any && coarseCount == 0) {
            return Optional.empty();
        }
        // if no job begins in these days, the next window starts where one may
        long idleS = any || coarseCount == BEHIND_MAX ? 0 : times.starts()[firstBehind - 1] - TimeGrid.HORIZON_S;
        return Optional.of(
                new ForecastWindow(in, cast, laterS + TimeGrid.HORIZON_S + Math.max(0, idleS), lasting, last, yearly));
    }

    private int limitMin(NeedClass c) {
        return yearly && c.need.limitMin() < 0 ? TimeGrid.YEAR_S / 60 : c.need.limitMin();
    }

    private boolean isFinal(int slot) {
        return last || slot < near;
    }

    /** Returns the first slot in which no job is placed any more. */
    private int placingEnd() {
        return last || coarseCount < BEHIND_MAX ? times.count() : near;
    }

    private long afterS(Forecast.Alternative job) {
        return Math.max(0, job.afterS() - laterS);
    }

    /**
     * Gives it the first places in which it fits.
     *
     * @param keep what its first task has is left in {@link #places}
     * @param to receives jobs that begin in these days, and in the last window also those that begin later
     * @param then receives places behind the days
     */
    Outcome plan(QueuedJob turn, boolean keep, Map<Integer, Forecast.Planned> to, Map<Integer, Forecast.Planned> then) {
        List<Forecast.Alternative> alternatives = turn.alternatives;
        places = List.of();
        for (int i = turn.done; i < turn.tasks(); i++) {
            Forecast.Alternative way = alternatives.getFirst();
            int slot = earliest(way);
            for (int w = 1; w < alternatives.size(); w++) {
                int other = earliest(alternatives.get(w));
                way = other < slot ? alternatives.get(w) : way;
                slot = Math.min(slot, other);
            }
            if (slot >= placingEnd()) {
                // it fits nowhere in the time behind, where no job is planned: it never will
                return slot < times.count() || coarseCount > 0 ? Outcome.LEFT : Outcome.NEVER;
            }
            if (alternatives.size() > 1) {
                // the nodes found are those of the way that was looked at last
                fitsIn(way, slot);
            }
            Forecast.Planned p = take(way, slot, search.count(), keep && i == 0 && slot > 0);
            places = i == 0 ? p.places() : places;
            if (isFinal(slot)) {
                to.putIfAbsent(way.jobId(), p);
                turn.done++;
                any = true;
            } else {
                then.putIfAbsent(way.jobId(), p);
                coarseCount++;
                firstBehind = Math.min(firstBehind, slot);
            }
        }
        return turn.done < turn.tasks() ? Outcome.LEFT : Outcome.PLACED;
    }

    /**
     * Returns the places that are to be kept for the job that was planned last; none if it begins at once, or never.
     */
    List<PlannedPlace> places() {
        return places;
    }

    /** Returns the first slot in which the need fits; the number of slots if there is none. */
    private int earliest(Forecast.Alternative job) {
        int patience = patience(job);
        int first = slots.first(job, patience);
        int slot = from(job, first);
        if (afterS(job) <= 0) {
            // what keeps this job back keeps no other job of its class back
            slots.found(job, patience, first, slot);
        }
        return slot;
    }

    /** Returns the first slot from that one on in which the need fits, and in which its array lets it begin. */
    private int from(Forecast.Alternative job, int first) {
        int s = Math.max(first, afterS(job) <= 0 ? 0 : Math.min(times.count(), times.slotAt(afterS(job))));
        int end = placingEnd();
        while (s < end && !fitsIn(job, s)) {
            s++;
        }
        return s;
    }

    /** Returns a number for the class and the wait of a job that wants few switches; -1 for all others. */
    private int patience(Forecast.Alternative job) {
        return job.need().need.network().switches() == 0
                ? -1
                : job.need().id * (times.count() + 1) + ahead.constraints.patience(job.jobId(), nowS);
    }

    private long[] mask(Forecast.Alternative job) {
        return job.within().isEmpty()
                ? job.mask()
                : masksWithin.computeIfAbsent(
                        new ReservedPart(job.within(), job.need().where()),
                        w -> ahead.planningNodes.mask(job.within(), job.mask()));
    }

    private boolean fitsIn(Forecast.Alternative job, int slot) {
        NeedClass c = job.need();
        if (!job.within().isEmpty()
                && ahead.planningNodes.opens(job.within(), slot).isEmpty()) {
            return false;
        }
        if (c.exclusive && ahead.idle[slot] < c.nodesMin || ahead.unused[slot] < c.need.cpus()) {
            return false;
        }
        int end = times.endSlot(slot, limitMin(c));
        return hasLicenses(c, slot, end) && search.fits(job, mask(job), slot, end);
    }

    private boolean hasLicenses(NeedClass c, int slot, int end) {
        return c.need.licenses().items().isEmpty()
                || ahead.licenses
                        .choose(ahead.constraints.anywhere(c.need), slot, end, c.need.reservation())
                        .isPresent();
    }

    /**
     * Takes a place for the job, dealt as by {@link NodeSelector}: each node takes all it has room for, but one task is
     * left for each still to come.
     */
    private Forecast.Planned take(Forecast.Alternative job, int slot, int nodes, boolean keep) {
        NeedClass c = job.need();
        Optional<Reservation.Window> window =
                job.within().isEmpty() ? Optional.empty() : ahead.planningNodes.opens(job.within(), slot);
        long start = window.map(Reservation.Window::from).orElse(nowS + times.starts()[slot]);
        long to = Math.min(window.map(Reservation.Window::to).orElse(Long.MAX_VALUE), c.need.end(start));
        int end;
        if (window.isEmpty()) {
            end = times.endSlot(slot, limitMin(c));
        } else if (to == Long.MAX_VALUE) {
            end = times.count();
        } else {
            end = Math.max(slot + 1, times.slotAt(to - nowS));
        }

        int[] found = search.found();
        int[] foundTasks = search.tasks();
        int left = Math.max(c.need.tasks(), nodes);
        for (int i = 0; i < nodes; i++) {
            foundTasks[i] = Math.max(1, Math.min(foundTasks[i], left - (nodes - 1 - i)));
            left -= foundTasks[i];
        }
        int[][] dealt =
                c.need.gresPerJob().isEmpty() ? NONE_DEALT : ahead.devices.dealt(c.need, found, nodes, slot, end);
        PlannedRun run =
                new PlannedRun(job, start, to, Arrays.copyOf(found, nodes), Arrays.copyOf(foundTasks, nodes), dealt);
        List<PlannedPlace> places = keep ? new ArrayList<>(nodes) : List.of();
        int sum = occupy(run, slot, end, keep ? places : null);
        if (isFinal(slot) && to > nowS + TimeGrid.HORIZON_S) {
            lasting.add(run.onNodes(ahead.planningNodes));
        }
        return new Forecast.Planned(
                start,
                Arrays.stream(run.found).map(ahead.planningNodes::node).toArray(),
                sum,
                c.need.partition(),
                places);
    }

    /** @param places what it has is added to these; null for nothing; @return CPUs that it has in all */
    private int occupy(PlannedRun run, int slot, int end, @Nullable List<PlannedPlace> places) {
        NeedClass c = run.job.need();
        int sum = 0;
        for (int i = 0; i < run.found.length; i++) {
            int n = run.found[i];
            int gpusHere = c.need.gpus() == ResourceNeed.Gpus.PLAIN ? 0 : gpus(c.need, run.dealt, i);
            int cpu = Math.max(
                    cpusOn(c, n, run.tasks[i]), gpusHere * c.need.gpus().cpus());
            int memory = (int) Math.min(
                    Integer.MAX_VALUE / 2,
                    Math.max(memoryOn(c, n, cpu), gpusHere * c.need.gpus().memoryMb()));
            sum += cpu;
            if (places != null) {
                places.add(new PlannedPlace(ahead.planningNodes.node(n), run.start, run.to, cpu, memory));
            }
            ahead.occupy(n, slot, end, cpu, memory);
            ahead.constraints.holds(c.need, n, cpu, slot, end);
            ahead.fuller[n] = Math.max(ahead.fuller[n], end);
        }
        ahead.devices.take(c.need, run.found, run.tasks, run.found.length, run.dealt, slot, end);
        if (!c.need.licenses().items().isEmpty()) {
            List<LicenseRequest.Item> layers =
                    ahead.constraints.layersTaken(c.need, run.found, run.found.length, slot, end);
            ahead.licenses
                    .choose(ahead.constraints.anywhere(c.need), slot, end, c.need.reservation())
                    .ifPresent(l -> ahead.licenses.take(l, slot, end));
            ahead.licenses.take(layers, slot, end);
        }
        return sum;
    }

    private static final int[][] NONE_DEALT = {};

    /** Returns how many of the job's GPUs are on the node. */
    private static int gpus(ResourceNeed need, int[][] dealt, int node) {
        int sum = 0;
        for (int i = 0; i < dealt.length; i++) {
            sum += need.gresPerJob().get(i).name().equals("gpu") ? dealt[i][node] : 0;
        }
        return sum;
    }

    private int cpusOn(NeedClass c, int n, int tasks) {
        if (c.exclusive) {
            return ahead.whole[n];
        }
        return Math.max(Math.max(1, c.need.cpusGivenMin()), c.need.overcommit() ? 1 : tasks * c.cpusPerTask);
    }

    private long memoryOn(NeedClass c, int n, int cpu) {
        if (c.memoryMin == 0 && !c.need.memAll()) {
            return 0;
        }
        if (c.need.memAll()) {
            return in.whole().memoryMb[ahead.planningNodes.node(n)];
        }
        if (c.need.memPerNodeMb() > 0) {
            return c.need.memPerNodeMb();
        }
        return c.need.memPerCpuMb() * cpu;
    }
}
