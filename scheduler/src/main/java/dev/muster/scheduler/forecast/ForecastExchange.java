package dev.muster.scheduler.forecast;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.claim.PlannedReservations;
import dev.muster.scheduler.claim.ReservationsInForce;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSelector;
import dev.muster.scheduler.pass.TimeMinPlanner;
import dev.muster.scheduler.queue.EligibleNodes;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.queue.QueueOrder;
import dev.muster.scheduler.request.ReservationScope;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Hands plans of the whole queue over between the core thread and the plan thread. The input of a plan is noted after a
 * pass, on request; the result is taken up before the next pass. On a large cluster passes leave planning to it and
 * take its reservations; on others it only tells the start times of jobs beyond the pass's own reservations.
 */
public final class ForecastExchange {
    /** Number of waiting jobs whose places in a plan become reservations. */
    static final int CLAIMS_MAX = 1000;

    private final ClusterIndex cluster;
    private final JobQueue queue;
    private volatile Optional<Forecast> latest = Optional.empty();
    /** The last plan that was made to its end, while the latest is not yet. */
    private volatile Optional<Forecast> whole = Optional.empty();

    private Optional<ForecastBuilder> making = Optional.empty();
    /** The plan that {@link #making} began with. */
    private Optional<Forecast> begun = Optional.empty();

    private final AtomicReference<Forecast> offered = new AtomicReference<>();
    private PlannedReservations claims = PlannedReservations.NONE;
    private boolean inBackground;
    /** A plan has been there. */
    private boolean planned;
    /** Number that goes up when nodes get other numbers. Written by the core thread alone. */
    private volatile int era;
    /** The plan thread wants an input. */
    private volatile boolean wanted;

    private final BlockingQueue<Forecast.Input> notes = new ArrayBlockingQueue<>(1);

    public ForecastExchange(ClusterIndex cluster, JobQueue queue) {
        this.cluster = cluster;
        this.queue = queue;
    }

    /** Nodes are others: plans of before are of no use. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // the core thread alone writes it
    public void clear() {
        era++;
        latest = Optional.empty();
        whole = Optional.empty();
        offered.set(null);
        claims = PlannedReservations.NONE;
        planned = false;
    }

    /** Passes keep the places that plans give, and make none. */
    public void elsewhere(boolean on) {
        inBackground = on;
        claims = on ? claims : PlannedReservations.NONE;
    }

    /**
     * Makes a plan of the whole queue as it is now, on this thread. Only from the core thread.
     *
     * @param maxClaims jobs whose places are to be kept
     */
    public Forecast make(State state, DecisionTime now, int maxClaims) {
        return Forecast.of(input(state, now, maxClaims));
    }

    /**
     * Returns the input of a plan, noted down after the next pass; empty if there is none so soon. From another thread.
     */
    public Optional<Forecast.Input> await(Runnable wake, long ms) throws InterruptedException {
        notes.clear();
        wanted = true;
        wake.run();
        Forecast.Input in = notes.poll(ms, TimeUnit.MILLISECONDS);
        wanted = false;
        return Optional.ofNullable(in);
    }

    /** Notes down the input of a plan if one is wanted, because the pass is over. */
    public void passed(State state, DecisionTime now) {
        if (wanted) {
            wanted = false;
            notes.offer(input(state, now, CLAIMS_MAX));
        }
    }

    /** Takes a plan that was made. From any thread. */
    public void offer(Forecast plan) {
        if (plan.era() == era) {
            latest = Optional.of(plan);
            offered.set(plan);
        }
    }

    /**
     * Makes one of the days that come and leaves it to be taken up. From one thread.
     *
     * @param whole the rest is to follow, if none is on its way
     */
    public Forecast.InputSize plan(Forecast.Input in, boolean whole) {
        ForecastBuilder foresight = new ForecastBuilder(in);
        Forecast plan = foresight.soon();
        offer(plan);
        if (whole && making.isEmpty()) {
            making = Optional.of(foresight);
            begun = Optional.of(plan);
        }
        return plan.made(era);
    }

    /**
     * Goes on with a plan of the time behind these days. From the same thread.
     *
     * @return whether there is more to do
     */
    public boolean planRest() {
        boolean counts = begun.filter(f -> f.era() == era).isPresent();
        if (counts && making.get().step()) {
            return true;
        }
        if (counts) {
            whole = making.map(ForecastBuilder::whole);
            latest = latest.equals(begun) ? whole : latest;
        }
        making = Optional.empty();
        begun = Optional.empty();
        return false;
    }

    public Optional<Planner.Estimate> estimate(int jobId) {
        return by(jobId).flatMap(f -> f.estimate(jobId));
    }

    public long start(int jobId) {
        return by(jobId).map(f -> f.start(jobId)).orElse(0L);
    }

    /** Returns the plan to go by for that job: the latest, or as long as that one is not ready the one before. */
    private Optional<Forecast> by(int jobId) {
        Optional<Forecast> now = latest;
        return now.isPresent()
                        && now.get().isOpen(jobId)
                        && whole.filter(w -> w.start(jobId) > 0).isPresent()
                ? whole
                : now;
    }

    /**
     * Returns those of these jobs that may begin until then, the soonest first.
     *
     * @param planned in the last pass
     */
    public List<Planner.Estimate> upcoming(
            State state, long until, Map<Integer, Planner.Estimate> planned, Set<Integer> jobs) {
        TreeMap<Integer, Planner.Estimate> byJob = new TreeMap<>();
        latest.ifPresent(f -> f.upcoming(until, byJob));
        byJob.putAll(planned);
        byJob.keySet().retainAll(jobs);
        byJob.replaceAll((id, plan) -> NodeSelector.withoutStopping(state, id, plan));
        return byJob.values().stream()
                .filter(e -> e.start() <= until)
                .sorted(Comparator.comparingLong(Planner.Estimate::start))
                .toList();
    }

    /** Returns the places that count in a pass; empty where passes plan for themselves. */
    public Optional<ReservationsInForce> standing(State state, DecisionTime now) {
        Forecast made = offered.getAndSet(null);
        Forecast fresh = made != null && made.era() == era ? made : null;
        planned |= fresh != null;
        if (!inBackground || !planned) {
            // the first passes plan for themselves
            return Optional.empty();
        }
        if (fresh != null) {
            PlannedReservations before = claims;
            claims = new ReservationsInForce(cluster, queue.ranks()::has, state, now, before)
                    .renewed(fresh.claims(), fresh.changes());
            // classes that failed because of the old reservations are tested again
            before.nodes(cluster.free()::hasRoom).forEach(cluster.free()::markGrown);
            List<Integer> jobs = claims.jobs();
            jobs.stream().filter(id -> !before.has(id)).forEach(queue.ranks()::lookAt);
            // their turns come in this order if nothing else happens
            queue.classes().reservationOrder().clear();
            queue.classes().reservationOrder().addAll(jobs);
        }
        return Optional.of(new ReservationsInForce(cluster, queue.ranks()::has, state, now, claims));
    }

    /** Places that passes keep. */
    public PlannedReservations kept() {
        return claims;
    }

    /** Lets passes keep these places, for tests. */
    public void keeping(PlannedReservations places) {
        inBackground = true;
        planned = true;
        claims = places;
    }

    /**
     * Tests whether the place of the first job that waits can still be kept. Others may lose theirs to those before
     * them.
     */
    public boolean keepsFirst(State state, DecisionTime now) {
        Optional<Integer> first = queue.jobs().stream().map(Job::id).findFirst().filter(claims::has);
        PlannedReservations alone = new PlannedReservations(cluster.nodes().size());
        first.ifPresent(id -> alone.add(id, claims.of(id)));
        return first.isEmpty()
                || new ReservationsInForce(cluster, queue.ranks()::has, state, now, PlannedReservations.NONE)
                        .renewed(alone, -1)
                        .has(first.get());
    }

    /**
     * Returns the input of a plan, as things are now. Only from the core thread.
     *
     * @param maxClaims jobs whose places are to be kept
     */
    public Forecast.Input input(State state, DecisionTime now, int maxClaims) {
        Map<Integer, List<Forecast.Alternative>> special = new HashMap<>();
        Map<Integer, List<Forecast.Alternative>> drawn = new HashMap<>();
        List<QueueOrder.Block> blocks = new ArrayList<>();
        EligibleNodes candidates = new EligibleNodes(cluster, queue.classes(), state);
        PassReservations reserved = new PassReservations(
                state, queue.classes().reserved(state, now.seconds()), new ArrayList<>(), now.seconds());
        for (QueueOrder.Block block : queue.order().blocks()) {
            blocks.add(block.copy());
            for (int i = 0; i < block.size; i++) {
                if (block.lanes[i] == QueueOrder.UNKNOWN) {
                    Job job = block.places[i].job();
                    List<Forecast.Alternative> alternatives = special(state, now, job, candidates, reserved);
                    if (!alternatives.isEmpty()) {
                        special.put(job.id(), alternatives);
                    }
                } else if (reserved.areMagnetic() && !drawn.containsKey(block.lanes[i])) {
                    // a lane's jobs are of one user, account and partition: what draws one of them draws all
                    Job job = block.places[i].job();
                    List<String> where = reserved.of(job.desc());
                    drawn.put(
                            block.lanes[i],
                            where.size() < 2 ? List.of() : ways(state, now, job, candidates, reserved, where));
                }
            }
        }
        return new Forecast.Input(
                state,
                now.seconds(),
                now.tickMs(),
                TimeGrid.fine(cluster.nodes().size()),
                cluster.free().copy(),
                cluster.empty(),
                cluster.names(),
                blocks,
                queue.classes().allLanes(),
                queue.classes().masks(),
                special,
                drawn,
                inBackground ? maxClaims : 0,
                era);
    }

    private List<Forecast.Alternative> special(
            State state, DecisionTime now, Job job, EligibleNodes candidates, PassReservations reserved) {
        JobReason reason = queue.waits().reason(job.id());
        boolean waits = Forecast.WAITS.contains(reason)
                || reason == JobReason.RESERVATION
                        && !job.desc().charge().reservation().isEmpty();
        return waits ? ways(state, now, job, candidates, reserved, reserved.of(job.desc())) : List.of();
    }

    /** @param where reservations that the job may run in, "" for none */
    private List<Forecast.Alternative> ways(
            State state,
            DecisionTime now,
            Job job,
            EligibleNodes candidates,
            PassReservations reserved,
            List<String> where) {
        Optional<ResourceNeed> plain = need(state, job);
        List<Forecast.Alternative> out = new ArrayList<>();
        long afterS = Forecast.throttledS(state, job, now.tickMs());
        for (String name : plain.isEmpty() ? List.<String>of() : where) {
            ways(
                    job,
                    cluster.needs().in(ReservationScope.of(name), plain.get()),
                    afterS,
                    state,
                    candidates,
                    reserved,
                    out);
        }
        for (String name : plain.isEmpty() ? List.<String>of() : where) {
            // of ways that are there at the same time the first is taken: no job is planned for less than all its time
            // where that begins as soon
            for (ResourceNeed less : TimeMinPlanner.lengths(
                    job, cluster.needs().in(ReservationScope.of(name), plain.get()), cluster.needs(), state)) {
                ways(job, less, afterS, state, candidates, reserved, out);
            }
        }
        return out;
    }

    private void ways(
            Job job,
            ResourceNeed need,
            long afterS,
            State state,
            EligibleNodes candidates,
            PassReservations reserved,
            List<Forecast.Alternative> out) {
        String name = need.reservation();
        NeedClass c = queue.classes().of(need, candidates, state.memoryConsumed());
        boolean anywhere = !name.isEmpty() && reserved.hasAnyNodes(name);
        if (!name.isEmpty() && !anywhere) {
            out.add(new Forecast.Alternative(job.id(), c, c.mask(), name, Forecast.tasks(job), afterS));
        }
        if (name.isEmpty() || anywhere || reserved.isFlexible(name)) {
            out.add(new Forecast.Alternative(job.id(), c, c.mask(), "", Forecast.tasks(job), afterS));
        }
    }

    private Optional<ResourceNeed> need(State state, Job job) {
        for (String name : queue.ranks().partitions(job)) {
            Optional<Partition> p = state.partitions().find(name);
            if (p.isPresent() && PartitionLimits.reason(job.desc(), p.get(), state) == JobReason.NONE) {
                return Optional.of(cluster.needs().of(job, p.get(), state));
            }
        }
        return Optional.empty();
    }
}
