package dev.muster.controller.nodes;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which of a node's reports are durable, and of which of them it was told so: with what it is told next, or, if that is
 * nothing, a moment later.
 */
final class AckBatcher {
    /** The newest that is durable, and with it all before it. */
    private final AtomicLong durable = new AtomicLong();

    private volatile long said;
    private final AtomicBoolean waits = new AtomicBoolean();

    /**
     * A report is durable; one says what those before it say, and more. Answers whether nobody else waits for the
     * moment to pass already.
     */
    boolean isFirst(long seq) {
        durable.accumulateAndGet(seq, Math::max);
        return waits.compareAndSet(false, true);
    }

    /** The moment has passed: whether nothing was said to the node meanwhile that it could have gone with. */
    boolean isDue() {
        waits.set(false);
        return durable.get() > said;
    }

    /** By the one thread that writes: the newest that the node has to be told of now, 0 for none. */
    long along() {
        long newest = durable.get();
        if (newest <= said) {
            return 0;
        }
        said = newest;
        return newest;
    }
}
