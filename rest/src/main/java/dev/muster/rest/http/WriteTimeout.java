package dev.muster.rest.http;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Closes connections of clients that read nothing of an answer: a socket's own timeout is for reading only, and an
 * unread answer holds the memory that it is written from. Thread-safe.
 */
final class WriteTimeout {
    private final long mostMs;
    private final Set<WatchedConnection> writing = ConcurrentHashMap.newKeySet();

    /** @param mostMs for one piece to be taken */
    WriteTimeout(long mostMs) {
        this.mostMs = mostMs;
    }

    private record WatchedConnection(Closeable connection, long sinceNs) {}

    /** Looks now and then until the process ends. */
    void start() {
        Thread.ofPlatform().daemon().name("patience").start(() -> {
            try {
                while (true) {
                    Thread.sleep(Math.max(1, mostMs / 8));
                    look(System.nanoTime());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    @SuppressWarnings("ModifyCollectionInEnhancedForLoop") // a concurrent set, which bears removals
    void look(long nowNs) {
        for (WatchedConnection w : writing) {
            if (nowNs - w.sinceNs > mostMs * 1_000_000 && writing.remove(w)) {
                try {
                    w.connection.close();
                } catch (IOException e) {
                    // it is gone, which is what was wanted
                }
            }
        }
    }

    /** A stream to a connection that this watches. */
    OutputStream watched(OutputStream out, Closeable connection) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                WatchedConnection w = new WatchedConnection(connection, System.nanoTime());
                writing.add(w);
                try {
                    out.write(bytes, from, length);
                } finally {
                    writing.remove(w);
                }
            }

            @Override
            public void flush() throws IOException {
                out.flush();
            }
        };
    }
}
