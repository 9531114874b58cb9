package dev.muster.controller.nodes;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.SharedLaunch;

/**
 * Encodes the launches of one step that go to each node directly, as a {@link NodeMessages.Relay} without further
 * nodes. The common part is encoded once, so that a node costs its own part and a copy. Thread-safe.
 */
public final class SharedLaunchEncoder {
    private final byte[] common;
    private final int nodes;

    public SharedLaunchEncoder(SharedLaunch launches) {
        common = Codec.encode(launches.common());
        nodes = launches.parts().size();
    }

    /** Returns the bytes of all launches together, without the parts of single nodes. */
    public long bytes() {
        return (long) common.length * nodes;
    }

    /** Returns the message of one node: the same as the encoded record. */
    public byte[] to(SharedLaunch.Part own) {
        Json.Writer out = new Json.Writer();
        out.raw("{\"type\":\"Relay\",\"width\":1,\"launches\":{\"common\":")
                .raw(common)
                .raw(",\"parts\":[");
        Codec.write(out, own);
        return out.raw("]}}").toByteArray();
    }
}
