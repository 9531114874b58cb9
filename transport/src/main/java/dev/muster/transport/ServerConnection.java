package dev.muster.transport;

import dev.muster.model.SlurmErrno;
import dev.muster.transport.tls.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a {@link Server}, from its first byte to its last, on a virtual thread of its own. The caller is
 * authenticated by the head of a request, before any byte of the body is read; the credential names the body's hash.
 * Each phase has a deadline that {@link Server} enforces by closing the socket, so that a sender of single bytes gains
 * nothing.
 */
final class ServerConnection implements ConnectionTable.Entry, Runnable {
    /** To authenticate, from the connection's first moment, and for the head of each further request. */
    static final int HEAD_MS = 10_000;
    /** Milliseconds for a body, besides what it takes at {@link #BODY_BYTES_PER_MS}. */
    static final int BODY_MS = 20_000;

    static final int BODY_BYTES_PER_MS = 256;
    /** Between two requests of an authenticated caller. */
    static final int IDLE_MS = 120_000;
    /** The connection of the request that the thread serves. */
    static final ScopedValue<ServerConnection> SERVED = ScopedValue.newInstance();
    /** Milliseconds of a look whether the caller is still there. */
    private static final int PEEK_MS = 1;
    /** Milliseconds for the other side to take one piece of an answer. */
    static final int WRITE_MS = 120_000;

    private static final int LINGER_MS = 2_000;
    private static final int LINGER_STRANGER_BYTES = 256 << 10;
    private static final int SMALL_BYTES = 64 << 10;
    private static final int CHUNK_BYTES = 16 << 10;
    private static final long NONE = Long.MAX_VALUE;

    private final Server server;
    private final Socket raw;
    private final String peer;
    private final long acceptedNs = System.nanoTime();
    private volatile long deadlineNs;
    private volatile boolean working;
    private volatile boolean streaming;
    private volatile @Nullable Thread thread;

    @SuppressWarnings("NullAway.Init") // open() sets both before the first request is read
    private SocketInput in;

    @SuppressWarnings("NullAway.Init") // see in
    private OutputStream out;

    private boolean authenticated;

    ServerConnection(Server server, Socket raw) {
        this.server = server;
        this.raw = raw;
        this.peer = raw.getInetAddress().getHostAddress();
        within(HEAD_MS);
    }

    private void within(long ms) {
        deadlineNs = System.nanoTime() + ms * 1_000_000;
    }

    /** Closes the connection where its phase has lasted too long. */
    void enforce(long nowNs) {
        long deadline = deadlineNs;
        if (deadline != NONE && nowNs - deadline > 0) {
            closeNow();
        }
    }

    /** An answer is being made or sent. */
    boolean isWorking() {
        return working && !streaming;
    }

    @Override
    public String peer() {
        return peer;
    }

    @Override
    public long acceptedNs() {
        return acceptedNs;
    }

    @Override
    public void closeNow() {
        try {
            raw.close();
        } catch (IOException e) {
            // closed is what was wanted
        }
    }

    /** Called when the server stops: tells the handlers of streams. */
    void stop() {
        closeNow();
        Thread running = thread;
        if (streaming && running != null) {
            running.interrupt();
        }
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        try {
            raw.setTcpNoDelay(true);
            open();
            while (next()) {
                in.rest();
            }
        } catch (IOException | RuntimeException e) {
            // the caller is gone or missed a deadline
        } finally {
            thread = null;
            server.table().remove(this);
            closeNow();
        }
    }

    private void open() throws IOException {
        if (server.tls().isEmpty()) {
            in = new SocketInput(raw.getInputStream());
            out = raw.getOutputStream();
            return;
        }
        SSLSocket over =
                (SSLSocket) server.tls().get().context().getSocketFactory().createSocket(raw, null, true);
        over.setUseClientMode(false);
        over.setEnabledProtocols(Tls.protocols());
        over.startHandshake();
        in = new SocketInput(over.getInputStream());
        out = over.getOutputStream();
    }

    /**
     * Serves one request.
     *
     * @return false if it was the last
     */
    private boolean next() throws IOException {
        if (authenticated) {
            within(IDLE_MS);
            server.table().idle(this);
        }
        boolean comes = in.await();
        server.table().busy(this);
        if (!comes) {
            return false;
        }
        if (authenticated) {
            within(HEAD_MS);
        }
        HttpHead head;
        try {
            head = in.head(server.budget());
        } catch (HttpHead.Malformed e) {
            return refuse(Server.Page.text(e.status(), e.getMessage() + "\n"), LINGER_STRANGER_BYTES);
        }
        working = true;
        try {
            return serve(head);
        } finally {
            working = false;
        }
    }

    private boolean serve(HttpHead head) throws IOException {
        boolean message = head.path().startsWith(Server.MESSAGE_PATH);
        if (head.method().equals("POST") && message) {
            return post(head);
        }
        if (head.contentLength() > 0) {
            return refuse(Server.Page.text(400, "a body is not expected\n"), LINGER_STRANGER_BYTES);
        }
        Server.StreamHandler stream = server.streams().get(stream(head));
        if (head.method().equals("GET") && message && stream != null) {
            return stream(head, stream);
        }
        if (!head.method().equals("GET") && !head.method().equals("HEAD")) {
            return refuse(Server.Page.NOT_FOUND, LINGER_STRANGER_BYTES);
        }
        Server.Page page = server.page(head);
        // pages need no authentication, so the connection stays unauthenticated
        within(HEAD_MS);
        answer(
                page.status(),
                page.contentType(),
                page.body(),
                head.keepsAlive(),
                head.method().equals("HEAD"));
        return head.keepsAlive();
    }

    private static String stream(HttpHead head) {
        String protocol = head.header("upgrade");
        return protocol.startsWith("muster-") ? protocol.substring(7) : "";
    }

    private boolean post(HttpHead head) throws IOException {
        Verifier.Head proof = server.verifier().head(head.header("authorization"), "POST", head.path());
        if (!(proof instanceof Verifier.Proved proved)) {
            server.refused(peer, head.path());
            return refuse(DENIED, LINGER_STRANGER_BYTES);
        }
        int uid = proved.caller().uid();
        authenticated = true;
        long length = head.contentLength();
        String name = head.path().substring(Server.MESSAGE_PATH.length());
        if (length > Server.bodyBytesMax(name)) {
            return refuse(
                    page(Server.Reply.error(413, SlurmErrno.PATHNAME_TOO_LONG, "request too long")),
                    4 * Server.BODY_BYTES_MAX);
        }
        if (!server.table().authenticated(this, uid) || !server.budget().reserve(uid, length)) {
            return refuse(BACK_OFF, Server.BODY_BYTES_MAX);
        }
        try {
            within(BODY_MS + length / BODY_BYTES_PER_MS);
            byte[] body = in.readNBytes((int) length);
            if (body.length < length) {
                return false;
            }
            deadlineNs = NONE;
            if (!proved.fits(body)) {
                server.refused(peer, head.path());
                return refuse(DENIED, 0);
            }
            Server.Reply reply = ScopedValue.where(SERVED, this).call(() -> server.answer(proved.caller(), name, body));
            return deliver(reply, head.keepsAlive());
        } finally {
            server.budget().release(uid, length);
        }
    }

    private static final Server.Page DENIED = page(Server.Reply.error(
            401, SlurmErrno.PROTOCOL_AUTHENTICATION_ERROR, SlurmErrno.PROTOCOL_AUTHENTICATION_ERROR.sentence()));
    private static final Server.Page BACK_OFF =
            page(Server.Reply.error(Client.BACK_OFF, SlurmErrno.MAX_JOB_COUNT, "Resource temporarily unavailable"));
    private static final String JSON = "application/json";

    private static Server.Page page(Server.Reply reply) {
        return new Server.Page(reply.status(), JSON, reply.body());
    }

    /**
     * Answers and ends.
     *
     * @param lingerBytes of the request's rest, thrown away so that the answer is not lost with them
     */
    private boolean refuse(Server.Page page, long lingerBytes) throws IOException {
        within(LINGER_MS + lingerBytes / BODY_BYTES_PER_MS / 16);
        answer(page.status(), page.contentType(), page.body(), false, false);
        if (server.tls().isEmpty()) {
            raw.shutdownOutput();
        }
        byte[] waste = new byte[8192];
        long remaining = lingerBytes;
        while (remaining > 0) {
            int read = in.read(waste, 0, waste.length);
            if (read < 0) {
                break;
            }
            remaining -= read;
        }
        return false;
    }

    private boolean deliver(Server.Reply reply, boolean more) throws IOException {
        if (reply.undelivered().isEmpty()) {
            return send(reply, more);
        }
        try {
            if (isCallerGone()) {
                throw new IOException("the caller is gone");
            }
            return send(reply, more);
        } catch (IOException e) {
            reply.undelivered().get().run();
            throw e;
        }
    }

    /**
     * Returns whether the caller has closed its side: a process that ended has, whatever ended it. One that is stopped
     * has not.
     */
    boolean isCallerGone() {
        try {
            raw.setSoTimeout(PEEK_MS);
            boolean gone = in.isAtEnd();
            raw.setSoTimeout(0);
            return gone;
        } catch (IOException e) {
            return true;
        }
    }

    private boolean send(Server.Reply reply, boolean more) throws IOException {
        if (reply.rest().isEmpty()) {
            within(WRITE_MS);
            answer(reply.status(), JSON, reply.body(), more, false);
            return more;
        }
        within(WRITE_MS);
        out.write(head(reply.status(), JSON, "Transfer-Encoding: chunked", more));
        try (ChunkedOutput chunks = new ChunkedOutput()) {
            chunks.write(reply.body());
            reply.rest().get().writeTo(chunks);
            chunks.end();
        }
        return more;
    }

    private static byte[] head(int status, String type, String length, boolean more) {
        return ("HTTP/1.1 " + status + " " + Server.reason(status) + "\r\nContent-Type: " + type + "\r\n" + length
                        + "\r\n" + (more ? "\r\n" : "Connection: close\r\n\r\n"))
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    private void answer(int status, String type, byte[] body, boolean more, boolean headOnly) throws IOException {
        byte[] head = head(status, type, "Content-Length: " + body.length, more);
        if (headOnly || body.length > SMALL_BYTES) {
            out.write(head);
            if (!headOnly) {
                new Patient(out).write(body, 0, body.length);
            }
        } else {
            byte[] whole = new byte[head.length + body.length];
            System.arraycopy(head, 0, whole, 0, head.length);
            System.arraycopy(body, 0, whole, head.length, body.length);
            out.write(whole);
        }
        out.flush();
    }

    /** Writes in pieces, each of which has time of its own: a long answer over a slow line is no fault. */
    private final class Patient extends OutputStream {
        private final OutputStream to;

        private Patient(OutputStream to) {
            this.to = to;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            for (int index = 0; index < length; index += SMALL_BYTES) {
                within(WRITE_MS);
                to.write(bytes, from + index, Math.min(SMALL_BYTES, length - index));
            }
        }
    }

    /** The body of an answer of unknown length. When it is closed before its end, the connection is closed too. */
    private final class ChunkedOutput extends OutputStream {
        private final byte[] buffer = new byte[CHUNK_BYTES];
        private final OutputStream patient = new Patient(out);
        private int filled;
        private boolean ended;

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            if (filled + length > buffer.length) {
                flush();
            }
            if (length > buffer.length) {
                chunk(bytes, from, length);
            } else {
                System.arraycopy(bytes, from, buffer, filled, length);
                filled += length;
            }
        }

        private void chunk(byte[] bytes, int from, int length) throws IOException {
            patient.write((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            patient.write(bytes, from, length);
            patient.write(new byte[] {'\r', '\n'});
            deadlineNs = NONE;
        }

        @Override
        public void flush() throws IOException {
            if (filled > 0) {
                chunk(buffer, 0, filled);
                filled = 0;
            }
        }

        private void end() throws IOException {
            flush();
            within(WRITE_MS);
            out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            out.flush();
            ended = true;
        }

        @Override
        public void close() {
            if (!ended) {
                closeNow();
            }
        }
    }

    private boolean stream(HttpHead head, Server.StreamHandler handler) throws IOException {
        Verifier.Head proof = server.verifier().head(head.header("authorization"), "GET", head.path());
        if (!(proof instanceof Verifier.Proved proved) || !proved.fits(new byte[0])) {
            server.refused(peer, head.path());
            return refuse(DENIED, 0);
        }
        authenticated = true;
        if (!server.table().authenticated(this, proved.caller().uid())) {
            return refuse(BACK_OFF, 0);
        }
        within(WRITE_MS);
        out.write(("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + head.header("upgrade")
                        + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        out.flush();
        // a stream may be silent for long, and back-pressure may hold it up: its handler has deadlines of its own
        deadlineNs = NONE;
        in.widen();
        streaming = true;
        Thread worker = Thread.currentThread();
        handler.handle(
                proved.caller(),
                new Frames(
                        new Ended(in),
                        out,
                        () -> {
                            closeNow();
                            if (Thread.currentThread() != worker) {
                                worker.interrupt();
                            }
                        },
                        peer));
        return false;
    }

    /** Readers of frames see a broken connection as its end. */
    private static final class Ended extends InputStream {
        private final SocketInput in;

        private Ended(SocketInput in) {
            this.in = in;
        }

        @Override
        public int read() {
            try {
                return in.read();
            } catch (IOException e) {
                return -1;
            }
        }

        @Override
        public int read(byte[] into, int from, int length) {
            try {
                return in.read(into, from, length);
            } catch (IOException e) {
                return -1;
            }
        }

        @Override
        public int available() {
            return in.available();
        }
    }
}
