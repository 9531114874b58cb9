package dev.muster.controller;

import dev.muster.daemon.DaemonLog;
import dev.muster.scheduler.Forecast;
import dev.muster.scheduler.Scheduler;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Makes plans of the whole queue beside the core thread, which only notes down what they are made of: one at a time, not oftener than once a second,
 * and none while nothing happens.
 */
final class PlanThread {
    /** Between two plans, at least. */
    private static final int PACE_MS = 1000;
    /** Planning may use this share of a core: one in so many. */
    private static final int SHARE = 9;
    /** What is behind the days that passes go by may take this share of the time that these take. */
    private static final int REST_SHARE = 2;
    /** What has not changed is planned anew after so long: limits of jobs pass, and the steps of the plan move on. */
    private static final int AGE_MS = 60_000;
    /** So long it is waited for a pass. */
    private static final int PASS_MS = 5000;

    private final Scheduler scheduler;
    private final CoreThread core;
    private final BooleanSupplier stopping;
    private final PlanStatistics statistics;
    private final DaemonLog log;
    private long plannedIndex = -1;
    private long plannedNs;
    private long sumUs;
    private long restUs;

    PlanThread(Scheduler scheduler, CoreThread core, BooleanSupplier stopping, PlanStatistics statistics, DaemonLog log) {
        this.scheduler = scheduler;
        this.core = core;
        this.stopping = stopping;
        this.statistics = statistics;
        this.log = log;
    }

    void start() {
        Thread.ofPlatform().name("plan").daemon().start(this::loop);
    }

    private long plan(Forecast.Input in) {
        statistics.planning(true);
        try {
            long start = System.nanoTime();
            Forecast.Made made = scheduler.plan(in);
            long us = (System.nanoTime() - start) / 1000;
            statistics.planned(us, made);
            return us;
        } finally {
            statistics.planning(false);
        }
    }

    /** The time behind. It is of no use to passes, and so it waits its turn: until then the plan before says when those begin who begin there. */
    private void planRest() {
        if (restUs * REST_SHARE > sumUs) {
            return;
        }
        statistics.planning(true);
        try {
            long start = System.nanoTime();
            scheduler.planRest();
            restUs += (System.nanoTime() - start) / 1000;
        } finally {
            statistics.planning(false);
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
                        sumUs += us;
                        planRest();
                        sleepMs = Math.max(PACE_MS, us / 1000 * SHARE);
                    }
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
