package dev.muster.cli.step;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.ResumableStep;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One node of a step: attaches, follows the streams by offset, and reconnects after a break. Run by itself it has its
 * own connection; behind a relay ({@link StepBranch}) it is handed its frames.
 */
public final class StepNode implements Runnable {
    private static final int RECONNECT_PAUSE_MS = 500;
    /** slurmd may be restarted under a running step. */
    private static final int RECONNECT_TRIES = 240;

    /** The stream field of a refusal. */
    private static final int NOT_STARTED = 1;

    /** Carries frames to the node. */
    interface Carrier {
        void send(List<IoFrame> frames) throws IOException;
    }

    /**
     * Bytes of output after which the node gets an acknowledgement and drops them: far below the node's buffer for a
     * task, far above the length of a line.
     */
    private static final int ACKNOWLEDGE_BYTES = 64 << 10;

    /** Events of the node. The node's own thread calls them. */
    interface Events {
        /** @param end of data in the stream; up to which offset all has gone out, which may be less */
        long output(StepNode node, int task, int stream, byte[] data, long end);

        /** Returns as {@link #output}. */
        long outputEnd(StepNode node, int task, int stream, long end);

        void started(StepNode node, int task);

        void exited(StepNode node, int task, int waitStatus, boolean cancelled);

        void inputLimit(StepNode node, int task, long limit);

        void connected(StepNode node);

        /**
         * The tasks here never ran.
         *
         * @param detail "" or a line before the error
         */
        void notStarted(StepNode node, String detail, String error);

        /** @param reason "" or why the step ended here; lost: the node cannot be reached any more */
        void complete(StepNode node, String reason, boolean lost);
    }

    final String name;
    final List<Integer> tasks;
    private final Host host;
    private final String address;
    private final int port;
    private final Json.Obj attach;
    private final boolean observer;
    private final Events events;
    private final Map<Long, Long> positions = new HashMap<>();
    /** Position of each stream that went out and is not yet acknowledged. */
    private final Map<Long, Long> unacknowledged = new HashMap<>();

    private long unacknowledgedBytes;
    private volatile @Nullable Frames frames;
    private volatile @Nullable Carrier carrier;
    private volatile boolean complete;

    /** @param positions where the streams are to go on, by {@link ResumableStep#key}; empty: at their beginnings */
    StepNode(
            Host host,
            String name,
            String address,
            int port,
            List<Integer> tasks,
            Json.Obj attach,
            Map<Long, Long> positions,
            Events events) {
        this.host = host;
        this.name = name;
        this.address = address;
        this.port = port;
        this.tasks = tasks;
        this.attach = attach;
        this.observer = attach.flag("observer");
        this.events = events;
        for (int task : tasks) {
            for (int stream = 1; stream <= 2; stream++) {
                long at = positions.getOrDefault(ResumableStep.key(task, stream), 0L);
                if (at > 0) {
                    this.positions.put(ResumableStep.key(task, stream), at);
                }
            }
        }
    }

    @Override
    public void run() {
        int tries = 0;
        while (!complete && tries < RECONNECT_TRIES) {
            try {
                Frames f = open();
                f.send(Json.print(attach));
                Carrier direct =
                        all -> f.sendAll(all.stream().map(IoFrame::encode).toList());
                direct.send(attachment(hasPositions()));
                frames = f;
                carrier = direct;
                events.connected(this);
                tries = 0;
                while (!complete) {
                    take(IoFrame.decode(f.receive()));
                }
            } catch (IOException | SlurmException | IllegalArgumentException e) {
                tries++;
            }
            close();
            if (!complete && !host.pause(RECONNECT_PAUSE_MS)) {
                break;
            }
        }
        if (!complete) {
            complete = true;
            events.complete(this, "", true);
        }
    }

    Frames open() throws IOException, SlurmException {
        return host.openStream(address, port, "io");
    }

    /** Sets the relay through which this node is reached; empty if it has none any more. */
    void carriedBy(Optional<Carrier> by) {
        carrier = by.orElse(null);
        if (by.isPresent()) {
            events.connected(this);
        }
    }

    boolean hasPositions() {
        synchronized (positions) {
            return !positions.isEmpty();
        }
    }

    /** @param perStream each stream from where it has come to; else all of the node's from their beginnings */
    List<IoFrame> attachment(boolean perStream) {
        byte[] kind = {(byte) (observer ? 'o' : 'p')};
        if (!perStream) {
            return List.of(new IoFrame('A', IoFrame.ALL_TASKS, 0, 0, kind));
        }
        // of a step that is over, the end must not be told before the last stream is asked for
        byte[] more = {kind[0], '+'};
        List<IoFrame> out = new ArrayList<>();
        synchronized (positions) {
            for (int i = 0; i < tasks.size(); i++) {
                for (int stream = 1; stream <= 2; stream++) {
                    boolean last = i == tasks.size() - 1 && stream == 2;
                    long position = positions.getOrDefault(ResumableStep.key(tasks.get(i), stream), 0L);
                    out.add(new IoFrame('A', tasks.get(i), stream, position, last ? kind : more));
                }
            }
        }
        return out;
    }

    /** Handles a frame from the node. */
    void take(IoFrame frame) throws IOException {
        switch (frame.type()) {
            case 'O' -> output(frame);
            case 'E' ->
                acknowledge(
                        frame.task(),
                        frame.stream(),
                        events.outputEnd(this, frame.task(), frame.stream(), frame.offset()));
            case 'T' -> events.started(this, frame.task());
            case 'X' ->
                events.exited(
                        this,
                        frame.task(),
                        (int) frame.offset(),
                        RawText.decode(frame.bytes()).contains(" cancelled=1 "));
            case 'L' -> events.inputLimit(this, frame.task(), frame.offset());
            case 'F' -> {
                sendAcknowledged();
                complete = true;
                events.complete(this, RawText.decode(frame.bytes()), false);
            }
            case '!' -> {
                complete = true;
                if (frame.stream() == NOT_STARTED) {
                    String[] lines = RawText.decode(frame.bytes()).split("\n", 2);
                    events.notStarted(this, lines[0], lines[lines.length - 1]);
                } else {
                    events.complete(this, RawText.decode(frame.bytes()), true);
                }
            }
            default -> {}
        }
        if (unacknowledgedBytes >= ACKNOWLEDGE_BYTES) {
            sendAcknowledged();
        }
    }

    private void output(IoFrame frame) {
        long position;
        synchronized (positions) {
            position = positions.getOrDefault(ResumableStep.key(frame.task(), frame.stream()), 0L);
        }
        long end = frame.offset() + frame.bytes().length;
        if (end <= position) {
            return;
        }
        int skip = (int) Math.max(0, position - frame.offset());
        byte[] fresh =
                skip == 0 ? frame.bytes() : java.util.Arrays.copyOfRange(frame.bytes(), skip, frame.bytes().length);
        long delivered = events.output(this, frame.task(), frame.stream(), fresh, end);
        synchronized (positions) {
            positions.put(ResumableStep.key(frame.task(), frame.stream()), end);
        }
        unacknowledgedBytes += fresh.length;
        acknowledge(frame.task(), frame.stream(), delivered);
    }

    private void acknowledge(int task, int stream, long offset) {
        if (!observer && offset > 0) {
            unacknowledged.put(ResumableStep.key(task, stream), offset);
        }
    }

    /** Acknowledges all streams that went out since the last time, together. */
    private void sendAcknowledged() throws IOException {
        Carrier by = carrier;
        if (unacknowledged.isEmpty() || by == null) {
            return;
        }
        List<IoFrame> all = new ArrayList<>();
        unacknowledged.forEach((key, offset) -> all.add(IoFrame.of('a', (int) (key >> 2), (int) (key & 3), offset)));
        unacknowledged.clear();
        unacknowledgedBytes = 0;
        by.send(all);
    }

    /** Sends if connected; false if not (a reconnect brings what is still needed). */
    boolean send(IoFrame frame) {
        Carrier by = carrier;
        if (by == null || complete) {
            return false;
        }
        try {
            by.send(List.of(frame));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    boolean isComplete() {
        return complete;
    }

    void close() {
        Frames f = frames;
        frames = null;
        carrier = null;
        if (f != null) {
            f.close();
        }
    }
}
