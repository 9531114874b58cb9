package dev.muster.node.job;

import dev.muster.node.os.EventLoop;
import dev.muster.node.os.UnexpectedErrors;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Prologs and epilogs that run in this process. A slurmd that begins with a new configuration finds those of the one
 * before it here, and waits for their end instead of running them a second time.
 */
public final class PrologEpilogRuns {
    private final Map<String, CompletableFuture<String>> byName = new ConcurrentHashMap<>();

    /**
     * Runs a hook on a thread of its own, or returns the run of that name that is not yet {@link #taken}.
     *
     * @param name of the node, the job, its attempt and the hook
     * @param failure the error of a hook that throws
     * @return its error, "" for none
     */
    CompletableFuture<String> run(String name, Supplier<String> hook, String failure) {
        CompletableFuture<String> own = new CompletableFuture<>();
        CompletableFuture<String> known = byName.putIfAbsent(name, own);
        if (known != null) {
            return known;
        }
        EventLoop.aside(() -> {
            String error = failure;
            try {
                error = hook.get();
            } catch (RuntimeException | Error e) {
                UnexpectedErrors.report(e);
            }
            own.complete(error);
        });
        return own;
    }

    /** Forgets a run: its job has gone on. */
    void taken(String name) {
        byName.remove(name);
    }
}
