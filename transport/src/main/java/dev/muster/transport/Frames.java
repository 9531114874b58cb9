package dev.muster.transport;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Length-prefixed frames over an upgraded connection. Sending is thread-safe; one thread receives. */
public final class Frames implements AutoCloseable {
    /** The longest frame taken: a batch script of the largest allowed size with its environment in base64 fits. */
    public static final int FRAME_BYTES_MAX = 16 << 20;

    private static final int LENGTH_BYTES = 4;

    private final DataInputStream in;
    private final OutputStream out;
    private final AutoCloseable connection;
    private final String peer;
    /** When the thread that waits for a frame began to; 0 if none waits. */
    private volatile long waitingNs;

    private volatile boolean closed;

    public Frames(InputStream in, OutputStream out, AutoCloseable connection) {
        this(in, out, connection, "");
    }

    /** @param peer the address of the other side, "" where it is not needed */
    public Frames(InputStream in, OutputStream out, AutoCloseable connection, String peer) {
        this.peer = peer;
        this.in = new DataInputStream(in);
        this.out = out;
        this.connection = connection;
    }

    public void send(byte[] frame) throws IOException {
        sendAll(List.of(frame));
    }

    /** Several at once: as many small writes would cost more than all else that is done for them. */
    public void sendAll(List<byte[]> frames) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(
                frames.stream().mapToInt(f -> f.length + LENGTH_BYTES).sum());
        frames.forEach(f -> all.putInt(f.length).put(f));
        sendEncoded(all.array());
    }

    /** @param whole frames, each behind its length */
    public void sendEncoded(byte[] whole) throws IOException {
        synchronized (out) {
            out.write(whole);
            out.flush();
        }
    }

    /** Whether more has arrived than was taken: the next {@link #receive} waits at most for the rest of a frame. */
    public boolean hasMore() throws IOException {
        return in.available() > 0;
    }

    /**
     * The next frame.
     *
     * @throws EOFException when the other side is gone
     */
    public byte[] receive() throws IOException {
        waitingNs = System.nanoTime() | 1;
        try {
            return next();
        } finally {
            waitingNs = 0;
        }
    }

    private byte[] next() throws IOException {
        int length = in.readInt();
        if (length < 0 || length > FRAME_BYTES_MAX) {
            throw new IOException("frame of " + length + " bytes refused");
        }
        byte[] frame = new byte[length];
        in.readFully(frame);
        return frame;
    }

    /**
     * Closes the connection from now on when a wait for a frame takes this long: the other side has to send more often.
     */
    public void expect(int withinMs) {
        Thread.ofVirtual().name("frames-expect").start(() -> {
            while (!closed) {
                long since = waitingNs;
                if (since != 0 && System.nanoTime() - since > withinMs * 1_000_000L) {
                    close();
                }
                LockSupport.parkNanos(withinMs * 1_000_000L / 8);
            }
        });
    }

    /** The address of the other side; "" if it is not known. */
    public String peer() {
        return peer;
    }

    public boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        closed = true;
        try {
            connection.close();
        } catch (Exception e) {
            // closing twice or a broken connection: it is closed either way
        }
    }
}
