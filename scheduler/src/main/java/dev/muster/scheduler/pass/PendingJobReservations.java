package dev.muster.scheduler.pass;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.state.Job;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.claim.ReservationsInForce;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reservations of waiting jobs in one pass. Where plans are made elsewhere these are the reservations of the last plan,
 * as {@link ReservationsInForce} has them; otherwise the pass plans them by {@link BackfillReservations}. Called by
 * {@link Pass} and its parts.
 */
final class PendingJobReservations {
    private final Pass pass;
    private final JobQueue queue;
    private final AccountRules accounts;
    private final BackfillReservations plans;
    private final BackfillReservationLimits limits;
    private final int reservationsMax;
    private final long nowS;
    /** Reservations of the last plan, where plans are made elsewhere. */
    private final Optional<ReservationsInForce> inForce;
    /** Jobs that were given a time in this pass. */
    private final Set<Integer> planned = new HashSet<>();
    /** Number of jobs with a reservation. */
    private int count;

    /** @param limits options that deny some jobs a reservation */
    PendingJobReservations(
            Pass pass,
            SchedulingContext context,
            AccountRules accounts,
            BackfillReservations plans,
            BackfillReservationLimits limits,
            Optional<ReservationsInForce> inForce,
            long nowS) {
        this.pass = pass;
        this.queue = context.queue();
        this.accounts = accounts;
        this.plans = plans;
        this.limits = limits;
        this.reservationsMax = context.options().reservationsMax();
        this.inForce = inForce;
        this.nowS = nowS;
    }

    /** Tests whether options deny some jobs a reservation. */
    boolean areLimited() {
        return limits.areGiven();
    }

    /** Returns the reservations of the last plan, where plans are made elsewhere. */
    Optional<ReservationsInForce> inForce() {
        return inForce;
    }

    /** Tests whether a more urgent job already has a reservation. */
    boolean areSome() {
        return count > 0;
    }

    /** Returns the jobs that were given a time in this pass. */
    Set<Integer> planned() {
        return planned;
    }

    /**
     * Reserves units for the need at the earliest time at which it fits. Returns false if the reservation delays no
     * other job.
     */
    boolean reserve(Job job, ResourceNeed need, JobReason reason) {
        boolean nothing = pass.order().keepsNothing(job, need, reason, blocker(need));
        if (inForce.isPresent()) {
            standBy(job, need, reason, nothing);
            return true;
        }
        if (nothing
                || count >= reservationsMax
                || !accounts.reserves(
                        job.desc(), queue.ranks().priority(job.id()).orElse(job.priority()))) {
            queue.waits().explain(job.id(), reason);
            return true;
        }
        if (!limits.allows(
                job, need.partition(), queue.ranks().priority(job.id()).orElse(job.priority()), nowS)) {
            queue.waits().explain(job.id(), reason);
            return false;
        }
        count++;
        pass.order().head(job, blocker(need));
        Optional<Planner.Estimate> estimate = pass.timeMin().plan(plans, job, need);
        estimate.ifPresent(e -> planned.add(job.id()));
        queue.waits().explain(job.id(), reason, estimate);
        return true;
    }

    /** Another thread plans: the reservation that its last plan made for the job stays. */
    private void standBy(Job job, ResourceNeed need, JobReason reason, boolean nothing) {
        if (!nothing && isKept(job.id())) {
            keep(job.id());
        }
        if (!nothing) {
            pass.order().head(job, blocker(need));
        }
        queue.waits().explain(job.id(), reason);
    }

    /**
     * Returns whether no further reservation is made in this pass. Jobs with reservations of the last plan are in no
     * lane.
     */
    boolean hasReserved() {
        return inForce.isPresent() || count >= reservationsMax;
    }

    boolean isKept(int jobId) {
        return inForce.isPresent() && inForce.get().has(jobId);
    }

    /** Keeps the reservation that the last plan made for a pending job. */
    void keep(int jobId) {
        if (planned.add(jobId)) {
            inForce.orElseThrow().keep(jobId);
            count++;
            pass.verdicts().reservationKept(jobId);
        }
    }

    /** Drops the reservation of the job; jobs that it turned down are considered again. */
    void release(int jobId) {
        inForce.ifPresent(s -> s.leave(jobId));
    }

    boolean areTakenOver() {
        return inForce.isPresent();
    }

    /** Returns whether the time is past a reservation of the last plan. */
    boolean areClaimsOver() {
        return inForce.isPresent() && inForce.get().areOver();
    }

    /**
     * Reserves for several components as {@link #reserve}, for all of them together. Empty if no such time exists, or
     * the pass has made its maximum of reservations.
     */
    List<Planner.Estimate> reserveTogether(List<ResourceNeed> needs, List<ResourceNeed> less) {
        if (count >= reservationsMax) {
            return List.of();
        }
        count += needs.size();
        return plans.together(needs, less);
    }

    /** Notes that the job was given a time in this pass. */
    void notePlanned(Job job) {
        planned.add(job.id());
    }

    /** Returns the key of the jobs that a waiting job blocks: those of its partition in the same reservation. */
    static String blocker(ResourceNeed need) {
        return need.reservation().isEmpty() ? need.partition() : need.partition() + "\n" + need.reservation();
    }
}
