package dev.muster.json;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The shapes of everything but records, see {@link RecordAdapter}. */
final class JsonAdapters {
    private JsonAdapters() {}

    static Json.MalformedException misfit(String wanted, @Nullable Object tree) {
        return new Json.MalformedException("expected " + wanted + ", found "
                + (tree == null ? "null" : tree.getClass().getSimpleName()));
    }

    /**
     * The empty value that a type declares, if it declares one. Looked up once for each type, because a failed look-up
     * is slow.
     */
    private static final ClassValue<Optional<Object>> NONES = new ClassValue<>() {
        @Override
        protected Optional<Object> computeValue(Class<?> type) {
            try {
                Field field = type.getField("NONE");
                return Modifier.isStatic(field.getModifiers())
                        ? Optional.ofNullable(field.get(null))
                        : Optional.empty();
            } catch (NoSuchFieldException e) {
                return Optional.empty();
            } catch (IllegalAccessException e) {
                throw new IllegalArgumentException(type + ".NONE is not readable", e);
            }
        }
    };

    static Object constantNone(Class<?> type, Supplier<Object> otherwise) {
        return NONES.get(type).orElseGet(otherwise);
    }

    record Text() implements JsonAdapter {
        @Override
        public void write(Json.Writer out, Object value) {
            out.text((String) value);
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (tree instanceof String text) {
                return text;
            }
            throw misfit("a string", tree);
        }

        @Override
        public Object read(JsonReader in) {
            return in.text();
        }

        @Override
        public Object absent() {
            return "";
        }
    }

    record Whole(boolean narrow) implements JsonAdapter {
        @Override
        public void write(Json.Writer out, Object value) {
            out.number(((Number) value).longValue());
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (!(tree instanceof Long n)) {
                throw misfit("a whole number", tree);
            }
            if (!narrow) {
                return n;
            }
            if (n != n.intValue()) {
                throw misfit("a 32-bit number", tree);
            }
            return n.intValue();
        }

        @Override
        public Object read(JsonReader in) {
            return narrow ? (Object) in.whole() : (Object) in.wholeLong();
        }

        @Override
        public Object absent() {
            return narrow ? (Object) 0 : (Object) 0L;
        }
    }

    record Real() implements JsonAdapter {
        @Override
        public void write(Json.Writer out, Object value) {
            out.value(value);
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (tree instanceof Number n) {
                return n.doubleValue();
            }
            throw misfit("a number", tree);
        }

        @Override
        public Object read(JsonReader in) {
            return in.real();
        }

        @Override
        public Object absent() {
            return 0.0;
        }
    }

    record Flag() implements JsonAdapter {
        @Override
        public void write(Json.Writer out, Object value) {
            out.raw((Boolean) value ? "true" : "false");
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (tree instanceof Boolean b) {
                return b;
            }
            throw misfit("true or false", tree);
        }

        @Override
        public Object read(JsonReader in) {
            return in.flag();
        }

        @Override
        public Object absent() {
            return Boolean.FALSE;
        }
    }

    record Raw() implements JsonAdapter {
        @Override
        public void write(Json.Writer out, Object value) {
            out.text(((Bytes) value).base64());
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (tree instanceof String text) {
                try {
                    return Bytes.fromBase64(text);
                } catch (IllegalArgumentException e) {
                    throw new Json.MalformedException("bad base64");
                }
            }
            throw misfit("base64", tree);
        }

        @Override
        public Object read(JsonReader in) {
            return Bytes.fromBase64(in.text());
        }

        @Override
        public Object absent() {
            return Bytes.EMPTY;
        }
    }

    record Tree() implements JsonAdapter {
        @Override
        public void write(Json.Writer out, Object value) {
            out.value(value);
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (tree instanceof Json.Obj o) {
                return o;
            }
            throw misfit("an object", tree);
        }

        @Override
        public Object read(JsonReader in) {
            return read(in.tree());
        }

        @Override
        public Object absent() {
            return new Json.Obj();
        }
    }

    static final class Words implements JsonAdapter {
        private final Map<String, Object> byName = new HashMap<>();
        private final Object first;
        private final String expected;

        Words(Class<?> type) {
            Object[] constants = type.getEnumConstants();
            for (Object constant : constants) {
                byName.put(((Enum<?>) constant).name(), constant);
            }
            first = constants[0];
            expected = type.getSimpleName();
        }

        @Override
        public void write(Json.Writer out, Object value) {
            out.text(((Enum<?>) value).name());
        }

        @Override
        public Object read(@Nullable Object tree) {
            Object value = tree instanceof String text ? byName.get(text) : null;
            if (value == null) {
                throw new Json.MalformedException("unknown " + expected + " " + tree);
            }
            return value;
        }

        @Override
        public Object read(JsonReader in) {
            return read((Object) in.text());
        }

        @Override
        public Object absent() {
            return first;
        }
    }

    static final class Parsed implements JsonAdapter {
        private final MethodHandle parse;
        private final Class<?> type;
        private @Nullable Object none;

        Parsed(Class<?> c) {
            type = c;
            try {
                Method method = c.getMethod("parse", String.class);
                parse = MethodHandles.publicLookup().unreflect(method);
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException("no JSON form for " + c, e);
            }
        }

        @Override
        public void write(Json.Writer out, Object value) {
            out.text(value.toString());
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (!(tree instanceof String text)) {
                throw misfit("a " + type.getSimpleName(), tree);
            }
            try {
                return parse.invoke(text);
            } catch (Throwable e) {
                throw new Json.MalformedException("bad " + type.getSimpleName() + ": " + e.getMessage());
            }
        }

        @Override
        public Object read(JsonReader in) {
            return read((Object) in.text());
        }

        @Override
        public Object absent() {
            if (none == null) {
                none = constantNone(type, () -> read((Object) ""));
            }
            return none;
        }
    }

    /** Values of one type. */
    abstract static class Several implements JsonAdapter {
        private final Type elementType;
        private @Nullable JsonAdapter element;

        Several(Type elementType) {
            this.elementType = elementType;
        }

        /** Not from the first: a type may hold itself. */
        final JsonAdapter element() {
            if (element == null) {
                element = JsonAdapter.of(elementType);
            }
            return element;
        }
    }

    static final class Lists extends Several {
        Lists(Type elementType) {
            super(elementType);
        }

        @Override
        public Optional<String> unknown(@Nullable Object tree) {
            return tree instanceof List<?> list
                    ? list.stream()
                            .flatMap(item -> element().unknown(item).stream())
                            .findFirst()
                    : Optional.empty();
        }

        @Override
        public void write(Json.Writer out, Object value) {
            char separator = '[';
            for (Object item : (List<?>) value) {
                out.raw(separator);
                element().write(out, item);
                separator = ',';
            }
            out.raw(separator == '[' ? "[]" : "]");
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (!(tree instanceof List<?> list)) {
                throw misfit("a list", tree);
            }
            List<Object> out = new ArrayList<>(list.size());
            for (Object item : list) {
                out.add(element().read(item));
            }
            return Collections.unmodifiableList(out);
        }

        @Override
        public Object read(JsonReader in) {
            JsonAdapter each = element();
            boolean more = in.firstOfList();
            List<Object> out = new ArrayList<>(more ? 4 : 0);
            while (more) {
                out.add(each.read(in));
                more = in.nextOfList();
            }
            return Collections.unmodifiableList(out);
        }

        @Override
        public Object absent() {
            return List.of();
        }

        @Override
        public boolean isAbsent(Object value) {
            return value == null || ((List<?>) value).isEmpty();
        }
    }

    static final class Maps extends Several {
        Maps(Type valueType) {
            super(valueType);
        }

        @Override
        public Optional<String> unknown(@Nullable Object tree) {
            return tree instanceof Json.Obj object
                    ? object.fields().values().stream()
                            .flatMap(v -> element().unknown(v).stream())
                            .findFirst()
                    : Optional.empty();
        }

        @Override
        public void write(Json.Writer out, Object value) {
            char separator = '{';
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.raw(separator).text((String) entry.getKey()).raw(':');
                element().write(out, entry.getValue());
                separator = ',';
            }
            out.raw(separator == '{' ? "{}" : "}");
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (!(tree instanceof Json.Obj object)) {
                throw misfit("an object", tree);
            }
            TreeMap<String, Object> out = new TreeMap<>();
            for (Map.Entry<String, Object> entry : object.fields().entrySet()) {
                out.put(entry.getKey(), element().read(entry.getValue()));
            }
            return Collections.unmodifiableSortedMap(out);
        }

        @Override
        public Object read(JsonReader in) {
            JsonAdapter each = element();
            TreeMap<String, Object> out = new TreeMap<>();
            for (String name = in.firstName(); name != null; name = in.nextName()) {
                out.put(name, each.read(in));
            }
            return Collections.unmodifiableSortedMap(out);
        }

        @Override
        public Object absent() {
            return Collections.emptySortedMap();
        }

        @Override
        public boolean isAbsent(Object value) {
            return value == null || ((Map<?, ?>) value).isEmpty();
        }
    }

    /** Implementations of {@link NamedTexts}. */
    static final class Texts implements JsonAdapter {
        private final Maps map = new Maps(String.class);
        private final Class<?> type;
        private final MethodHandle of;
        private @Nullable Object none;

        Texts(Class<?> c) {
            type = c;
            try {
                of = MethodHandles.publicLookup().unreflect(c.getMethod("of", Map.class));
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException("no JSON form for " + c, e);
            }
        }

        @Override
        public void write(Json.Writer out, Object value) {
            map.write(out, ((NamedTexts) value).texts());
        }

        @Override
        public Object read(@Nullable Object tree) {
            return value(map.read(tree));
        }

        @Override
        public Object read(JsonReader in) {
            return value(map.read(in));
        }

        private Object value(Object texts) {
            try {
                return of.invoke(texts);
            } catch (Throwable e) {
                throw new Json.MalformedException("bad " + type.getSimpleName() + ": " + e.getMessage());
            }
        }

        @Override
        public Object absent() {
            if (none == null) {
                none = value(map.absent());
            }
            return none;
        }

        @Override
        public boolean isAbsent(Object value) {
            return value == null || ((NamedTexts) value).texts().isEmpty();
        }
    }

    static final class Sealed implements JsonAdapter {
        private final Map<String, Class<?>> byName = new HashMap<>();
        /** Adapters of the types that have been used. */
        private final Map<String, RecordAdapter> shapes = new ConcurrentHashMap<>();

        private final Class<?> type;

        Sealed(Class<?> type) {
            this.type = type;
            collect(type);
        }

        private void collect(Class<?> sealed) {
            for (Class<?> type : sealed.getPermittedSubclasses()) {
                if (type.isSealed()) {
                    collect(type);
                } else {
                    byName.put(type.getSimpleName(), type);
                }
            }
        }

        @Override
        public void write(Json.Writer out, Object value) {
            ((RecordAdapter) JsonAdapter.of(value.getClass())).writeTyped(out, value);
        }

        @Override
        public Object read(@Nullable Object tree) {
            if (!(tree instanceof Json.Obj object)) {
                throw misfit("an object", tree);
            }
            Class<?> c = byName.get(object.text("type"));
            if (c == null) {
                throw new Json.MalformedException(
                        "unknown " + type.getSimpleName() + " \"" + object.text("type") + "\"");
            }
            return JsonAdapter.of(c).read(tree);
        }

        @Override
        public Object read(JsonReader in) {
            String name = in.type();
            RecordAdapter shape = shapes.get(name);
            if (shape == null) {
                shape = (RecordAdapter) JsonAdapter.of(requireNonNull(byName.get(name), "unknown type"));
                shapes.put(name, shape);
            }
            return shape.readAfterType(in);
        }

        @Override
        public Object absent() {
            return constantNone(type, () -> null);
        }
    }
}
