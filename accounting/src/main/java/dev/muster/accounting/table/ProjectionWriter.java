package dev.muster.accounting.table;

import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.format.ErrorSentence;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Brings batches into the database on a thread of its own: takes all that waits and writes it in one transaction. While
 * the database fails, batches wait and it tries again; none is ever dropped.
 */
public final class ProjectionWriter implements AutoCloseable {
    /** Rows that may wait; beyond it {@link #overloaded()} tells that no new jobs should be taken. */
    public static final int MAX_WAITING_ROWS = 1_000_000;
    /** Rows of one transaction. */
    private static final int MAX_GROUP_ROWS = 10_000;
    /**
     * Bytes of a script or an environment that count as one row: a transaction, and a message to slurmdbd, stays below
     * 16 MiB and one entry.
     */
    private static final int CONTENT_ROW_BYTES = 1_600;

    private static final long RETRY_MS = 1_000;
    /**
     * Time for which rows wait for more, unless a query waits for them: under load a transaction holds the rows of many
     * entries, and what a job's start costs here does not fall on the moment of its start.
     */
    private static final long PAUSE_MS = 1_000;
    /**
     * A burst: with this many rows in one pause, their source is still at work and needs the processors. The rows wait
     * until it is over, but not longer than the limits that follow.
     */
    private static final int BUSY_ROWS = 400;

    private static final long BUSY_LOOK_MS = 200;
    private static final long BUSY_MS = 5_000;
    private static final int BUSY_ROWS_MAX = 200_000;
    /** Entries that wait as they are, with the state that each belongs to; of more the rows are made at once. */
    private static final int UNMADE_MAX = 30_000;
    /** How often what is committed is also written out, so that the journal may let go of it. */
    private static final long CHECKPOINT_MS = 2_000;

    /** The rows of an entry. They may be made in the thread that writes them. */
    public interface Waiting {
        long seq();

        /** Number of its rows, at least. */
        int rows();

        /**
         * @param later keys of rows that later entries bring: one of the same key need not be made. The keys of those
         *     made are added.
         */
        Batch batch(Set<Object> later);

        /** Returns the batch for a thread that must not wait for the tables: they are not read. */
        default Batch atOnce() {
            return batch(new HashSet<>());
        }
    }

    private record ReadyBatch(long seq, int rows, Batch made) implements Waiting {
        static ReadyBatch of(Batch batch) {
            return new ReadyBatch(batch.seq(), ProjectionWriter.rows(batch), batch);
        }

        @Override
        public Batch batch(Set<Object> later) {
            return made;
        }
    }

    /**
     * Where rows are thrown away a tenth of what may wait is to be free then, or nothing more is kept until some has
     * gone out.
     */
    private static final int FREED_PART = 10;

    private final int waitingMax;
    private final boolean discards;
    private final RowSink store;
    private final Consumer<String> log;
    private final Thread thread;
    private final List<Waiting> waiting = new ArrayList<>();
    private int waitingRows;
    /** Number of the first waiting entries that are being written. */
    private int taken;

    private boolean full;
    private boolean thrownAway;
    private long submitted;
    private long durable;
    private long awaited;
    private boolean failing;
    private boolean checkpointWanted;
    private boolean closed;

    /**
     * @param log receives sentences for the daemon's log
     * @param waitingMax rows that may wait before {@link #overloaded}
     */
    public ProjectionWriter(RowSink store, Consumer<String> log, int waitingMax) {
        this(store, log, waitingMax, false);
    }

    /** @param discards instead rows are thrown away, {@link Overflow} */
    public ProjectionWriter(RowSink store, Consumer<String> log, int waitingMax, boolean discards) {
        this.waitingMax = waitingMax;
        this.discards = discards;
        this.store = store;
        this.log = log;
        this.submitted = store.sequence();
        this.durable = store.sequence();
        this.thread = Thread.ofPlatform().name("accounting").daemon(true).start(this::run);
    }

    /** Queues the rows of one journal entry, in the order of entries. Never waits. */
    public void submit(Batch batch) {
        submit(ReadyBatch.of(batch));
    }

    /** Like {@link #submit(Batch)}. */
    public void submit(Waiting entry) {
        Waiting queued = crowded() ? ReadyBatch.of(entry.atOnce()) : entry;
        synchronized (this) {
            if (entry.seq() <= submitted) {
                return;
            }
            submitted = entry.seq();
            boolean first = waiting.isEmpty();
            int before = waitingRows;
            waiting.add(queued);
            waitingRows += queued.rows();
            if (discards && waitingRows > waitingMax) {
                makeRoom();
            }
            // the writing thread is not woken for each entry
            if (first || before < BUSY_ROWS_MAX && waitingRows >= BUSY_ROWS_MAX || waiting.size() == UNMADE_MAX) {
                notifyAll();
            }
        }
    }

    private int enough() {
        return waitingMax - waitingMax / FREED_PART;
    }

    private void makeRoom() {
        int before = waitingRows;
        thrownAway = true;
        if (full) {
            throwAway(Overflow.EVERYTHING, waiting.size() - 1);
            return;
        }
        throwAway(Overflow.STEPS, taken);
        if (waitingRows > enough()) {
            throwAway(Overflow.STARTS, taken);
        }
        full = waitingRows > enough();
        log.accept("accounting: MaxDBDMsgs is reached: of " + before + " rows " + waitingRows + " are kept"
                + (full ? ", and none that come until some have gone out" : ""));
    }

    /** Drops rows of all entries from one on. An entry without rows is kept only if it is the last. */
    private void throwAway(Overflow overflow, int from) {
        List<Waiting> rest = List.copyOf(waiting.subList(from, waiting.size()));
        waiting.subList(from, waiting.size()).clear();
        for (Waiting w : rest) {
            ReadyBatch left = ReadyBatch.of(overflow.of(w.atOnce()));
            if (waiting.size() > taken && waiting.getLast().rows() == 1) {
                waiting.removeLast();
            }
            waiting.add(left);
        }
        waitingRows = waiting.stream().mapToInt(Waiting::rows).sum();
    }

    private synchronized boolean crowded() {
        return waiting.size() >= UNMADE_MAX;
    }

    /** Number of rows that a batch counts as. */
    public static int rows(Batch batch) {
        long letters =
                batch.contents().stream().mapToLong(c -> c.base64().length()).sum();
        return 1
                + batch.jobs().size()
                + batch.steps().size()
                + batch.events().size()
                + batch.texts().size()
                + batch.reservations().size()
                + batch.instances().size()
                + (int) Math.min(MAX_GROUP_ROWS, letters / CONTENT_ROW_BYTES);
    }

    /** Too much waits: refuse new jobs until the database has caught up. */
    public synchronized boolean overloaded() {
        return waitingRows > waitingMax || thrownAway;
    }

    public synchronized int waitingRows() {
        return waitingRows;
    }

    /** The last index handed to {@link #submit}. */
    public synchronized long submitted() {
        return submitted;
    }

    /** Up to here the journal is no longer needed for accounting: for {@code Journal.retainFrom}, plus one. */
    public synchronized long durableSequence() {
        return durable;
    }

    /**
     * Waits until the tables hold everything up to the index, for at most {@code timeoutMs}; false if they do not yet.
     */
    public synchronized boolean await(long sequence, long timeoutMs) {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000;
        awaited = Math.max(awaited, Math.min(sequence, submitted));
        notifyAll();
        while (store.sequence() < Math.min(sequence, submitted)) {
            long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0 || closed) {
                return false;
            }
            try {
                wait(leftMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    /** Like {@link #await}, and until the rows would survive a loss of power. */
    public synchronized boolean awaitDurable(long sequence, long timeoutMs) {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000;
        long wanted = Math.min(sequence, submitted);
        while (durable < wanted) {
            long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0 || closed) {
                return false;
            }
            checkpointWanted = true;
            notifyAll();
            try {
                wait(leftMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    private void run() {
        long lastCheckpointNs = System.nanoTime();
        long all = 0;
        while (true) {
            if (anythingWaits() && store.sequence() >= all) {
                pause();
                all = submitted();
            }
            List<Batch> group = take();
            if (!group.isEmpty() && !write(group)) {
                continue;
            }
            boolean due = (System.nanoTime() - lastCheckpointNs) / 1_000_000 >= CHECKPOINT_MS;
            boolean done = isDone();
            if ((due || done || checkpointWanted()) && durableSequence() < store.sequence()) {
                checkpoint();
                lastCheckpointNs = System.nanoTime();
            }
            if (done) {
                return;
            }
        }
    }

    private synchronized boolean anythingWaits() {
        return !waiting.isEmpty();
    }

    private synchronized void pause() {
        long beganNs = System.nanoTime();
        long untilMs = PAUSE_MS;
        int seen = waitingRows;
        try {
            while (!closed
                    && !checkpointWanted
                    && awaited <= store.sequence()
                    && waitingRows < BUSY_ROWS_MAX
                    && waiting.size() < UNMADE_MAX) {
                long pausedMs = (System.nanoTime() - beganNs) / 1_000_000;
                if (pausedMs < untilMs) {
                    wait(untilMs - pausedMs);
                } else if (pausedMs < BUSY_MS && waitingRows - seen >= BUSY_ROWS) {
                    untilMs = pausedMs + BUSY_LOOK_MS;
                    seen = waitingRows;
                } else {
                    return;
                }
            }
        } catch (InterruptedException e) {
            closed = true;
        }
    }

    private synchronized boolean checkpointWanted() {
        return checkpointWanted;
    }

    private synchronized boolean isDone() {
        return closed && (waiting.isEmpty() || failing);
    }

    /** The next batches, which stay in the queue; empty after a time without any. */
    private List<Batch> take() {
        List<Waiting> group = next();
        List<Batch> out = new ArrayList<>(group.size());
        Set<Object> later = new HashSet<>();
        for (Waiting w : group.reversed()) {
            out.add(w.batch(later));
        }
        Collections.reverse(out);
        keep(group, out);
        return out;
    }

    /** Should they have to be written again, they are not made again. */
    private synchronized void keep(List<Waiting> group, List<Batch> made) {
        for (int i = 0; i < made.size(); i++) {
            waiting.set(i, new ReadyBatch(made.get(i).seq(), group.get(i).rows(), made.get(i)));
        }
    }

    // one wait, not a loop: the caller loops, and a reader that waits for rows ends the pause between two tries as well
    @SuppressWarnings("WaitNotInLoop")
    private synchronized List<Waiting> next() {
        try {
            if (waiting.isEmpty() && !closed && !checkpointWanted) {
                wait(CHECKPOINT_MS);
            } else if (failing && !closed) {
                wait(RETRY_MS);
            }
        } catch (InterruptedException e) {
            closed = true;
        }
        int count = 0;
        int rows = 0;
        while (count < waiting.size() && rows < MAX_GROUP_ROWS) {
            rows += waiting.get(count++).rows();
        }
        taken = count;
        return List.copyOf(waiting.subList(0, count));
    }

    private boolean write(List<Batch> group) {
        try {
            store.write(group);
            written(group.size());
            return true;
        } catch (RuntimeException e) {
            failed(e);
            return isDone();
        }
    }

    private synchronized void written(int batches) {
        for (int i = 0; i < batches; i++) {
            waitingRows -= waiting.get(i).rows();
        }
        waiting.subList(0, batches).clear();
        taken = 0;
        thrownAway = false;
        full &= waitingRows > enough();
        if (failing) {
            log.accept("accounting: the database answers again");
        }
        failing = false;
        notifyAll();
    }

    private synchronized void failed(RuntimeException e) {
        if (!failing) {
            log.accept("accounting: " + ErrorSentence.of(e) + "; trying again");
        }
        taken = 0;
        failing = true;
    }

    private void checkpoint() {
        try {
            long covered = store.checkpoint();
            synchronized (this) {
                durable = covered;
                checkpointWanted = false;
                failing = false;
                notifyAll();
            }
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    /** Writes what waits and stops. The store stays open. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
