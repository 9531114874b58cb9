package dev.muster.node.step;

import dev.muster.json.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Entries {@code name length\n<bytes>\n} of a launch specification. */
public final class SpecWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(4096);

    public SpecWriter put(String name, Bytes value) {
        byte[] bytes = value.toArray();
        out.writeBytes((name + " " + bytes.length + "\n").getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(bytes);
        out.write('\n');
        return this;
    }

    public SpecWriter put(String name, String value) {
        return put(name, Bytes.of(value));
    }

    public SpecWriter put(String name, long value) {
        return put(name, Long.toString(value));
    }

    SpecWriter putAll(String name, Iterable<Bytes> values) {
        for (Bytes value : values) {
            put(name, value);
        }
        return this;
    }

    public byte[] bytes() {
        return out.toByteArray();
    }
}
