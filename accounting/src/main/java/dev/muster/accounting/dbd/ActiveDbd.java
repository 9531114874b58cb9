package dev.muster.accounting.dbd;

import dev.muster.accounting.table.AccountingStore;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.daemon.DaemonLog;
import org.jspecify.annotations.Nullable;

/**
 * The part of slurmdbd that serves: the tables, the book and the controllers' links. It lives as long as a lease, and
 * nothing that it knows outlives it: the next one reads the tables anew.
 */
final class ActiveDbd implements AutoCloseable {
    private static final long SWEEP_MS = 1_000;

    private final AccountingStore store;
    private final DbdApi api;
    private final DaemonLog log;
    private volatile boolean closed;
    private @Nullable Thread sweeper;

    /** Makes the edge over the tables. */
    interface Edge {
        DbdApi over(AccountingStore store, AssocTreeStore books);
    }

    ActiveDbd(AccountingStore store, Edge edge, DaemonLog log) {
        this.store = store;
        this.log = log;
        try {
            this.api = edge.over(store, new AssocTreeStore(store, System.currentTimeMillis() / 1000));
        } catch (RuntimeException e) {
            store.close();
            throw e;
        }
    }

    ActiveDbd started() {
        sweeper = Thread.ofVirtual().name("sweep").start(this::sweep);
        return this;
    }

    DbdApi api() {
        return api;
    }

    private void sweep() {
        while (!closed) {
            try {
                Thread.sleep(SWEEP_MS);
                api.sweep();
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                if (!closed) {
                    log.error("looking after the controllers", e);
                }
            }
        }
    }

    /** Ends waiting requests of controllers, and closes the tables. */
    @Override
    public void close() {
        closed = true;
        api.close();
        if (sweeper != null) {
            sweeper.interrupt();
        }
        store.close();
    }
}
