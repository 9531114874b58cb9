package dev.muster.controller.nodes;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Acknowledges a node's durable reports: with the next message to the node, or, if none comes, a moment later. */
final class AckBatcher {
    /** The newest durable report; those before it are durable too. */
    private final AtomicLong durable = new AtomicLong();

    private volatile long acknowledged;
    private final AtomicBoolean waits = new AtomicBoolean();

    /**
     * Notes that a report is durable; its acknowledgement covers all reports before it. Returns true if the caller is
     * the first and has to wait for the others.
     */
    boolean noteDurable(long seq) {
        durable.accumulateAndGet(seq, Math::max);
        return waits.compareAndSet(false, true);
    }

    /** Ends the wait. Returns whether the acknowledgement still has to be sent, as no other message took it along. */
    boolean endWait() {
        waits.set(false);
        return durable.get() > acknowledged;
    }

    /**
     * Returns the newest report to acknowledge now, 0 for none; it counts as acknowledged from now on. Called by the
     * writing thread alone.
     */
    long takeNewest() {
        long newest = durable.get();
        if (newest <= acknowledged) {
            return 0;
        }
        acknowledged = newest;
        return newest;
    }
}
