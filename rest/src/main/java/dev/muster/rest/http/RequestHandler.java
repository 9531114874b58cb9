package dev.muster.rest.http;

import java.util.Optional;

/** Answers the requests of connections. Thread-safe. */
public interface RequestHandler {
    /**
     * @param source the caller's address, as the log names it
     * @param peer of a connection over a socket file
     */
    Http.Reply answer(Request request, String source, Optional<Request.Peer> peer);

    /** Returns the answer to bytes that are no HTTP request. */
    Http.Reply malformed(Http.Malformed e, String source);
}
