package dev.muster.rest.contract;

import dev.muster.json.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes an answer, shaped as the newest version has it, in the form of its own version: what that does not know is
 * left out, what it wants and we have no value for is empty, and kinds of values are its own. Written at once and not
 * as a tree before: lists are long.
 */
public final class ResponseWriter {
    private static final int DEPTH_MAX = 40;
    /** Bytes that are handed on at a time. */
    static final int PIECE_BYTES = 60 << 10;
    /** Schemas and tables that rows are written by: a few lists in four versions, by cluster. */
    private static final int LINES_MAX = 128;

    private static final Map<Object, RowTemplate> LINES = new ConcurrentHashMap<>();

    private record Plan(SchemaType kind, String table) {}

    private final Json.Writer out;
    private final Optional<OutputStream> target;

    private ResponseWriter(Json.Writer out, Optional<OutputStream> target) {
        this.out = out;
        this.target = target;
    }

    public static byte[] json(SchemaType kind, @Nullable Object answer) {
        Json.Writer out = new Json.Writer();
        write(out, kind, answer);
        return out.take();
    }

    public static void write(Json.Writer out, SchemaType kind, @Nullable Object value) {
        new ResponseWriter(out, Optional.empty()).value(kind, value, 0);
    }

    /** Writes the answer in pieces, the last one included. */
    public static void write(OutputStream target, SchemaType kind, Json.Obj answer) throws IOException {
        Json.Writer out = new Json.Writer();
        try {
            new ResponseWriter(out, Optional.of(target)).value(kind, answer, 0);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        out.drain(target);
    }

    private void value(SchemaType kind, @Nullable Object value, int depth) {
        if (depth > DEPTH_MAX) {
            out.value(null);
            return;
        }
        switch (kind.type()) {
            case "object" -> object(kind, value instanceof Json.Obj o ? o : new Json.Obj(), depth);
            case "array" -> array(kind, value, depth);
            case "string" -> out.text(text(kind, value));
            case "integer" -> out.number(integer(value));
            case "number" -> out.value(value instanceof Number ? value : (Object) 0.0);
            case "boolean" -> out.value(value instanceof Boolean ? value : Boolean.FALSE);
            default -> out.value(value == null ? "" : value);
        }
    }

    private void object(SchemaType kind, Json.Obj value, int depth) {
        if (kind.open()) {
            out.value(value);
            return;
        }
        char separator = '{';
        for (SchemaType.Field field : kind.fields()) {
            Object there = value.raw(field.name());
            Object raw = there == null && field.required() ? below(value, field.name()) : there;
            if (raw != null || field.required()) {
                out.raw(separator).raw(field.key());
                value(field.kind(), raw, depth + 1);
                separator = ',';
            }
        }
        out.raw(separator == '{' ? "{}" : "}");
    }

    /** The value to which a name with slashes leads. */
    private static @Nullable Object below(Json.Obj value, String name) {
        int slash = name.indexOf('/');
        if (slash < 0) {
            return null;
        }
        Json.Obj part = value.obj(name.substring(0, slash));
        Object there = part.raw(name.substring(slash + 1));
        return there != null ? there : below(part, name.substring(slash + 1));
    }

    private void listing(SchemaType kind, Listing listing) {
        Plan plan = new Plan(kind.items(), listing.key());
        RowTemplate line = LINES.get(plan);
        if (line == null) {
            line = RowTemplate.of(kind.items(), listing.table());
            if (LINES.size() < LINES_MAX) {
                LINES.put(plan, line);
            }
        }
        RowTemplate plain = line;
        boolean[] any = {false};
        listing.rows().each(row -> {
            out.raw(any[0] ? ',' : '[');
            any[0] = true;
            plain.write(out, row);
            piece();
        });
        out.raw(any[0] ? "]" : "[]");
    }

    private void made(SchemaType kind, LazyList made, int depth) {
        boolean[] any = {false};
        made.each(element -> {
            out.raw(any[0] ? ',' : '[');
            any[0] = true;
            value(kind.items(), element, depth + 1);
            piece();
        });
        out.raw(any[0] ? "]" : "[]");
    }

    private void piece() {
        if (target.isPresent() && out.size() >= PIECE_BYTES) {
            try {
                out.drain(target.get());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void array(SchemaType kind, @Nullable Object value, int depth) {
        if (value instanceof Listing listing) {
            listing(kind, listing);
            return;
        }
        if (value instanceof LazyList made) {
            made(kind, made, depth);
            return;
        }
        List<?> given;
        if (value instanceof List<?> l) {
            given = l;
        } else if (value == null || "".equals(value)) {
            given = List.of();
        } else {
            given = List.of(value);
        }

        char separator = '[';
        for (Object item : given) {
            if (kind.items().takes(item)) {
                out.raw(separator);
                value(kind.items(), item, depth + 1);
                separator = ',';
            }
        }
        out.raw(separator == '[' ? "[]" : "]");
    }

    private static String text(SchemaType kind, @Nullable Object value) {
        String text = switch (value) {
            case null -> "";
            case String s -> s;
            case List<?> l -> String.join(",", l.stream().map(String::valueOf).toList());
            case Json.Obj o -> o.has("number") ? String.valueOf(o.raw("number")) : "";
            default -> String.valueOf(value);
        };
        return kind.takes(text) ? text : String.valueOf(kind.words().getFirst());
    }

    private static long integer(@Nullable Object value) {
        return switch (value) {
            case Number n -> n.longValue();
            case Boolean b -> b ? 1L : 0L;
            case String text when text.matches("-?[0-9]{1,18}") -> Long.parseLong(text);
            case Json.Obj o -> o.number("number");
            case null, default -> 0L;
        };
    }
}
