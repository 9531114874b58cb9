package dev.muster.rest.contract;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Compact JSON goes in, byte by byte, and comes out in another form. Nothing is kept but the piece that has not gone
 * out.
 */
abstract class JsonTransform extends OutputStream {
    private static final int PIECE = 1 << 15;

    private final OutputStream out;
    private final byte[] piece = new byte[PIECE];
    private int length;

    JsonTransform(OutputStream out) {
        this.out = out;
    }

    /** The next byte that comes in. */
    abstract void take(byte b) throws IOException;

    @Override
    public final void write(int b) throws IOException {
        take((byte) b);
    }

    @Override
    public final void write(byte[] bytes, int from, int count) throws IOException {
        for (int i = from; i < from + count; i++) {
            take(bytes[i]);
        }
    }

    /** Goes out. */
    final void put(byte b) throws IOException {
        if (length == piece.length) {
            send();
        }
        piece[length++] = b;
    }

    final void text(String ascii) throws IOException {
        for (int i = 0; i < ascii.length(); i++) {
            put((byte) ascii.charAt(i));
        }
    }

    private void send() throws IOException {
        out.write(piece, 0, length);
        length = 0;
    }

    @Override
    public void flush() throws IOException {
        send();
        out.flush();
    }
}
