package dev.muster.controller.stats;

import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.pass.PassCounts;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counters of sdiag since the start or the last reset. Thread-safe. */
public final class Statistics {
    private final LongAdder submitted = new LongAdder();
    private final LongAdder started = new LongAdder();
    private final LongAdder completed = new LongAdder();
    private final LongAdder canceled = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private volatile long since = System.currentTimeMillis() / 1000;
    private long passes;
    private long passUsSum;
    private long passUsMost;
    private long passUsLast;
    private long depthSum;
    private long lastQueue;
    private PassCounts now = new PassCounts(0, 0, 0);
    private PassCounts before = now;
    private final PlanStatistics plans = new PlanStatistics();

    public PlanStatistics plans() {
        return plans;
    }

    /** @param counts since the controller's start */
    public synchronized void pass(long us, int queueLength, PassCounts counts) {
        now = counts;
        passes++;
        passUsSum += us;
        passUsLast = us;
        passUsMost = Math.max(passUsMost, us);
        depthSum += queueLength;
        lastQueue = queueLength;
    }

    public void follow(Entry entry) {
        for (Change change : entry.changes()) {
            switch (change) {
                case Change.JobSubmitted c -> submitted.increment();
                case Change.JobStarted c -> started.increment();
                case Change.JobEnded c -> ended(c.state());
                case Change.PendingJobEnded c -> ended(c.state());
                default -> {}
            }
        }
    }

    private void ended(JobState state) {
        switch (state) {
            case CANCELLED -> canceled.increment();
            case NODE_FAIL, BOOT_FAIL -> failed.increment();
            // how a script ended is its own matter, and nothing that failed here
            case COMPLETED, PREEMPTED, FAILED, OUT_OF_MEMORY -> completed.increment();
            case PENDING, RUNNING, SUSPENDED, TIMEOUT, DEADLINE -> {}
        }
    }

    public synchronized void reset() {
        List.of(submitted, started, completed, canceled, failed).forEach(LongAdder::reset);
        passes = 0;
        before = now;
        plans.reset();
        passUsSum = 0;
        passUsMost = 0;
        passUsLast = 0;
        depthSum = 0;
        lastQueue = 0;
        since = System.currentTimeMillis() / 1000;
    }

    /** Counts by the names of sdiag's JSON form. Times in seconds since 1970, durations in microseconds. */
    public synchronized void put(Map<String, Long> out, State state) {
        out.put("req_time_start", since);
        out.put("jobs_submitted", submitted.sum());
        out.put("jobs_started", started.sum());
        out.put("jobs_completed", completed.sum());
        out.put("jobs_canceled", canceled.sum());
        out.put("jobs_failed", failed.sum());
        long seconds = System.currentTimeMillis() / 1000;
        out.put("req_time", seconds);
        out.put("job_states_ts", seconds);
        out.put(
                "jobs_pending",
                state.jobs().values().stream()
                        .filter(j -> j.state() == JobState.PENDING)
                        .mapToLong(j -> j.isArrayRecord() ? j.array().pending().count() : 1)
                        .sum());
        out.put(
                "jobs_running",
                state.nodes().values().stream()
                        .flatMap(n -> n.jobs().stream())
                        .distinct()
                        .filter(id -> state.jobs().at(id).state() == JobState.RUNNING)
                        .count());
        out.put("schedule_cycle_last", passUsLast);
        out.put("schedule_cycle_max", passUsMost);
        out.put("schedule_cycle_total", passes);
        out.put("schedule_cycle_sum", passUsSum);
        out.put("schedule_cycle_mean", passes == 0 ? 0 : passUsSum / passes);
        out.put("schedule_cycle_mean_depth", passes == 0 ? 0 : depthSum / passes);
        out.put("schedule_cycle_depth", depthSum);
        out.put("schedule_cycle_per_minute", passes * 60 / Math.max(60, seconds - since));
        out.put("schedule_queue_length", lastQueue);
        // a pass goes to the end of the queue, but for one that has started as many as may be started at a time
        long full = now.full() - before.full();
        out.put("schedule_exit_end_job_queue", Math.max(0, passes - full));
        out.put("schedule_exit_max_job_start", full);
        out.put("bf_backfilled_jobs", now.backfilled());
        out.put("bf_backfilled_het_jobs", now.backfilledHet());
        out.put("bf_last_backfilled_jobs", now.backfilled() - before.backfilled());
        plans.put(out);
    }
}
