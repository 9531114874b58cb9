package dev.muster.cli.shape;

import dev.muster.cli.command.Signals;
import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.format.HostList;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Writes trees for {@code --json} and {@code --yaml}, with Slurm's number structures. */
public final class Tree {
    private Tree() {}

    /** The release in its parts, as the envelopes of answers have it. */
    public static Json.Obj release() {
        return new Json.Obj()
                .put("major", Release.MAJOR)
                .put("micro", Release.MICRO)
                .put("minor", Release.MINOR);
    }

    public static Json.Obj number(long n) {
        return new Json.Obj()
                .put("set", Boolean.TRUE)
                .put("infinite", Boolean.FALSE)
                .put("number", n);
    }

    public static Json.Obj unset() {
        return new Json.Obj()
                .put("set", Boolean.FALSE)
                .put("infinite", Boolean.FALSE)
                .put("number", 0L);
    }

    public static Json.Obj infinite() {
        return new Json.Obj()
                .put("set", Boolean.FALSE)
                .put("infinite", Boolean.TRUE)
                .put("number", 0L);
    }

    /** Parses a decimal number. */
    public static Json.Obj decimal(boolean set, double n) {
        return new Json.Obj().put("set", set).put("infinite", Boolean.FALSE).put("number", n);
    }

    /** 0 means not set. */
    public static Json.Obj orUnset(long n) {
        return n == 0 ? unset() : number(n);
    }

    /** Minutes: -1 without a limit, 0 not set. */
    public static Json.Obj limit(long n) {
        return n < 0 ? infinite() : orUnset(n);
    }

    public static List<Object> texts(String... all) {
        List<Object> out = new ArrayList<>();
        for (String text : all) {
            out.add(text);
        }
        return out;
    }

    public static List<Object> csv(String text) {
        return new ArrayList<>(Texts.split(text, ','));
    }

    public static List<Object> hosts(String expression) {
        return switch (HostList.parse(expression)) {
            case HostList.Parsed.Ok ok -> new ArrayList<>(ok.list().names());
            case HostList.Parsed.Invalid invalid -> List.of();
        };
    }

    /** Converts the exit status of a job or step; a success before its end. */
    public static Json.Obj exit(Json.Obj e) {
        int signal = e.integer("signal");
        int code = e.integer("code");
        String status;
        if (signal != 0) {
            if (e.flag("core")) {
                status = "CORE_DUMPED";
            } else {
                status = "SIGNALED";
            }
        } else if (code != 0) {
            status = "ERROR";
        } else {
            status = "SUCCESS";
        }

        return new Json.Obj()
                .put("status", texts(status))
                .put("return_code", signal != 0 ? unset() : number(code))
                .put(
                        "signal",
                        new Json.Obj().put("id", orUnset(signal)).put("name", signal == 0 ? "" : Signals.name(signal)));
    }

    /**
     * @param form json or yaml
     * @return the document with its last newline
     */
    public static String document(String form, Json.Obj answer) {
        StringBuilder text = new StringBuilder();
        document(form, answer, false, true, text::append);
        return text.toString();
    }

    /**
     * Writes the document of {@link #document(String, Json.Obj)} piece by piece: an {@link Iterable} in the answer may
     * make its elements while they are written.
     *
     * @param compact all in one line, which is YAML's flow style as well
     * @param tags of YAML that is not: each value says what it is
     */
    public static void document(String form, Json.Obj answer, boolean compact, boolean tags, Consumer<String> to) {
        Pieces pieces = new Pieces(to);
        if (compact) {
            pieces.text.append(form.equals("json") ? "" : "--- ");
            json(pieces, answer, COMPACT);
            pieces.text.append(form.equals("json") ? "\n" : "\n...\n");
        } else if (form.equals("json")) {
            json(pieces, answer, 0);
            pieces.text.append('\n');
        } else {
            YamlText yaml = new YamlText(pieces.text, tags);
            yaml(pieces, yaml, answer);
            yaml.end();
        }
        pieces.send(0);
    }

    /** Text that is written and not yet printed. */
    private static final class Pieces {
        private static final int PIECE = 1 << 15;
        private final StringBuilder text = new StringBuilder(2 * PIECE);
        private final Consumer<String> to;

        Pieces(Consumer<String> to) {
            this.to = to;
        }

        void send(int atLeast) {
            if (text.length() > atLeast) {
                to.accept(text.toString());
                text.setLength(0);
            }
        }
    }

    /** Stands in place of a depth: nothing begins a line of its own. */
    private static final int COMPACT = Integer.MIN_VALUE;

    private static StringBuilder line(StringBuilder text, int depth) {
        return depth < 0 ? text : text.append('\n').repeat(' ', 2 * depth);
    }

    private static void json(Pieces pieces, Object value, int depth) {
        StringBuilder text = pieces.text;
        if (value instanceof Json.Obj o) {
            if (o.fields().isEmpty()) {
                line(text.append('{'), depth).append('}');
                return;
            }
            char sep = '{';
            for (Map.Entry<String, Object> entry : o.fields().entrySet()) {
                line(text.append(sep), depth + 1);
                scalar(text, entry.getKey());
                text.append(depth < 0 ? ":" : ": ");
                json(pieces, entry.getValue(), depth + 1);
                sep = ',';
            }
            line(text, depth).append('}');
        } else if (value instanceof Iterable<?> l) {
            char sep = '[';
            for (Object v : l) {
                line(text.append(sep), depth + 1);
                json(pieces, v, depth + 1);
                sep = ',';
                pieces.send(Pieces.PIECE);
            }
            if (sep == '[') {
                text.append('[');
            }
            line(text, depth).append(']');
        } else {
            scalar(text, value);
        }
    }

    private static void scalar(StringBuilder out, Object value) {
        if (value instanceof String text) {
            out.append(
                    isPlain(text)
                            ? '"' + text + '"'
                            : new String(Json.print(text), StandardCharsets.UTF_8).replace("/", "\\/"));
        } else if (value instanceof Long || value instanceof Boolean) {
            out.append(value);
        } else {
            out.append(new String(Json.print(value), StandardCharsets.UTF_8));
        }
    }

    /** Returns whether the text needs no escapes between quotes. json-c escapes slashes as well. */
    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '/') {
                return false;
            }
        }
        return true;
    }

    private static void yaml(Pieces pieces, YamlText writer, Object value) {
        switch (value) {
            case Json.Obj o -> {
                writer.open(false);
                for (Map.Entry<String, Object> entry : o.fields().entrySet()) {
                    writer.key(entry.getKey());
                    yaml(pieces, writer, entry.getValue());
                }
                writer.close();
            }
            case Iterable<?> l -> {
                writer.open(true);
                for (Object v : l) {
                    yaml(pieces, writer, v);
                    pieces.send(Pieces.PIECE);
                }
                writer.close();
            }
            case String text -> writer.text(text);
            case Boolean b -> writer.truth(b);
            case null -> writer.nothing();
            default -> writer.number(new String(Json.print(value), StandardCharsets.UTF_8));
        }
    }
}
