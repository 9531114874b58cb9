package dev.muster.core.command;

import dev.muster.core.state.AnsweredRequest;
import dev.muster.core.state.Change;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rules of all requests: a request that is sent again gets its first answer, and a content is stored once. */
public final class Requests {
    private Requests() {}

    /**
     * Returns the answer that this request got before.
     *
     * @param requestId "" for one that has no name: it is never the same
     */
    public static Optional<Bytes> answered(State state, String requestId, int uid) {
        return requestId.isEmpty()
                ? Optional.empty()
                : state.answers().find(requestId).filter(a -> a.uid() == uid).map(AnsweredRequest::reply);
    }

    public static void remember(List<Change> changes, String requestId, int uid, Bytes reply) {
        if (!requestId.isEmpty()) {
            changes.add(new Change.Answered(requestId, uid, reply));
        }
    }

    /** Returns the records for the contents, by their hashes, that are not kept yet. */
    public static List<Change> stored(State state, Map<String, Bytes> contents) {
        return contents.entrySet().stream()
                .filter(e -> !e.getKey().isEmpty() && !state.blobs().has(e.getKey()))
                .<Change>map(e -> new Change.BlobStored(e.getKey(), e.getValue()))
                .toList();
    }
}
