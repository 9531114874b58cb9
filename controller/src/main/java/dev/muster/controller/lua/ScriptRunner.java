package dev.muster.controller.lua;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls of a script one at a time, in a thread that alone has the script's state. A call may wait for ever inside
 * a function of C, which nothing ends; its thread is then given up with its state, and a new thread with a new state
 * serves the next calls. With {@code stuckMax} such threads all calls are refused until one of them returns.
 *
 * @param <S> the script's state
 */
final class ScriptRunner<S extends ScriptRunner.State> implements AutoCloseable {
    /** A loaded script. */
    interface State extends AutoCloseable {
        @Override
        void close();
    }

    private record Call<S, T>(Function<S, T> body, CompletableFuture<T> answer) {
        void run(S state) {
            try {
                answer.complete(body.apply(state));
            } catch (RuntimeException | Error e) {
                answer.completeExceptionally(e);
            }
        }
    }

    private final String name;
    private final Supplier<S> freshState;
    private final long stuckMs;
    private final int stuckMax;
    private final Consumer<String> error;
    private final Queue<Call<S, ?>> queue = new ArrayDeque<>();
    private @Nullable Worker worker;
    private int stuck;
    private boolean closed;

    /**
     * A runner without a thread; the first call starts one.
     *
     * @param stuckMs after which a call counts as one that does not return
     */
    ScriptRunner(String name, Supplier<S> freshState, long stuckMs, int stuckMax, Consumer<String> error) {
        this.name = name;
        this.freshState = freshState;
        this.stuckMs = stuckMs;
        this.stuckMax = stuckMax;
        this.error = error;
    }

    /**
     * Waits for its turn, and for its answer.
     *
     * @throws TimeoutException no answer within {@code waitMs}, or the call is stuck
     * @throws RejectedExecutionException too many calls are stuck
     */
    <T> T call(Function<S, T> body, long waitMs) throws TimeoutException, ExecutionException, InterruptedException {
        Call<S, T> call = new Call<>(body, new CompletableFuture<>());
        synchronized (this) {
            if (stuck >= stuckMax) {
                throw new RejectedExecutionException(stuck + " runs of the script are stuck");
            }
            if (worker == null) {
                startWorker();
            }
            queue.add(call);
            notifyAll();
        }
        try {
            return call.answer.get(waitMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TimeoutException t) {
                throw t;
            }
            throw e;
        } finally {
            synchronized (this) {
                queue.remove(call);
            }
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }

    private void startWorker() {
        worker = new Worker();
        Thread thread = new Thread(worker, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the next call; null when the worker has to end. */
    private synchronized @Nullable Call<S, ?> next(Worker asking) throws InterruptedException {
        while (!asking.retired) {
            Call<S, ?> call = queue.poll();
            if (call != null || closed) {
                return call;
            }
            wait();
        }
        return null;
    }

    private synchronized void retire(Worker running) {
        if (closed || running.retired) {
            return;
        }
        running.retired = true;
        worker = null;
        stuck++;
        String what = name + ": a run of the script does not return, " + stuck + " of " + stuckMax + " such runs: ";
        if (stuck < stuckMax) {
            error.accept(what + "its thread is given up, and the script is loaded anew for the next");
            startWorker();
        } else {
            error.accept(what + "all that the script would be asked about is refused until one of them returns");
            queue.forEach(call -> call.answer.completeExceptionally(new TimeoutException()));
            queue.clear();
        }
    }

    private synchronized void ended(Worker ending) {
        if (ending.retired) {
            stuck--;
            error.accept(name + ": a stuck run of the script has returned, " + stuck + " are left");
        } else if (worker == ending) {
            worker = null;
        }
    }

    private final class Worker implements Runnable {
        private boolean retired;

        @Override
        public void run() {
            try (S state = freshState.get()) {
                for (Call<S, ?> call = next(this); call != null; call = next(this)) {
                    var _ = call.answer
                            .orTimeout(stuckMs, TimeUnit.MILLISECONDS)
                            .whenComplete((value, failure) -> {
                                if (failure instanceof TimeoutException) {
                                    retire(this);
                                }
                            });
                    call.run(state);
                }
            } catch (InterruptedException | RuntimeException e) {
                error.accept(name + ": " + e);
            } finally {
                ended(this);
            }
        }
    }
}
