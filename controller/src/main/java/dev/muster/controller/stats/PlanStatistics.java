package dev.muster.controller.stats;

import dev.muster.scheduler.forecast.Forecast;
import java.util.Map;

/**
 * Figures of sdiag about plans since the start or the last reset, under the names of Slurm's backfill scheduler: both
 * compute when each job of the queue can start. Thread-safe.
 */
public final class PlanStatistics {
    private volatile boolean active;
    private long cycles;
    private long usSum;
    private long usMost;
    private long usLast;
    private long walkedSum;
    private long walkedLast;
    private long triedSum;
    private long triedLast;
    private long timesSum;
    private long timesLast;
    private long passedBy;
    private long last;

    public void planning(boolean now) {
        active = now;
    }

    public synchronized void planned(long us, Forecast.InputSize made) {
        cycles++;
        usSum += us;
        usLast = us;
        usMost = Math.max(usMost, us);
        walkedSum += made.walked();
        walkedLast = made.walked();
        triedSum += made.tried();
        triedLast = made.tried();
        timesSum += made.times();
        timesLast = made.times();
        passedBy += made.passed() ? 1 : 0;
        last = System.currentTimeMillis() / 1000;
    }

    /** Sets the counts back; the last plan is still the last one. */
    synchronized void reset() {
        cycles = 0;
        usSum = 0;
        usMost = 0;
        walkedSum = 0;
        triedSum = 0;
        timesSum = 0;
        passedBy = 0;
    }

    private long mean(long sum) {
        return cycles == 0 ? 0 : sum / cycles;
    }

    /** Adds the statistics by the names of sdiag's JSON form. */
    synchronized void put(Map<String, Long> out) {
        out.put("bf_active", active ? 1L : 0L);
        out.put("bf_cycle_counter", cycles);
        out.put("bf_cycle_last", usLast);
        out.put("bf_cycle_max", usMost);
        out.put("bf_cycle_sum", usSum);
        out.put("bf_cycle_mean", mean(usSum));
        out.put("bf_when_last_cycle", last);
        out.put("bf_last_depth", walkedLast);
        out.put("bf_last_depth_try", triedLast);
        out.put("bf_depth_sum", walkedSum);
        out.put("bf_depth_mean", mean(walkedSum));
        out.put("bf_depth_try_sum", triedSum);
        out.put("bf_depth_mean_try", mean(triedSum));
        out.put("bf_queue_len", walkedLast);
        out.put("bf_queue_len_sum", walkedSum);
        out.put("bf_queue_len_mean", mean(walkedSum));
        out.put("bf_table_size", timesLast);
        out.put("bf_table_size_sum", timesSum);
        out.put("bf_table_size_mean", mean(timesSum));
        // no plan ends before the end of the queue; a plan is dropped when its nodes change meanwhile
        out.put("bf_exit_end_job_queue", cycles - passedBy);
        out.put("bf_exit_state_changed", passedBy);
    }
}
