package dev.muster.scheduler.queue;

import dev.muster.core.limits.LimitCache;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.node.ClusterIndex;
import java.util.ArrayList;
import java.util.List;

/**
 * The waiting jobs: their order, their classes, what limits say to each and why it waits. Owned by the core thread;
 * reasons are read on any.
 */
public final class JobQueue {
    private final ClusterIndex cluster;
    private final PriorityIndex ranks = new PriorityIndex();
    private final QueueOrder order = ranks.order();
    private final LimitCache limits = new LimitCache();
    private final WaitReasons waits = new WaitReasons();
    private final UnavailableNodes unavailable = new UnavailableNodes();
    private final JobClassIndex classes;
    private final PowerBudget power;
    /** Run times of jobs that have ended since this controller started, and of those that it still knew then. */
    private RuntimeEstimator expected = new RuntimeEstimator();

    private Slowdown slowdown = new Slowdown();
    private boolean learned;
    private long passes;

    /** @param groups drops its verdicts when groups must be judged again */
    public JobQueue(ClusterIndex cluster, GroupVerdicts groups) {
        this.cluster = cluster;
        this.classes = new JobClassIndex(cluster, order, limits, groups);
        this.power = new PowerBudget(cluster, unavailable);
    }

    /** Takes over what the other queue knows of how long jobs of each user run. */
    public void learnFrom(JobQueue other) {
        expected = other.expected;
        slowdown = other.slowdown;
    }

    // ---- following the state

    /** Empties the queue; nodes and partitions may be others. */
    public void reset(State state) {
        ranks.reset(state);
        limits.clear();
        power.clear();
        unavailable.changed();
        classes.clear();
    }

    /** Learns from all jobs of a state, once: those that have ended tell how long jobs run. */
    public void learn(State state) {
        if (!learned) {
            state.jobs().values().forEach(expected::learn);
        }
        learned = state.jobs().size() > 0;
    }

    public void remove(int jobId) {
        ranks.remove(jobId);
        cluster.needs().forget(jobId);
        limits.forget(jobId);
    }

    /** Removes a job that does not wait any more, nor will under this number. */
    public void forget(int jobId) {
        waits.forget(jobId);
        ranks.forget(jobId);
    }

    public void began(State after, Job job, long nowS) {
        if (waits.isForResources(job)) {
            slowdown.waited(nowS, nowS - job.eligibleTime());
        }
        backfill(after).began(job);
    }

    /** @param was as it was when it held its nodes */
    public void ended(Job was, long nowS) {
        slowdown.ended(
                was.id(),
                was.run().allocation().cpus(),
                Math.max(0, nowS - was.run().startTime()));
    }

    /** Learns from a job that has ended: how long it ran tells of its user's next. */
    public void learn(Job job) {
        expected.learn(job);
    }

    /** Brings the queue up to date before a pass. */
    public void refresh(State state, DecisionTime now) {
        if (cluster.needs().size() > JobClassIndex.CLASSES_MAX + 2 * order.size()) {
            cluster.needs().clear();
            classes.clear();
            order.forget();
        } else if (classes.areMany(order.size())) {
            classes.forgetLanes();
        }
        power.renew(state);
        ranks.refresh(state, now);
        passes++;
    }

    // ---- what a pass reads

    public List<Job> jobs() {
        List<Job> jobs = new ArrayList<>(order.size());
        order.forEach(p -> jobs.add(p.job()));
        return jobs;
    }

    public QueueOrder order() {
        return order;
    }

    public PriorityIndex ranks() {
        return ranks;
    }

    public JobClassIndex classes() {
        return classes;
    }

    /** Returns the cache of limits' verdicts on queued jobs. */
    public LimitCache limits() {
        return limits;
    }

    /** Returns why limits of associations and QOS keep the job from starting, whatever nodes are free. */
    public JobReason limited(Job job, int limitMin) {
        return limits.blocks(job.id(), job.desc(), limitMin);
    }

    public WaitReasons waits() {
        return waits;
    }

    /** Returns the reasons of jobs that wait for nodes which are not there. On any thread. */
    public UnavailableNodes unavailable() {
        return unavailable;
    }

    public PowerBudget power() {
        return power;
    }

    public BackfillPolicy backfill(State state) {
        return new BackfillPolicy(state, expected, slowdown, cluster, ranks);
    }

    /** Returns the number of passes over the queue since the controller started. */
    public long passes() {
        return passes;
    }
}
