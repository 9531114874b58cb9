package dev.muster.journal;

import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Keeps one prepared segment ready, made beside the writer. It is also the reserve: while no further one can be made
 * (disk full), the rest of the current segment is for what must be recorded, and {@link #low()} tells so.
 */
final class SegmentSupply implements AutoCloseable {
    private static final long RETRY_MS = 1_000;
    private static final long CLOSE_WAIT_MS = 10_000;

    private final Path spare;
    private final FileJournal.Options options;
    private final Disk disk;
    private final Thread thread;
    private boolean ready;
    private boolean low;
    private boolean impatient;
    private boolean closed;

    SegmentSupply(Path directory, FileJournal.Options options, Disk disk) {
        this.spare = directory.resolve(Segment.SPARE);
        this.options = options;
        this.disk = disk;
        this.thread = Thread.ofPlatform().name("journal-segments").daemon(true).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            while (awaitNeed()) {
                try {
                    Segment.prepare(spare, options.segmentBytes(), disk);
                    state(true, false);
                } catch (IOException e) {
                    if (!low()) {
                        options.log()
                                .accept("cannot prepare the next journal segment " + spare + ": " + ErrorSentence.of(e)
                                        + "; trying again until there is space");
                    }
                    state(false, true);
                    Files.deleteIfExists(spare);
                    pause();
                }
            }
        } catch (InterruptedException | IOException e) {
            state(false, true);
        }
    }

    private synchronized boolean awaitNeed() throws InterruptedException {
        while (ready && !closed) {
            wait();
        }
        return !closed;
    }

    private synchronized void state(boolean isReady, boolean isLow) {
        ready = isReady;
        low = isLow;
        notifyAll();
    }

    @SuppressWarnings("WaitNotInLoop") // another try that comes early fails once more
    private synchronized void pause() throws InterruptedException {
        if (!closed) {
            wait(RETRY_MS);
        }
    }

    synchronized boolean low() {
        return low;
    }

    /** The prepared file; waits until there is one. */
    synchronized Path take() throws IOException {
        try {
            while (!ready && !closed && !(impatient && low)) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new IOException("interrupted while waiting for the next segment", e);
        }
        if (!ready) {
            throw new IOException("closed before the next segment could be prepared");
        }
        return spare;
    }

    /** The file given by {@link #take()} has been renamed: make another. */
    synchronized void more() {
        ready = false;
        notifyAll();
    }

    /** The journal closes: no longer wait for space. */
    synchronized void hurry() {
        impatient = true;
        notifyAll();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        // a file it is still making must not appear in a directory that the caller holds to be left
        try {
            thread.join(CLOSE_WAIT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
