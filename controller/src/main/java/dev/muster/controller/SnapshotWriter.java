package dev.muster.controller;

import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.Recovery;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.journal.Journal;
import java.io.IOException;

/** Writes snapshots of the state, each in a thread of its own, and cuts the journal off before them. */
final class SnapshotWriter {
    /** Journal entries between two snapshots. */
    static final long EVERY = 100_000;

    private static final long SETTLE_MS = 30_000;

    private final Journal journal;
    private final BlobStore blobs;
    private final Accounting accounting;
    private final DaemonLog log;
    /** Index of the last one, written or begun. */
    private long last;

    /** @param last index of the snapshot that the state was recovered from, 0 for none */
    SnapshotWriter(Journal journal, BlobStore blobs, Accounting accounting, long last, DaemonLog log) {
        this.journal = journal;
        this.blobs = blobs;
        this.accounting = accounting;
        this.last = last;
        this.log = log;
    }

    /** Begins a snapshot when enough entries have come since the last one. Called in order of the entries. */
    void after(long index, State state) {
        if (index - last >= EVERY) {
            last = index;
            Thread.ofPlatform().name("snapshot").start(() -> write(index, state));
        }
    }

    /** Writes a snapshot of an immutable state: nothing waits for it. */
    synchronized void write(long index, State state) {
        if (!accounting.settle(index, SETTLE_MS)) {
            log.error("no snapshot: accounting is behind");
            return;
        }
        try {
            blobs.sync();
            journal.writeSnapshot(index, Recovery.items(state));
            journal.truncateBefore(index);
            blobs.removeUnused(state.blobs()::has, System.currentTimeMillis());
            log.verbose("snapshot at " + index);
        } catch (IOException | RuntimeException e) {
            log.error("cannot write a snapshot", e);
        }
    }
}
