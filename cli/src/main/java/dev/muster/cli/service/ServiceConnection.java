package dev.muster.cli.service;

import dev.muster.transport.PeerIds;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;

/**
 * The connection of one launcher: frames of a length, a type and bytes. A heartbeat notices that the launcher is gone,
 * or at once a thread that reads.
 */
public final class ServiceConnection implements AutoCloseable {
    static final int FRAME_BYTES_MAX = 64 << 20;
    private static final int HEAD_BYTES = 5;

    public record Frame(char type, byte[] bytes) {}

    private static final Frame END = new Frame('\0', new byte[0]);

    /**
     * The frames that answer a question: of a file, for a session, for standard input. Each is asked by one at a time.
     */
    private static final String ANSWERS = "ATI";

    private final SocketChannel channel;
    private final List<BlockingQueue<Frame>> answers =
            List.of(new ArrayBlockingQueue<>(4), new ArrayBlockingQueue<>(4), new ArrayBlockingQueue<>(4));
    private Thread worker = Thread.currentThread();
    private Runnable whenGone = () -> {};
    private boolean isRead;
    private final Object going = new Object();
    private final AtomicBoolean beating = new AtomicBoolean();
    private volatile IntConsumer signals = n -> {};
    private volatile boolean quiet;
    private volatile boolean closed;
    private volatile boolean gone;
    private volatile boolean left;

    public ServiceConnection(SocketChannel channel) {
        this.channel = channel;
    }

    /** The first frame. */
    public Frame request() throws IOException {
        return read();
    }

    /** Sets the thread that is interrupted when the launcher goes away. */
    public synchronized void setWorker(Thread thread) {
        worker = thread;
    }

    /** Runs once when the launcher has gone away before the end; the worker is interrupted as well. */
    synchronized void whenGone(Runnable work) {
        whenGone = work;
    }

    /** Starts a thread that reads: answers to several questions at a time, signals, the end. */
    void readBeside() {
        isRead = true;
        Thread.ofVirtual().start(this::readAnswers);
    }

    private void lost() {
        synchronized (going) {
            if (closed || gone) {
                return;
            }
            gone = true;
            worker.interrupt();
        }
        whenGone.run();
    }

    private void readAnswers() {
        try {
            while (true) {
                Frame frame = read();
                int kind = ANSWERS.indexOf(frame.type);
                if (kind >= 0) {
                    answers.get(kind).put(frame);
                } else if (frame.type == 'G' && frame.bytes.length == 4) {
                    signals.accept(ByteBuffer.wrap(frame.bytes).getInt());
                } else if (frame.type == 'L') {
                    left = true;
                }
            }
        } catch (IOException e) {
            for (BlockingQueue<Frame> q : answers) {
                q.clear();
                q.offer(END);
            }
            lost();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Signals to the launcher, by number. */
    void onSignal(IntConsumer handler) {
        signals = handler;
    }

    /** User and group of the launcher by number, as the kernel has them. */
    String peer() {
        try {
            PeerIds peer = PeerIds.of(channel);
            return peer.uid() + "\n" + peer.gid();
        } catch (IOException e) {
            return "?" + System.identityHashCode(this); // a name that no other connection has
        }
    }

    /** The launcher is not there any more. */
    boolean isGone() {
        return gone;
    }

    /** Returns whether the launcher left to go on by itself: nothing is cancelled then. */
    boolean isLeft() {
        return left;
    }

    private Frame read() throws IOException {
        ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
        fill(head);
        int length = head.getInt(0) - 1;
        if (length < 0 || length > FRAME_BYTES_MAX) {
            throw new IOException("frame refused");
        }
        ByteBuffer body = ByteBuffer.allocate(length);
        fill(body);
        return new Frame((char) (head.get(4) & 0xff), body.array());
    }

    private void fill(ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            if (channel.read(into) < 0) {
                throw new EOFException();
            }
        }
    }

    /** Waits for an answer of that type to what was just asked. */
    Frame answer(char type) throws IOException {
        if (!isRead) {
            while (true) {
                Frame frame = read();
                if (frame.type == type) {
                    return frame;
                }
            }
        }
        BlockingQueue<Frame> from = answers.get(ANSWERS.indexOf(type));
        try {
            Frame frame = from.take();
            if (frame == END) {
                from.offer(END);
                throw new EOFException();
            }
            return frame;
        } catch (InterruptedException e) {
            throw new EOFException();
        }
    }

    /** Returns when the other side is gone. */
    public void awaitEnd() {
        try {
            while (true) {
                answer('A');
            }
        } catch (IOException e) {
            // the end that was waited for
        }
    }

    public synchronized void send(char type, byte[] bytes) throws IOException {
        send(type, bytes, 0, bytes.length);
    }

    public synchronized void send(char type, byte[] bytes, int from, int length) throws IOException {
        if (type == 'O' || type == 'E' || type == 'V') {
            quiet = true;
        }
        ByteBuffer out = ByteBuffer.allocate(HEAD_BYTES + length);
        out.putInt(length + 1).put((byte) type).put(bytes, from, length).flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    /**
     * Tells the launcher that the command is being worked on, and this side that the launcher is there. On a thread of
     * its own: a launcher that does not read must not make others wait.
     */
    void heartbeat() {
        if (closed || gone || !beating.compareAndSet(false, true)) {
            return;
        }
        Thread.ofVirtual().start(() -> {
            try {
                send('H', new byte[0]);
            } catch (IOException e) {
                lost();
            } finally {
                beating.set(false);
            }
        });
    }

    boolean hasSpoken() {
        return quiet;
    }

    @Override
    public void close() {
        synchronized (going) {
            closed = true;
        }
        try {
            channel.close();
        } catch (IOException e) {
            // it is closed either way
        }
    }
}
