package dev.muster.scheduler;

import dev.muster.core.Job;
import dev.muster.model.JobReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * In which order a pass looks at those who wait, and who of them has a reservation that others keep clear of: the queue's, until as many wait in a
 * partition as {@link Backfill} lets have one; then its own. Where that has an order for a whole partition nobody goes in the queue's.
 */
final class Turns {
    private final Pass pass;
    private final Scheduler scheduler;
    private final Backfill backfill;
    private final Lanes lanes;
    private final long nowS;
    private final Predicate<String> ruled;
    /** Reservations by what they block. */
    private final Map<String, Integer> heads = new HashMap<>();
    private long headS;
    /** Those that do not go in the queue's order, of the present tier and of all; in the queue's. */
    private final List<Job> ordered = new ArrayList<>();
    private final List<Job> behind = new ArrayList<>();
    private final List<Job> all = new ArrayList<>();
    /** Who of these could not start. */
    private final Map<Integer, Waiting> waiting = new HashMap<>();
    private boolean ownOrder;

    private record Waiting(Job job, Need need, JobReason reason) {}

    Turns(Pass pass, Scheduler scheduler, Backfill backfill, Lanes lanes, long nowS) {
        this.pass = pass;
        this.scheduler = scheduler;
        this.backfill = backfill;
        this.lanes = lanes;
        this.nowS = nowS;
        this.ruled = backfill.ruled();
    }

    /** All jobs in their order. @param special each job must be looked at. @return whether it came to the end */
    boolean walk(boolean special) {
        boolean quick = lanes.areOpen(special);
        int tier = Integer.MAX_VALUE;
        for (QueueOrder.Block block : scheduler.order().blocks()) {
            for (int i = 0; i < block.size; i++) {
                boolean passes = quick && !pass.hasStopped();
                i = passes ? lanes.next(block, i) : i;
                if (i == block.size) {
                    break;
                }
                int known = passes && block.lanes[i] >= 0 ? lanes.reason(block, i) : QueueOrder.UNKNOWN;
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
                if (pass.hasStopped()) {
                    pass.goOn(scheduler.tier(job));
                }
                if (!later(job)) {
                    pass.consider(job);
                    if (quick) {
                        lanes.considered(block, i, job);
                    }
                }
            }
        }
        take(ordered);
        lanes.end();
        return true;
    }

    /** The job is not looked at: it waits for this. */
    private void wait(QueueOrder.Block block, int i, int reason) {
        int id = block.places[i].jobId();
        boolean kept = block.passed[i] == QueueOrder.UNKNOWN && pass.isKept(id);
        if (kept && Lanes.keepsPlace(reason)) {
            pass.keep(id);
        }
        if (block.told[i] != reason) {
            block.told[i] = (short) reason;
            scheduler.explain(id, Lanes.REASONS[reason]);
        }
        block.passed[i] = kept ? (short) QueueOrder.UNKNOWN : (short) reason;
    }

    /** Whether its turn comes in the backfill's own order. */
    private boolean later(Job job) {
        if (!backfill.fills() || job.isHet() || !job.desc().charge().reservation().isEmpty()) {
            return false;
        }
        List<String> partitions = scheduler.partitions(job);
        boolean own = partitions.stream().noneMatch(ruled);
        if (!own && !partitions.stream().allMatch(this::isBlocked)) {
            return false;
        }
        (own ? ordered : behind).add(job);
        all.add(job);
        return true;
    }

    /** As many as get a reservation wait there. */
    private boolean isBlocked(String partition) {
        return heads.getOrDefault(partition, 0) >= backfill.heads();
    }

    private void take(List<Job> those) {
        ownOrder = true;
        for (Job job : backfill.order(those, nowS, headS, ruled)) {
            if (pass.isFull()) {
                break;
            }
            pass.consider(job);
        }
        ownOrder = false;
        those.clear();
    }

    /** The jobs that keep others back have their reservations: what starts beside them goes by the backfill's own order. */
    void fill() {
        take(behind);
        for (Job job : scheduler.plansAhead() && !pass.isFull() ? all : List.<Job>of()) {
            Waiting w = waiting.get(job.id());
            if (w != null) {
                pass.reserve(w.job, w.need, w.reason);
            }
        }
    }

    /** The job cannot start; if its turn was not the queue's and others have the reservations, nothing is kept for it now. */
    boolean keepsNothing(Job job, Need need, JobReason reason, String blocker) {
        if (!ownOrder || !ruled.test(need.partition()) && !isBlocked(blocker)) {
            return false;
        }
        waiting.put(job.id(), new Waiting(job, need, reason));
        return true;
    }

    /** Something is kept for the job, from what blocks others. @return how many are now */
    int head(Job job, String blocker) {
        int now = heads.merge(blocker, 1, Integer::sum);
        headS = Math.max(headS, nowS - job.eligibleTime());
        return now;
    }
}
