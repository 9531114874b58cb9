package dev.muster.core.state;

import dev.muster.json.Codec;
import java.util.List;

/**
 * One journal entry: the records of one decision, applied together.
 *
 * @param tickMs cluster time: grows without jumps over restarts and leaders
 * @param timeMs wall time for people, milliseconds since 1970
 * @param uid the user whose command it was; -1 for the controller itself
 * @param cause the command's name
 */
public record Entry(long tickMs, long timeMs, int uid, String cause, List<Change> changes) {
    public byte[] encode() {
        return Codec.encode(this);
    }

    /** @throws dev.muster.json.Json.MalformedException if the bytes are not an entry or hold an unknown record type */
    public static Entry decode(byte[] bytes) {
        return Codec.decode(bytes, Entry.class);
    }
}
