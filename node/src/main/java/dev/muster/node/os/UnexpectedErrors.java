package dev.muster.node.os;

import dev.muster.daemon.DaemonLog;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * What becomes of exceptions that no code of slurmd expects: a line in the log with its place, and the process's nodes
 * are drained with a reason, because a job may wait for what did not happen. Called on any thread; used by
 * {@link EventLoop} and for threads that end by an exception.
 */
public final class UnexpectedErrors {
    private static final int FRAMES_MAX = 6;
    /** Threads that carry bytes of users: their end costs one stream. */
    private static final List<String> STREAMS = List.of("io-", "x11", "relay-", "mpi-", "frames-");

    private static final List<Consumer<String>> NODES = new CopyOnWriteArrayList<>();
    private static volatile Consumer<String> log = System.err::println;

    private UnexpectedErrors() {}

    /** Reports threads that end by an exception from now on. */
    public static void install(DaemonLog to) {
        log = to::error;
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            if (STREAMS.stream().anyMatch(thread.getName()::startsWith)) {
                to.error("thread " + thread.getName() + ": " + described(e));
            } else {
                report(e);
            }
        });
    }

    /** @param drain drains one node of this process with a reason */
    public static void add(Consumer<String> drain) {
        NODES.add(drain);
    }

    public static void remove(Consumer<String> drain) {
        NODES.remove(drain);
    }

    /** Logs the exception and drains the nodes. */
    public static void report(Throwable e) {
        log.accept("internal error: " + described(e));
        NODES.forEach(
                drain -> drain.accept("slurmd internal error: " + e.getClass().getSimpleName() + ", see slurmd's log"));
    }

    /** Work whose failure must not keep a job from its end. */
    public static void guard(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            report(e);
        }
    }

    /** The exception and the first places of its stack, in one line. */
    public static String described(Throwable e) {
        StringBuilder out = new StringBuilder(e.toString());
        StackTraceElement[] stack = e.getStackTrace();
        for (int i = 0; i < Math.min(FRAMES_MAX, stack.length); i++) {
            out.append(" at ").append(stack[i]);
        }
        return out.toString();
    }
}
