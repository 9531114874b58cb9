package dev.muster.scheduler;

import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.index.AffectedEntities;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.forecast.Forecast;
import dev.muster.scheduler.forecast.ForecastExchange;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.node.FeasibilityCache;
import dev.muster.scheduler.node.FeatureConstraint;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.pass.Pass;
import dev.muster.scheduler.pass.PassCounts;
import dev.muster.scheduler.pass.SchedulingContext;
import dev.muster.scheduler.preempt.PreemptableJobs;
import dev.muster.scheduler.queue.HetQueueOrder;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.queue.PriorityIndex;
import dev.muster.scheduler.queue.UnavailableNodes;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The planner: an index over the state, fed by the same records, and the pass over the whole queue. Owned by the core
 * thread.
 */
public final class Scheduler implements Planner {
    private final PreemptableJobs preemptable;
    private final ClusterIndex cluster;
    private final JobQueue queue;
    private final AccountUse use = new AccountUse();
    private final FeasibilityCache feasible = new FeasibilityCache();
    private final ForecastExchange forecasts;
    private SchedulingContext.Options options = SchedulingContext.Options.USUAL;
    private volatile boolean inBackground;
    private List<Preempt> preemptions = List.of();
    private List<Integer> resumes = List.of();
    private long lookAgain = Long.MAX_VALUE;
    private volatile PassCounts counts = new PassCounts(0, 0, 0);
    private volatile long lastPass;

    public Scheduler() {
        cluster = new ClusterIndex(this::changed);
        preemptable = new PreemptableJobs(cluster);
        queue = new JobQueue(cluster, preemptable);
        forecasts = new ForecastExchange(cluster, queue);
    }

    private void changed(int node) {
        preemptable.changed(node);
    }

    /** Returns a new scheduler that knows as much of what users' jobs were like. */
    Scheduler withSameHistory() {
        Scheduler out = new Scheduler();
        out.queue.learnFrom(queue);
        return out;
    }

    /** Gives nodes work without a connection, for the simulator and tests. */
    public Scheduler withoutConnections() {
        cluster.withoutConnections();
        return this;
    }

    /** Plans no job that no start depends on, for replays. */
    public Scheduler withoutPlans() {
        options = new SchedulingContext.Options(options.pruned(), false, options.reservationsMax());
        return this;
    }

    /** Remembers nothing of what was turned down, for tests: every job is tried on every node. */
    Scheduler unpruned() {
        options = new SchedulingContext.Options(false, options.plansAhead(), options.reservationsMax());
        return this;
    }

    /** Bounds the jobs that get reservations, for tests. */
    Scheduler reserving(int max) {
        options = new SchedulingContext.Options(options.pruned(), options.plansAhead(), max);
        return this;
    }

    /**
     * Notes whether the controller is connected to a node: nothing new goes to one that it has no connection to.
     * Thread-safe.
     */
    public void connected(String node, boolean up) {
        cluster.connected(node, up);
    }

    // ---- the index

    @Override
    public void reset(State state) {
        cluster.reset(state);
        queue.reset(state);
        forecasts.clear();
        forecasts.elsewhere(inBackground && isLarge());
        state.jobs().values().forEach(j -> add(state, j));
        queue.learn(state);
        use.reset(state);
        preemptable.reset(state, cluster.holders());
    }

    @Override
    public void follow(State before, State after, Entry entry) {
        for (Change change : entry.changes()) {
            if (change instanceof Change.ConfigApplied
                    || change instanceof Change.PartitionChanged
                    || change instanceof Change.PartitionRemoved
                    || change instanceof Change.NodeSpecChanged
                    || change instanceof Change.NodeAdded
                    || change instanceof Change.NodeRemoved) {
                reset(after);
                return;
            }
        }
        use.follow(before, after, entry);
        TreeSet<Integer> jobs = new TreeSet<>();
        for (Change change : entry.changes()) {
            jobs.addAll(HetQueueOrder.touched(after, AffectedEntities.jobs(change)));
            String node = AffectedEntities.node(change);
            switch (node.isEmpty() ? ClusterIndex.NodeChange.NONE : cluster.follow(before, after, node)) {
                case REBUILD -> {
                    reset(after);
                    return;
                }
                case FEATURES -> {
                    queue.classes().featuresChanged();
                    queue.unavailable().changed();
                }
                case USABILITY -> queue.unavailable().changed();
                case NONE -> {}
            }
        }
        jobs.forEach(id -> follow(before, after, id, entry.timeMs() / 1000));
        preemptable.follow(after, jobs, cluster.holdersById());
        boolean policy = entry.changes().stream()
                .anyMatch(c -> c instanceof Change.PolicyChanged || c instanceof Change.UsageCharged);
        if (policy) {
            queue.ranks().outdated();
            // a QOS may lift limits of a partition
            if (before.accounts().qos() != after.accounts().qos()) {
                cluster.needs().forgetJobs();
            }
            if (before.accounts() != after.accounts()) {
                queue.limits().clear();
                preemptable.reset(after, cluster.holders());
                queue.classes().forgetLanes();
            }
        }
    }

    /** @param nowS of the entry, seconds since 1970 */
    private void follow(State before, State after, int id, long nowS) {
        Optional<Job> was = before.jobs().find(id);
        Optional<Job> now = after.jobs().find(id);
        if (was.isPresent() && now.isPresent() && staysOnItsNodes(was.get(), now.get())) {
            cluster.update(was.get(), now.get());
        } else {
            was.ifPresent(j -> remove(before, j));
            now.ifPresent(j -> add(after, j));
        }
        now.filter(j -> was.map(Job::isPending).orElse(true) && j.state().isActive())
                .ifPresent(j -> queue.began(after, j, nowS));
        was.filter(j -> j.state().isActive()
                        && now.filter(n -> n.state().isActive()).isEmpty())
                .ifPresent(j -> queue.ended(j, nowS));
        now.filter(j -> was.isPresent()
                        && was.get().state().isActive()
                        && !j.state().isActive())
                .ifPresent(queue::learn);
        if (now.isEmpty() || !now.get().isPending()) {
            queue.forget(id);
        }
    }

    private void add(State state, Job job) {
        if (PriorityIndex.inQueue(job)) {
            queue.ranks().add(state, job);
        }
        if (job.holdsNodes()) {
            cluster.add(state, job);
        }
    }

    private void remove(State state, Job job) {
        if (PriorityIndex.inQueue(job)) {
            queue.remove(job.id());
        }
        if (job.holdsNodes()) {
            cluster.remove(state, job);
        }
    }

    /**
     * Tests whether the job stays on its nodes: much of what happens to a job of many nodes concerns one of them, or
     * none.
     */
    private static boolean staysOnItsNodes(Job was, Job now) {
        return was.holdsNodes()
                && now.holdsNodes()
                && was.state() != JobState.SUSPENDED
                && now.state() != JobState.SUSPENDED
                && !PriorityIndex.inQueue(was)
                && !PriorityIndex.inQueue(now)
                && was.desc() == now.desc()
                && was.array().jobId() == now.array().jobId()
                && was.run().allocation().held().size()
                        == now.run().allocation().held().size();
    }

    @Override
    public OptionalLong priority(int jobId) {
        return queue.ranks().priority(jobId);
    }

    @Override
    public List<Preempt> preemptions() {
        return preemptions;
    }

    @Override
    public List<Integer> resumes() {
        return resumes;
    }

    /** Free units, memory and devices of every node and the queue's order, as text: to compare with a rebuild. */
    public String fingerprint() {
        return cluster.nodes().stream().map(NodeSlot::fingerprint).collect(Collectors.joining())
                + queue.order()
                + cluster.holdersById().keySet();
    }

    // ---- the pass

    @Override
    public Optional<Decision.Rejected> infeasible(State state, JobDesc desc) {
        return feasible.infeasible(state, desc);
    }

    @Override
    public JobReason reason(int jobId) {
        return queue.waits().reason(jobId);
    }

    /** Returns when the last pass planned the job to start, seconds since 1970; 0 if it has no plan. */
    public long plannedStart(int jobId) {
        Estimate own = queue.waits().planned(jobId);
        long start = isVague(own) ? forecasts.start(jobId) : 0;
        return start == 0 && own != null ? own.start() : start;
    }

    /** Tests whether the start is so far away that passes keep places in coarse steps. */
    private boolean isVague(@Nullable Estimate own) {
        return own == null || own.start() - lastPass > TimeGrid.HORIZON_S;
    }

    /** Returns when and where the job is planned to start; empty if it is not. */
    public Optional<Estimate> plan(int jobId) {
        Estimate own = queue.waits().planned(jobId);
        return (isVague(own) ? forecasts.estimate(jobId) : Optional.<Estimate>empty())
                .or(() -> Optional.ofNullable(own));
    }

    /** Returns the nodes on which the job is planned to start; none if it is not. */
    public List<String> plannedNodes(int jobId) {
        return plan(jobId).map(Estimate::nodes).orElse(List.of());
    }

    @Override
    public List<Estimate> upcoming(State state, long until) {
        return forecasts.upcoming(
                state, until, queue.waits().planned(), queue.ranks().jobs());
    }

    /** Returns the number of jobs that wait for resources. */
    public int queueLength() {
        return queue.order().size();
    }

    private Pass pass(State state, DecisionTime now, int maxStarts) {
        return new Pass(
                new SchedulingContext(cluster, queue, preemptable, use, forecasts::standing, options),
                state,
                now,
                maxStarts);
    }

    @Override
    public List<Start> starts(State state, DecisionTime now, int maxStarts) {
        preemptions = List.of();
        resumes = List.of();
        lookAgain = Long.MAX_VALUE;
        if (queue.order().isEmpty() && state.preempted().size() == 0) {
            return List.of();
        }
        lastPass = now.seconds();
        cluster.refreshConnections();
        queue.refresh(state, now);
        preemptable.beginPass();
        Pass pass = pass(state, now, maxStarts);
        List<Start> starts = pass.run();
        preemptions = pass.preemptions();
        resumes = pass.resumes();
        lookAgain = pass.waits().nextS();
        counts = pass.added(counts);
        forecasts.passed(state, now);
        return starts;
    }

    @Override
    public long lookAgain() {
        return Math.min(lookAgain, preemptable.exemptUntil());
    }

    @Override
    public Optional<Estimate> estimate(State state, DecisionTime now, JobDesc desc) {
        // a job behind those that a pass plans is told what Slurm tells each: when the running jobs leave enough
        return pass(state, now, 0).estimate(desc).or(() -> pass(state, now, 0).estimateIgnoringQueue(desc));
    }

    public PassCounts counts() {
        return counts;
    }

    /** Returns when the queue was last looked at, in seconds since 1970; 0 if it never was. */
    public long lastPass() {
        return lastPass;
    }

    /** Returns the reasons of jobs that wait for nodes which are not there. On any thread. */
    public UnavailableNodes unavailable() {
        return queue.unavailable();
    }

    @Override
    public boolean matches(String expression, List<String> features) {
        return FeatureConstraint.match(expression, features);
    }

    public ClusterIndex cluster() {
        return cluster;
    }

    public JobQueue queue() {
        return queue;
    }

    AccountUse use() {
        return use;
    }

    // ---- plans of the whole queue

    public ForecastExchange forecasts() {
        return forecasts;
    }

    /**
     * Leaves plans to another thread: passes over a large cluster make none, and respect the reservations of its plans.
     */
    public void planElsewhere() {
        inBackground = true;
        forecasts.elsewhere(isLarge());
    }

    private boolean isLarge() {
        return TimeGrid.isLarge(cluster.nodes().size());
    }

    /**
     * Returns the input of a plan of the whole queue, noted down after the next pass.
     *
     * @param wake asks for a pass
     * @param ms milliseconds to wait for a pass; the result is empty if there was none
     */
    public Optional<Forecast.Input> noted(Runnable wake, long ms) throws InterruptedException {
        return forecasts.await(wake, ms);
    }

    /**
     * Makes it, on the caller's thread, and leaves it to be taken up.
     *
     * @param whole {@link #planRest} is to go on with it
     */
    public Forecast.InputSize plan(Forecast.Input in, boolean whole) {
        return forecasts.plan(in, whole);
    }

    /**
     * Plans the remaining jobs, in the time behind the days that passes use.
     *
     * @return whether there is more to do
     */
    public boolean planRest() {
        return forecasts.planRest();
    }
}
