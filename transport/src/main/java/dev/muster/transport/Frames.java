package dev.muster.transport;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Length-prefixed frames over an upgraded connection. Sending is thread-safe; one thread receives. */
public final class Frames implements AutoCloseable {
    /** The longest frame taken: a batch script of the largest allowed size with its environment in base64 fits. */
    public static final int FRAME_BYTES_MAX = 16 << 20;

    private final DataInputStream in;
    private final OutputStream out;
    private final AutoCloseable connection;

    public Frames(InputStream in, OutputStream out, AutoCloseable connection) {
        this.in = new DataInputStream(in);
        this.out = out;
        this.connection = connection;
    }

    public void send(byte[] frame) throws IOException {
        byte[] all = new byte[frame.length + 4];
        all[0] = (byte) (frame.length >> 24);
        all[1] = (byte) (frame.length >> 16);
        all[2] = (byte) (frame.length >> 8);
        all[3] = (byte) frame.length;
        System.arraycopy(frame, 0, all, 4, frame.length);
        synchronized (out) {
            out.write(all);
            out.flush();
        }
    }

    /** The next frame. @throws EOFException when the other side is gone */
    public byte[] receive() throws IOException {
        int length = in.readInt();
        if (length < 0 || length > FRAME_BYTES_MAX) {
            throw new IOException("frame of " + length + " bytes refused");
        }
        byte[] frame = new byte[length];
        in.readFully(frame);
        return frame;
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (Exception e) {
            // closing twice or a broken connection: it is closed either way
        }
    }
}
