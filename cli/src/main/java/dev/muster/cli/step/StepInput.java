package dev.muster.cli.step;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Standard input of a step: read once, sent to one task or to all, never further than each node has room for. Recent
 * bytes are kept to be sent again after a reconnect; the node drops duplicates.
 */
final class StepInput implements Runnable {
    private static final int CHUNK_BYTES = 16 << 10;
    private static final int KEPT_BYTES = 1 << 20;
    private static final int BACKGROUND_PAUSE_MS = 300;

    private record Chunk(long offset, byte[] bytes) {}

    private final InputStream in;
    private final BooleanSupplier background;
    private final List<StepNode> nodes;
    private final int task;
    private final Map<StepNode, Map<Integer, Long>> limits = new HashMap<>();
    private final Map<Integer, Boolean> gone = new HashMap<>();
    private final Deque<Chunk> unacknowledged = new ArrayDeque<>();
    private long sent;
    private long keptBytes;
    private boolean ended;
    private boolean stopped;

    /**
     * @param task the one that gets the input, or {@link IoFrame#ALL_TASKS}
     * @param background says whether this process has its terminal's input taken away for now
     * @param offset of the first byte that in brings
     */
    StepInput(InputStream in, BooleanSupplier background, List<StepNode> nodes, int task, long offset) {
        this.sent = offset;
        this.in = in;
        this.background = background;
        this.nodes = nodes;
        this.task = task;
    }

    @Override
    public void run() {
        byte[] buffer = new byte[CHUNK_BYTES];
        while (!isStopped()) {
            try {
                int n = in.read(buffer);
                if (n < 0) {
                    break;
                }
                if (n > 0 && !send(Arrays.copyOf(buffer, n))) {
                    return;
                }
            } catch (IOException e) {
                // a terminal cannot be read from its background: it may come to the foreground; one that went away
                // never does
                if (!background.getAsBoolean()) {
                    break;
                }
                pause();
            }
        }
        end();
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    @SuppressWarnings("WaitNotInLoop") // a read that is tried too early fails once more
    private synchronized void pause() {
        try {
            wait(BACKGROUND_PAUSE_MS);
        } catch (InterruptedException e) {
            stopped = true;
        }
    }

    private synchronized boolean send(byte[] data) {
        while (!stopped && room() < sent + data.length) {
            try {
                wait();
            } catch (InterruptedException e) {
                return false;
            }
        }
        if (stopped) {
            return false;
        }
        Chunk chunk = new Chunk(sent, data);
        unacknowledged.add(chunk);
        keptBytes += data.length;
        while (keptBytes > KEPT_BYTES) {
            keptBytes -= unacknowledged.remove().bytes.length;
        }
        sent += data.length;
        for (StepNode node : nodes) {
            sendTo(node, chunk);
        }
        return true;
    }

    private void sendTo(StepNode node, Chunk chunk) {
        if (isFor(node)) {
            node.send(new IoFrame('I', task, 0, chunk.offset, chunk.bytes));
        }
    }

    private boolean isFor(StepNode node) {
        return task == IoFrame.ALL_TASKS || node.tasks.contains(task);
    }

    /** Up to which offset all that still listen can take input. */
    private long room() {
        long minimum = Long.MAX_VALUE;
        for (StepNode node : nodes) {
            if (node.isComplete() || !isFor(node)) {
                continue;
            }
            for (int t : node.tasks) {
                if ((task == IoFrame.ALL_TASKS || t == task) && !gone.containsKey(t)) {
                    minimum = Math.min(
                            minimum, limits.getOrDefault(node, Map.of()).getOrDefault(t, 0L));
                }
            }
        }
        return minimum;
    }

    private synchronized void end() {
        ended = true;
        for (StepNode node : nodes) {
            sendEnd(node);
        }
    }

    private void sendEnd(StepNode node) {
        if (isFor(node)) {
            node.send(IoFrame.of('i', task, 0, sent));
        }
    }

    synchronized void limit(StepNode node, int t, long limit) {
        limits.computeIfAbsent(node, n -> new HashMap<>()).merge(t, limit, Math::max);
        notifyAll();
    }

    synchronized void taskGone(int t) {
        gone.put(t, true);
        notifyAll();
    }

    synchronized void reconnected(StepNode node) {
        for (Chunk c : unacknowledged) {
            sendTo(node, c);
        }
        if (ended) {
            sendEnd(node);
        }
    }

    synchronized void stop() {
        stopped = true;
        notifyAll();
    }
}
