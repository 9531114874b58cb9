package dev.muster.cli.command;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Standard output or error of a command: buffered, and without loss of bytes. It remembers that its reader closed it
 * instead of throwing.
 */
public final class Output {
    private static final int BUFFER_BYTES = 16_384;

    private final OutputStream stream;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final boolean flushEachLine;
    private int used;
    private boolean broken;

    public Output(OutputStream stream, boolean flushEachLine) {
        this.stream = stream;
        this.flushEachLine = flushEachLine;
    }

    public synchronized Output print(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                byte[] rest = RawText.encode(text.substring(i));
                write(rest, 0, rest.length);
                return this;
            }
            put((byte) c);
        }
        return this;
    }

    public synchronized Output println(String text) {
        print(text);
        put((byte) '\n');
        if (flushEachLine) {
            flush();
        }
        return this;
    }

    private void put(byte b) {
        if (used == BUFFER_BYTES) {
            drain();
        }
        buffer[used++] = b;
    }

    public synchronized void write(byte[] data, int from, int length) {
        if (length > BUFFER_BYTES - used) {
            drain();
        }
        if (length > BUFFER_BYTES) {
            send(data, from, length);
            return;
        }
        System.arraycopy(data, from, buffer, used, length);
        used += length;
    }

    private void drain() {
        int n = used;
        used = 0;
        send(buffer, 0, n);
    }

    private void send(byte[] data, int from, int length) {
        if (broken || length == 0) {
            return;
        }
        try {
            stream.write(data, from, length);
        } catch (IOException e) {
            broken = true;
        }
    }

    public synchronized void flush() {
        drain();
        if (!broken) {
            try {
                stream.flush();
            } catch (IOException e) {
                broken = true;
            }
        }
    }

    /** The reader is gone: a long-running command should end. */
    public synchronized boolean isBroken() {
        return broken;
    }
}
