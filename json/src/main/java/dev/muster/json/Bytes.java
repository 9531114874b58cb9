package dev.muster.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/**
 * An immutable byte string: arguments, environment entries, paths and scripts, which on Unix are bytes and not text.
 * Travels as base64 in JSON.
 */
public final class Bytes implements Comparable<Bytes> {
    public static final Bytes EMPTY = new Bytes(new byte[0]);
    private final byte[] content;

    private Bytes(byte[] content) {
        this.content = content;
    }

    public static Bytes of(byte[] content) {
        return content.length == 0 ? EMPTY : new Bytes(content.clone());
    }

    /** The UTF-8 bytes of a text. */
    public static Bytes of(String text) {
        return text.isEmpty() ? EMPTY : new Bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /** @throws IllegalArgumentException if the text is not base64 */
    public static Bytes fromBase64(String base64) {
        return base64.isEmpty() ? EMPTY : new Bytes(Base64.getDecoder().decode(base64));
    }

    public String base64() {
        return Base64.getEncoder().encodeToString(content);
    }

    public byte[] toArray() {
        return content.clone();
    }

    public int length() {
        return content.length;
    }

    public byte at(int index) {
        return content[index];
    }

    public boolean isEmpty() {
        return content.length == 0;
    }

    public boolean startsWith(Bytes head) {
        return content.length >= head.content.length
                && Arrays.equals(content, 0, head.content.length, head.content, 0, head.content.length);
    }

    /** Decoded as UTF-8, malformed input replaced: for display only. */
    public String text() {
        return new String(content, StandardCharsets.UTF_8);
    }

    @Override
    public int compareTo(Bytes other) {
        return Arrays.compareUnsigned(content, other.content);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes b && Arrays.equals(content, b.content);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(content);
    }

    @Override
    public String toString() {
        return text();
    }
}
