package dev.muster.cli;

import dev.muster.model.HostList;
import dev.muster.model.Json;
import dev.muster.model.Release;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Trees for {@code --json} and {@code --yaml}: Slurm's number structures, the envelope, and the two ways to print. */
public final class Tree {
    /** The shapes are those of data parser v0.0.45. */
    static final String PARSER = "data_parser/v0.0.45";
    private static final String[] PARSERS = {"", "v0.0.45"};

    private Tree() {}

    public static Json.Obj number(long n) {
        return new Json.Obj().put("set", Boolean.TRUE).put("infinite", Boolean.FALSE).put("number", n);
    }

    static Json.Obj unset() {
        return new Json.Obj().put("set", Boolean.FALSE).put("infinite", Boolean.FALSE).put("number", 0L);
    }

    public static Json.Obj infinite() {
        return new Json.Obj().put("set", Boolean.FALSE).put("infinite", Boolean.TRUE).put("number", 0L);
    }

    /** 0 means not set. */
    static Json.Obj orUnset(long n) {
        return n == 0 ? unset() : number(n);
    }

    /** Minutes: -1 without a limit, 0 not set. */
    static Json.Obj limit(long n) {
        return n < 0 ? infinite() : orUnset(n);
    }

    static List<Object> texts(String... all) {
        List<Object> out = new ArrayList<>();
        for (String s : all) {
            out.add(s);
        }
        return out;
    }

    static List<Object> csv(String text) {
        return new ArrayList<>(Texts.split(text, ','));
    }

    static List<Object> hosts(String expression) {
        return switch (HostList.parse(expression)) {
            case HostList.Parsed.Ok ok -> new ArrayList<>(ok.list().names());
            case HostList.Parsed.Invalid bad -> List.of();
        };
    }

    static Json.Obj exit(Json.Obj e, boolean pending) {
        int signal = e.integer("signal");
        int code = e.integer("code");
        String status = pending ? "PENDING" : signal != 0 ? e.flag("core") ? "CORE_DUMPED" : "SIGNALED"
                : code != 0 ? "ERROR" : "SUCCESS";
        return new Json.Obj().put("status", texts(status)).put("return_code", number(code))
                .put("signal", new Json.Obj().put("id", orUnset(signal))
                        .put("name", signal == 0 ? "" : Signals.name(signal)));
    }

    /** Prints the answer with its envelope. @param parser what was written behind {@code --json=} */
    public static int print(CommandContext c, String form, String parser, Json.Obj answer) throws UsageException {
        boolean known = false;
        for (String p : PARSERS) {
            known |= p.equals(parser) || parser.startsWith(p + "+") && !p.isEmpty();
        }
        if (!known) {
            throw c.bad(1, "--" + form + "=" + parser + ": only data parser v0.0.45 is served");
        }
        Json.Obj slurm = new Json.Obj()
                .put("version", new Json.Obj().put("major", "26").put("micro", "3").put("minor", "05"))
                .put("release", Release.VERSION)
                .put("cluster", c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst());
        List<Object> command = texts(c.name());
        command.addAll(c.args());
        Json.Obj meta = new Json.Obj()
                .put("plugin", new Json.Obj().put("type", "").put("name", "").put("data_parser", PARSER)
                        .put("accounting_storage", ""))
                .put("client", new Json.Obj().put("source", "").put("user", c.host().userName(c.host().uid()))
                        .put("group", ""))
                .put("command", command).put("slurm", slurm);
        answer.put("meta", meta).put("errors", new ArrayList<Object>()).put("warnings", new ArrayList<Object>());
        if (form.equals("json")) {
            StringBuilder b = new StringBuilder();
            json(b, answer, 0);
            c.out().println(b.toString());
        } else {
            StringBuilder b = new StringBuilder("---\n");
            yaml(b, answer, 0);
            c.out().print(b.toString());
            c.out().println("...");
        }
        return 0;
    }

    private static void json(StringBuilder b, Object value, int depth) {
        if (value instanceof Json.Obj o && !o.fields().isEmpty()) {
            String sep = "{\n";
            for (Map.Entry<String, Object> e : o.fields().entrySet()) {
                b.append(sep).repeat(' ', 2 * depth + 2).append(scalar(e.getKey())).append(": ");
                json(b, e.getValue(), depth + 1);
                sep = ",\n";
            }
            b.append('\n').repeat(' ', 2 * depth).append('}');
        } else if (value instanceof List<?> l && !l.isEmpty()) {
            String sep = "[\n";
            for (Object v : l) {
                b.append(sep).repeat(' ', 2 * depth + 2);
                json(b, v, depth + 1);
                sep = ",\n";
            }
            b.append('\n').repeat(' ', 2 * depth).append(']');
        } else {
            b.append(scalar(value));
        }
    }

    private static String scalar(Object value) {
        return new String(Json.print(value), StandardCharsets.UTF_8);
    }

    private static void yaml(StringBuilder b, Object value, int depth) {
        if (value instanceof Json.Obj o) {
            for (Map.Entry<String, Object> e : o.fields().entrySet()) {
                b.repeat(' ', 2 * depth).append(e.getKey()).append(':');
                yamlValue(b, e.getValue(), depth);
            }
        } else if (value instanceof List<?> l) {
            for (Object v : l) {
                b.repeat(' ', 2 * depth).append('-');
                yamlValue(b, v, depth);
            }
        }
    }

    private static void yamlValue(StringBuilder b, Object v, int depth) {
        boolean nested = v instanceof Json.Obj o && !o.fields().isEmpty() || v instanceof List<?> l && !l.isEmpty();
        if (nested) {
            b.append('\n');
            yaml(b, v, depth + 1);
        } else {
            b.append(' ').append(scalar(v)).append('\n');
        }
    }
}
