package dev.muster.daemon;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.transport.Caller;
import dev.muster.transport.Server;
import dev.muster.transport.Server.Reply;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the requests of a daemon: each is counted and timed, and a fault becomes its reply and a line in the log. Many
 * threads count; one reads the figures now and then.
 */
public final class Requests {
    /** Users counted one by one; all others share a row, so that strangers cannot fill the memory. */
    private static final int USERS_MAX = 10_000;
    /** The user id of that row. */
    public static final int OTHERS = -2;

    /** Something that the daemon leans upon does not answer; the sentence is the caller's reply. */
    public static class UnavailableException extends RuntimeException {
        public UnavailableException(String sentence, @Nullable Throwable cause) {
            super(sentence, cause);
        }
    }

    /** @param us microseconds that all of the calls took together */
    public record Count(long calls, long us) {}

    private record Adders(LongAdder calls, LongAdder us) {
        Adders() {
            this(new LongAdder(), new LongAdder());
        }

        void add(long oneUs) {
            calls.increment();
            us.add(oneUs);
        }
    }

    private final DaemonLog log;
    private final Set<String> uncounted;
    private final Set<String> untimed;
    private final Map<String, Adders> byMessage = new ConcurrentHashMap<>();
    private final Map<Integer, Adders> byUser = new ConcurrentHashMap<>();
    private final ThreadLocal<String> countedName = new ThreadLocal<>();
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile long since = seconds();

    /** @param uncounted messages that wait by their nature, so that their times mean nothing */
    public Requests(DaemonLog log, Set<String> uncounted) {
        this(log, uncounted, Set.of());
    }

    /** @param untimed messages that wait by their nature, and are counted all the same */
    public Requests(DaemonLog log, Set<String> uncounted, Set<String> untimed) {
        this.log = log;
        this.uncounted = uncounted;
        this.untimed = untimed;
    }

    private static long seconds() {
        return System.currentTimeMillis() / 1000;
    }

    /**
     * Counts the request that this thread serves under that name, where one message does what several of Slurm's do.
     */
    public void countAs(String name) {
        countedName.set(name);
    }

    public Reply serve(Caller caller, String message, Supplier<Reply> work) {
        countedName.remove();
        long beganNs = System.nanoTime();
        underWay.incrementAndGet();
        try {
            Reply reply = work.get();
            return reply.rest().isEmpty()
                    ? reply
                    : new Reply(reply.status(), reply.body(), reply.rest().map(r -> watched(caller, message, r)));
        } catch (Json.MalformedException e) {
            log.error("malformed " + message + " from uid " + caller.uid() + ": " + e.getMessage());
            return Reply.error(400, SlurmErrno.UNEXPECTED_MSG_ERROR, SlurmErrno.UNEXPECTED_MSG_ERROR.sentence());
        } catch (UnavailableException e) {
            log.error(e.getMessage());
            return Reply.error(503, SlurmErrno.ERROR, e.getMessage());
        } catch (RuntimeException e) {
            log.error("internal error serving " + message, e);
            return Reply.error(500, SlurmErrno.INTERNAL, SlurmErrno.INTERNAL.sentence());
        } finally {
            underWay.decrementAndGet();
            if (!uncounted.contains(message)) {
                count(
                        caller.uid(),
                        countedName.get() == null ? message : countedName.get(),
                        untimed.contains(message) ? 0 : (System.nanoTime() - beganNs) / 1000);
            }
            countedName.remove();
        }
    }

    /** Wraps an answer that is made while it is sent: its time is counted and its faults are logged. */
    private Server.Rest watched(Caller caller, String message, Server.Rest rest) {
        return out -> {
            long beganNs = System.nanoTime();
            try {
                rest.writeTo(out);
            } catch (RuntimeException e) {
                log.error("internal error serving " + message, e);
                throw e;
            } finally {
                if (!uncounted.contains(message) && !untimed.contains(message)) {
                    long us = (System.nanoTime() - beganNs) / 1000;
                    byMessage.computeIfAbsent(message, m -> new Adders()).us.add(us);
                    byUser.computeIfAbsent(row(caller.uid()), u -> new Adders())
                            .us
                            .add(us);
                }
            }
        };
    }

    private int row(int uid) {
        return byUser.containsKey(uid) || byUser.size() < USERS_MAX ? uid : OTHERS;
    }

    private void count(int uid, String message, long us) {
        byMessage.computeIfAbsent(message, m -> new Adders()).add(us);
        byUser.computeIfAbsent(row(uid), u -> new Adders()).add(us);
    }

    /** Requests that are being served now. */
    public int underWay() {
        return underWay.get();
    }

    /** Start of the counting, in seconds since 1970. */
    public long since() {
        return since;
    }

    public void reset() {
        byMessage.clear();
        byUser.clear();
        since = seconds();
    }

    public void forEachMessage(BiConsumer<String, Count> row) {
        byMessage.forEach((message, c) -> row.accept(message, new Count(c.calls.sum(), c.us.sum())));
    }

    public void forEachUser(BiConsumer<Integer, Count> row) {
        byUser.forEach((uid, c) -> row.accept(uid, new Count(c.calls.sum(), c.us.sum())));
    }
}
