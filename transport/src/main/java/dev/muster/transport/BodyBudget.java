package dev.muster.transport;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that request heads and bodies may have at one time, over all connections of a server. Ordinary users share
 * it: one user has at most half, callers that have not been authenticated an eighth. Thread-safe; used by
 * {@link ServerConnection}.
 */
final class BodyBudget {
    /** The owner of bytes from an unauthenticated sender. */
    static final int STRANGER = Integer.MIN_VALUE;
    /** Smaller requests are not counted: {@link ConnectionTable} bounds their number. */
    static final int FREE_BYTES = 4096;

    private final long totalBytes;
    private final int ownUid;
    private final AtomicLong usedBytes = new AtomicLong();
    private final ConcurrentHashMap<Integer, Long> byOwner = new ConcurrentHashMap<>();

    /** @param ownUid the user of this process: like root it may have all */
    BodyBudget(long totalBytes, int ownUid) {
        this.totalBytes = totalBytes;
        this.ownUid = ownUid;
    }

    /** A quarter of the heap, at least twice the largest body. */
    static BodyBudget ofHeap(int ownUid) {
        return new BodyBudget(Math.max(Runtime.getRuntime().maxMemory() / 4, 2 * Server.BODY_BYTES_MAX), ownUid);
    }

    /**
     * Takes the bytes for an owner, all or none.
     *
     * @return false if they are too much now: the sender tries again later
     */
    boolean reserve(int owner, long bytes) {
        if (bytes <= FREE_BYTES) {
            return true;
        }
        long owned = byOwner.merge(owner, bytes, Long::sum);
        if (owned <= share(owner) && usedBytes.addAndGet(bytes) <= totalBytes) {
            return true;
        }
        if (owned <= share(owner)) {
            usedBytes.addAndGet(-bytes);
        }
        forget(owner, bytes);
        return false;
    }

    void release(int owner, long bytes) {
        if (bytes > FREE_BYTES) {
            usedBytes.addAndGet(-bytes);
            forget(owner, bytes);
        }
    }

    private void forget(int owner, long bytes) {
        byOwner.computeIfPresent(owner, (k, had) -> had <= bytes ? null : had - bytes);
    }

    private long share(int owner) {
        if (owner == STRANGER) {
            return totalBytes / 8;
        }
        if (owner == 0 || owner == ownUid) {
            return totalBytes;
        }
        return totalBytes / 2;
    }

    long usedBytes() {
        return usedBytes.get();
    }
}
