package dev.muster.transport;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.Arrays;

/** A socket's input with a buffer that begins small and grows while a head is read. One thread reads. */
final class SocketInput extends InputStream {
    private static final int FIRST_BYTES = 2048;
    private static final int STREAM_BYTES = 16 << 10;
    static final int HEAD_BYTES_MAX = 64 << 10;

    private final InputStream in;
    private byte[] buffer = new byte[0];
    private int from;
    private int to;

    SocketInput(InputStream in) {
        this.in = in;
    }

    /**
     * Waits for a byte.
     *
     * @return false at the end of the input
     */
    boolean await() throws IOException {
        if (from < to) {
            return true;
        }
        if (buffer.length == 0) {
            buffer = new byte[FIRST_BYTES];
        }
        from = 0;
        to = Math.max(0, in.read(buffer));
        return to > 0;
    }

    /** Returns whether the other side has ended its output. What comes within the socket's timeout is not lost. */
    boolean isAtEnd() throws IOException {
        if (from < to) {
            return false;
        }
        if (buffer.length == 0) {
            buffer = new byte[FIRST_BYTES];
        }
        from = 0;
        to = 0;
        try {
            int read = in.read(buffer);
            to = Math.max(0, read);
            return read < 0;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    /**
     * Reads a head up to its empty line, which is dropped.
     *
     * @param budget asked before the buffer grows beyond {@link BodyBudget#FREE_BYTES}; what it gives is released
     *     before this returns
     */
    HttpHead head(BodyBudget budget) throws IOException, HttpHead.Malformed {
        int scanned = from;
        long reserved = 0;
        try {
            while (true) {
                int end = endOfHead(Math.max(from, scanned - 3));
                if (end >= 0) {
                    HttpHead head = HttpHead.parse(Arrays.copyOfRange(buffer, from, end), end - from);
                    from = end + 4;
                    return head;
                }
                scanned = to;
                if (to == buffer.length && from > 0) {
                    System.arraycopy(buffer, from, buffer, 0, to - from);
                    scanned -= from;
                    to -= from;
                    from = 0;
                }
                if (to == buffer.length) {
                    int wanted = buffer.length * 2;
                    if (wanted > HEAD_BYTES_MAX) {
                        throw new HttpHead.Malformed(431, "head too long");
                    }
                    if (!budget.reserve(BodyBudget.STRANGER, wanted)) {
                        throw new HttpHead.Malformed(503, "too many long heads");
                    }
                    budget.release(BodyBudget.STRANGER, reserved);
                    reserved = wanted;
                    buffer = Arrays.copyOf(buffer, wanted);
                }
                int read = in.read(buffer, to, buffer.length - to);
                if (read < 0) {
                    throw new HttpHead.Malformed(400, "a head without its end");
                }
                to += read;
                if (to - from > 3 && buffer[from] < ' ') {
                    throw new HttpHead.Malformed(400, "not a request");
                }
            }
        } finally {
            budget.release(BodyBudget.STRANGER, reserved);
        }
    }

    private int endOfHead(int begin) {
        for (int i = begin; i + 3 < to; i++) {
            if (buffer[i] == '\r' && buffer[i + 1] == '\n' && buffer[i + 2] == '\r' && buffer[i + 3] == '\n') {
                return i;
            }
        }
        return -1;
    }

    /** Between requests a grown buffer is given up. */
    void rest() {
        if (from == to && buffer.length > FIRST_BYTES) {
            buffer = new byte[0];
            from = 0;
            to = 0;
        }
    }

    /** Reads the input as a stream of frames from now on. */
    void widen() {
        byte[] wide = new byte[Math.max(STREAM_BYTES, to - from)];
        System.arraycopy(buffer, from, wide, 0, to - from);
        to -= from;
        from = 0;
        buffer = wide;
    }

    @Override
    public int read() throws IOException {
        return await() ? buffer[from++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int index, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (from == to && length >= buffer.length) {
            return in.read(into, index, length);
        }
        if (!await()) {
            return -1;
        }
        int take = Math.min(length, to - from);
        System.arraycopy(buffer, from, into, index, take);
        from += take;
        return take;
    }

    /** Bytes received but not yet read. */
    @Override
    public int available() {
        return to - from;
    }
}
