package dev.muster.node.io;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A connection down from a relay. Frames wait here for a writer of its own, so that a node that reads none holds up no
 * other.
 */
final class RelayConnection {
    /** More than srun may send ahead of what tasks have taken, with room for acknowledgements. */
    static final int WAITING_BYTES_MAX = 8 << 20;
    /** Frames that leave together. */
    private static final int TOGETHER_MAX = 64;

    private final Deque<byte[]> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private boolean closed;

    /** Returns false when too much output waits: the reader does not take it, and its connection should be closed. */
    synchronized boolean offer(byte[] frame) {
        if (waitingBytes + frame.length > WAITING_BYTES_MAX) {
            return false;
        }
        if (!closed) {
            waiting.add(frame);
            waitingBytes += frame.length;
            notifyAll();
        }
        return true;
    }

    /** Waits for frames and takes them; empty once it is closed. */
    synchronized List<byte[]> take() throws InterruptedException {
        while (waiting.isEmpty() && !closed) {
            wait();
        }
        List<byte[]> out = new ArrayList<>();
        while (!closed && !waiting.isEmpty() && out.size() < TOGETHER_MAX) {
            out.add(waiting.remove());
            waitingBytes -= out.getLast().length;
        }
        return out;
    }

    synchronized void close() {
        closed = true;
        waiting.clear();
        notifyAll();
    }
}
