package dev.muster.journal;

import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * An ordered log of opaque entries. Indexes start at 1 and have no gaps. Nothing that an entry justifies may leave the
 * process before {@link #durableIndex()} has reached the entry.
 */
public interface Journal extends AutoCloseable {

    /** Receives entries in order during a replay. */
    @FunctionalInterface
    interface EntryConsumer {
        void entry(long index, byte[] bytes);
    }

    /**
     * Queues an entry and returns its index at once. Waits only while the bounded queue is full. The journal keeps the
     * array: the caller must not change it.
     *
     * @throws JournalException when the journal has ended (a failed write or sync is never retried)
     */
    long append(byte[] entry);

    /** Index of the last entry appended, 0 when there is none. */
    long lastIndex();

    /** Every entry up to and including this one survives any crash. */
    long durableIndex();

    /** Index of the oldest entry that can still be replayed; {@code lastIndex() + 1} when there is none. */
    long firstIndex();

    /** Calls the listener, in order, with each new durable index: on the journal's thread, so it must not block. */
    void onDurable(LongConsumer listener);

    /** Calls the listener once if the journal ends because of an error of the disk. */
    void onFailure(Consumer<JournalException> listener);

    /** Completes with the durable index once it has reached {@code index}. */
    CompletableFuture<Long> durable(long index);

    /** Hands every durable entry from {@code fromIndex} on to the consumer and returns the last index handed over. */
    long replay(long fromIndex, EntryConsumer consumer);

    /** The newest snapshot. */
    Optional<Snapshot> latestSnapshot();

    /**
     * Writes the snapshot that stands for all entries up to {@code index}. It is seen whole or not at all. Runs on the
     * caller's thread, beside appends.
     */
    void writeSnapshot(long index, Iterator<byte[]> items);

    /** Names the lowest index that accounting still has to read. Entries from there on are not removed. */
    void retainFrom(LongSupplier lowestNeeded);

    /**
     * Removes whole segments that hold only entries before {@code index}, as far as a snapshot covers them and
     * {@link #retainFrom} allows. Returns the first index still held.
     */
    long truncateBefore(long index);

    /** Report of the torn tail that was cut when the journal was opened. */
    Optional<RepairReport> repair();

    /** True while the next segment could not be prepared: only what must be recorded should be appended. */
    boolean spaceLow();

    @Override
    void close();

    /** A snapshot: its items rebuild the state as it was after the entry {@code index}. */
    interface Snapshot {
        long index();

        void read(Consumer<byte[]> items);
    }
}
