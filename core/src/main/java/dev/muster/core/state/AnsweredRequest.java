package dev.muster.core.state;

import dev.muster.json.Bytes;

/**
 * The answer to a request, remembered so that the request may be sent again.
 *
 * @param uid of the caller that sent the request
 * @param tickMs when it was answered, on the clock that limits follow
 */
public record AnsweredRequest(int uid, long tickMs, Bytes reply) {}
