package dev.muster.node.step;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;

/** One connection to a stepd; the frames are those of {@code native/README.md}. One reader; writers are serialised. */
public final class StepSocket implements AutoCloseable {
    public static final int ALL_TASKS = -1;
    public static final int HEAD_BYTES = 14;
    static final int FRAME_BYTES_MAX = 1 << 20;

    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocate(64 << 10).flip();

    public record Frame(char type, int task, int stream, long offset, byte[] bytes) {
        public String text() {
            return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
        }

        /** Returns the message without the length that goes before it. */
        public byte[] encode() {
            return ByteBuffer.allocate(HEAD_BYTES + bytes.length)
                    .put((byte) type)
                    .putInt(task)
                    .put((byte) stream)
                    .putLong(offset)
                    .put(bytes)
                    .array();
        }

        public static Frame decode(byte[] raw) throws IOException {
            if (raw.length < HEAD_BYTES) {
                throw new IOException("frame of " + raw.length + " bytes");
            }
            ByteBuffer b = ByteBuffer.wrap(raw);
            char type = (char) (b.get() & 0xff);
            int task = b.getInt();
            int stream = b.get();
            long offset = b.getLong();
            byte[] rest = new byte[b.remaining()];
            b.get(rest);
            return new Frame(type, task, stream, offset, rest);
        }
    }

    private StepSocket(SocketChannel channel) {
        this.channel = channel;
    }

    public static StepSocket connect(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return new StepSocket(channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    void send(char type, int stream, long offset, byte[] bytes) throws IOException {
        send(new Frame(type, ALL_TASKS, stream, offset, bytes).encode());
    }

    void send(byte[] frame) throws IOException {
        sendAll(List.of(frame));
    }

    public void sendAll(List<byte[]> frames) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(
                frames.stream().mapToInt(f -> Integer.BYTES + f.length).sum());
        frames.forEach(f -> out.putInt(f.length).put(f));
        out.flip();
        synchronized (channel) {
            while (out.hasRemaining()) {
                channel.write(out);
            }
        }
    }

    /** @throws EOFException when stepd is gone */
    byte[] receiveRaw() throws IOException {
        fill(4);
        int length = length(in.position());
        in.getInt();
        byte[] frame = new byte[length];
        int have = Math.min(length, in.remaining());
        in.get(frame, 0, have);
        ByteBuffer rest = ByteBuffer.wrap(frame, have, length - have);
        while (rest.hasRemaining()) {
            if (channel.read(rest) < 0) {
                throw new EOFException();
            }
        }
        return frame;
    }

    /**
     * All whole frames that have come, at least one, each behind its length as it came.
     *
     * @throws EOFException when stepd is gone
     */
    public byte[] receiveAll() throws IOException {
        fill(Integer.BYTES);
        int first = length(in.position());
        if (first > in.capacity() - Integer.BYTES) {
            byte[] one = receiveRaw();
            return ByteBuffer.allocate(Integer.BYTES + one.length)
                    .putInt(one.length)
                    .put(one)
                    .array();
        }
        fill(Integer.BYTES + first);
        int end = in.position();
        while (in.limit() - end >= Integer.BYTES && in.limit() - end - Integer.BYTES >= length(end)) {
            end += Integer.BYTES + length(end);
        }
        byte[] out = new byte[end - in.position()];
        in.get(out);
        return out;
    }

    private int length(int offset) throws IOException {
        int length = in.getInt(offset);
        if (length < HEAD_BYTES || length > FRAME_BYTES_MAX) {
            throw new IOException("frame of " + length + " bytes from stepd");
        }
        return length;
    }

    /** Whether one of those frames is of that type. */
    public static boolean holds(byte[] frames, char type) {
        ByteBuffer all = ByteBuffer.wrap(frames);
        for (int offset = 0; offset < frames.length; offset += Integer.BYTES + all.getInt(offset)) {
            if (frames[offset + Integer.BYTES] == type) {
                return true;
            }
        }
        return false;
    }

    Frame receive() throws IOException {
        return Frame.decode(receiveRaw());
    }

    private void fill(int wanted) throws IOException {
        while (in.remaining() < wanted) {
            in.compact();
            int n = channel.read(in);
            in.flip();
            if (n < 0) {
                throw new EOFException();
            }
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // closed either way
        }
    }
}
