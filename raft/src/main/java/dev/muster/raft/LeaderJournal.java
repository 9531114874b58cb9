package dev.muster.raft;

import dev.muster.journal.FileJournal;
import dev.muster.journal.Journal;
import dev.muster.journal.JournalException;
import dev.muster.journal.RepairReport;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * The journal of the leading member during one term. A thread takes what is queued and proposes it to the members as
 * one {@link EntryBatch}; while {@link #BATCHES_MAX} proposals are under way, entries gather for the next. An entry is
 * durable once most members have stored it. After the term every append fails; entries that were not durable then may
 * or may not be in the next leader's journal.
 */
final class LeaderJournal implements Journal {
    /** Entries that wait to be proposed; {@code append} waits beyond. */
    static final int QUEUED_ENTRIES_MAX = 65_536;

    static final long QUEUED_BYTES_MAX = 64L << 20;
    /** Size of a batch. One larger entry is a batch of its own. */
    static final int BATCH_BYTES_MAX = 1 << 20;
    /** Proposals under way. */
    static final int BATCHES_MAX = 4;

    private record Waiter(long index, CompletableFuture<Long> future) {}

    private final FileJournal file;
    /** Proposes a batch, in order; completes with false if it was not taken. */
    private final Function<ByteString, CompletableFuture<Boolean>> propose;

    private final Consumer<JournalException> onEnd;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition proposable = lock.newCondition();
    private final Condition notFull = lock.newCondition();
    private ArrayList<byte[]> queue = new ArrayList<>();
    private long queuedBytes;
    private int underWay;
    private long lastIndex;
    private volatile long durableIndex;
    private volatile @Nullable JournalException failure;
    private final PriorityQueue<Waiter> waiters = new PriorityQueue<>((a, b) -> Long.compare(a.index, b.index));
    private final List<LongConsumer> durableListeners = new ArrayList<>();
    private final List<Consumer<JournalException>> failureListeners = new ArrayList<>();

    /**
     * @param committed index of the last entry that the members have
     * @param propose completes with false, or exceptionally, if the members did not take the batch
     * @param onEnd hears of the failure after everything else
     */
    LeaderJournal(
            FileJournal file,
            long committed,
            Function<ByteString, CompletableFuture<Boolean>> propose,
            Consumer<JournalException> onEnd) {
        this.file = file;
        this.propose = propose;
        this.onEnd = onEnd;
        lastIndex = committed;
        durableIndex = committed;
        Thread.ofPlatform().name("journal-proposer").daemon(true).start(this::proposeLoop);
    }

    @Override
    public long append(byte[] entry) {
        lock.lock();
        try {
            while (failure == null && (queue.size() >= QUEUED_ENTRIES_MAX || queuedBytes >= QUEUED_BYTES_MAX)) {
                notFull.awaitUninterruptibly();
            }
            requireAlive();
            queue.add(entry);
            queuedBytes += entry.length;
            proposable.signal();
            return ++lastIndex;
        } finally {
            lock.unlock();
        }
    }

    private void requireAlive() {
        if (failure != null) {
            throw new JournalException(failure.getMessage(), failure);
        }
    }

    private void proposeLoop() {
        while (true) {
            EntryBatch batch = take();
            if (batch == null) {
                return;
            }
            var _ = propose.apply(batch.encode()).whenComplete(this::proposed);
        }
    }

    /** Waits for entries, and returns the next ones that fit into a batch; null after the term. */
    private @Nullable EntryBatch take() {
        lock.lock();
        try {
            while (failure == null && (queue.isEmpty() || underWay >= BATCHES_MAX)) {
                proposable.awaitUninterruptibly();
            }
            if (failure != null) {
                return null;
            }
            long first = lastIndex - queue.size() + 1;
            int count = 0;
            long bytes = 0;
            while (count < queue.size()
                    && (count == 0 || bytes + EntryBatch.bytes(queue.get(count)) <= BATCH_BYTES_MAX)) {
                bytes += EntryBatch.bytes(queue.get(count));
                queuedBytes -= queue.get(count).length;
                count++;
            }
            List<byte[]> entries = List.copyOf(queue.subList(0, count));
            queue = new ArrayList<>(queue.subList(count, queue.size()));
            underWay++;
            notFull.signalAll();
            return new EntryBatch(first, entries);
        } finally {
            lock.unlock();
        }
    }

    private void proposed(@Nullable Boolean taken, @Nullable Throwable error) {
        lock.lock();
        try {
            underWay--;
            proposable.signal();
        } finally {
            lock.unlock();
        }
        if (error != null || !Boolean.TRUE.equals(taken)) {
            fail(new JournalException("the other controllers did not take an entry of the journal"
                    + (error == null ? "" : ": " + error.getMessage())));
        }
    }

    /** Notes that the members have all entries up to this one. Called in order. */
    void committed(long index) {
        List<Waiter> done = new ArrayList<>();
        List<LongConsumer> listeners;
        lock.lock();
        try {
            if (failure != null) {
                return;
            }
            durableIndex = index;
            while (!waiters.isEmpty() && waiters.peek().index <= index) {
                done.add(waiters.poll());
            }
            listeners = List.copyOf(durableListeners);
        } finally {
            lock.unlock();
        }
        listeners.forEach(listener -> listener.accept(index));
        done.forEach(waiter -> waiter.future.complete(index));
    }

    /** Ends the journal, once: another member leads, or this one leaves. */
    void fail(JournalException e) {
        List<Waiter> lost;
        List<Consumer<JournalException>> listeners;
        lock.lock();
        try {
            if (failure != null) {
                return;
            }
            failure = e;
            lost = List.copyOf(waiters);
            waiters.clear();
            queue.clear();
            proposable.signalAll();
            notFull.signalAll();
            listeners = List.copyOf(failureListeners);
        } finally {
            lock.unlock();
        }
        lost.forEach(waiter -> waiter.future.completeExceptionally(e));
        listeners.forEach(listener -> listener.accept(e));
        onEnd.accept(e);
    }

    @Override
    public long lastIndex() {
        lock.lock();
        try {
            return lastIndex;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long durableIndex() {
        return durableIndex;
    }

    @Override
    public long firstIndex() {
        return file.firstIndex();
    }

    @Override
    public void onDurable(LongConsumer listener) {
        lock.lock();
        try {
            durableListeners.add(listener);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onFailure(Consumer<JournalException> listener) {
        JournalException happened;
        lock.lock();
        try {
            failureListeners.add(listener);
            happened = failure;
        } finally {
            lock.unlock();
        }
        if (happened != null) {
            listener.accept(happened);
        }
    }

    @Override
    public CompletableFuture<Long> durable(long index) {
        CompletableFuture<Long> future = new CompletableFuture<>();
        lock.lock();
        try {
            if (index <= durableIndex) {
                future.complete(durableIndex);
            } else if (failure != null) {
                future.completeExceptionally(failure);
            } else {
                waiters.add(new Waiter(index, future));
            }
        } finally {
            lock.unlock();
        }
        return future;
    }

    /** Reads this member's copy, which has every committed entry. */
    @Override
    public long replay(long fromIndex, EntryConsumer consumer) {
        file.durable(durableIndex).join();
        return file.replay(fromIndex, consumer);
    }

    @Override
    public Optional<Snapshot> latestSnapshot() {
        return file.latestSnapshot();
    }

    @Override
    public void writeSnapshot(long index, Iterator<byte[]> items) {
        file.durable(index).join();
        file.writeSnapshot(index, items);
    }

    @Override
    public void retainFrom(LongSupplier lowestNeeded) {
        file.retainFrom(lowestNeeded);
    }

    @Override
    public long truncateBefore(long index) {
        return file.truncateBefore(index);
    }

    /** Empty: the members agree on the last entry, so none is lost with a torn tail. */
    @Override
    public Optional<RepairReport> repair() {
        return Optional.empty();
    }

    @Override
    public boolean spaceLow() {
        return file.spaceLow();
    }

    /** Ends the term's journal; the copy of this member stays open. */
    @Override
    public void close() {
        fail(new JournalException("the journal is closed"));
    }
}
