package dev.muster.rest.contract;

import dev.muster.rest.http.Http;
import dev.muster.rest.http.StartupException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * How answers are laid out: SLURMRESTD_JSON and SLURMRESTD_YAML, or SLURM_JSON and SLURM_YAML. What they say is the
 * same.
 */
public record Forms(boolean prettyJson, boolean compactYaml, boolean tags) {
    private static final String COMPACT = "compact";
    private static final String PRETTY = "pretty";
    /** The name of YAML without tags: no value says what it is. */
    private static final String NO_TAG = "no_tag";

    public static Forms read(Map<String, String> env) throws StartupException {
        return new Forms(
                is(env, "_JSON", COMPACT, PRETTY),
                is(env, "_YAML", PRETTY, COMPACT),
                Words.of(env.getOrDefault(variable(env, "_YAML"), "")).stream().noneMatch(NO_TAG::equalsIgnoreCase));
    }

    private static String variable(Map<String, String> env, String end) {
        return (env.containsKey("SLURMRESTD" + end) ? "SLURMRESTD" : "SLURM") + end;
    }

    private static boolean is(Map<String, String> env, String end, String usual, String other) throws StartupException {
        boolean found = false;
        String variable = variable(env, end);
        for (String word : Words.of(env.getOrDefault(variable, ""))) {
            if (end.equals("_YAML") && word.equalsIgnoreCase(NO_TAG)) {
                continue;
            }
            if (!word.equalsIgnoreCase(usual) && !word.equalsIgnoreCase(other)) {
                throw new StartupException("Unexpected value in " + variable + "=" + word);
            }
            found = word.equalsIgnoreCase(other);
        }
        return found;
    }

    private interface Finisher {
        void run() throws IOException;
    }

    /** An encoding stream, and the action at its end. */
    private record FilteredStream(OutputStream in, Finisher last) {}

    private interface Filter {
        FilteredStream to(OutputStream out) throws IOException;
    }

    /** The answer as it is to look. */
    public Http.Reply of(Http.Reply reply) {
        return prettyJson && reply.type().equals("application/json")
                ? filtered(reply, reply.type(), Forms::pretty)
                : reply;
    }

    /** An answer in JSON as one in YAML, which is no more in memory than it was. */
    public Http.Reply yaml(Http.Reply json) {
        return filtered(json, "application/yaml", compactYaml ? Forms::flow : this::blocks);
    }

    private static Http.Reply filtered(Http.Reply reply, String type, Filter filter) {
        Optional<Http.Written> written = reply.written().map(w -> new Http.Written() {
            @Override
            public void to(OutputStream out) throws IOException {
                FilteredStream through = filter.to(out);
                w.to(through.in());
                through.last().run();
            }

            @Override
            public void close() {
                w.close();
            }
        });
        return new Http.Reply(
                reply.status(),
                type,
                written.isPresent() ? reply.body() : all(reply.body(), filter),
                written,
                reply.headers());
    }

    private static byte[] all(byte[] json, Filter filter) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            FilteredStream through = filter.to(all);
            through.in().write(json, 0, json.length);
            through.last().run();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return all.toByteArray();
    }

    private static FilteredStream pretty(OutputStream out) {
        Pretty pretty = new Pretty(out);
        return new FilteredStream(pretty, pretty::flush);
    }

    private FilteredStream blocks(OutputStream out) {
        YamlTransform yaml = new YamlTransform(out, tags);
        return new FilteredStream(yaml, yaml::finish);
    }

    /** JSON is a document of YAML as it is. */
    private static FilteredStream flow(OutputStream out) throws IOException {
        out.write("--- ".getBytes(StandardCharsets.UTF_8));
        return new FilteredStream(out, () -> out.write("\n...\n".getBytes(StandardCharsets.UTF_8)));
    }

    /** Formats compact JSON with a line for each value. */
    static final class Pretty extends JsonTransform {
        private int depth;
        private boolean quoted;
        private boolean escaped;
        private boolean opened;

        Pretty(OutputStream out) {
            super(out);
        }

        @Override
        void take(byte b) throws IOException {
            if (quoted) {
                put(b);
                quoted = b != '"' || escaped;
                escaped = b == '\\' && !escaped;
                return;
            }
            if (opened && b != '}' && b != ']') {
                line();
            }
            boolean empty = opened;
            opened = b == '{' || b == '[';
            switch (b) {
                case '{', '[' -> {
                    put(b);
                    depth++;
                }
                case '}', ']' -> {
                    depth--;
                    if (!empty) {
                        line();
                    }
                    put(b);
                }
                case ',' -> {
                    put(b);
                    line();
                }
                case ':' -> {
                    put(b);
                    put((byte) ' ');
                }
                default -> {
                    quoted = b == '"';
                    put(b);
                }
            }
        }

        private void line() throws IOException {
            put((byte) '\n');
            for (int i = 0; i < depth; i++) {
                text("  ");
            }
        }
    }
}
