package dev.muster.cli.shape;

import dev.muster.cli.Signals;
import dev.muster.cli.Texts;
import dev.muster.model.HostList;
import dev.muster.model.Json;
import dev.muster.model.Release;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Trees for {@code --json} and {@code --yaml}: Slurm's number structures, and the two ways to write them. */
public final class Tree {
    private Tree() {}

    /** The release in its parts, as the envelopes of answers have it. */
    public static Json.Obj release() {
        return new Json.Obj().put("major", Release.MAJOR).put("micro", Release.MICRO).put("minor", Release.MINOR);
    }

    public static Json.Obj number(long n) {
        return new Json.Obj().put("set", Boolean.TRUE).put("infinite", Boolean.FALSE).put("number", n);
    }

    public static Json.Obj unset() {
        return new Json.Obj().put("set", Boolean.FALSE).put("infinite", Boolean.FALSE).put("number", 0L);
    }

    public static Json.Obj infinite() {
        return new Json.Obj().put("set", Boolean.FALSE).put("infinite", Boolean.TRUE).put("number", 0L);
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
        for (String s : all) {
            out.add(s);
        }
        return out;
    }

    public static List<Object> csv(String text) {
        return new ArrayList<>(Texts.split(text, ','));
    }

    public static List<Object> hosts(String expression) {
        return switch (HostList.parse(expression)) {
            case HostList.Parsed.Ok ok -> new ArrayList<>(ok.list().names());
            case HostList.Parsed.Invalid bad -> List.of();
        };
    }

    public static Json.Obj exit(Json.Obj e, boolean pending) {
        int signal = e.integer("signal");
        int code = e.integer("code");
        String status = pending ? "PENDING" : signal != 0 ? e.flag("core") ? "CORE_DUMPED" : "SIGNALED"
                : code != 0 ? "ERROR" : "SUCCESS";
        return new Json.Obj().put("status", texts(status)).put("return_code", number(code))
                .put("signal", new Json.Obj().put("id", orUnset(signal))
                        .put("name", signal == 0 ? "" : Signals.name(signal)));
    }

    /** @param form json or yaml; @return the document with its last newline */
    public static String document(String form, Json.Obj answer) {
        StringBuilder b = new StringBuilder(form.equals("json") ? "" : "---\n");
        if (form.equals("json")) {
            json(b, answer, 0);
            return b.append('\n').toString();
        }
        yaml(b, answer, 0);
        return b.append("...\n").toString();
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
