package dev.muster.node.os;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Threads that start stepds, a few at a time, so that a flood of launches does not make all of them slow. */
public final class LaunchThreads implements Executor, AutoCloseable {
    private final ExecutorService threads;
    /** Launches that wait for a thread or run on one; guarded by this. */
    private int inFlight;

    public LaunchThreads(int count) {
        threads = Executors.newFixedThreadPool(
                count, Thread.ofPlatform().name("start-", 0).daemon().factory());
    }

    @Override
    public void execute(Runnable launch) {
        synchronized (this) {
            inFlight++;
        }
        threads.execute(() -> {
            try {
                launch.run();
            } finally {
                ended();
            }
        });
    }

    private synchronized void ended() {
        inFlight--;
        notifyAll();
    }

    /**
     * Waits until no launch is in flight.
     *
     * @param ms milliseconds at most
     * @return the number of launches that still are
     */
    public synchronized int awaitNone(long ms) {
        long endNs = System.nanoTime() + ms * 1_000_000;
        try {
            for (long left = ms; inFlight > 0 && left > 0; left = (endNs - System.nanoTime()) / 1_000_000) {
                wait(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return inFlight;
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
