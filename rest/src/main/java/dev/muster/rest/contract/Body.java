package dev.muster.rest.contract;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Json;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's body by the schema of its version: kinds of values are converted where that is plain, fields that
 * the schema does not have are told and left out, and anything else is refused with its place.
 */
public final class Body {
    private static final int DEPTH_MAX = 40;
    private static final int WARNINGS_MAX = 100;
    private static final long UINT16_MAX = 0xFFFF;
    private static final long UINT32_MAX = 0xFFFF_FFFFL;
    /** The first number that is too large for a long. */
    private static final double LONG_END = 0x1p63;
    /** Larger numbers are named with an exponent. */
    private static final double PLAIN_END = 1e21;

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

    private @Nullable Object value(Json.Obj schema, @Nullable Object value, String at, int depth) throws RestException {
        Json.Obj s = contract.resolved(version, schema);
        String name = schema.text("$ref");
        if (depth > DEPTH_MAX) {
            throw RestException.unfit("Nested too deeply", at);
        }
        return switch (s.text("type")) {
            case "object" -> object(s, name, value, at, depth);
            case "array" -> array(s, value, at, depth);
            case "string" -> text(s, value, at);
            case "integer" -> whole(s, warnUnless(s, value instanceof Long, value, at), at);
            case "number" -> number(warnUnless(s, value instanceof Number, value, at), at);
            case "boolean" -> flag(warnUnless(s, value instanceof Boolean, value, at), at);
            default -> value;
        };
    }

    /** Reports a value of another type than the schema's, even if it can be converted. */
    private @Nullable Object warnUnless(Json.Obj s, boolean fits, @Nullable Object value, String at) {
        if (!fits && value != null) {
            String format = s.text("format").isEmpty() ? "" : " format=" + s.text("format");
            warn(
                    "Expected OpenAPI type=" + s.text("type") + format + " (Slurm type=" + slurmType(s.text("type"))
                            + ") but got OpenAPI type=" + type(value) + " (Slurm type=" + slurmType(type(value)) + "): "
                            + new String(Json.print(value), StandardCharsets.UTF_8),
                    at);
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
    private Object object(Json.Obj s, String name, @Nullable Object value, String at, int depth) throws RestException {
        Json.Obj known = s.obj("properties");
        boolean optional = known.has("set") && known.has("infinite") && known.has("number");
        if (optional && !(value instanceof Json.Obj)) {
            return optionalNumber(known.obj("number"), name, value, at);
        }
        if (!(value instanceof Json.Obj given)) {
            throw new RestException(
                    500,
                    RestException.NO_OBJECT,
                    "Data parser expected a dictionary or object",
                    "Rejecting " + slurmType(type(value)) + " when dictionary expected",
                    at);
        }
        if (!s.has("properties")) {
            return given;
        }
        Json.Obj out = fields(known, name, given, at, depth);
        requireFields(s, given, at);
        if (optional && out.has("number") && !out.has("set")) {
            out.put("set", !out.flag("infinite"));
        }
        return optional && out.has("number") && out.flag("set") && !out.flag("infinite")
                ? given(name, out.raw("number"), at + "number/")
                : out;
    }

    private Json.Obj fields(Json.Obj known, String name, Json.Obj given, String at, int depth) throws RestException {
        Json.Obj out = new Json.Obj();
        for (Map.Entry<String, Object> e : given.fields().entrySet()) {
            if (e.getValue() == null) {
                continue;
            }
            if (known.has(e.getKey())) {
                out.put(e.getKey(), value(known.obj(e.getKey()), e.getValue(), at + e.getKey() + "/", depth + 1));
            } else {
                warn(
                        "Ignoring unknown field \"" + e.getKey() + "\" of type " + slurmType(type(e.getValue()))
                                + (name.isEmpty() ? "" : " in DATA_PARSER_" + name.toUpperCase(Locale.ROOT)),
                        at + e.getKey() + "/");
            }
        }
        return out;
    }

    private static void requireFields(Json.Obj schema, Json.Obj given, String at) throws RestException {
        for (String needed : schema.texts("required")) {
            if (needed.indexOf('/') < 0 && given.raw(needed) == null) {
                throw new RestException(
                        422,
                        RestException.NO_PATH,
                        "Unable to resolve path",
                        "Missing required field '" + needed + "' in dictionary",
                        at + needed + "/");
            }
        }
    }

    private void warn(String sentence, String at) {
        if (warnings.size() < WARNINGS_MAX) {
            warnings.add(new String[] {sentence, at});
        }
    }

    private static Json.Obj optionalNumber(Json.Obj number, String name, @Nullable Object value, String at)
            throws RestException {
        boolean infinite =
                value instanceof String s && (s.equalsIgnoreCase("infinite") || s.equalsIgnoreCase("infinity"));
        boolean none = value == null || "".equals(value);
        if (!infinite && !none) {
            return given(
                    name, number.text("type").equals("integer") ? whole(number, value, at) : number(value, at), at);
        }
        return new Json.Obj().put("set", false).put("infinite", infinite).put("number", 0L);
    }

    /** Returns a number that is set, where it is not the type's NO_VAL or INFINITE, which clients may write out. */
    private static Json.Obj given(String name, @Nullable Object number, String at) throws RestException {
        boolean unset = false;
        boolean infinite = false;
        if (number instanceof Long n && name.contains("uint")) {
            long max = name.contains("uint16") ? UINT16_MAX : UINT32_MAX;
            boolean isSmall = !name.contains("uint64");
            if (n < 0 || isSmall && n > max) {
                throw outOfRange(n, at);
            }
            unset = isSmall && n == max - 1;
            infinite = isSmall && n == max;
        }
        return new Json.Obj()
                .put("set", !unset && !infinite)
                .put("infinite", infinite)
                .put("number", unset || infinite ? 0L : number);
    }

    private static RestException outOfRange(Number number, String at) {
        boolean isPlain = number instanceof Double d && Math.abs(d) < PLAIN_END;
        String digits = isPlain ? new BigDecimal(number.doubleValue()).toPlainString() : number.toString();
        return RestException.unfit("The number " + digits + " is out of range", at);
    }

    private static long whole(Json.Obj schema, @Nullable Object value, String at) throws RestException {
        Number number = number(value, at);
        if (number instanceof Double real && real != Math.rint(real)) {
            throw RestException.unfit("Expected OpenAPI type=integer but got a fraction: " + real, at);
        }
        long whole = number.longValue();
        boolean isTooLarge = Math.abs(number.doubleValue()) >= LONG_END
                || schema.text("format").equals("int32") && (whole < Integer.MIN_VALUE || whole > UINT32_MAX);
        if (isTooLarge) {
            throw outOfRange(number, at);
        }
        return whole;
    }

    private Object array(Json.Obj s, @Nullable Object value, String at, int depth) throws RestException {
        Json.Obj items = s.obj("items");
        List<?> given = switch (value) {
            case List<?> l -> l;
            case String text -> text.isEmpty() ? List.of() : List.of(text.split(","));
            case Json.Obj pairs when items.text("type").equals("string") -> pairs(pairs, at);
            case Json.Obj o ->
                throw new RestException(
                        500,
                        RestException.NO_LIST,
                        "Data parser expected a list",
                        "Expected List but found a dictionary",
                        at);
            case null -> List.of();
            default -> List.of(value);
        };
        warnUnless(s, value instanceof List<?>, value, at);
        List<Object> words = contract.resolved(version, items).list("enum");
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < given.size(); i++) {
            String place = RestException.element(at, i);
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
    private List<Object> pairs(Json.Obj given, String at) throws RestException {
        List<Object> out = new ArrayList<>();
        for (Map.Entry<String, Object> e : given.fields().entrySet()) {
            out.add(e.getKey() + "=" + text(new Json.Obj(), e.getValue(), at + e.getKey() + "/"));
        }
        return out;
    }

    private Object text(Json.Obj s, @Nullable Object value, String at) throws RestException {
        if (value instanceof Json.Obj || value instanceof List<?>) {
            if (value instanceof List<?> l && l.stream().allMatch(String.class::isInstance)) {
                return String.join(",", l.stream().map(String::valueOf).toList());
            }
            throw RestException.unfit("Expected OpenAPI type=string but got OpenAPI type=" + type(value), at);
        }
        return String.valueOf(s.text("type").isEmpty() ? value : warnUnless(s, value instanceof String, value, at));
    }

    private static Number number(@Nullable Object value, String at) throws RestException {
        return switch (value) {
            case Number n -> n;
            case Boolean b -> b ? 1L : 0L;
            case String s when s.strip().matches("[-+]?[0-9]{1,18}") -> Long.parseLong(s.strip());
            case String s when s.strip().matches("[-+]?[0-9]{1,18}[.][0-9]{1,18}") -> Double.parseDouble(s.strip());
            case null, default ->
                throw RestException.unfit("Expected OpenAPI type=number but got OpenAPI type=" + type(value), at);
        };
    }

    private static Boolean flag(@Nullable Object value, String at) throws RestException {
        return switch (value) {
            case Boolean b -> b;
            case Number n -> n.doubleValue() != 0;
            case String s when s.matches("(?i)true|yes|1|on") -> true;
            case String s when s.matches("(?i)false|no|0|off|") -> false;
            case null, default ->
                throw RestException.unfit("Expected OpenAPI type=boolean but got OpenAPI type=" + type(value), at);
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
