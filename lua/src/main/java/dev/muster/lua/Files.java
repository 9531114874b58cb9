package dev.muster.lua;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Cleaner;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.lib.jse.JseIoLib;

/**
 * Lua's files, of which those that are only appended to are so in truth: what two scripts write at once stands there one line after the other, as
 * with Lua's own library. (The one we use remembers where the end was.)
 */
final class Files extends JseIoLib {
    private static final Cleaner CLEANER = Cleaner.create();

    @Override
    protected File openFile(String name, boolean read, boolean append, boolean update, boolean binary) throws IOException {
        return append && !update ? new Appended(name) : super.openFile(name, read, append, update, binary);
    }

    /** Whole lines go out in one piece; what a script leaves behind without closing its file, when nobody can reach it any more. */
    private static final class Tail implements Runnable {
        private static final int LONGEST = 1 << 16;
        private final FileOutputStream out;
        private final ByteArrayOutputStream waiting = new ByteArrayOutputStream();

        Tail(String name) throws IOException {
            out = new FileOutputStream(name, true);
        }

        synchronized void write(LuaString text, boolean atOnce) throws IOException {
            waiting.write(text.m_bytes, text.m_offset, text.m_length);
            boolean ends = text.m_length > 0 && text.m_bytes[text.m_offset + text.m_length - 1] == '\n';
            if (atOnce || ends || waiting.size() > LONGEST) {
                flush();
            }
        }

        synchronized void flush() throws IOException {
            if (waiting.size() > 0) {
                byte[] all = waiting.toByteArray();
                waiting.reset();
                out.write(all);
            }
        }

        @Override
        public synchronized void run() {
            try (out) {
                flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private final class Appended extends File {
        private final Tail tail;
        private final Cleaner.Cleanable end;
        private boolean closed;
        private boolean unbuffered;

        Appended(String name) throws IOException {
            tail = new Tail(name);
            end = CLEANER.register(this, tail);
        }

        @Override
        public void write(LuaString text) throws IOException {
            open();
            tail.write(text, unbuffered);
        }

        private void open() throws IOException {
            if (closed) {
                throw new IOException("attempt to use a closed file");
            }
        }

        @Override
        public void flush() throws IOException {
            open();
            tail.flush();
        }

        @Override
        public void close() throws IOException {
            if (!closed) {
                closed = true;
                try {
                    end.clean();
                } catch (UncheckedIOException e) {
                    throw e.getCause();
                }
            }
        }

        @Override
        public boolean isclosed() {
            return closed;
        }

        @Override
        public boolean isstdfile() {
            return false;
        }

        @Override
        public void setvbuf(String mode, int size) {
            unbuffered = mode.equals("no");
        }

        @Override
        public int seek(String whence, int offset) throws IOException {
            flush();
            long size = tail.out.getChannel().size();
            return (int) (whence.equals("set") ? offset : size + offset);
        }

        @Override
        public int remaining() {
            return -1;
        }

        @Override
        public int peek() throws IOException {
            throw new IOException("Bad file descriptor");
        }

        @Override
        public int read() throws IOException {
            return peek();
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            return peek();
        }
    }
}
