package dev.muster.node;

import dev.muster.model.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Entries {@code name length\n<bytes>\n} of a launch specification. */
final class SpecWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(4096);

    SpecWriter put(String name, Bytes value) {
        byte[] bytes = value.toArray();
        out.writeBytes((name + " " + bytes.length + "\n").getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(bytes);
        out.write('\n');
        return this;
    }

    SpecWriter put(String name, String value) {
        return put(name, Bytes.of(value));
    }

    SpecWriter put(String name, long value) {
        return put(name, Long.toString(value));
    }

    SpecWriter putAll(String name, Iterable<Bytes> values) {
        for (Bytes value : values) {
            put(name, value);
        }
        return this;
    }

    byte[] bytes() {
        return out.toByteArray();
    }
}
