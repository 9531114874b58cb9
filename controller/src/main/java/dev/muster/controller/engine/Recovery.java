package dev.muster.controller.engine;

import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.journal.Journal;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The state recovered from the journal, and the snapshot at which recovery began.
 *
 * @param state as of the last durable entry
 * @param snapshotIndex of the snapshot it began with, 0 if there was none
 */
public record Recovery(State state, long snapshotIndex) {

    /**
     * Snapshot, then journal.
     *
     * @param blobs takes the content that entries carry, by hash
     */
    public static Recovery of(Journal journal, BiConsumer<String, Bytes> blobs) {
        return of(journal, blobs, Follower.NONE);
    }

    /** Follows a recovery: hears where it begins and then of every entry. */
    public interface Follower {
        Follower NONE = new Follower() {
            @Override
            public void begin(long index, State state) {}

            @Override
            public void follow(long index, Entry entry, State after) {}
        };

        void begin(long index, State state);

        void follow(long index, Entry entry, State after);
    }

    /** Recovers the state, and lets a follower see each entry. */
    public static Recovery of(Journal journal, BiConsumer<String, Bytes> blobs, Follower follower) {
        State state = State.EMPTY;
        long snapshotIndex = 0;
        Optional<Journal.Snapshot> snapshot = journal.latestSnapshot();
        if (snapshot.isPresent()) {
            State.Restoration restoration = new State.Restoration();
            ParallelDecoder<Change> items = new ParallelDecoder<>(
                    () -> new Codec.Decoder<>(Change.class)::decode, (change, index) -> restoration.add(change));
            snapshot.get().read(item -> items.add(0, item));
            items.finish();
            state = restoration.state();
            snapshotIndex = snapshot.get().index();
        }
        follower.begin(snapshotIndex, state);
        State[] now = {state};
        ParallelDecoder<Entry> entries =
                new ParallelDecoder<>(() -> new Codec.Decoder<>(Entry.class)::decode, (entry, index) -> {
                    for (Change change : entry.changes()) {
                        if (change instanceof Change.BlobStored b) {
                            blobs.accept(b.hash(), b.content());
                        }
                    }
                    now[0] = now[0].apply(entry);
                    follower.follow(index, entry, now[0]);
                });
        journal.replay(snapshotIndex + 1, entries::add);
        entries.finish();
        return new Recovery(now[0], snapshotIndex);
    }

    /** Returns the items of a snapshot. */
    public static Iterator<byte[]> items(State state) {
        List<Change> changes = new ArrayList<>();
        state.snapshot(changes::add);
        Iterator<Change> it = changes.iterator();
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return it.hasNext();
            }

            @Override
            public byte[] next() {
                return Codec.encode(it.next(), Change.class);
            }
        };
    }
}
