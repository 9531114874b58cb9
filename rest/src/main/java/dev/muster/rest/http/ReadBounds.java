package dev.muster.rest.http;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds what callers may spend before they are known: the time in which a request has to be whole, the length of a
 * body without a credential, and the memory of all bodies that are read or answered at one time. slurmrestd itself
 * cannot judge a token, slurmctld does. Thread-safe.
 */
final class ReadBounds {
    /** Milliseconds from the connection to its first request. */
    static final long FIRST_MS = 30_000;
    /** Milliseconds from a request's first byte to the end of its head. */
    static final long HEAD_MS = 10_000;
    /** Milliseconds for a body, besides what it takes at {@link #BYTES_PER_MS}. */
    static final long BODY_MS = 20_000;

    static final long BYTES_PER_MS = 256;
    static final long ANONYMOUS_BYTES_MAX = 1 << 20;
    private static final long WATCH_MS = 500;
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private final long bytesMax;
    private final AtomicLong bytes = new AtomicLong();
    private final Set<Reading> all = ConcurrentHashMap.newKeySet();

    /** @param bytesMax of all bodies */
    ReadBounds(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    static ReadBounds ofHeap() {
        return new ReadBounds(Math.max(Runtime.getRuntime().maxMemory() / 4, 2L * Http.BODY_BYTES_MAX));
    }

    /** Looks now and then until the process ends. */
    void start() {
        Thread.ofPlatform().daemon().name("read-bounds").start(() -> {
            try {
                while (true) {
                    Thread.sleep(WATCH_MS);
                    look(System.nanoTime());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Closes connections that are past their deadlines. */
    void look(long nowNs) {
        for (Reading r : all) {
            if (r.deadlineNs != NO_DEADLINE && nowNs - r.deadlineNs > 0) {
                r.close();
            }
        }
    }

    long bytes() {
        return bytes.get();
    }

    /** @param local the kernel identifies the peer */
    Reading of(Closeable connection, boolean local) {
        Reading r = new Reading(connection, local);
        all.add(r);
        return r;
    }

    /** The bounds of one connection. */
    final class Reading implements Http.Bounds {
        private final Closeable connection;
        private final boolean local;
        private volatile long deadlineNs;
        private boolean credential;
        private long held;

        private Reading(Closeable connection, boolean local) {
            this.connection = connection;
            this.local = local;
            within(FIRST_MS);
        }

        private void within(long ms) {
            deadlineNs = System.nanoTime() + ms * 1_000_000;
        }

        private void close() {
            try {
                connection.close();
            } catch (IOException e) {
                deadlineNs = NO_DEADLINE;
            }
        }

        @Override
        public void requestBegan() {
            within(HEAD_MS);
        }

        @Override
        public void head(Map<String, String> headers) {
            credential = local
                    || headers.containsKey("x-slurm-user-token")
                    || headers.containsKey("authorization")
                    || headers.containsKey("cookie");
        }

        @Override
        public void body(long length) throws Http.Malformed {
            if (!credential && length > ANONYMOUS_BYTES_MAX) {
                throw new Http.Malformed(413, "HTTP request body too large for a request without a credential");
            }
            long more = length - held;
            if (bytes.addAndGet(more) > bytesMax) {
                bytes.addAndGet(-more);
                throw new Http.Malformed(503, "Too many long requests at one time");
            }
            held = length;
            within(BODY_MS + length / BYTES_PER_MS);
        }

        @Override
        public void read() {
            deadlineNs = NO_DEADLINE;
        }

        @Override
        public void answered() {
            bytes.addAndGet(-held);
            held = 0;
        }

        /** The connection is over. */
        void end() {
            answered();
            all.remove(this);
        }
    }
}
