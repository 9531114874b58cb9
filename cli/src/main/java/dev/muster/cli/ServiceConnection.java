package dev.muster.cli;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * One launcher: frames of a length, a type and bytes. A thread of its own reads, so that a caller who goes away is
 * noticed at once.
 */
final class ServiceConnection implements AutoCloseable {
    static final int FRAME_BYTES_MAX = 64 << 20;
    private static final int HEAD_BYTES = 5;

    record Frame(char type, byte[] bytes) {}

    private static final Frame END = new Frame('\0', new byte[0]);

    private final SocketChannel channel;
    private final BlockingQueue<Frame> answers = new ArrayBlockingQueue<>(4);
    private final Thread worker = Thread.currentThread();
    private volatile boolean quiet;
    private volatile boolean closed;

    ServiceConnection(SocketChannel channel) {
        this.channel = channel;
    }

    /** The first frame, read by the caller's thread; from then on a reader waits for answers and for the end. */
    Frame request() throws IOException {
        Frame first = read();
        Thread.ofVirtual().start(this::readAnswers);
        return first;
    }

    private void readAnswers() {
        try {
            while (true) {
                answers.put(read());
            }
        } catch (IOException e) {
            answers.offer(END);
            if (!closed) {
                worker.interrupt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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

    /** Waits for the answer to what was just asked. */
    Frame answer() throws IOException {
        try {
            Frame f = answers.take();
            if (f == END) {
                throw new EOFException();
            }
            return f;
        } catch (InterruptedException e) {
            throw new EOFException();
        }
    }

    /** Returns when the other side is gone. */
    void awaitEnd() {
        try {
            while (true) {
                answer();
            }
        } catch (IOException e) {
            // the end that was waited for
        }
    }

    synchronized void send(char type, byte[] bytes) throws IOException {
        send(type, bytes, 0, bytes.length);
    }

    synchronized void send(char type, byte[] bytes, int from, int length) throws IOException {
        if (type == 'O' || type == 'E') {
            quiet = true;
        }
        ByteBuffer out = ByteBuffer.allocate(HEAD_BYTES + length);
        out.putInt(length + 1).put((byte) type).put(bytes, from, length).flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    /** Tells the launcher that the command is being worked on; not needed once it has spoken. */
    void heartbeat() {
        if (quiet || closed) {
            return;
        }
        try {
            send('H', new byte[0]);
        } catch (IOException e) {
            quiet = true;
        }
    }

    boolean hasSpoken() {
        return quiet;
    }

    @Override
    public void close() {
        closed = true;
        try {
            channel.close();
        } catch (IOException e) {
            // it is closed either way
        }
    }
}
