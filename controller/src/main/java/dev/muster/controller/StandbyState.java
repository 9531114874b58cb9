package dev.muster.controller;

import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.engine.BlobStore;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.journal.FileJournal;
import dev.muster.json.Codec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/**
 * The state as of the committed entries while another controller leads: when this one leads, it has no journal to read.
 * Now and then it writes a snapshot, and cuts this controller's copy of the journal off before it.
 */
final class StandbyState {
    /** Entries that wait to be applied; beyond, this member of the group takes no more. */
    private static final int QUEUED_MAX = 20_000;

    private static final Committed END = new Committed(Long.MAX_VALUE, new byte[0]);

    private record Committed(long index, byte[] entry) {}

    private final FileJournal file;
    private final Path directory;
    private final Function<BlobStore, Accounting> opening;
    private final DaemonLog log;
    private final BlockingQueue<Committed> queue = new LinkedBlockingQueue<>(QUEUED_MAX);
    private final Thread thread;
    private volatile Optional<RecoveredState> followed = Optional.empty();
    private volatile boolean ended;

    /**
     * Begins to follow. Entries that come after the call have to be told by {@link #committed}.
     *
     * @param directory StateSaveLocation
     * @param opening opens the accounting that follows
     */
    StandbyState(FileJournal file, Path directory, Function<BlobStore, Accounting> opening, DaemonLog log) {
        this.file = file;
        this.directory = directory;
        this.opening = opening;
        this.log = log;
        thread = Thread.ofPlatform().name("follow").daemon(true).start(this::run);
    }

    /** Takes a committed entry. Waits where many are to be applied. */
    void committed(long index, byte[] entry) {
        put(new Committed(index, entry));
    }

    private void put(Committed entry) {
        try {
            while (thread.isAlive() && !queue.offer(entry, 1, java.util.concurrent.TimeUnit.SECONDS)) {
                // it is behind
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            file.durable(file.lastIndex()).join();
            RecoveredState read = RecoveredState.read(file, directory, opening, log);
            followed = Optional.of(read);
            file.retainFrom(() -> read.accounting().projected() == Long.MAX_VALUE
                    ? Long.MAX_VALUE
                    : read.accounting().projected() + 1);
            SnapshotWriter snapshots =
                    new SnapshotWriter(file, read.blobs(), read.accounting(), read.snapshotIndex(), log);
            State state = read.state();
            Codec.Decoder<Entry> decoder = new Codec.Decoder<>(Entry.class);
            for (Committed next = queue.take(); next != END; next = queue.take()) {
                if (next.index > followed.orElse(read).index()) {
                    state = apply(next, decoder.decode(next.entry), state, read);
                    followed = Optional.of(new RecoveredState(
                            state, next.index, read.snapshotIndex(), read.blobs(), read.accounting()));
                    snapshots.after(next.index, state);
                }
            }
        } catch (IOException | RuntimeException e) {
            log.error("the state of the leading controller cannot be followed: it is read when this one leads", e);
            close(followed);
            followed = Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static State apply(Committed committed, Entry entry, State before, RecoveredState read) {
        for (Change change : entry.changes()) {
            if (change instanceof Change.BlobStored b) {
                read.blobs().put(b.hash(), b.content());
            }
        }
        State after = before.apply(entry);
        read.accounting().follow(committed.index, entry, after);
        return after;
    }

    /**
     * Ends following.
     *
     * @return the state as of the last entry that was told; empty where it could not be followed
     */
    synchronized Optional<RecoveredState> take() {
        if (ended) {
            return Optional.empty();
        }
        ended = true;
        put(END);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
        return followed;
    }

    /** Ends following, and closes the accounting. */
    void close() {
        close(take());
    }

    private static void close(Optional<RecoveredState> state) {
        state.ifPresent(s -> s.accounting().close());
    }
}
