package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.NumberAllocator;
import dev.muster.scheduler.claim.PassReservations;
import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.claim.ReservationsInForce;
import dev.muster.scheduler.claim.ReservedPartitions;
import dev.muster.scheduler.node.ClusterIndex;
import dev.muster.scheduler.preempt.PassAllocations;
import dev.muster.scheduler.preempt.Preemptor;
import dev.muster.scheduler.queue.BackfillPolicy;
import dev.muster.scheduler.queue.EligibleNodes;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.request.ReservationScope;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SwitchWait;
import dev.muster.scheduler.timeline.LicenseAllocator;
import dev.muster.scheduler.timeline.RunningJobTimeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Considers the whole queue once, in priority order. It starts each job that fits now ({@link JobStarter}). The first
 * jobs that do not fit reserve exact units, up to a number of reservations ({@link PendingJobReservations}); a later
 * job starts only where it delays none of these. A class of equal needs that failed once is not tried again in the
 * pass, because resources only shrink within it.
 */
public final class Pass {
    /** Jobs that get a reservation: the rest of the queue waits for Priority. */
    public static final int RESERVATIONS_MAX = 100;

    private final SchedulingContext context;
    private final State state;
    private final DecisionTime now;

    private final CompleteWaitPartitions completeWait;
    private final StartedJobs starts;
    private final PassReservations reserved;
    private final Preemptor preemptor;
    private final ResumeQueue suspended;
    private final RunningJobTimeline runningJobs;
    private final LicenseAllocator licenses;
    private final Placement placement;
    private final PassOrder order;
    private final BackfillReservations plans;
    private final SwitchWait waits;
    private final ClassVerdicts verdicts;
    private final TimeMinPlanner timeMin;
    private final PendingJobReservations reservations;
    private final ReservedPartitions reservedPartitions;
    private final JobStarter starter;

    public Pass(SchedulingContext context, State state, DecisionTime now, int maxStarts) {
        this.context = context;
        ClusterIndex cluster = context.cluster();
        JobQueue queue = context.queue();
        this.state = state;
        this.now = now;
        AccountRules accounts = new AccountRules(state);
        this.completeWait = CompleteWaitPartitions.of(queue.waits(), state, now);
        boolean limited = accounts.enforces(AccountingEnforcement.Word.LIMITS);
        if (limited) {
            queue.limits().at(state, accounts, context.use(), now.seconds());
        }
        this.reserved = new PassReservations(
                state, queue.classes().reserved(state, now.seconds()), cluster.withheld(), now.seconds());
        this.reservedPartitions = new ReservedPartitions(cluster, reserved, now.seconds());
        EligibleNodes candidates = new EligibleNodes(cluster, queue.classes(), state);
        BackfillPolicy backfill = queue.backfill(state);
        List<Planner.Start> started = new ArrayList<>();
        this.runningJobs = new RunningJobTimeline(cluster, state, now, started);
        PassAllocations allocations = new PassAllocations(cluster, runningJobs);
        this.licenses = new LicenseAllocator(cluster.licenses(), state, now, runningJobs::times);
        boolean busyFirst =
                backfill.fills() || state.settings().options().backfill().busyNodes();
        this.plans = new BackfillReservations(state, now, candidates, reserved, licenses, runningJobs, busyFirst);
        this.waits = new SwitchWait(state, now, cluster.needs()::one);
        BackfillReservationLimits reservationLimits =
                new BackfillReservationLimits(state.settings().options().backfill());
        NumberAllocator numbers = new NumberAllocator(state, now);
        this.starts =
                new StartedJobs(state, maxStarts, limited, context.use(), allocations, licenses, numbers, started);
        Optional<ReservationsInForce> inForce = reservationLimits.areGiven()
                ? Optional.empty()
                : context.standing().apply(state, now);
        this.reservations =
                new PendingJobReservations(this, context, accounts, plans, reservationLimits, inForce, now.seconds());
        this.preemptor = newPreemptor(allocations);
        this.verdicts = new ClassVerdicts(this, context, state, candidates, limited);
        FreeNodeUnits room = new FreeNodeUnits(now.seconds(), state.memoryConsumed(), reserved, runningJobs, inForce);
        this.placement =
                new Placement(context, state, candidates, verdicts::bounds, room, licenses, numbers, plans, started);
        this.timeMin = new TimeMinPlanner(this, cluster.needs(), state);
        this.order = new PassOrder(this, context, backfill, verdicts, now.seconds());
        this.suspended = new ResumeQueue(cluster, queue.ranks(), preemptor, allocations, state);
        this.starter = new JobStarter(this, context, state, now.seconds(), reserved, limited);
    }

    private Preemptor newPreemptor(PassAllocations allocations) {
        return new Preemptor(
                context.cluster(),
                context.queue().ranks(),
                context.preemptable(),
                context.options().pruned(),
                state,
                now,
                allocations,
                licenses,
                remainingCapacity(),
                this::victimLifted);
    }

    /** @param off the victim is off its nodes for a trial, or back on them */
    private void victimLifted(Job victim, boolean off) {
        runningJobs.lifted(victim, off);
        reservations.inForce().ifPresent(s -> s.lifted(victim.id(), off));
    }

    public List<Planner.Start> run() {
        try {
            boolean whole = order.walk(looksAtEach());
            suspended.resumeAll();
            order.fill();
            if (whole && !starts.isFull()) {
                context.queue().waits().retain(reservations.planned());
            }
            return starts.all();
        } finally {
            preemptor.undo();
            starts.undo();
        }
    }

    /** Tests whether options or completing jobs make each job of a class a matter of its own. */
    private boolean looksAtEach() {
        return state.settings().options().scheduling().limitStops()
                || reservations.areLimited()
                || completeWait.isAnywhere();
    }

    /** Resumes suspended jobs that come before this one; see {@link ResumeQueue#resumeBefore}. */
    void resumeBefore(Job next) {
        suspended.resumeBefore(next);
    }

    public List<Planner.Preempt> preemptions() {
        return preemptor.preempts();
    }

    public List<Integer> resumes() {
        return suspended.resumed();
    }

    /** Returns what jobs put up with at this time. */
    public SwitchWait waits() {
        return waits;
    }

    /** Returns the counts with this pass' work added. */
    public PassCounts added(PassCounts before) {
        return starts.added(before);
    }

    /** Counts the start of all components of a heterogeneous job. */
    void startedHet(int components) {
        if (reservations.areSome()) {
            starts.countBackfilled(0, components);
        }
    }

    /** Tests whether as many jobs have started as may in one pass. */
    boolean isFull() {
        return starts.isFull();
    }

    boolean hasSuspended() {
        return !suspended.isEmpty();
    }

    void consider(Job job) {
        if (job.isHet()) {
            if (job.isHetLeader()) {
                new HetPass(this, context, state).consider(job);
            }
            return;
        }
        JobReason buffer = state.buffers().blocks(job.id());
        if (buffer != JobReason.NONE) {
            context.queue().waits().explain(job.id(), buffer);
            return;
        }
        int task = job.isArrayRecord() ? job.array().pending().first() : -1;
        int tasksStarted = 0;
        while (!starts.isFull()) {
            if (job.array().maxRunning() > 0
                    && context.cluster().running(job.array().jobId()) + tasksStarted
                            >= job.array().maxRunning()) {
                context.queue().waits().explain(job.id(), JobReason.JOB_ARRAY_TASK_LIMIT);
                return;
            }
            if (!starter.start(job, task)) {
                return;
            }
            tasksStarted++;
            if (reservations.areSome()) {
                starts.countBackfilled(1, 0);
            }
            if (task < 0) {
                return;
            }
            task = job.array().pending().next(task + 1);
            if (task < 0) {
                return;
            }
        }
    }

    /** Returns the need in the first of the job's reservations that is open; empty if none is. */
    Optional<ResourceNeed> inReservation(Job job, ResourceNeed plain) {
        return reserved.of(job.desc()).stream()
                .map(ReservationScope::of)
                .filter(w -> reserved.opens(w) <= now.seconds())
                .findFirst()
                .map(w -> context.cluster().needs().in(w, plain));
    }

    ReservedPartitions reservedPartitions() {
        return reservedPartitions;
    }

    boolean isInOrder() {
        return state.settings().options().scheduling().inOrder();
    }

    LicenseAllocator licenses() {
        return licenses;
    }

    /** Returns the jobs that the pass starts. */
    StartedJobs starts() {
        return starts;
    }

    /** Returns the part of the pass that tries to start jobs. */
    JobStarter starter() {
        return starter;
    }

    /** Returns the reservations of waiting jobs. */
    PendingJobReservations reservations() {
        return reservations;
    }

    ClassVerdicts verdicts() {
        return verdicts;
    }

    PassOrder order() {
        return order;
    }

    TimeMinPlanner timeMin() {
        return timeMin;
    }

    CompleteWaitPartitions completeWait() {
        return completeWait;
    }

    Placement placement() {
        return placement;
    }

    /** Tests whether reservations draw the job although it names none. */
    boolean isDrawn(Job job) {
        return reserved.areMagnetic() && reserved.of(job.desc()).size() > 1;
    }

    RemainingCapacity remainingCapacity() {
        return new RemainingCapacity(context.cluster().nodes(), reserved, reservations.inForce(), now.seconds());
    }

    Preemptor preemptor() {
        return preemptor;
    }

    public Optional<Planner.Estimate> estimate(JobDesc desc) {
        return plans.estimate(desc, context);
    }

    /**
     * Estimates the start of a job as if no other job waited; running jobs without a limit count as ending after a
     * year.
     */
    public Optional<Planner.Estimate> estimateIgnoringQueue(JobDesc desc) {
        runningJobs.yearly();
        return plans.estimateIgnoringQueue(desc);
    }
}
