package dev.muster.journal;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * A journal without a disk and without a thread, for simulations and tests: an entry becomes durable only when
 * {@link #sync} says so, and {@link #crash} loses what did not. For one thread.
 */
public final class MemoryJournal implements Journal {

    private record Waiter(long index, CompletableFuture<Long> future) {}

    private record Held(long index, List<byte[]> items) implements Snapshot {
        @Override
        public void read(Consumer<byte[]> consumer) {
            items.forEach(consumer);
        }
    }

    private final List<byte[]> entries = new ArrayList<>();
    private long first = 1;
    private long durable;
    private Optional<Snapshot> snapshot = Optional.empty();
    private Optional<RepairReport> repair = Optional.empty();
    private LongSupplier lowestNeeded = () -> Long.MAX_VALUE;
    private final List<LongConsumer> listeners = new ArrayList<>();
    private final List<Consumer<JournalException>> failureListeners = new ArrayList<>();
    private final List<Waiter> waiters = new ArrayList<>();
    private Optional<JournalException> failure = Optional.empty();
    private boolean spaceLow;

    @Override
    public long append(byte[] entry) {
        if (failure.isPresent()) {
            throw new JournalException(failure.get().getMessage(), failure.get());
        }
        entries.add(entry);
        return lastIndex();
    }

    /** Makes everything appended so far durable, and tells. */
    public void sync() {
        sync(lastIndex());
    }

    /** Makes entries up to {@code index} durable, and tells. */
    public void sync(long index) {
        if (index <= durable || failure.isPresent()) {
            return;
        }
        durable = Math.min(index, lastIndex());
        for (LongConsumer listener : List.copyOf(listeners)) {
            listener.accept(durable);
        }
        for (Waiter waiter : List.copyOf(waiters)) {
            if (waiter.index <= durable) {
                waiters.remove(waiter);
                waiter.future.complete(durable);
            }
        }
    }

    /** The disk reports an error: the journal ends. */
    public void fail(String sentence) {
        JournalException error = new JournalException(sentence);
        failure = Optional.of(error);
        waiters.forEach(w -> w.future.completeExceptionally(error));
        failureListeners.forEach(l -> l.accept(error));
    }

    public void spaceLow(boolean low) {
        spaceLow = low;
    }

    /**
     * Returns the journal after a crash: every durable entry, and the others up to {@code length}. Listeners and
     * waiters die with the process.
     */
    public MemoryJournal crash(long length) {
        MemoryJournal after = new MemoryJournal();
        after.first = first;
        after.snapshot = snapshot;
        long last = Math.clamp(durable + length, durable, lastIndex());
        after.entries.addAll(entries.subList(0, (int) (last - first + 1)));
        after.durable = last;
        if (last < lastIndex()) {
            after.repair = Optional.of(new RepairReport(java.nio.file.Path.of("memory"), 0, 0, last));
        }
        return after;
    }

    @Override
    public long lastIndex() {
        return first + entries.size() - 1;
    }

    @Override
    public long durableIndex() {
        return durable;
    }

    @Override
    public long firstIndex() {
        return first;
    }

    @Override
    public void onDurable(LongConsumer listener) {
        listeners.add(listener);
    }

    @Override
    public void onFailure(Consumer<JournalException> listener) {
        failureListeners.add(listener);
    }

    @Override
    public CompletableFuture<Long> durable(long index) {
        CompletableFuture<Long> future = new CompletableFuture<>();
        if (index <= durable) {
            future.complete(durable);
        } else if (failure.isPresent()) {
            future.completeExceptionally(failure.get());
        } else {
            waiters.add(new Waiter(index, future));
        }
        return future;
    }

    @Override
    public long replay(long fromIndex, EntryConsumer consumer) {
        if (fromIndex < first) {
            throw new JournalException("entry " + fromIndex + " is no longer held; the oldest is " + first);
        }
        for (long index = fromIndex; index <= durable; index++) {
            consumer.entry(index, entries.get((int) (index - first)));
        }
        return Math.max(durable, fromIndex - 1);
    }

    @Override
    public Optional<Snapshot> latestSnapshot() {
        return snapshot;
    }

    @Override
    public void writeSnapshot(long index, Iterator<byte[]> items) {
        if (index > durable) {
            throw new IllegalArgumentException("snapshot at " + index + " is ahead of durable " + durable);
        }
        List<byte[]> held = new ArrayList<>();
        items.forEachRemaining(held::add);
        // as on disk the newest counts, whichever is finished last
        if (snapshot.filter(s -> s.index() > index).isEmpty()) {
            snapshot = Optional.of(new Held(index, held));
        }
    }

    @Override
    public void retainFrom(LongSupplier needed) {
        lowestNeeded = needed;
    }

    @Override
    public long truncateBefore(long index) {
        long covered = snapshot.isPresent() ? snapshot.get().index() + 1 : 0;
        long limit = Math.min(Math.min(index, covered), lowestNeeded.getAsLong());
        if (limit > first) {
            entries.subList(0, (int) (limit - first)).clear();
            first = limit;
        }
        return first;
    }

    @Override
    public Optional<RepairReport> repair() {
        return repair;
    }

    @Override
    public boolean spaceLow() {
        return spaceLow;
    }

    @Override
    public void close() {
        sync();
    }
}
