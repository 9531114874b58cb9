package dev.muster.node.os;

import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The node's one thread: everything about jobs happens here, so that nothing else needs a lock. Where one process
 * stands for many nodes they take turns on a few threads, each node's work still one after the other and in order.
 */
public final class EventLoop implements AutoCloseable {
    /** Pieces of work that a node does before others have their turn. */
    private static final int TURN_MAX = 64;
    /** Longest wait for an answer of the loop's thread, in seconds. */
    private static final int ANSWER_S = 30;
    /** Name of the threads for what may block. */
    static final String ASIDE = "aside";

    private final Threads threads;
    private final boolean own;
    private final DaemonLog log;
    private final ArrayDeque<Runnable> work = new ArrayDeque<>();
    private boolean busy;
    private @Nullable Thread runner;
    private volatile boolean closed;

    public EventLoop(DaemonLog log) {
        this(log, new Threads(1), true);
    }

    /** @param threads shared with other nodes of this process; their owner ends them */
    public EventLoop(DaemonLog log, Threads threads) {
        this(log, threads, false);
    }

    private EventLoop(DaemonLog log, Threads threads, boolean own) {
        this.log = log;
        this.threads = threads;
        this.own = own;
    }

    /**
     * Threads for the loops of a process. One of them only looks at the clock: what is to be done now does not go
     * through its queue.
     */
    public static final class Threads implements AutoCloseable {
        private final ExecutorService work;
        private final ScheduledThreadPoolExecutor clock;

        public Threads(int count) {
            work = Executors.newFixedThreadPool(
                    count, Thread.ofPlatform().name("node").daemon().factory());
            clock = new ScheduledThreadPoolExecutor(
                    1, Thread.ofPlatform().name("node-clock").daemon().factory());
            clock.setRemoveOnCancelPolicy(true);
        }

        @Override
        public void close() {
            clock.shutdownNow();
            work.shutdownNow();
        }
    }

    public void post(Runnable piece) {
        synchronized (work) {
            work.add(piece);
            if (busy || closed) {
                return;
            }
            busy = true;
        }
        turn();
    }

    /** Runs a question of another thread on the loop's and returns its answer. */
    public <T> T ask(Supplier<T> question) throws IOException {
        CompletableFuture<T> answer = new CompletableFuture<>();
        post(() -> {
            try {
                answer.complete(question.get());
            } catch (RuntimeException e) {
                answer.completeExceptionally(e);
            }
        });
        try {
            return answer.get(ANSWER_S, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IOException("the node does not answer itself", e);
        }
    }

    public void later(long delayMs, Runnable piece) {
        if (delayMs <= 0) {
            post(piece);
            return;
        }
        try {
            var _ = threads.clock.schedule(() -> post(piece), delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("work after the end was dropped");
        }
    }

    private void turn() {
        try {
            threads.work.execute(this::take);
        } catch (RejectedExecutionException e) {
            log.debug("work after the end was dropped");
            synchronized (work) {
                runner = null;
                work.notifyAll();
            }
        }
    }

    private void take() {
        for (int i = 0; i < TURN_MAX; i++) {
            Runnable next;
            synchronized (work) {
                next = closed ? null : work.poll();
                runner = next == null ? null : Thread.currentThread();
                if (next == null) {
                    busy = false;
                    work.notifyAll();
                    return;
                }
            }
            guarded(next);
        }
        turn();
    }

    /**
     * An exception costs its own piece of work and drains the node; ending the process instead would repeat it at each
     * start as long as the job's file is in the spool directory. An error of the virtual machine ends the process: the
     * next slurmd adopts the jobs.
     */
    private void guarded(Runnable piece) {
        try {
            piece.run();
        } catch (RuntimeException e) {
            UnexpectedErrors.report(e);
        } catch (Error e) {
            log.fatal("internal error: " + UnexpectedErrors.described(e));
            Runtime.getRuntime().halt(70);
        }
    }

    /** Runs work that may block on a thread of its own. {@link UnexpectedErrors} logs its exceptions. */
    public static void aside(Runnable work) {
        Thread.ofVirtual().name(ASIDE).start(work);
    }

    /**
     * Something that may block and that a job waits for: the answer comes back to the loop whatever the work throws.
     *
     * @param failed the answer of work that threw
     */
    public <T> void aside(Supplier<T> work, Function<Throwable, T> failed, Consumer<T> then) {
        aside(() -> {
            T answer;
            try {
                answer = work.get();
            } catch (RuntimeException | Error e) {
                UnexpectedErrors.report(e);
                answer = failed.apply(e);
            }
            T known = answer;
            post(() -> then.accept(known));
        });
    }

    /** Like the method above, with the same continuation after success and failure. */
    public void aside(Runnable work, Runnable then) {
        aside(
                () -> {
                    work.run();
                    return "";
                },
                e -> "",
                answer -> then.run());
    }

    /**
     * Ends the loop behind the piece of work that is under way. Another slurmd may adopt the jobs after that: it must
     * not find a job whose directory this one is about to delete.
     */
    @Override
    public void close() {
        closed = true;
        awaitPiece();
        if (own) {
            threads.close();
        }
    }

    private void awaitPiece() {
        long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_S);
        synchronized (work) {
            while (runner != null && runner != Thread.currentThread() && System.nanoTime() < untilNs) {
                try {
                    work.wait(100);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }
}
