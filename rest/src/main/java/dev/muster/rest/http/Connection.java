package dev.muster.rest.http;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;

/** One connection from its first byte to its last. */
public final class Connection {
    private static final int BUFFER_BYTES = 16 << 10;

    private final RequestHandler handler;
    private final String source;
    private final Optional<Request.Peer> peer;
    private final Runnable streaming;
    private final boolean secure;
    private final Http.Bounds bounds;

    /**
     * @param source as answers name it
     * @param peer user and group of the caller, if the kernel tells them
     */
    public Connection(RequestHandler handler, String source, Optional<Request.Peer> peer) {
        this(handler, source, peer, false, () -> {}, Http.Bounds.NONE);
    }

    /**
     * @param secure it is encrypted
     * @param streaming run when the connection turns into a stream, which counts as none that is waited for
     */
    public Connection(
            RequestHandler handler,
            String source,
            Optional<Request.Peer> peer,
            boolean secure,
            Runnable streaming,
            Http.Bounds bounds) {
        this.bounds = bounds;
        this.secure = secure;
        this.streaming = streaming;
        this.handler = handler;
        this.source = source;
        this.peer = peer;
    }

    /**
     * Serves until the other side ends.
     *
     * @return false if what came was no HTTP
     */
    public boolean serve(InputStream in, OutputStream out) throws IOException {
        Http http = new Http(
                new BufferedInputStream(in, BUFFER_BYTES), new BufferedOutputStream(out, BUFFER_BYTES), bounds);
        while (true) {
            Optional<Request> request;
            try {
                request = http.next();
                bounds.read();
                if (secure) {
                    request.ifPresent(r -> r.headers().put(Request.SECURE, ""));
                }
            } catch (Http.Malformed e) {
                http.send(handler.malformed(e, source), false, false);
                return false;
            }
            if (request.isEmpty()) {
                return true;
            }
            Http.Reply reply = handler.answer(request.get(), source, peer);
            if (reply.isStream()) {
                streaming.run();
            }
            try {
                if (!http.send(
                        reply, request.get().keepAlive(), request.get().method().equals("HEAD"))) {
                    return true;
                }
            } finally {
                bounds.answered();
                reply.close();
            }
        }
    }
}
