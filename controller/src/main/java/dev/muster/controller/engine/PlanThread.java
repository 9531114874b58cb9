package dev.muster.controller.engine;

import dev.muster.controller.stats.PlanStatistics;
import dev.muster.daemon.DaemonLog;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.forecast.Forecast;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Makes plans of the whole queue beside the core thread, which only notes down what they are made of: one at a time,
 * not oftener than once a second, and none while nothing happens.
 */
public final class PlanThread {
    /** Milliseconds between two plans, at least. */
    private static final int PACE_MS = 1000;
    /** Divisor of the share of a core that planning may use: one part of this many. */
    private static final int SHARE = 9;
    /** Least time in microseconds for the rest of a plan, which otherwise may take as long as the plan's first part. */
    private static final int REST_US = 100_000;
    /** An unchanged queue is planned anew at this age: time limits pass, and the grid of the plan moves on. */
    private static final int AGE_MS = 60_000;
    /** Longest wait for a pass, in milliseconds. */
    private static final int PASS_MS = 5000;

    private final Scheduler scheduler;
    private final CoreThread core;
    private final BooleanSupplier stopping;
    private final PlanStatistics statistics;
    private final DaemonLog log;
    private long plannedIndex = -1;
    private long plannedNs;
    /** Time that the rest of the plan has taken, and the time from which it may begin anew. */
    private long restNs;

    private long restDueNs = System.nanoTime();

    public PlanThread(
            Scheduler scheduler, CoreThread core, BooleanSupplier stopping, PlanStatistics statistics, DaemonLog log) {
        this.scheduler = scheduler;
        this.core = core;
        this.stopping = stopping;
        this.statistics = statistics;
        this.log = log;
    }

    public void start() {
        Thread.ofPlatform().name("plan").daemon().start(this::loop);
    }

    private long plan(Forecast.Input in) {
        statistics.planning(true);
        try {
            long start = System.nanoTime();
            Forecast.InputSize made = scheduler.plan(in, System.nanoTime() >= restDueNs);
            long us = (System.nanoTime() - start) / 1000;
            statistics.planned(us, made);
            return us;
        } finally {
            statistics.planning(false);
        }
    }

    /**
     * Plans the time behind the days that passes use: no pass needs it, so it waits its turn.
     *
     * @param us microseconds to plan for; at least one step is planned
     */
    private void planRest(long us) {
        long start = System.nanoTime();
        boolean more = true;
        statistics.planning(true);
        try {
            while (more && System.nanoTime() - start < us * 1000) {
                more = scheduler.planRest();
            }
        } finally {
            statistics.planning(false);
        }
        restNs += System.nanoTime() - start;
        if (!more) {
            // not more than this share of a core, even if a caller waits for the plan
            restDueNs = Math.max(restDueNs, System.nanoTime() + restNs * SHARE);
            restNs = 0;
        }
    }

    private void loop() {
        long sleepMs = PACE_MS;
        while (!stopping.getAsBoolean()) {
            try {
                Thread.sleep(sleepMs);
                sleepMs = PACE_MS;
                long index = core.durableIndex();
                boolean old = System.nanoTime() - plannedNs > AGE_MS * 1_000_000L;
                if (scheduler.queueLength() > 0 && (index != plannedIndex || old)) {
                    Optional<Forecast.Input> in = scheduler.noted(core::wake, PASS_MS);
                    if (in.isPresent()) {
                        long us = plan(in.get());
                        plannedIndex = index;
                        plannedNs = System.nanoTime();
                        // taken up at once: the next job that ends does not wait for that
                        core.wake();
                        planRest(Math.max(us, REST_US));
                        sleepMs = Math.max(PACE_MS, us / 1000 * SHARE);
                    }
                } else {
                    planRest(REST_US);
                }
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                // a plan decides nothing: a defect in it costs estimates and not the daemon
                log.error("internal error making a plan", e);
                sleepMs = AGE_MS;
            }
        }
    }
}
