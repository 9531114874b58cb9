package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The node's one thread: everything about jobs happens here, so that nothing else needs a lock. */
final class Loop implements AutoCloseable {
    private final ScheduledThreadPoolExecutor executor;
    private final DaemonLog log;

    Loop(DaemonLog log) {
        this.log = log;
        executor = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name("node").daemon().factory());
        executor.setRemoveOnCancelPolicy(true);
    }

    void post(Runnable work) {
        later(0, work);
    }

    void later(long delayMs, Runnable work) {
        try {
            executor.schedule(() -> guarded(work), delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("work after the end was dropped");
        }
    }

    /** A mistake of ours must end the process rather than leave half a change; the next slurmd adopts the jobs. */
    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            StringBuilder where = new StringBuilder();
            for (int i = 0; i < Math.min(6, e.getStackTrace().length); i++) {
                where.append(" at ").append(e.getStackTrace()[i]);
            }
            log.fatal("internal error: " + e + where);
            Runtime.getRuntime().halt(70);
        }
    }

    /** Something that may block: on a thread of its own. */
    static void aside(Runnable work) {
        Thread.ofVirtual().start(work);
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }

    /** Threads for starting stepds: a few at a time, so that a flood of launches does not make all of them slow. */
    static java.util.concurrent.ExecutorService starters(int count) {
        return Executors.newFixedThreadPool(count, Thread.ofPlatform().name("start-", 0).daemon().factory());
    }
}
