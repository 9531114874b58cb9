package dev.muster.scheduler;

import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.index.Touched;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.limits.LimitCache;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.ByNode;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Now;
import dev.muster.core.state.State;
import dev.muster.model.cluster.Topology;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.forecast.Forecast;
import dev.muster.scheduler.forecast.ForecastExchange;
import dev.muster.scheduler.node.FeasibilityCache;
import dev.muster.scheduler.node.Features;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.HeldLicenses;
import dev.muster.scheduler.node.Holdings;
import dev.muster.scheduler.node.NeedClass;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.pass.Pass;
import dev.muster.scheduler.preempt.PreemptableJobs;
import dev.muster.scheduler.queue.Backfill;
import dev.muster.scheduler.queue.HetOrder;
import dev.muster.scheduler.queue.JobClassIndex;
import dev.muster.scheduler.queue.PowerBudget;
import dev.muster.scheduler.queue.PriorityIndex;
import dev.muster.scheduler.queue.QueueOrder;
import dev.muster.scheduler.queue.RuntimeEstimator;
import dev.muster.scheduler.queue.Slowdown;
import dev.muster.scheduler.queue.Unavailable;
import dev.muster.scheduler.request.ExtraConstraint;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.ResourceNeedTable;
import dev.muster.scheduler.request.SharingPolicy;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * The planner: an index over the state, fed by the same records, and the pass over the whole queue. Owned by the core thread;
 * reasons may be read from others.
 */
public final class Scheduler implements Planner {
    /** Distinct needs remembered; more and they are found anew. */
    public static final int CLASSES_MAX = 200_000;

    private final List<NodeSlot> marked = new ArrayList<>();
    private final List<NodeSlot> nodes = new ArrayList<>();
    private final Map<String, NodeSlot> byName = new HashMap<>();
    private final Map<String, List<NodeSlot>> byPartition = new HashMap<>();
    private final Map<String, Long> cpus = new HashMap<>();
    private final Holdings holdings = new Holdings(byName);
    private dev.muster.core.state.Settings settings;
    private final PriorityIndex ranks = new PriorityIndex();
    private final QueueOrder queue = ranks.order();
    private final Map<Integer, Integer> runningTasks = new HashMap<>();
    private final TreeMap<Integer, Job> holding = new TreeMap<>();
    private final HeldLicenses licensed = new HeldLicenses();
    private final java.util.Set<String> connected = java.util.concurrent.ConcurrentHashMap.newKeySet();
    private final Map<Integer, JobReason> reasons = new java.util.concurrent.ConcurrentHashMap<>();
    private final Map<Integer, Estimate> planned = new java.util.concurrent.ConcurrentHashMap<>();
    private final ResourceNeedTable needs = new ResourceNeedTable();
    private final Unavailable unavailable = new Unavailable();
    private final FeasibilityCache vetted = new FeasibilityCache();
    private final JobClassIndex known = new JobClassIndex(this);
    private FreeTable free = new FreeTable(0);
    private final ForecastExchange outlooks = new ForecastExchange(this);
    private final PowerBudget power = new PowerBudget(this);
    /** As if nothing ran and every node that is one could be used. */
    private FreeTable empty = new FreeTable(0);
    /** Some switch has all nodes below it, or there is no topology. */
    private boolean joined;
    private List<String> names = List.of();
    private volatile boolean elsewhere;
    /** Goes up when nodes connect or go: who is ready is looked at anew. */
    private final AtomicInteger connections = new AtomicInteger();
    private int connectionsSeen;
    private boolean pruned = true;
    private int reservationsMax = Pass.RESERVATIONS_MAX;
    private long passes;
    /** What limits say to queued jobs. */
    private final LimitCache limits = new LimitCache();
    private final PreemptableJobs yields = new PreemptableJobs(this);
    private final AccountUse use = new AccountUse();
    /** Of jobs that have ended since this controller started, and those that it still knew then. */
    private RuntimeEstimator expected = new RuntimeEstimator();
    private Slowdown slowdown = new Slowdown();
    private boolean learned;
    private boolean plansAhead = true;
    private volatile boolean everyNodeConnected;
    private List<Preempt> preemptions = List.of();
    private List<Integer> resumes = List.of();
    private long lookAgain = Long.MAX_VALUE;
    private volatile Counts counts = new Counts(0, 0, 0);
    private volatile long lastPass;

    /** One that knows as much of what users' jobs were like. */
    Scheduler another() {
        Scheduler out = new Scheduler();
        out.expected = expected;
        out.slowdown = slowdown;
        return out;
    }

    /** For the simulator and tests: nodes need no connection to be given work. */
    public Scheduler withoutConnections() {
        everyNodeConnected = true;
        return this;
    }

    /** For replays: nothing is planned that no start depends on. */
    public Scheduler withoutPlans() {
        plansAhead = false;
        return this;
    }

    /** Nothing new goes to a node that the controller has no connection to. Thread-safe. */
    public void connected(String node, boolean up) {
        if (up) {
            connected.add(node);
        } else {
            connected.remove(node);
        }
        connections.incrementAndGet();
    }

    /** For tests: nothing is remembered of what was turned down, every job is tried on every node. */
    Scheduler unpruned() {
        pruned = false;
        return this;
    }

    // ---- the index

    @Override
    public void reset(State state) {
        nodes.clear();
        byName.clear();
        byPartition.clear();
        cpus.clear();
        settings = state.settings();
        ranks.reset(state);
        runningTasks.clear();
        holding.clear();
        licensed.clear();
        needs.clear();
        limits.clear();
        outlooks.clear();
        power.clear();
        unavailable.changed();
        List<Node> sorted = new ArrayList<>(state.nodes().values());
        sorted.sort(Comparator.comparingLong((Node n) -> n.spec().weightValue()).thenComparingInt(n -> n.spec().order()));
        for (Node node : sorted) {
            NodeSlot slot = new NodeSlot(nodes.size(), node);
            slot.judge(node, state.settings());
            nodes.add(slot);
            byName.put(node.name(), slot);
        }
        free = new FreeTable(nodes.size());
        known.clear();
        names = nodes.stream().map(n -> n.spec.name()).toList();
        outlooks.elsewhere(elsewhere && isLarge());
        empty = new FreeTable(nodes.size());
        nodes.forEach(n -> empty.update(n, !state.nodes().at(n.spec.name()).isClosedToJobs()));
        Topology topology = settings.topology("");
        joined = settings.topologies().size() < 2 && (topology.kind() == Topology.Kind.FLAT
                || topology.kind() == Topology.Kind.TREE && topology.switches().stream().anyMatch(w -> w.nodes().size() >= nodes.size()));
        nodes.forEach(n -> {
            n.watcher = this::changed;
            changed(n);
        });
        NodeSlot.join(settings.topologies(), byName);
        state.partitions().values().forEach(p -> {
            List<NodeSlot> members = new ArrayList<>();
            p.nodes().forEach(name -> Optional.ofNullable(byName.get(name)).ifPresent(members::add));
            members.sort(Comparator.comparingInt(s -> s.index));
            byPartition.put(p.name(), members);
            cpus.put(p.name(), members.stream().mapToLong(n -> n.spec.cpus()).sum());
        });
        holdings.reset(state);
        state.jobs().values().forEach(j -> {
            add(state, j);
            if (!learned) {
                expected.learn(j);
            }
        });
        learned = state.jobs().size() > 0;
        use.reset(state);
        yields.reset(state, holding.values());
    }

    @Override
    public void follow(State before, State after, Entry entry) {
        for (Change change : entry.changes()) {
            if (change instanceof Change.ConfigApplied || change instanceof Change.PartitionChanged
                    || change instanceof Change.PartitionRemoved || change instanceof Change.NodeSpecChanged
                    || change instanceof Change.NodeAdded || change instanceof Change.NodeRemoved) {
                reset(after);
                return;
            }
        }
        use.follow(before, after, entry);
        TreeSet<Integer> jobs = new TreeSet<>();
        for (Change change : entry.changes()) {
            jobs.addAll(HetOrder.touched(after, Touched.jobs(change)));
            String node = Touched.node(change);
            if (!node.isEmpty()) {
                NodeSlot slot = byName.get(node);
                if (slot != null) {
                    List<String> features = slot.features;
                    String extra = slot.extra;
                    boolean usable = slot.usable;
                    boolean closed = before.nodes().at(node).isClosedToJobs();
                    slot.judge(after.nodes().at(node), after.settings());
                    changed(slot);
                    if (closed != after.nodes().at(node).isClosedToJobs()) {
                        reset(after);
                        return;
                    }
                    boolean says = !extra.equals(slot.extra) && after.settings().options().containsKey(ExtraConstraint.WORD);
                    if (says || !features.equals(slot.features)) {
                        known.moved();
                        unavailable.changed();
                    } else if (usable != slot.usable) {
                        unavailable.changed();
                    }
                }
            }
        }
        for (int id : jobs) {
            Optional<Job> was = before.jobs().find(id);
            Optional<Job> now = after.jobs().find(id);
            if (was.isPresent() && now.isPresent() && staysWhereItIs(was.get(), now.get())) {
                moveOn(was.get(), now.get());
            } else {
                was.ifPresent(j -> remove(before, j));
                now.ifPresent(j -> add(after, j));
            }
            long nowS = entry.timeMs() / 1000;
            now.filter(j -> was.map(Job::isPending).orElse(true) && j.state().isActive() && waitedForResources(j))
                    .ifPresent(j -> slowdown.waited(nowS, nowS - j.eligibleTime()));
            now.filter(j -> was.map(Job::isPending).orElse(true) && j.state().isActive()).ifPresent(j -> backfill(after).began(j));
            was.filter(j -> j.state().isActive() && now.filter(n -> n.state().isActive()).isEmpty())
                    .ifPresent(j -> slowdown.ended(id, j.run().allocation().cpus(), Math.max(0, nowS - j.run().startTime())));
            now.filter(j -> was.isPresent() && was.get().state().isActive() && !j.state().isActive()).ifPresent(expected::learn);
            if (now.isEmpty() || !now.get().isPending()) {
                reasons.remove(id);
                planned.remove(id);
                ranks.forget(id);
            }
        }
        yields.follow(after, jobs, holding);
        boolean policy = entry.changes().stream().anyMatch(c -> c instanceof Change.PolicyChanged || c instanceof Change.UsageCharged);
        if (policy) {
            ranks.outdated();
            // a QOS may lift limits of a partition
            if (before.accounts().qos() != after.accounts().qos()) {
                needs.forgetJobs();
            }
            if (before.accounts() != after.accounts()) {
                limits.clear();
                yields.reset(after, holding.values());
                forgetLanes();
            }
        }
    }

    /** Not for a limit, a licence or anything else that no order of the queue could give it. */
    private boolean waitedForResources(Job job) {
        JobReason reason = reasons.getOrDefault(job.isArrayTask() ? job.array().jobId() : job.id(), JobReason.NONE);
        return reason == JobReason.NONE || reason == JobReason.PRIORITY || reason == JobReason.RESOURCES;
    }

    private void add(State state, Job job) {
        if (PriorityIndex.inQueue(job)) {
            ranks.add(state, job);
        }
        if (job.holdsNodes()) {
            holdings.began(state, job);
            holding.put(job.id(), job);
            licensed.holds(job);
            runningTasks.merge(job.array().jobId(), 1, Integer::sum);
        }
    }

    private void remove(State state, Job job) {
        if (PriorityIndex.inQueue(job)) {
            ranks.remove(job.id());
            needs.forget(job.id());
            limits.forget(job.id());
        }
        if (job.holdsNodes()) {
            holdings.ended(state, job);
            holding.remove(job.id());
            licensed.forget(job.id());
            runningTasks.merge(job.array().jobId(), -1, Integer::sum);
        }
    }

    /** Much of what happens to a job of many nodes concerns one of them, or none. */
    private static boolean staysWhereItIs(Job was, Job now) {
        return was.holdsNodes() && now.holdsNodes() && was.state() != JobState.SUSPENDED && now.state() != JobState.SUSPENDED
                && !PriorityIndex.inQueue(was) && !PriorityIndex.inQueue(now)
                && was.desc() == now.desc() && was.array().jobId() == now.array().jobId()
                && was.run().allocation().held().size() == now.run().allocation().held().size();
    }

    private void moveOn(Job was, Job now) {
        List<Allocation.Share> earlier = was.run().allocation().held();
        List<Allocation.Share> later = now.run().allocation().held();
        if (earlier != later) {
            ByNode.changed(earlier, later, i -> {
                holdings.release(was, earlier.get(i), false);
                holdings.hold(now, later.get(i), false);
            });
        }
        holding.put(now.id(), now);
        licensed.holds(now);
        if (was.run().limitTickMs() != now.run().limitTickMs()) {
            later.forEach(share -> Optional.ofNullable(byName.get(share.node())).ifPresent(slot -> {
                free.change(slot.index);
                // what is planned there may leave more room, or less
                free.freer(slot.index);
            }));
        }
    }

    @Override
    public OptionalLong priority(int jobId) {
        return ranks.priority(jobId);
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
        return nodes.stream().map(NodeSlot::fingerprint).collect(Collectors.joining()) + queue + holding.keySet();
    }

    // ---- the pass

    @Override
    public Optional<Decision.Rejected> infeasible(State state, JobDesc desc) {
        return vetted.infeasible(state, desc);
    }

    @Override
    public JobReason reason(int jobId) {
        return reasons.getOrDefault(jobId, JobReason.NONE);
    }

    /** When the last pass planned the job to start, seconds since 1970; 0 if it has no plan. */
    public long plannedStart(int jobId) {
        Estimate own = planned.get(jobId);
        long start = isVague(own) ? outlooks.start(jobId) : 0;
        return start == 0 && own != null ? own.start() : start;
    }

    /** Passes keep places so far away in coarse steps. */
    private boolean isVague(Estimate own) {
        return own == null || own.start() - lastPass > TimeGrid.HORIZON_S;
    }

    /** When and where it is planned to start; empty if it is not. */
    public Optional<Estimate> plan(int jobId) {
        Estimate own = planned.get(jobId);
        return (isVague(own) ? outlooks.estimate(jobId) : Optional.<Estimate>empty()).or(() -> Optional.ofNullable(own));
    }

    /** Where it is planned to start; none if it is not. */
    public List<String> plannedNodes(int jobId) {
        return plan(jobId).map(Estimate::nodes).orElse(List.of());
    }

    @Override
    public List<Estimate> upcoming(State state, long until) {
        return outlooks.upcoming(state, until, planned, ranks.jobs());
    }

    /** Jobs waiting for resources. */
    public int queueLength() {
        return queue.size();
    }

    @Override
    public List<Start> starts(State state, Now now, int most) {
        preemptions = List.of();
        resumes = List.of();
        lookAgain = Long.MAX_VALUE;
        if (queue.isEmpty() && state.preempted().size() == 0) {
            return List.of();
        }
        lastPass = now.seconds();
        if (connectionsSeen != connections.get()) {
            connectionsSeen = connections.get();
            nodes.forEach(this::changed);
        }
        if (needs.size() > CLASSES_MAX + 2 * queue.size()) {
            needs.clear();
            known.clear();
            queue.forget();
        } else if (known.areMany(queue.size())) {
            forgetLanes();
        }
        power.renew(state);
        ranks.refresh(state, now);
        passes++;
        Pass pass = new Pass(this, state, now, most);
        List<Start> starts = pass.run();
        preemptions = pass.preemptions();
        resumes = pass.resumes();
        lookAgain = pass.waits().nextS();
        counts = pass.added(counts);
        outlooks.passed(state, now);
        return starts;
    }

    @Override
    public long lookAgain() {
        return Math.min(lookAgain, yields.exemptUntil());
    }

    @Override
    public Optional<Estimate> estimate(State state, Now now, JobDesc desc) {
        // who would come behind more than a pass plans is told what Slurm tells all: when those who run leave enough
        return new Pass(this, state, now, 0).estimate(desc).or(() -> new Pass(this, state, now, 0).alone(desc));
    }

    /** Since the beginning: jobs and components started ahead of more urgent ones, and passes in which as many started as may. */
    public record Counts(long backfilled, long backfilledHet, long full) {}

    public Counts counts() {
        return counts;
    }

    /** When the queue was last looked at, in seconds since 1970; 0 if it never was. */
    public long lastPass() {
        return lastPass;
    }

    // What a pass may look at.

    public Holdings holdings() {
        return holdings;
    }

    public PowerBudget power() {
        return power;
    }

    public AccountUse use() {
        return use;
    }

    public LimitCache limits() {
        return limits;
    }

    public PreemptableJobs yields() {
        return yields;
    }

    /** Why limits of associations and QOS keep the job from starting, whatever nodes are free. */
    public JobReason limited(Job job, int limitMin) {
        return limits.blocks(job.id(), job.desc(), limitMin);
    }

    /** Of the last pass, nodes of which reservations withheld devices. */
    public List<NodeSlot> marked() {
        return marked;
    }

    public List<NodeSlot> nodes() {
        return nodes;
    }

    public List<NodeSlot> nodesOf(String partition) {
        return byPartition.getOrDefault(partition, List.of());
    }

    /** CPUs of the partition's nodes. */
    public long cpusOf(String partition) {
        return cpus.getOrDefault(partition, 0L);
    }

    public NodeSlot node(String name) {
        return byName.get(name);
    }

    public List<Job> queued() {
        List<Job> jobs = new ArrayList<>(queue.size());
        queue.forEach(p -> jobs.add(p.job()));
        return jobs;
    }

    public QueueOrder order() {
        return queue;
    }

    public PriorityIndex ranks() {
        return ranks;
    }

    public JobClassIndex known() {
        return known;
    }

    public FreeTable free() {
        return free;
    }

    public FreeTable empty() {
        return empty;
    }

    public ResourceNeedTable needs() {
        return needs;
    }

    /** What jobs are told that wait for nodes which are not there. On any thread. */
    public Unavailable unavailable() {
        return unavailable;
    }

    /** The same need with its user in it, which counts where others want no stranger beside them. */
    public ResourceNeed known(ResourceNeed need, Job job) {
        return holdings.someMind() ? needs.by(need, SharingPolicy.of(job.desc(), "NO", "", settings)) : need;
    }

    public ForecastExchange outlooks() {
        return outlooks;
    }

    public boolean isQueued(int jobId) {
        return ranks.has(jobId);
    }

    /** Somebody makes plans on a thread of his own: passes over a large cluster leave that to him, and keep the places that his plans give. */
    public void planElsewhere() {
        elsewhere = true;
        outlooks.elsewhere(isLarge());
    }

    /** Beyond this a pass would take too long over plans. */
    public boolean isLarge() {
        return (long) nodes.size() * TimeGrid.NEAR_COUNT > TimeGrid.CELLS_MAX;
    }

    public List<String> names() {
        return names;
    }

    /**
     * What a plan of the whole queue is made of, noted down after the next pass.
     *
     * @param wake asks for a pass
     * @param ms   so long it is waited for one; empty if there was none
     */
    public Optional<Forecast.Input> noted(Runnable wake, long ms) throws InterruptedException {
        return outlooks.await(wake, ms);
    }

    /** Makes it, on the caller's thread, and leaves it to be taken up. @param whole {@link #planRest} is to go on with it */
    public Forecast.Made plan(Forecast.Input in, boolean whole) {
        return outlooks.plan(in, whole);
    }

    /** Goes on with the rest, of the time behind the days that passes go by. @return whether there is more to do */
    public boolean planRest() {
        return outlooks.planRest();
    }

    /** The need would fit if nothing ran: it is certain, that it would not is not. */
    public boolean fitsEmpty(NeedClass c) {
        return c.simple && joined && c.need.shape().cpusMax() < 0 && (c.single || c.need.nodesMax() == 0 || c.tasks <= c.nodesMin)
                && c.need.network().isPlain() && !empty.isShort(c, new NeedClass.Memory());
    }

    public long passes() {
        return passes;
    }

    /** For tests: fewer jobs get reservations. */
    Scheduler reserving(int most) {
        reservationsMax = most;
        return this;
    }

    public int reservationsMax() {
        return reservationsMax;
    }

    public boolean isPruned() {
        return pruned;
    }

    /** What is free on a node has changed, or whether it may be given work. */
    public void changed(NodeSlot slot) {
        free.update(slot, ready(slot));
        if (!free.quiet) {
            yields.changed(slot.index);
        }
    }

    public void rebooting(NodeSlot slot) {
        slot.usable = slot.asleep;
        changed(slot);
    }

    /** Jobs are taken off their nodes and put back to see what would fit without them. */
    public void looking(boolean on) {
        free.quiet = on;
    }

    public void forgetLanes() {
        known.forgetLanes();
        queue.forget();
    }

    /** Estimates of jobs that were not planned in a pass over the whole queue are none any more. */
    public void plannedOnly(java.util.Set<Integer> jobs) {
        planned.keySet().retainAll(jobs);
    }

    public Backfill backfill(State state) {
        return new Backfill(state, expected, slowdown, this);
    }

    /** Jobs that no start depends on are planned as well. */
    public boolean plansAhead() {
        return plansAhead;
    }

    public Iterable<Job> holders() {
        return holding.values();
    }

    public HeldLicenses licensed() {
        return licensed;
    }

    @Override
    public boolean matches(String expression, List<String> features) {
        return Features.match(expression, features);
    }

    public int running(int arrayJobId) {
        return runningTasks.getOrDefault(arrayJobId, 0);
    }

    public boolean ready(NodeSlot slot) {
        return slot.usable && (everyNodeConnected || slot.asleep || connected.contains(slot.spec.name()));
    }

    public void explain(int jobId, JobReason reason) {
        explain(jobId, reason, Optional.empty());
    }

    public void explain(int jobId, JobReason reason, Optional<Estimate> start) {
        if (reasons.get(jobId) != reason) {
            reasons.put(jobId, reason);
        }
        if (start.isPresent()) {
            planned.put(jobId, start.get());
        } else if (!planned.isEmpty()) {
            planned.remove(jobId);
        }
    }
}
