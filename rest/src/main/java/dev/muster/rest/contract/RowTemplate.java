package dev.muster.rest.contract;

import dev.muster.cli.shape.Field;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * How rows of one table are written in the form of one schema, worked out once: what is the same in all of them, names
 * and marks included, is bytes already, and of the rest only the values are made anew. A row is 5 kB of which a tenth
 * is its own. Thread-safe.
 */
final class RowTemplate {
    /** Most encoded values that are kept of a field with few different values; further values are encoded each time. */
    private static final int FEW_MAX = 512;
    /** A number that stands for any: what is around it is what is around every number. */
    private static final long ANY = 1_234_567_891;

    private static final byte[] ANY_BYTES = Json.print(ANY);
    private static final byte[] NOTHING = {};

    private interface Part {
        void write(Json.Writer out, Json.Obj row);
    }

    private final List<Part> parts = new ArrayList<>();
    private final Json.Writer constant = new Json.Writer();

    private RowTemplate() {}

    static RowTemplate of(SchemaType kind, List<Field> table) {
        Map<String, Field> byName = new HashMap<>();
        table.forEach(f -> byName.put(f.name(), f));
        RowTemplate line = new RowTemplate();
        // those that a row may lack come last: the first one has no comma
        Map<SchemaType.Field, Field.Made> last = new LinkedHashMap<>();
        char separator = '{';
        for (SchemaType.Field field : kind.fields()) {
            Field from = byName.get(field.name());
            if (from instanceof Field.Made made) {
                last.put(field, made);
            } else if (from != null || field.required()) {
                line.constant.raw(separator).raw(field.key());
                line.field(field.kind(), from);
                separator = ',';
            }
        }
        if (separator == '{') {
            throw new IllegalArgumentException("a row without a field that is always there");
        }
        last.forEach(line::made);
        line.constant.raw('}');
        line.flush();
        return line;
    }

    void write(Json.Writer out, Json.Obj row) {
        for (Part part : parts) {
            part.write(out, row);
        }
    }

    private void flush() {
        byte[] bytes = constant.take();
        if (bytes.length > 0) {
            parts.add((out, row) -> out.raw(bytes));
        }
    }

    private void field(SchemaType kind, @Nullable Field from) {
        switch (from) {
            case null -> constant.raw(ResponseWriter.json(kind, null));
            case Field.Constant c -> constant.raw(ResponseWriter.json(kind, c.value()));
            case Field.Text t
            when kind.type().equals("string") && kind.words().isEmpty() -> {
                String name = t.from();
                flush();
                parts.add((out, row) -> out.text(row.text(name)));
            }
            case Field.Number n -> number(kind, n.form(), row -> row.number(n.from()));
            case Field.Counted n -> number(kind, n.form(), n.number());
            case Field.Flag f -> {
                byte[] yes = ResponseWriter.json(kind, Boolean.TRUE);
                byte[] no = ResponseWriter.json(kind, Boolean.FALSE);
                flush();
                parts.add((out, row) -> out.raw(row.flag(f.from()) ? yes : no));
            }
            case Field.Few f -> {
                Map<Object, byte[]> known = new ConcurrentHashMap<>();
                flush();
                parts.add((out, row) -> out.raw(few(known, f, kind, row)));
            }
            default -> {
                flush();
                parts.add((out, row) -> ResponseWriter.write(out, kind, from.of(row)));
            }
        }
    }

    private static byte[] few(Map<Object, byte[]> known, Field.Few f, SchemaType kind, Json.Obj row) {
        Object key = f.key().apply(row);
        byte[] there = known.get(key);
        if (there != null) {
            return there;
        }
        byte[] made = ResponseWriter.json(kind, f.value().apply(row));
        if (known.size() < FEW_MAX) {
            known.put(key, made);
        }
        return made;
    }

    private void number(SchemaType kind, Field.Form form, java.util.function.ToLongFunction<Json.Obj> number) {
        byte[] any = ResponseWriter.json(kind, form.of(ANY));
        int index = indexOf(any, ANY_BYTES);
        byte[] before = index < 0 ? any : Arrays.copyOf(any, index);
        byte[] after = index < 0 ? NOTHING : Arrays.copyOfRange(any, index + ANY_BYTES.length, any.length);
        byte[] zero = ResponseWriter.json(kind, form.of(0));
        byte[] below = form == Field.Form.LIMIT ? ResponseWriter.json(kind, form.of(-1)) : NOTHING;
        flush();
        parts.add((out, row) -> {
            long n = number.applyAsLong(row);
            if (n == 0) {
                out.raw(zero);
            } else if (n < 0 && below.length > 0) {
                out.raw(below);
            } else if (index < 0) {
                out.raw(before);
            } else {
                out.raw(before).number(n).raw(after);
            }
        });
    }

    private static int indexOf(byte[] all, byte[] part) {
        for (int i = 0; i + part.length <= all.length; i++) {
            if (Arrays.equals(all, i, i + part.length, part, 0, part.length)) {
                return i;
            }
        }
        return -1;
    }

    private void made(SchemaType.Field field, Field.Made from) {
        flush();
        parts.add((out, row) -> {
            Object value = from.of(row);
            if (value != null || field.required()) {
                out.raw(',').raw(field.key());
                ResponseWriter.write(out, field.kind(), value);
            }
        });
    }
}
