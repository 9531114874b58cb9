package dev.muster.rest.contract;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.shape.YamlText;
import dev.muster.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Compact JSON goes in, byte by byte, and comes out as YAML. Of the answer no more is kept than the value that is being
 * read.
 */
final class YamlTransform extends JsonTransform {
    private static final int DEPTH_MAX = 64;

    private final StringBuilder text = new StringBuilder();
    private final YamlText yaml;
    private final ByteArrayOutputStream value = new ByteArrayOutputStream();
    /** Open collections from the outside in; true for a list. */
    private final boolean[] lists = new boolean[DEPTH_MAX + 1];

    private int depth;
    private boolean quoted;
    private boolean escaped;

    /** @param tags whether each value says what it is */
    YamlTransform(OutputStream out, boolean tags) {
        super(out);
        yaml = new YamlText(text, tags);
    }

    @Override
    void take(byte b) throws IOException {
        if (quoted) {
            value.write(b);
            quoted = b != '"' || escaped;
            escaped = b == '\\' && !escaped;
            return;
        }
        switch (b) {
            case '{', '[' -> {
                if (depth == DEPTH_MAX) {
                    throw new IOException("an answer of more than " + DEPTH_MAX + " levels");
                }
                lists[++depth] = b == '[';
                yaml.open(b == '[');
            }
            case '}', ']' -> {
                whole();
                depth--;
                yaml.close();
            }
            case ',' -> {
                whole();
            }
            case ':' -> {
                yaml.key((String) requireNonNull(read(), "a key is a text"));
            }
            default -> {
                value.write(b);
                quoted = b == '"';
            }
        }
        text(text.toString());
        text.setLength(0);
    }

    private @Nullable Object read() {
        Object read = Json.parse(value.toByteArray());
        value.reset();
        return read;
    }

    /** A value has its end, if one was begun. */
    private void whole() {
        if (value.size() == 0) {
            return;
        }
        String raw = value.toString(java.nio.charset.StandardCharsets.US_ASCII);
        switch (read()) {
            case String text -> yaml.text(text);
            case Boolean truth -> yaml.truth(truth);
            case null -> yaml.nothing();
            default -> yaml.number(raw);
        }
    }

    /** The document is whole. */
    void finish() throws IOException {
        whole();
        yaml.end();
        text(text.toString());
        flush();
    }
}
