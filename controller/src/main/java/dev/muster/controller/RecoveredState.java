package dev.muster.controller;

import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.Recovery;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.journal.Journal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * The state as of an entry of the journal, with the scripts that it names and the accounting that has followed it.
 *
 * @param index of the entry
 * @param snapshotIndex of the snapshot that it was read from, 0 if there was none
 */
record RecoveredState(State state, long index, long snapshotIndex, BlobStore blobs, Accounting accounting) {

    /**
     * Reads the last snapshot and the entries after it.
     *
     * @param directory StateSaveLocation
     * @param opening opens the accounting, while the snapshot is read
     * @throws IOException if the directory cannot be used
     */
    static RecoveredState read(Journal journal, Path directory, Function<BlobStore, Accounting> opening, DaemonLog log)
            throws IOException {
        long beganNs = System.nanoTime();
        long index = journal.lastIndex();
        BlobStore blobs = new BlobStore(directory.resolve("blobs"));
        CompletableFuture<Accounting> accounting = CompletableFuture.supplyAsync(() -> opening.apply(blobs));
        Recovery recovery = Recovery.of(journal, blobs::put, new Recovery.Follower() {
            @Override
            public void begin(long at, State state) {
                opened(accounting).begin(at, state);
            }

            @Override
            public void follow(long at, Entry entry, State after) {
                opened(accounting).follow(at, entry, after);
            }
        });
        if (index > 0) {
            log.info("Recovered state of " + recovery.state().jobs().size() + " jobs in "
                    + (System.nanoTime() - beganNs) / 1_000_000 + " ms");
        }
        return new RecoveredState(recovery.state(), index, recovery.snapshotIndex(), blobs, opened(accounting));
    }

    private static Accounting opened(CompletableFuture<Accounting> opening) {
        try {
            return opening.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }
}
