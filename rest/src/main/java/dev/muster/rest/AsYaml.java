package dev.muster.rest;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Compact JSON that goes through becomes YAML: an object or a list, with a line for each value and two blanks more for each level; empty ones and
 * what has no parts are as in JSON.
 */
final class AsYaml extends Reshaped {
    private static final int DEPTH_MAX = 64;

    /** What the next byte belongs to. */
    private enum At {
        /** A value, or the end of what was opened just now. */
        FIRST,
        /** A value, or a key. */
        NEXT,
        KEY,
        COLON,
        VALUE,
        TEXT,
        WORD,
        AFTER
    }

    /** Of what is open, from the outside; true for a list. */
    private final boolean[] lists = new boolean[DEPTH_MAX + 1];
    private int depth;
    private At at = At.VALUE;
    private boolean escaped;

    AsYaml(OutputStream out) throws IOException {
        super(out);
        text("---");
    }

    @Override
    void take(byte b) throws IOException {
        switch (at) {
            case FIRST -> {
                if (b == '}' || b == ']') {
                    text(b == '}' ? " {}\n" : " []\n");
                    depth--;
                    at = At.AFTER;
                } else {
                    text("\n");
                    item(b);
                }
            }
            case NEXT -> item(b);
            case KEY -> {
                if (b == '"' && !escaped) {
                    at = At.COLON;
                } else {
                    put(b);
                }
                escaped = b == '\\' && !escaped;
            }
            case COLON -> {
                put(b);
                at = At.VALUE;
            }
            case VALUE -> value(b);
            case TEXT -> {
                put(b);
                if (b == '"' && !escaped) {
                    text("\n");
                    at = At.AFTER;
                }
                escaped = b == '\\' && !escaped;
            }
            case WORD -> {
                if (b == ',' || b == '}' || b == ']') {
                    text("\n");
                    after(b);
                } else {
                    put(b);
                }
            }
            case AFTER -> after(b);
        }
    }

    /** A line of what is open begins. */
    private void item(byte b) throws IOException {
        for (int i = 1; i < depth; i++) {
            text("  ");
        }
        if (lists[depth]) {
            text("-");
            value(b);
        } else {
            at = At.KEY;
            escaped = false;
        }
    }

    private void value(byte b) throws IOException {
        if (b == '{' || b == '[') {
            if (depth == DEPTH_MAX) {
                throw new IOException("an answer of more than " + DEPTH_MAX + " levels");
            }
            lists[++depth] = b == '[';
            at = At.FIRST;
            return;
        }
        put((byte) ' ');
        put(b);
        escaped = false;
        at = b == '"' ? At.TEXT : At.WORD;
    }

    private void after(byte b) {
        if (b == ',') {
            at = At.NEXT;
        } else {
            depth--;
            at = At.AFTER;
        }
    }

    /** The document is whole. */
    void finish() throws IOException {
        text("...\n");
        flush();
    }
}
