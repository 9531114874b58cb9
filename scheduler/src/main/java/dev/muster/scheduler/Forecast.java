package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.core.Licences;
import dev.muster.core.Planner;
import dev.muster.core.Reservation;
import dev.muster.core.SoftLimit;
import dev.muster.core.State;
import dev.muster.model.JobReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A plan of all that wait: in the queue's order each is given the first time at which it fits on what those before it leave, in steps of
 * {@link Times}, with ends rounded up. It is made of what the core thread has noted down in {@link Input}, on any thread, and is a value. Which core
 * or device a job gets is not planned; what is planned is CPUs, memory and generic resources of nodes, and licences.
 */
public final class Forecast {
    /** Jobs wait for these, or for something that the plan knows of. */
    static final Set<JobReason> WAITS = EnumSet.of(JobReason.NONE, JobReason.PRIORITY, JobReason.RESOURCES,
            JobReason.LICENSES, JobReason.NO_TOPOLOGY_UNIT, JobReason.REQ_NODE_NOT_AVAIL, JobReason.JOB_ARRAY_TASK_LIMIT);
    /** Classes of one place with which others are compared. */
    private static final int KNOWN_MAX = 64;
    /** Tasks of one array that are planned one by one. */
    private static final int TASKS_MAX = 2_000;

    /**
     * What a plan is made of.
     *
     * @param nowS  seconds since 1970
     * @param queue copies of its blocks, in order
     * @param lanes by number
     * @param masks of places, by their number
     * @param special jobs that are in no lane and wait for nothing but resources and others: each way in which they may be served
     * @param drawn  of lanes whose jobs some reservation draws, by their numbers, likewise
     * @param nodes names by number
     * @param whole what of each node jobs may have when nobody else is there
     * @param era    of nodes' numbers
     * @param claims how many of the first that have to wait get their places kept
     */
    public record Input(State state, long nowS, long tickMs, Times times, FreeTable free, FreeTable whole, List<String> nodes,
            List<QueueOrder.Block> queue, Classes.Lane[] lanes, long[][] masks, Map<Integer, List<Asked>> special, Map<Integer, List<Asked>> drawn,
            int claims, int era) {}

    /**
     * @param mask   nodes that it may run on
     * @param within on what that reservation has of them; "" on what none has
     * @param tasks  of an array's record, 1 for others
     * @param afterS seconds for which as many tasks of its array run as may
     */
    record Asked(int jobId, NeedClass need, long[] mask, String within, int tasks, long afterS) {
        private Asked of(Job job) {
            return new Asked(job.id(), need, mask, within, Forecast.tasks(job), afterS);
        }
    }

    /** Of a node from one second since 1970 to another, kept for a job. */
    record Claim(int node, long from, long to, int cpus, long memoryMb) {}

    /**
     * What went into a plan.
     *
     * @param walked entries of the queue
     * @param tried  those of them that wait for what a plan knows of
     * @param times  into which the week was divided
     * @param passed nodes have other numbers since it was begun: it counts for nothing
     */
    public record Made(int walked, int tried, int times, boolean passed) {}

    private final Input in;
    private final Times times;
    private int walked;
    private int tried;
    private final int slots;
    private final FreeAhead ahead;
    private final Ground ground;
    /** Of {@link #ahead}. */
    private final int[][] cpus;
    private final int[][] memoryMb;
    private final int[][] most;
    private final int[][] gpus;
    private final int[] idle;
    private final int[] fuller;
    private final long[] unused;
    private final int[] whole;
    private final LicencePlan licences;
    private final DevicePlan devices;
    private final Exacting exacting;
    /** Of each class the first slot in which it may still fit. */
    private int[] from = new int[1024];
    /** Likewise of those who want few switches, by {@link #patience}. */
    private final Map<Integer, Integer> fromChoosy = new HashMap<>();
    /** Likewise in reservations, by these and the class. */
    private final Map<String, Map<Integer, Integer>> fromWithin = new HashMap<>();
    private final Map<Place, long[]> masksWithin = new HashMap<>();
    /** By mask, its nodes with power and those without. */
    private final Map<long[], long[][]> halves = new IdentityHashMap<>();
    /** Of each place classes of which that is known: who asks for no less than one of them fits no earlier. */
    private final Map<Integer, List<NeedClass>> known = new HashMap<>();
    private final Map<Integer, Planned> planned = new HashMap<>();
    private final Kept claims;
    private int[] found = new int[64];
    private int[] foundTasks = new int[64];

    private record Place(String reservation, int where) {}

    /** @param start seconds since 1970 */
    private record Planned(long start, int[] nodes, int cpus, String partition, List<Claim> places) {}

    private Forecast(Input in) {
        this.in = in;
        this.times = in.times;
        this.slots = times.count();
        this.ahead = new FreeAhead(in);
        this.ground = ahead.ground;
        this.claims = new Kept(ground.nodes());
        this.cpus = ahead.cpus;
        this.memoryMb = ahead.memoryMb;
        this.most = ahead.most;
        this.gpus = ahead.gpus;
        this.idle = ahead.idle;
        this.fuller = ahead.fuller;
        this.unused = ahead.unused;
        this.whole = ahead.whole;
        this.licences = ahead.licences;
        this.devices = ahead.devices;
        this.exacting = ahead.exacting;
    }

    static Forecast of(Input in) {
        Forecast f = new Forecast(in);
        int left = in.claims;
        for (QueueOrder.Block block : in.queue) {
            for (int i = 0; i < block.size; i++) {
                List<Asked> job = asked(in, block, i);
                f.walked++;
                f.tried += job.isEmpty() ? 0 : 1;
                left -= !job.isEmpty() && f.plan(job, left > 0) ? 1 : 0;
            }
        }
        return f;
    }

    /** Empty for who waits for something that no plan knows of. */
    private static List<Asked> asked(Input in, QueueOrder.Block block, int i) {
        int lane = block.lanes[i];
        if (lane == QueueOrder.UNKNOWN) {
            return in.special.getOrDefault(block.places[i].jobId(), List.of());
        }
        NeedClass c = in.lanes[lane].need;
        if (block.told[i] >= 0 && !WAITS.contains(Lanes.REASONS[block.told[i]]) || in.masks[c.where()].length == 0) {
            return List.of();
        }
        List<Asked> drawn = in.drawn.isEmpty() ? List.of() : in.drawn.getOrDefault(lane, List.of());
        return drawn.isEmpty() ? List.of(new Asked(block.places[i].jobId(), c, in.masks[c.where()], "", tasks(block.places[i].job()), 0))
                : drawn.stream().map(a -> a.of(block.places[i].job())).toList();
    }

    /** Seconds until one more task of its array may run, if only so many may; 0 where one may now. */
    static long throttledS(State state, Job job, long tickMs) {
        int most = job.array().maxRunning();
        if (most <= 0) {
            return 0;
        }
        long[] ends = Stream.concat(state.tasksOf(job.array().jobId()).stream(), state.jobs().find(job.array().jobId()).stream())
                .filter(t -> t.state().isActive()).mapToLong(t -> left(state, t, tickMs)).sorted().toArray();
        return ends.length < most ? 0 : ends[ends.length - most];
    }

    /** Seconds until the job must be over. */
    static long left(State state, Job job, long tickMs) {
        long end = SoftLimit.endTick(job, state.settings(), tickMs);
        return end < 0 ? job.state().isActive() ? Long.MAX_VALUE / 2 : Outlook.LEAVING_S : Math.max(0, (end - tickMs + 999) / 1000);
    }

    static int tasks(Job job) {
        return job.isArrayRecord() ? job.array().pending().count() : 1;
    }

    /** When the job is planned to start, seconds since 1970; 0 if it has no plan. */
    long start(int jobId) {
        Planned p = planned.get(jobId);
        return p == null ? 0 : p.start;
    }

    /** When and where; empty if it has no plan. */
    Optional<Planner.Estimate> estimate(int jobId) {
        return Optional.ofNullable(planned.get(jobId)).map(p -> new Planner.Estimate(p.start,
                Arrays.stream(p.nodes).mapToObj(in.nodes::get).toList(), p.cpus, p.partition));
    }

    /** Times of the plan are rounded up to its steps, and so each of these may begin one step earlier. */
    void upcoming(long until, Map<Integer, Planner.Estimate> byJob) {
        planned.forEach((id, p) -> {
            long earliest = p.start - Times.STEP_MIN_S;
            if (earliest <= until) {
                byJob.put(id, new Planner.Estimate(earliest, Arrays.stream(p.nodes).mapToObj(in.nodes::get).toList(), p.cpus, p.partition));
            }
        });
    }

    /** Jobs that have a time. */
    public int size() {
        return planned.size();
    }

    Made made(int eraNow) {
        return new Made(walked, tried, slots, eraNow != in.era);
    }

    /** What is to be kept for the first that wait, in the queue's order. Not to be changed. */
    Kept claims() {
        return claims;
    }

    /** As {@link FreeTable#changes} was when it was noted down. */
    long changes() {
        return in.free.changes();
    }

    /** Of nodes' numbers. */
    int era() {
        return in.era;
    }

    // ---- one job after the other

    /** @param ways in which it may be served; @return whether it was given claims */
    private boolean plan(List<Asked> ways, boolean claim) {
        boolean kept = false;
        int tasks = Math.min(TASKS_MAX, ways.getFirst().tasks);
        for (int i = 0; i < tasks; i++) {
            Asked way = ways.getFirst();
            int slot = earliest(way);
            for (int w = 1; w < ways.size(); w++) {
                int other = earliest(ways.get(w));
                way = other < slot ? ways.get(w) : way;
                slot = Math.min(slot, other);
            }
            if (slot >= slots) {
                return kept;
            }
            if (ways.size() > 1) {
                // the nodes found are those of the way that was looked at last
                fitsIn(way, slot);
            }
            int nodes = chosen;
            boolean keep = claim && i == 0 && slot > 0;
            Planned p = take(way, slot, nodes, keep);
            planned.putIfAbsent(way.jobId, p);
            if (keep) {
                claims.add(way.jobId, p.places);
                kept = true;
            }
        }
        return kept;
    }

    /** How many of {@link #found} were taken last. */
    private int chosen;

    /** The first slot in which the need fits; the number of slots if there is none. */
    private int earliest(Asked job) {
        if (!job.within.isEmpty()) {
            return earliestWithin(job);
        }
        NeedClass c = job.need;
        if (c.id >= from.length) {
            from = Arrays.copyOf(from, Math.max(c.id + 1, 2 * from.length));
        }
        List<NeedClass> others = known.computeIfAbsent(c.where(), w -> new ArrayList<>());
        int own = patience(job);
        int first = own < 0 ? from[c.id] : fromChoosy.getOrDefault(own, 0);
        for (NeedClass other : others) {
            if (from[other.id] > first && c.asksNoLess(other, false)) {
                first = from[other.id];
            }
        }
        int s = from(job, first);
        if (job.afterS > 0) {
            // what keeps it back keeps nobody else of its class
            return s;
        }
        // what is free becomes less with each that is planned: the next that needs the same finds nothing earlier
        if (own >= 0) {
            fromChoosy.put(own, s);
            return s;
        }
        from[c.id] = s;
        if (s > first && c.simple) {
            remember(others, c);
        }
        return s;
    }

    /** The first slot from that one on in which it fits, and in which its array lets it begin. */
    private int from(Asked job, int first) {
        int s = Math.max(first, job.afterS <= 0 ? 0 : Math.min(slots, times.slotAt(job.afterS)));
        while (s < slots && !fitsIn(job, s)) {
            s++;
        }
        return s;
    }

    /** Of who wants few switches a number for its class and for how long it waits for them; -1 for all others. */
    private int patience(Asked job) {
        return job.need.need.network().switches() == 0 ? -1 : job.need.id * (slots + 1) + exacting.patience(job.jobId, in.nowS);
    }

    private int earliestWithin(Asked job) {
        Map<Integer, Integer> known = fromWithin.computeIfAbsent(job.within, w -> new HashMap<>());
        int own = patience(job);
        int key = own < 0 ? job.need.id : -1 - own;
        int s = from(job, known.getOrDefault(key, 0));
        if (job.afterS <= 0) {
            known.put(key, s);
        }
        return s;
    }

    private long[] mask(Asked job) {
        return job.within.isEmpty() ? job.mask
                : masksWithin.computeIfAbsent(new Place(job.within, job.need.where()), w -> ground.mask(job.within, job.mask));
    }

    private void remember(List<NeedClass> others, NeedClass c) {
        others.removeIf(o -> o == c || from[o.id] <= from[c.id] && o.asksNoLess(c, false));
        if (others.size() >= KNOWN_MAX) {
            others.removeFirst();
        }
        others.add(c);
    }

    private boolean fitsIn(Asked job, int slot) {
        NeedClass c = job.need;
        if (!job.within.isEmpty() && ground.opens(job.within, slot).isEmpty()) {
            return false;
        }
        if (c.exclusive && idle[slot] < c.nodesMin || unused[slot] < c.need.cpus()) {
            return false;
        }
        int end = times.endSlot(slot, c.need.limitMin());
        return hasLicences(c, slot, end) && fits(job, slot, end);
    }

    private boolean hasLicences(NeedClass c, int slot, int end) {
        return c.need.licences().items().isEmpty() || licences.choose(exacting.anywhere(c.need), slot, end, c.need.reservation()).isPresent();
    }

    /** Whether enough nodes have room in all these slots: they are then in {@link #found}. */
    private boolean fits(Asked job, int slot, int end) {
        NeedClass c = job.need;
        long[] mask = mask(job);
        chosen = 0;
        sum = 0;
        int[] named = c.named ? exacting.named(c.need, job.within) : NONE;
        for (int n : named) {
            if (!add(n, tasksOn(c, n, slot, end))) {
                return false;
            }
        }
        boolean together = exacting.isTogether(c, slot);
        if (c.named && (named.length == 0 || !together && isEnough(c, named.length, slot, end))) {
            return named.length > 0;
        }
        othersMayDo = false;
        boolean fits = together ? together(c, mask, named, slot, end)
                : !in.free.areSomeAsleep() ? singly(c, mask, named, slot, end) : awakeFirst(c, mask, named, slot, end);
        return fits || othersMayDo && exacting.mayLook() && together(c, mask, named, slot, end);
    }

    /** The first nodes that have room are as many as it may have, and have not all devices that it asks for. */
    private boolean othersMayDo;

    private boolean singly(NeedClass c, long[] mask, int[] named, int slot, int end) {
        return isForOne(c, named) && alone(c, mask, slot, end) || oneByOne(c, mask, named, slot, end);
    }

    /** Nodes that have power come first, as in a pass: others would be started for the job although there is no need. */
    private boolean awakeFirst(NeedClass c, long[] mask, int[] named, int slot, int end) {
        long[][] half = halves.computeIfAbsent(mask, in.free::halves);
        return isForOne(c, named) && (alone(c, half[0], slot, end) || alone(c, half[1], slot, end))
                || oneByOne(c, half[0], named, slot, end) || oneByOne(c, half[1], named, slot, end);
    }

    private static boolean isForOne(NeedClass c, int[] named) {
        return named.length == 0 && !c.single && c.need.nodesWanted() == 1;
    }

    /** One node has room for all tasks of a job that may have several. */
    private boolean alone(NeedClass c, long[] mask, int slot, int end) {
        long wanted = Math.max(c.cpusMin, (long) c.tasks * c.cpusPerTask);
        for (int w = 0; w < mask.length; w++) {
            for (long bits = most[slot][w] < wanted ? 0 : mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                long tasks = cpus[slot][n] < wanted ? 0 : tasksOn(c, n, slot, end);
                if (tasks >= Math.max(1, c.tasks) && add(n, tasks) && isEnough(c, 0, slot, end)) {
                    return true;
                }
                sum = 0;
                chosen = 0;
            }
        }
        return false;
    }

    private static final int[] NONE = {};
    /** Tasks that the nodes found have room for. */
    private long sum;

    private boolean add(int n, long tasks) {
        if (tasks <= 0) {
            return false;
        }
        if (chosen == found.length) {
            found = Arrays.copyOf(found, 2 * chosen);
            foundTasks = Arrays.copyOf(foundTasks, 2 * chosen);
        }
        found[chosen] = n;
        foundTasks[chosen++] = (int) Math.min(Integer.MAX_VALUE, tasks);
        sum += tasks;
        return true;
    }

    private boolean isEnough(NeedClass c, int required, int slot, int end) {
        return chosen >= Math.max(c.nodesMin, required) && sum >= c.tasks
                && (c.need.gresPerJob().isEmpty() || devices.suffice(c.need, found, chosen, slot, end));
    }

    private static boolean isAmong(int[] some, int n) {
        for (int i : some) {
            if (i == n) {
                return true;
            }
        }
        return false;
    }

    /** One node after the other, in their order. */
    private boolean oneByOne(NeedClass c, long[] mask, int[] named, int slot, int end) {
        int[] now = cpus[slot];
        int nodesMax = c.need.nodesMax() > 0 ? c.need.nodesMax() : Integer.MAX_VALUE;
        for (int w = 0; w < mask.length && !othersMayDo; w++) {
            if (mask[w] == 0 || most[slot][w] < c.cpusMin) {
                continue;
            }
            int best = Integer.MIN_VALUE;
            for (long bits = mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                best = Math.max(best, now[n]);
                if (now[n] < (c.exclusive ? whole[n] : c.cpusMin) || isAmong(named, n) || !add(n, tasksOn(c, n, slot, end))) {
                    continue;
                }
                if (chosen <= nodesMax && isEnough(c, named.length, slot, end)) {
                    return true;
                }
                if (chosen == nodesMax && !c.need.gresPerJob().isEmpty()) {
                    othersMayDo = true;
                    return false;
                }
                if (chosen == nodesMax) {
                    dropSmallest(named.length);
                }
            }
            if (mask[w] == -1L) {
                most[slot][w] = best;
            }
        }
        return false;
    }

    /** Too little on these: the next takes the place of the smallest. */
    private void dropSmallest(int required) {
        int least = required;
        for (int i = required; i < chosen; i++) {
            least = foundTasks[i] < foundTasks[least] ? i : least;
        }
        if (least < chosen) {
            sum -= foundTasks[least];
            chosen--;
            found[least] = found[chosen];
            foundTasks[least] = foundTasks[chosen];
        }
    }

    /** All that have room, and of them those that can be had together. The named ones are found already. */
    private boolean together(NeedClass c, long[] mask, int[] named, int slot, int end) {
        List<Chooser.Candidate> able = new ArrayList<>();
        for (int i = 0; i < named.length; i++) {
            able.add(candidate(found[i], foundTasks[i], slot, end));
        }
        for (int w = 0; w < mask.length; w++) {
            for (long bits = most[slot][w] < c.cpusMin ? 0 : mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                int tasks = cpus[slot][n] < c.cpusMin ? 0 : (int) Math.min(Integer.MAX_VALUE, tasksOn(c, n, slot, end));
                if (tasks > 0 && !isAmong(named, n)) {
                    able.add(candidate(n, tasks, slot, end));
                }
            }
        }
        List<Chooser.Pick> picks = exacting.pick(c.need, able, named.length, slot, end);
        chosen = 0;
        picks.forEach(p -> add(p.node().index, p.tasks()));
        return !picks.isEmpty();
    }

    private Chooser.Candidate candidate(int n, int tasks, int slot, int end) {
        return new Chooser.Candidate(exacting.node(n), tasks, (need, node, item) -> devices.usable(need, item, n, slot, end));
    }

    /** So many tasks fit on the node in all these slots. */
    private long tasksOn(NeedClass c, int n, int slot, int end) {
        int last = Math.min(end, Math.max(slot + 1, fuller[n]));
        int least = Integer.MAX_VALUE;
        int memory = Integer.MAX_VALUE;
        int wanted = c.exclusive ? whole[n] : c.cpusMin;
        for (int s = slot; s < last; s++) {
            least = Math.min(least, cpus[s][n]);
            if (least < wanted) {
                return 0;
            }
        }
        for (int s = slot; s < last && (c.memoryMin > 0 || c.gpus > 0 || !Exacting.isPlain(c)); s++) {
            memory = Math.min(memory, memoryMb[s][n]);
            if (c.gpus > 0 && gpus[s][n] < c.gpus) {
                return 0;
            }
        }
        if (memory < c.memoryMin || c.need.memAll() && memory < in.whole.memoryMb[ground.node(n)]) {
            return 0;
        }
        if (exacting.keepsOff(c.need.apart(), n, slot, end)) {
            return 0;
        }
        if (Exacting.isPlain(c)) {
            return exacting.near(c.need, n, slot, c.tasksOn(least, memory));
        }
        long tasks = devices.tasks(c.need, n, slot, last);
        return tasks == 0 ? 0
                : exacting.near(c.need, n, slot, Math.min(tasks, exacting.tasks(c, n, least, memory, least >= whole[n], slot, end)));
    }

    /** As {@link Chooser} deals: each node takes all it has room for, but one task is left for each still to come. */
    private Planned take(Asked job, int slot, int nodes, boolean keep) {
        NeedClass c = job.need;
        Optional<Reservation.Window> window = job.within.isEmpty() ? Optional.empty() : ground.opens(job.within, slot);
        long start = window.map(Reservation.Window::from).orElse(in.nowS + times.starts()[slot]);
        long to = Math.min(window.map(Reservation.Window::to).orElse(Long.MAX_VALUE), c.need.end(start));
        int end = window.isEmpty() ? times.endSlot(slot, c.need.limitMin())
                : to == Long.MAX_VALUE ? slots : Math.max(slot + 1, times.slotAt(to - in.nowS));
        int[] own = new int[nodes];
        List<Claim> places = keep ? new ArrayList<>(nodes) : List.of();
        int sum = 0;
        int left = Math.max(c.need.tasks(), nodes);
        for (int i = 0; i < nodes; i++) {
            foundTasks[i] = Math.max(1, Math.min(foundTasks[i], left - (nodes - 1 - i)));
            left -= foundTasks[i];
        }
        int[][] dealt = c.need.gresPerJob().isEmpty() ? NONE_DEALT : devices.dealt(c.need, found, foundTasks, nodes, slot, end, exacting::node);
        for (int i = 0; i < nodes; i++) {
            int n = found[i];
            own[i] = ground.node(n);
            int gpusHere = c.need.gpus() == Need.Gpus.PLAIN ? 0 : gpus(c.need, dealt, i);
            int cpu = Math.max(cpusOn(c, n, foundTasks[i]), gpusHere * c.need.gpus().cpus());
            int memory = (int) Math.min(Integer.MAX_VALUE / 2, Math.max(memoryOn(c, n, cpu), gpusHere * c.need.gpus().memoryMb()));
            sum += cpu;
            if (keep) {
                places.add(new Claim(own[i], start, to, cpu, memory));
            }
            ahead.occupy(n, slot, end, cpu, memory);
            exacting.holds(c.need, n, cpu, slot, end);
            fuller[n] = Math.max(fuller[n], end);
        }
        devices.take(c.need, found, foundTasks, nodes, dealt, slot, end);
        if (!c.need.licences().items().isEmpty()) {
            List<Licences.Item> layers = exacting.layersTaken(c.need, found, nodes, slot, end);
            licences.choose(exacting.anywhere(c.need), slot, end, c.need.reservation()).ifPresent(l -> licences.take(l, slot, end));
            licences.take(layers, slot, end);
        }
        return new Planned(start, own, sum, c.need.partition(), places);
    }

    private static final int[][] NONE_DEALT = {};

    /** Of those that it has in all, so many are on the node. */
    private static int gpus(Need need, int[][] dealt, int node) {
        int sum = 0;
        for (int i = 0; i < dealt.length; i++) {
            sum += need.gresPerJob().get(i).name().equals("gpu") ? dealt[i][node] : 0;
        }
        return sum;
    }

    private int cpusOn(NeedClass c, int n, int tasks) {
        return c.exclusive ? whole[n] : Math.max(Math.max(1, c.need.cpusPerNodeMin()),
                c.need.overcommit() ? 1 : tasks * c.cpusPerTask);
    }

    private long memoryOn(NeedClass c, int n, int cpu) {
        return c.memoryMin == 0 && !c.need.memAll() ? 0 : c.need.memAll() ? in.whole.memoryMb[ground.node(n)]
                : c.need.memPerNodeMb() > 0 ? c.need.memPerNodeMb() : c.need.memPerCpuMb() * cpu;
    }
}
