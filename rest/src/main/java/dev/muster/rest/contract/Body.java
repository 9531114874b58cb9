package dev.muster.rest.contract;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's body by the schema of its version: types of values are converted where that is unambiguous, fields
 * that the schema lacks become warnings and are left out, and anything else is refused with its path.
 */
public final class Body {
    private static final int DEPTH_MAX = 40;
    private static final int WARNINGS_MAX = 100;

    private final Contract contract;
    private final int version;
    private final List<String[]> warnings = new ArrayList<>();

    public Body(Contract contract, int version) {
        this.contract = contract;
        this.version = version;
    }

    /** Sentence and place. */
    public List<String[]> warnings() {
        return warnings;
    }

    public Json.Obj read(String schema, @Nullable Object value) throws RestException {
        return (Json.Obj) requireNonNull(value(new Json.Obj().put("$ref", schema), value, "#/", 0), schema);
    }

    private @Nullable Object value(Json.Obj schema, @Nullable Object value, String path, int depth)
            throws RestException {
        Json.Obj step = contract.resolved(version, schema);
        String name = schema.text("$ref");
        if (depth > DEPTH_MAX) {
            throw RestException.unfit("Nested too deeply", path);
        }
        return switch (step.text("type")) {
            case "object" -> object(step, name, value, path, depth);
            case "array" -> array(step, value, path, depth);
            case "string" -> text(step, value, path);
            case "integer" ->
                number(warnUnless(step, value instanceof Number, value, path), path)
                        .longValue();
            case "number" -> number(warnUnless(step, value instanceof Number, value, path), path);
            case "boolean" -> flag(warnUnless(step, value instanceof Boolean, value, path), path);
            default -> value;
        };
    }

    /** Reports a value of another type than the schema's, even if it can be converted. */
    private @Nullable Object warnUnless(Json.Obj schema, boolean fits, @Nullable Object value, String path) {
        if (!fits && value != null) {
            String format = schema.text("format").isEmpty() ? "" : " format=" + schema.text("format");
            warn(
                    "Expected OpenAPI type=" + schema.text("type") + format + " (Slurm type="
                            + slurmType(schema.text("type"))
                            + ") but got OpenAPI type=" + type(value) + " (Slurm type=" + slurmType(type(value)) + "): "
                            + new String(Json.print(value), StandardCharsets.UTF_8),
                    path);
        }
        return value;
    }

    private static String slurmType(String type) {
        return switch (type) {
            case "object" -> "dictionary";
            case "array" -> "list";
            case "integer" -> "64 bit integer";
            case "number" -> "floating point number";
            default -> type;
        };
    }

    /** @param name name of the schema; "" if it has none */
    private Object object(Json.Obj schema, String name, @Nullable Object value, String path, int depth)
            throws RestException {
        Json.Obj known = schema.obj("properties");
        boolean optional = known.has("set") && known.has("infinite") && known.has("number");
        if (optional && !(value instanceof Json.Obj)) {
            return optionalNumber(value, path);
        }
        if (!(value instanceof Json.Obj given)) {
            throw new RestException(
                    500,
                    RestException.NO_OBJECT,
                    "Data parser expected a dictionary or object",
                    "Rejecting " + slurmType(type(value)) + " when dictionary expected",
                    path);
        }
        if (!schema.has("properties")) {
            return given;
        }
        Json.Obj out = new Json.Obj();
        for (Map.Entry<String, Object> entry : given.fields().entrySet()) {
            if (entry.getValue() == null) {
                continue;
            }
            if (known.has(entry.getKey())) {
                out.put(
                        entry.getKey(),
                        value(known.obj(entry.getKey()), entry.getValue(), path + entry.getKey() + "/", depth + 1));
            } else {
                warn(
                        "Ignoring unknown field \"" + entry.getKey() + "\" of type " + slurmType(type(entry.getValue()))
                                + (name.isEmpty() ? "" : " in DATA_PARSER_" + name.toUpperCase(Locale.ROOT)),
                        path + entry.getKey() + "/");
            }
        }
        requireFields(schema, given, path);
        if (optional && out.has("number") && !out.has("set")) {
            out.put("set", !out.flag("infinite"));
        }
        return out;
    }

    private static void requireFields(Json.Obj schema, Json.Obj given, String path) throws RestException {
        for (String needed : schema.texts("required")) {
            if (needed.indexOf('/') < 0 && given.raw(needed) == null) {
                throw new RestException(
                        422,
                        RestException.NO_PATH,
                        "Unable to resolve path",
                        "Missing required field '" + needed + "' in dictionary",
                        path + needed + "/");
            }
        }
    }

    private void warn(String sentence, String path) {
        if (warnings.size() < WARNINGS_MAX) {
            warnings.add(new String[] {sentence, path});
        }
    }

    private static Json.Obj optionalNumber(@Nullable Object value, String path) throws RestException {
        boolean infinite = value instanceof String schema
                && (schema.equalsIgnoreCase("infinite") || schema.equalsIgnoreCase("infinity"));
        boolean none = value == null || "".equals(value);
        return new Json.Obj()
                .put("set", !infinite && !none)
                .put("infinite", infinite)
                .put("number", infinite || none ? 0L : number(value, path));
    }

    private Object array(Json.Obj schema, @Nullable Object value, String path, int depth) throws RestException {
        Json.Obj items = schema.obj("items");
        List<?> given = switch (value) {
            case List<?> l -> l;
            case String text -> text.isEmpty() ? List.of() : List.of(text.split(","));
            case Json.Obj pairs when items.text("type").equals("string") -> pairs(pairs, path);
            case Json.Obj o ->
                throw new RestException(
                        500,
                        RestException.NO_LIST,
                        "Data parser expected a list",
                        "Expected List but found a dictionary",
                        path);
            case null -> List.of();
            default -> List.of(value);
        };
        warnUnless(schema, value instanceof List<?>, value, path);
        List<Object> words = contract.resolved(version, items).list("enum");
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            String place = RestException.element(path, i);
            Object item = value(items, given.get(i), place, depth + 1);
            boolean known = words.stream().anyMatch(w -> String.valueOf(w).equalsIgnoreCase(String.valueOf(item)));
            if (!words.isEmpty() && !known) {
                throw RestException.flag(String.valueOf(item), place);
            }
            out.add(
                    words.isEmpty()
                            ? item
                            : words.stream()
                                    .filter(w -> String.valueOf(w).equalsIgnoreCase(String.valueOf(item)))
                                    .findFirst()
                                    .orElse(item));
        }
        return out;
    }

    /**
     * Converts an environment object, {@code {"PATH":"/bin"}}, to the list form {@code PATH=/bin}. Early API versions
     * used objects.
     */
    private List<Object> pairs(Json.Obj given, String path) throws RestException {
        List<Object> out = new ArrayList<>();
        for (Map.Entry<String, Object> entry : given.fields().entrySet()) {
            out.add(entry.getKey() + "=" + text(new Json.Obj(), entry.getValue(), path + entry.getKey() + "/"));
        }
        return out;
    }

    private Object text(Json.Obj schema, @Nullable Object value, String path) throws RestException {
        if (value instanceof Json.Obj || value instanceof List<?>) {
            if (value instanceof List<?> l && l.stream().allMatch(String.class::isInstance)) {
                return String.join(",", l.stream().map(String::valueOf).toList());
            }
            throw RestException.unfit("Expected OpenAPI type=string but got OpenAPI type=" + type(value), path);
        }
        return String.valueOf(
                schema.text("type").isEmpty() ? value : warnUnless(schema, value instanceof String, value, path));
    }

    private static Number number(@Nullable Object value, String path) throws RestException {
        return switch (value) {
            case Number n -> n;
            case Boolean b -> b ? 1L : 0L;
            case String schema when schema.strip().matches("[-+]?[0-9]{1,18}") -> Long.parseLong(schema.strip());
            case String schema
            when schema.strip().matches("[-+]?[0-9]{1,18}[.][0-9]{1,18}") -> Double.parseDouble(schema.strip());
            case null, default ->
                throw RestException.unfit("Expected OpenAPI type=number but got OpenAPI type=" + type(value), path);
        };
    }

    private static Boolean flag(@Nullable Object value, String path) throws RestException {
        return switch (value) {
            case Boolean b -> b;
            case Number n -> n.doubleValue() != 0;
            case String schema when schema.matches("(?i)true|yes|1|on") -> true;
            case String schema when schema.matches("(?i)false|no|0|off|") -> false;
            case null, default ->
                throw RestException.unfit("Expected OpenAPI type=boolean but got OpenAPI type=" + type(value), path);
        };
    }

    private static String type(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case Json.Obj o -> "object";
            case List<?> l -> "array";
            case Boolean b -> "boolean";
            case Number n -> n instanceof Double ? "number" : "integer";
            default -> "string";
        };
    }
}
