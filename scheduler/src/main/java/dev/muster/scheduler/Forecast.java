package dev.muster.scheduler;

import dev.muster.core.Allocation;
import dev.muster.core.Job;
import dev.muster.core.Licences;
import dev.muster.core.Planner;
import dev.muster.core.State;
import dev.muster.model.JobReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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
     * @param special jobs that are in no lane and wait for nothing but resources and others
     * @param nodes names by number
     * @param whole what of each node jobs may have when nobody else is there
     * @param era    of nodes' numbers
     * @param claims how many of the first that have to wait get their places kept
     */
    public record Input(State state, long nowS, long tickMs, Times times, FreeTable free, FreeTable whole, List<String> nodes,
            List<QueueOrder.Block> queue, Classes.Lane[] lanes, long[][] masks, Map<Integer, Asked> special, int claims, int era) {}

    /**
     * @param mask  nodes that it may run on
     * @param tasks of an array's record, 1 for others
     */
    record Asked(int jobId, NeedClass need, long[] mask, int tasks) {}

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
    private final int count;
    private final int slots;
    private final int[][] cpus;
    private final int[][] memoryMb;
    /** Of blocks of 64 nodes, no less than the most CPUs that one of them has; and how many nodes nobody is on. */
    private final int[][] most;
    private final int[] idle;
    /** The slot after the last in which something is taken that was not there before: until then a node may become fuller. */
    private final int[] fuller;
    /** CPUs that nobody has, in all. */
    private final long[] unused;
    /** Of each class the first slot in which it may still fit. */
    private int[] from = new int[1024];
    /** Of each place classes of which that is known: who asks for no less than one of them fits no earlier. */
    private final Map<Integer, List<NeedClass>> known = new HashMap<>();
    private final LicencePlan licences;
    private final DevicePlan devices;
    private int[][] gpus;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Exacting exacting;
    private final Map<Integer, Planned> planned = new HashMap<>();
    private final Kept claims;
    private int[] found = new int[64];
    private int[] foundTasks = new int[64];

    /** @param start seconds since 1970 */
    private record Planned(long start, int[] nodes, int cpus, String partition, List<Claim> places) {}

    private Forecast(Input in) {
        this.in = in;
        this.times = in.times;
        this.count = in.nodes.size();
        this.claims = new Kept(count);
        this.slots = times.count();
        this.cpus = new int[slots][count];
        this.memoryMb = new int[slots][count];
        this.most = new int[slots][FreeTable.words(count)];
        this.idle = new int[slots];
        this.unused = new long[slots];
        this.fuller = new int[count];
        this.licences = new LicencePlan(Licences.capacities(in.state), times);
        this.devices = new DevicePlan(in.state, in.nodes, slots);
        for (int n = 0; n < count; n++) {
            numbers.put(in.nodes.get(n), n);
        }
        this.exacting = new Exacting(in.state, in.nodes, times, numbers, licences);
    }

    static Forecast of(Input in) {
        Forecast f = new Forecast(in);
        f.fill();
        int left = in.claims;
        for (QueueOrder.Block block : in.queue) {
            for (int i = 0; i < block.size; i++) {
                Optional<Asked> job = asked(in, block, i);
                f.walked++;
                f.tried += job.isPresent() ? 1 : 0;
                left -= job.isPresent() && f.plan(job.get(), left > 0) ? 1 : 0;
            }
        }
        return f;
    }

    /** Empty for who waits for something that no plan knows of. */
    private static Optional<Asked> asked(Input in, QueueOrder.Block block, int i) {
        int lane = block.lanes[i];
        if (lane == QueueOrder.UNKNOWN) {
            return Optional.ofNullable(in.special.get(block.places[i].jobId()));
        }
        NeedClass c = in.lanes[lane].need;
        if (block.told[i] >= 0 && !WAITS.contains(Lanes.REASONS[block.told[i]]) || in.masks[c.where()].length == 0) {
            return Optional.empty();
        }
        return Optional.of(new Asked(block.places[i].jobId(), c, in.masks[c.where()], tasks(block.places[i].job())));
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

    // ---- what will be free when

    private void fill() {
        for (int n = 0; n < count; n++) {
            boolean ready = in.free.isReady(n);
            cpus[0][n] = ready ? in.free.cpus[n] : Integer.MIN_VALUE / 2;
            memoryMb[0][n] = (int) Math.clamp(in.free.memoryMb[n], Integer.MIN_VALUE / 2, Integer.MAX_VALUE / 2);
        }
        for (Classes.Lane lane : in.lanes) {
            foresee(lane.need.need);
        }
        in.special.values().forEach(a -> foresee(a.need.need));
        devices.fill();
        gpus = devices.all("gpu");
        for (Job job : in.state.jobs().values()) {
            if (!job.holdsNodes()) {
                continue;
            }
            long left = left(job, in.tickMs);
            licences.running(job.desc().charge().reservation(), Licences.held(job), left);
            give(job, job.run().allocation().nodes(), left, !Scheduler.gaveItsCores(in.state, job));
            give(job, job.run().allocation().leaving(), Outlook.LEAVING_S, true);
        }
        licences.keep(in.state, in.nowS);
        for (int s = 1; s < slots; s++) {
            for (int n = 0; n < count; n++) {
                // no more than there is: what several share comes back with each of them
                cpus[s][n] = Math.min(in.whole.cpus[n], cpus[s - 1][n] + cpus[s][n]);
                memoryMb[s][n] += memoryMb[s - 1][n];
            }
        }
        keepReservations();
        for (int s = 0; s < slots; s++) {
            for (int n = 0; n < count; n++) {
                most[s][n >>> 6] = Math.max(most[s][n >>> 6], cpus[s][n]);
                idle[s] += cpus[s][n] >= in.whole.cpus[n] ? 1 : 0;
                unused[s] += Math.max(0, cpus[s][n]);
            }
        }
    }

    /** Seconds until the job must be over. */
    static long left(Job job, long tickMs) {
        return job.run().limitTickMs() < 0 ? job.state().isActive() ? Long.MAX_VALUE / 2 : Outlook.LEAVING_S
                : Math.max(0, (job.run().limitTickMs() - tickMs + 999) / 1000);
    }

    private void foresee(Need need) {
        devices.want(need);
        if (need.apart() != Apart.ANYBODY) {
            exacting.mind();
        }
    }

    /** @param cores it has them, not only what a suspended job keeps */
    private void give(Job job, List<Allocation.Share> shares, long afterS, boolean cores) {
        int slot = Math.max(1, times.slotAt(Math.max(0, afterS)));
        for (Allocation.Share share : shares) {
            Integer n = numbers.get(share.node());
            if (n == null || share.released()) {
                continue;
            }
            devices.held(n, share, Math.min(slot, slots));
            exacting.held(job, n, share, Math.min(slot, slots));
            if (slot < slots && cores) {
                cpus[slot][n] += share.cpus();
                memoryMb[slot][n] += (int) Math.min(Integer.MAX_VALUE / 2, share.memoryMb());
            }
        }
    }

    /** What reservations have is nobody's in their times: their own jobs are not planned here. */
    private void keepReservations() {
        in.state.reservations().values().forEach(r -> r.windows(in.nowS, in.nowS, in.nowS + Times.HORIZON_S).forEach(w -> {
            int first = Math.max(0, times.slotAt(Math.max(0, w.from() - in.nowS)) - 1);
            int last = Math.min(slots, Math.max(first + 1, times.slotAt(w.to() - in.nowS)));
            for (String name : r.nodes()) {
                Integer n = numbers.get(name);
                if (n != null) {
                    int units = r.unitsOn(in.state.nodes().at(name).spec()).count() * in.state.nodes().at(name).spec().cpusPerUnit();
                    for (int s = first; s < last; s++) {
                        cpus[s][n] = Math.min(cpus[s][n], in.whole.cpus[n] - units);
                    }
                    fuller[n] = Math.max(fuller[n], last);
                }
            }
        }));
    }

    // ---- one job after the other

    /** @return whether it was given claims */
    private boolean plan(Asked job, boolean claim) {
        boolean kept = false;
        int tasks = Math.min(TASKS_MAX, job.tasks);
        for (int i = 0; i < tasks; i++) {
            int slot = earliest(job);
            if (slot >= slots) {
                return kept;
            }
            int nodes = chosen;
            boolean keep = claim && i == 0 && slot > 0;
            Planned p = take(job.need, slot, nodes, keep);
            planned.putIfAbsent(job.jobId, p);
            if (keep) {
                claims.add(job.jobId, p.places);
                kept = true;
            }
        }
        return kept;
    }

    /** How many of {@link #found} were taken last. */
    private int chosen;

    /** The first slot in which the need fits; the number of slots if there is none. */
    private int earliest(Asked job) {
        NeedClass c = job.need;
        if (c.id >= from.length) {
            from = Arrays.copyOf(from, Math.max(c.id + 1, 2 * from.length));
        }
        List<NeedClass> others = known.computeIfAbsent(c.where(), w -> new ArrayList<>());
        int first = from[c.id];
        for (NeedClass other : others) {
            if (from[other.id] > first && c.asksNoLess(other, false)) {
                first = from[other.id];
            }
        }
        int s = first;
        while (s < slots && !fitsIn(c, job.mask, s)) {
            s++;
        }
        // what is free becomes less with each that is planned: the next that needs the same finds nothing earlier
        from[c.id] = s;
        if (s > first && c.simple) {
            remember(others, c);
        }
        return s;
    }

    private void remember(List<NeedClass> others, NeedClass c) {
        others.removeIf(o -> o == c || from[o.id] <= from[c.id] && o.asksNoLess(c, false));
        if (others.size() >= KNOWN_MAX) {
            others.removeFirst();
        }
        others.add(c);
    }

    private boolean fitsIn(NeedClass c, long[] mask, int slot) {
        if (c.exclusive && idle[slot] < c.nodesMin || unused[slot] < c.need.cpus()) {
            return false;
        }
        int end = times.endSlot(slot, c.need.limitMin());
        return hasLicences(c, slot, end) && fits(c, mask, slot, end);
    }

    private boolean hasLicences(NeedClass c, int slot, int end) {
        return c.need.licences().items().isEmpty() || licences.choose(exacting.anywhere(c.need), slot, end, c.need.reservation()).isPresent();
    }

    /** Whether enough nodes have room in all these slots: they are then in {@link #found}. */
    private boolean fits(NeedClass c, long[] mask, int slot, int end) {
        chosen = 0;
        sum = 0;
        int[] named = c.named ? exacting.named(c.need) : NONE;
        for (int n : named) {
            if (!add(n, tasksOn(c, n, slot, end))) {
                return false;
            }
        }
        boolean together = exacting.isTogether(c, slot);
        if (c.named && (named.length == 0 || !together && isEnough(c, named.length, slot, end))) {
            return named.length > 0;
        }
        return together ? together(c, mask, named, slot, end)
                : named.length == 0 && !c.single && c.need.nodesWanted() == 1 && alone(c, mask, slot, end) || oneByOne(c, mask, named, slot, end);
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
        for (int w = 0; w < mask.length; w++) {
            if (mask[w] == 0 || most[slot][w] < c.cpusMin) {
                continue;
            }
            int best = Integer.MIN_VALUE;
            for (long bits = mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                best = Math.max(best, now[n]);
                if (now[n] < (c.exclusive ? in.whole.cpus[n] : c.cpusMin) || isAmong(named, n) || !add(n, tasksOn(c, n, slot, end))) {
                    continue;
                }
                if (chosen <= nodesMax && isEnough(c, named.length, slot, end)) {
                    return true;
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
            able.add(new Chooser.Candidate(exacting.node(found[i]), foundTasks[i]));
        }
        for (int w = 0; w < mask.length; w++) {
            for (long bits = most[slot][w] < c.cpusMin ? 0 : mask[w]; bits != 0; bits &= bits - 1) {
                int n = (w << 6) + Long.numberOfTrailingZeros(bits);
                int tasks = cpus[slot][n] < c.cpusMin ? 0 : (int) Math.min(Integer.MAX_VALUE, tasksOn(c, n, slot, end));
                if (tasks > 0 && !isAmong(named, n)) {
                    able.add(new Chooser.Candidate(exacting.node(n), tasks));
                }
            }
        }
        List<Chooser.Pick> picks = exacting.pick(c.need, able, named.length, slot, end);
        chosen = 0;
        picks.forEach(p -> add(p.node().index, p.tasks()));
        return !picks.isEmpty() && (c.need.gresPerJob().isEmpty() || devices.suffice(c.need, found, chosen, slot, end));
    }

    /** So many tasks fit on the node in all these slots. */
    private long tasksOn(NeedClass c, int n, int slot, int end) {
        int last = Math.min(end, Math.max(slot + 1, fuller[n]));
        int least = Integer.MAX_VALUE;
        int memory = Integer.MAX_VALUE;
        int wanted = c.exclusive ? in.whole.cpus[n] : c.cpusMin;
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
        if (memory < c.memoryMin || c.need.memAll() && memory < in.whole.memoryMb[n]) {
            return 0;
        }
        if (Exacting.isPlain(c)) {
            return c.tasksOn(least, memory);
        }
        long tasks = devices.tasks(c.need, n, slot, last);
        return tasks == 0 ? 0 : Math.min(tasks, exacting.tasks(c, n, least, memory, least >= in.whole.cpus[n], slot, end));
    }

    /** As {@link Chooser} deals: each node takes all it has room for, but one task is left for each still to come. */
    private Planned take(NeedClass c, int slot, int nodes, boolean keep) {
        int end = times.endSlot(slot, c.need.limitMin());
        int[] own = new int[nodes];
        long start = in.nowS + times.starts()[slot];
        long to = c.need.limitMin() < 0 ? Long.MAX_VALUE : start + c.need.limitMin() * 60L;
        List<Claim> places = keep ? new ArrayList<>(nodes) : List.of();
        int sum = 0;
        int left = Math.max(c.need.tasks(), nodes);
        for (int i = 0; i < nodes; i++) {
            int n = found[i];
            own[i] = n;
            int tasks = Math.max(1, Math.min(foundTasks[i], left - (nodes - 1 - i)));
            left -= tasks;
            int cpu = cpusOn(c, n, tasks);
            int memory = (int) Math.min(Integer.MAX_VALUE / 2, memoryOn(c, n, cpu));
            sum += cpu;
            if (keep) {
                places.add(new Claim(n, start, to, cpu, memory));
            }
            for (int s = slot; s < end; s++) {
                idle[s] -= cpus[s][n] >= in.whole.cpus[n] ? 1 : 0;
                cpus[s][n] -= cpu;
                unused[s] -= cpu;
                memoryMb[s][n] -= memory;
            }
            foundTasks[i] = tasks;
            exacting.holds(c.need.partition(), n, cpu, slot, end);
            fuller[n] = Math.max(fuller[n], end);
        }
        devices.take(c.need, found, foundTasks, nodes, slot, end);
        if (!c.need.licences().items().isEmpty()) {
            List<Licences.Item> layers = exacting.layersTaken(c.need, found, nodes, slot, end);
            licences.choose(exacting.anywhere(c.need), slot, end, c.need.reservation()).ifPresent(l -> licences.take(l, slot, end));
            licences.take(layers, slot, end);
        }
        return new Planned(start, own, sum, c.need.partition(), places);
    }

    private int cpusOn(NeedClass c, int n, int tasks) {
        return c.exclusive ? in.whole.cpus[n] : Math.max(Math.max(1, c.need.cpusPerNodeMin()),
                c.need.overcommit() ? 1 : tasks * c.cpusPerTask);
    }

    private long memoryOn(NeedClass c, int n, int cpu) {
        return c.memoryMin == 0 && !c.need.memAll() ? 0 : c.need.memAll() ? in.whole.memoryMb[n]
                : c.need.memPerNodeMb() > 0 ? c.need.memPerNodeMb() : c.need.memPerCpuMb() * cpu;
    }
}
