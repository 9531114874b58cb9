package dev.muster.scheduler.pass;

import dev.muster.core.state.Job;
import dev.muster.model.job.JobReason;
import dev.muster.scheduler.queue.BackfillPolicy;
import dev.muster.scheduler.queue.JobQueue;
import dev.muster.scheduler.queue.QueueOrder;
import dev.muster.scheduler.queue.QueuePosition;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The order in which a pass considers waiting jobs, and the jobs that get reservations. It follows the queue until a
 * partition has as many reservations as {@link BackfillPolicy} allows, then the order of that policy. A policy that
 * orders a whole partition replaces the queue's order there.
 */
public final class PassOrder {
    private final Pass pass;
    private final boolean plansAhead;
    private final JobQueue queue;
    private final BackfillPolicy backfill;
    private final ClassVerdicts verdicts;
    private final long nowS;
    private final Predicate<String> ruled;
    /** Reservations by what they block. */
    private final Map<String, Integer> heads = new HashMap<>();

    private long headS;
    /** Jobs that do not go in the queue's order, of the present tier and of all; in the queue's. */
    private final List<QueuePosition> ordered = new ArrayList<>();

    private final List<QueuePosition> deferred = new ArrayList<>();
    private final List<QueuePosition> all = new ArrayList<>();
    /** The jobs of {@link #all} that could not start. */
    private final Map<Integer, Waiting> waiting = new HashMap<>();

    private boolean ownOrder;
    /** Whether jobs with a known verdict are passed over. */
    private boolean quick;

    private boolean whole;

    private record Waiting(Job job, ResourceNeed need, JobReason reason) {}

    PassOrder(Pass pass, SchedulingContext context, BackfillPolicy backfill, ClassVerdicts verdicts, long nowS) {
        this.pass = pass;
        this.plansAhead = context.options().plansAhead();
        this.queue = context.queue();
        this.backfill = backfill;
        this.verdicts = verdicts;
        this.nowS = nowS;
        this.ruled = backfill.ruled();
    }

    /**
     * Walks over all jobs in their order.
     *
     * @param special each job must be looked at.
     * @return whether it came to the end
     */
    boolean walk(boolean special) {
        quick = verdicts.areOpen(special);
        int tier = Integer.MAX_VALUE;
        for (QueueOrder.Block block : queue.order().blocks()) {
            for (int i = 0; i < block.size; i++) {
                // a policy with its own order asks at their turns: jobs that start before them may use up their limits
                boolean passes = quick && !pass.hasSuspended() && !backfill.fills();
                i = passes ? verdicts.next(block, i) : i;
                if (i == block.size) {
                    break;
                }
                int known = passes ? known(block, i) : QueueOrder.UNKNOWN;
                if (known >= 0) {
                    wait(block, i, known);
                    continue;
                }
                if (pass.isFull()) {
                    return false;
                }
                Job job = block.places[i].job();
                if (block.places[i].tier() < tier) {
                    tier = block.places[i].tier();
                    take(ordered);
                }
                if (pass.hasSuspended()) {
                    pass.resumeBefore(job);
                }
                if (!later(block, i)) {
                    consider(block, i);
                }
            }
        }
        take(ordered);
        whole = true;
        if (!backfill.fills()) {
            verdicts.end();
        }
        return true;
    }

    private void consider(QueueOrder.Block block, int i) {
        Job job = block.places[i].job();
        pass.consider(job);
        if (quick) {
            verdicts.considered(block, i, job);
        }
    }

    /**
     * Returns the ordinal of the reason for which the job waits; UNKNOWN if it must be considered, as must jobs with
     * reservations where a policy has its own order.
     */
    private int known(QueueOrder.Block block, int i) {
        boolean ask = block.lanes[i] < 0
                || backfill.fills()
                        && block.passed[i] == QueueOrder.UNKNOWN
                        && pass.reservations().isKept(block.places[i].jobId());
        return ask ? QueueOrder.UNKNOWN : verdicts.reason(block, i);
    }

    /** Lets a job wait for this reason without a look at it. */
    private void wait(QueueOrder.Block block, int i, int reason) {
        int id = block.places[i].jobId();
        boolean kept =
                block.passed[i] == QueueOrder.UNKNOWN && pass.reservations().isKept(id);
        if (kept && ClassVerdicts.keepsPlace(reason)) {
            pass.reservations().keep(id);
        }
        if (block.toldReasons[i] != reason) {
            block.toldReasons[i] = (short) reason;
            queue.waits().explain(id, ClassVerdicts.REASONS[reason]);
        }
        block.passed[i] = kept ? (short) QueueOrder.UNKNOWN : (short) reason;
    }

    /** Tests whether a job's turn comes in the backfill's own order. */
    private boolean later(QueueOrder.Block block, int i) {
        Job job = block.places[i].job();
        if (!backfill.fills()
                || job.isHet()
                || !job.desc().charge().reservation().isEmpty()) {
            return false;
        }
        List<String> partitions = queue.ranks().partitions(job);
        boolean own = true;
        boolean blocked = true;
        for (String partition : partitions) {
            own &= !ruled.test(partition);
            blocked &= isBlocked(partition);
        }
        if (!own && !blocked) {
            return false;
        }
        QueuePosition turn = new QueuePosition(block, i);
        (own ? ordered : deferred).add(turn);
        all.add(turn);
        return true;
    }

    /** Tests whether as many jobs as get a reservation wait in the partition. */
    private boolean isBlocked(String partition) {
        return heads.getOrDefault(partition, 0) >= backfill.heads();
    }

    private void take(List<QueuePosition> those) {
        ownOrder = true;
        for (QueuePosition turn : backfill.order(those, nowS, headS, ruled)) {
            if (pass.isFull()) {
                break;
            }
            boolean passes = quick && !pass.hasSuspended();
            if (passes && verdicts.isUnchanged(turn.block(), turn.index())) {
                continue;
            }
            int known = passes ? known(turn.block(), turn.index()) : QueueOrder.UNKNOWN;
            if (known >= 0) {
                wait(turn.block(), turn.index(), known);
            } else {
                consider(turn.block(), turn.index());
            }
        }
        ownOrder = false;
        those.clear();
    }

    /** Starts jobs beside those that keep others back and have their reservations, in the backfill's own order. */
    void fill() {
        take(deferred);
        for (QueuePosition turn : plansAhead && !pass.isFull() && !waiting.isEmpty() ? all : List.<QueuePosition>of()) {
            Waiting w = waiting.get(turn.block().places[turn.index()].jobId());
            if (w != null) {
                pass.reservations().reserve(w.job, w.need, w.reason);
            }
        }
        if (backfill.fills() && whole && !pass.isFull()) {
            verdicts.end();
        }
    }

    /**
     * Tests whether nothing is kept now for a job that cannot start, because its turn was not the queue's and others
     * have the reservations; notes the job if so.
     */
    boolean keepsNothing(Job job, ResourceNeed need, JobReason reason, String blocker) {
        if (!ownOrder || !ruled.test(need.partition()) && !isBlocked(blocker)) {
            return false;
        }
        waiting.put(job.id(), new Waiting(job, need, reason));
        return true;
    }

    /**
     * Counts a reservation among those behind which the same blocker holds jobs back.
     *
     * @return how many are now
     */
    int head(Job job, String blocker) {
        int now = heads.merge(blocker, 1, Integer::sum);
        headS = Math.max(headS, nowS - job.eligibleTime());
        return now;
    }
}
