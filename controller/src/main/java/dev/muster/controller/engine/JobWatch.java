package dev.muster.controller.engine;

import dev.muster.transport.Server;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Lets requests wait for something to happen to a job. */
public final class JobWatch {
    private final ConcurrentHashMap<Integer, CompletableFuture<Void>> waiting = new ConcurrentHashMap<>();

    /** Wakes the request that waits for a job: something of the job changed and is durable and visible. */
    public void happened(int jobId) {
        CompletableFuture<Void> future = waiting.remove(jobId);
        if (future != null) {
            future.complete(null);
        }
    }

    /** Tests whether no request waits. A request that begins to wait later reads what is durable by itself. */
    public boolean isIdle() {
        return waiting.isEmpty();
    }

    /**
     * Asks again after each change of the job until there is an answer or the time is over; null then. Also null once
     * the caller of the request is gone: a question may act, and nothing is done for a command that does not exist any
     * more.
     */
    public <T> @Nullable T await(int jobId, long waitMs, Supplier<T> question) {
        return await(jobId, waitMs, question, Server::isCallerGone);
    }

    <T> @Nullable T await(int jobId, long waitMs, Supplier<T> question, BooleanSupplier isCallerGone) {
        long until = System.nanoTime() + waitMs * 1_000_000;
        while (true) {
            CompletableFuture<Void> next = waiting.computeIfAbsent(jobId, k -> new CompletableFuture<>());
            T answer = question.get();
            long left = until - System.nanoTime();
            if (answer != null || left <= 0) {
                return answer;
            }
            try {
                next.get(left, TimeUnit.NANOSECONDS);
                if (isCallerGone.getAsBoolean()) {
                    return null;
                }
            } catch (TimeoutException e) {
                return isCallerGone.getAsBoolean() ? null : question.get();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return null;
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
