package dev.muster.model;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records to JSON and back by their components; the rules are in {@code docs/contracts.md}: defaults are not written, absent
 * fields read as defaults, unknown fields are skipped, sealed interfaces carry {@code "type"}.
 *
 * <p>Kinds of component: int, long, double, boolean, String, enum, {@link Bytes}, records, sealed interfaces of records, List, Map with String
 * keys (read back sorted), and any class with a static {@code parse(String)} whose {@code toString()} is its inverse.
 * A record's default is its static field {@code NONE} if it has one, else the record of all defaults.
 */
public final class Codec {
    private static final Map<Type, Shape> SHAPES = new ConcurrentHashMap<>();

    private Codec() {}

    public static byte[] encode(Object record) {
        Json.Writer out = new Json.Writer();
        write(out, record);
        return out.toByteArray();
    }

    /** Encodes with the {@code "type"} field of the given sealed interface. */
    public static byte[] encode(Object record, Class<?> sealed) {
        Json.Writer out = new Json.Writer();
        shape(sealed).write(out, record);
        return out.toByteArray();
    }

    public static void write(Json.Writer out, Object record) {
        shape(record.getClass()).write(out, record);
    }

    /** Writes only the named components of a record. */
    public static void writeFields(Json.Writer out, Object record, Set<String> fields) {
        RecordShape shape = (RecordShape) shape(record.getClass());
        shape.write(out, record, "", shape.places(fields));
    }

    /** Chosen components of a record type: what a bulk read moves, found once for all rows. @param fields empty for all; unknown names are none */
    public static Columns columns(Class<? extends Record> type, Set<String> fields) {
        RecordShape shape = (RecordShape) shape(type);
        return new Columns(shape, fields.isEmpty() ? shape.all() : shape.places(fields));
    }

    /** Of {@link #columns}. */
    public static final class Columns {
        private final RecordShape shape;
        private final int[] places;

        private Columns(RecordShape shape, int[] places) {
            this.shape = shape;
            this.places = places;
        }

        public void write(Json.Writer out, Record row) {
            shape.write(out, row, "", places);
        }
    }

    /** @throws Json.MalformedException if the bytes are not such a value */
    public static <T> T decode(byte[] json, Class<T> type) {
        return bind(Json.parse(json), type);
    }

    /** @throws Json.MalformedException if the tree does not fit the type */
    public static <T> T bind(Object tree, Class<T> type) {
        return type.cast(shape(type).read(tree));
    }

    private static Shape shape(Type type) {
        Shape known = SHAPES.get(type);
        if (known != null) {
            return known;
        }
        Shape made = make(type);
        Shape earlier = SHAPES.putIfAbsent(type, made);
        return earlier == null ? made : earlier;
    }

    private static Json.MalformedException misfit(String wanted, Object tree) {
        return new Json.MalformedException(
                "expected " + wanted + ", found " + (tree == null ? "null" : tree.getClass().getSimpleName()));
    }

    private interface Shape {
        void write(Json.Writer out, Object value);

        Object read(Object tree);

        Object absent();

        default boolean isAbsent(Object value) {
            return value == null || value.equals(absent());
        }
    }

    private static Shape make(Type type) {
        if (type instanceof ParameterizedType p) {
            Type[] arguments = p.getActualTypeArguments();
            if (p.getRawType() == List.class) {
                return new ListShape(arguments[0]);
            }
            if (Map.class.isAssignableFrom((Class<?>) p.getRawType())) {
                return new MapShape(arguments[1]);
            }
        }
        if (!(type instanceof Class<?> c)) {
            throw new IllegalArgumentException("no JSON form for " + type);
        }
        if (c == String.class) {
            return new TextShape();
        }
        if (c == int.class || c == Integer.class || c == long.class || c == Long.class) {
            return new NumberShape(c == int.class || c == Integer.class);
        }
        if (c == double.class || c == Double.class) {
            return new RealShape();
        }
        if (c == boolean.class || c == Boolean.class) {
            return new FlagShape();
        }
        if (c == Bytes.class) {
            return new BytesShape();
        }
        if (c == Json.Obj.class) {
            return new TreeShape();
        }
        if (c.isEnum()) {
            return new EnumShape(c);
        }
        if (c.isRecord()) {
            return new RecordShape(c);
        }
        if (c.isSealed()) {
            return new SealedShape(c);
        }
        return new ParsedShape(c);
    }

    private record TextShape() implements Shape {
        public void write(Json.Writer out, Object value) {
            out.text((String) value);
        }

        public Object read(Object tree) {
            if (tree instanceof String s) {
                return s;
            }
            throw misfit("a string", tree);
        }

        public Object absent() {
            return "";
        }
    }

    private record NumberShape(boolean narrow) implements Shape {
        public void write(Json.Writer out, Object value) {
            out.number(((Number) value).longValue());
        }

        public Object read(Object tree) {
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

        public Object absent() {
            return narrow ? (Object) 0 : (Object) 0L;
        }
    }

    private record RealShape() implements Shape {
        public void write(Json.Writer out, Object value) {
            out.value(value);
        }

        public Object read(Object tree) {
            if (tree instanceof Number n) {
                return n.doubleValue();
            }
            throw misfit("a number", tree);
        }

        public Object absent() {
            return 0.0;
        }
    }

    private record FlagShape() implements Shape {
        public void write(Json.Writer out, Object value) {
            out.raw((Boolean) value ? "true" : "false");
        }

        public Object read(Object tree) {
            if (tree instanceof Boolean b) {
                return b;
            }
            throw misfit("true or false", tree);
        }

        public Object absent() {
            return Boolean.FALSE;
        }
    }

    private record BytesShape() implements Shape {
        public void write(Json.Writer out, Object value) {
            out.text(((Bytes) value).base64());
        }

        public Object read(Object tree) {
            if (tree instanceof String s) {
                try {
                    return Bytes.fromBase64(s);
                } catch (IllegalArgumentException e) {
                    throw new Json.MalformedException("bad base64");
                }
            }
            throw misfit("base64", tree);
        }

        public Object absent() {
            return Bytes.EMPTY;
        }
    }

    private record TreeShape() implements Shape {
        public void write(Json.Writer out, Object value) {
            out.value(value);
        }

        public Object read(Object tree) {
            if (tree instanceof Json.Obj o) {
                return o;
            }
            throw misfit("an object", tree);
        }

        public Object absent() {
            return new Json.Obj();
        }
    }

    private static final class EnumShape implements Shape {
        private final Map<String, Object> byName = new TreeMap<>();
        private final Object first;
        private final String what;

        EnumShape(Class<?> c) {
            Object[] constants = c.getEnumConstants();
            for (Object constant : constants) {
                byName.put(((Enum<?>) constant).name(), constant);
            }
            first = constants[0];
            what = c.getSimpleName();
        }

        public void write(Json.Writer out, Object value) {
            out.text(((Enum<?>) value).name());
        }

        public Object read(Object tree) {
            Object value = tree instanceof String s ? byName.get(s) : null;
            if (value == null) {
                throw new Json.MalformedException("unknown " + what + " " + tree);
            }
            return value;
        }

        public Object absent() {
            return first;
        }
    }

    private static final class ParsedShape implements Shape {
        private final MethodHandle parse;
        private final Class<?> type;

        ParsedShape(Class<?> c) {
            type = c;
            try {
                Method method = c.getMethod("parse", String.class);
                parse = MethodHandles.publicLookup().unreflect(method);
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException("no JSON form for " + c, e);
            }
        }

        public void write(Json.Writer out, Object value) {
            out.text(value.toString());
        }

        public Object read(Object tree) {
            if (!(tree instanceof String s)) {
                throw misfit("a " + type.getSimpleName(), tree);
            }
            try {
                return parse.invoke(s);
            } catch (Throwable e) {
                throw new Json.MalformedException("bad " + type.getSimpleName() + ": " + e.getMessage());
            }
        }

        public Object absent() {
            return constantNone(type, () -> read(""));
        }
    }

    private record ListShape(Type elementType) implements Shape {
        public void write(Json.Writer out, Object value) {
            Shape element = shape(elementType);
            char separator = '[';
            for (Object item : (List<?>) value) {
                out.raw(separator);
                element.write(out, item);
                separator = ',';
            }
            out.raw(separator == '[' ? "[]" : "]");
        }

        public Object read(Object tree) {
            if (!(tree instanceof List<?> list)) {
                throw misfit("a list", tree);
            }
            Shape element = shape(elementType);
            List<Object> out = new ArrayList<>(list.size());
            for (Object item : list) {
                out.add(element.read(item));
            }
            return Collections.unmodifiableList(out);
        }

        public Object absent() {
            return List.of();
        }
    }

    private record MapShape(Type valueType) implements Shape {
        public void write(Json.Writer out, Object value) {
            Shape element = shape(valueType);
            char separator = '{';
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.raw(separator).text((String) entry.getKey()).raw(':');
                element.write(out, entry.getValue());
                separator = ',';
            }
            out.raw(separator == '{' ? "{}" : "}");
        }

        public Object read(Object tree) {
            if (!(tree instanceof Json.Obj object)) {
                throw misfit("an object", tree);
            }
            Shape element = shape(valueType);
            TreeMap<String, Object> out = new TreeMap<>();
            for (Map.Entry<String, Object> entry : object.fields().entrySet()) {
                out.put(entry.getKey(), element.read(entry.getValue()));
            }
            return Collections.unmodifiableSortedMap(out);
        }

        public Object absent() {
            return Collections.emptySortedMap();
        }
    }

    private static final class SealedShape implements Shape {
        private final Map<String, Class<?>> byName = new TreeMap<>();
        private final Class<?> type;

        SealedShape(Class<?> type) {
            this.type = type;
            collect(type);
        }

        private void collect(Class<?> sealed) {
            for (Class<?> c : sealed.getPermittedSubclasses()) {
                if (c.isSealed()) {
                    collect(c);
                } else {
                    byName.put(c.getSimpleName(), c);
                }
            }
        }

        public void write(Json.Writer out, Object value) {
            RecordShape shape = (RecordShape) shape(value.getClass());
            shape.write(out, value, value.getClass().getSimpleName(), shape.all());
        }

        public Object read(Object tree) {
            if (!(tree instanceof Json.Obj object)) {
                throw misfit("an object", tree);
            }
            Class<?> c = byName.get(object.text("type"));
            if (c == null) {
                throw new Json.MalformedException("unknown " + type.getSimpleName() + " \"" + object.text("type") + "\"");
            }
            return shape(c).read(tree);
        }

        public Object absent() {
            return constantNone(type, () -> null);
        }
    }

    /** What a type says that it is where nothing is said, if it says so: looked for once, since to look in vain is dear. */
    private static final ClassValue<java.util.Optional<Object>> NONES = new ClassValue<>() {
        @Override
        protected java.util.Optional<Object> computeValue(Class<?> type) {
            try {
                Field field = type.getField("NONE");
                return Modifier.isStatic(field.getModifiers()) ? java.util.Optional.ofNullable(field.get(null)) : java.util.Optional.empty();
            } catch (NoSuchFieldException e) {
                return java.util.Optional.empty();
            } catch (IllegalAccessException e) {
                throw new IllegalArgumentException(type + ".NONE is not readable", e);
            }
        }
    };

    private static Object constantNone(Class<?> type, java.util.function.Supplier<Object> otherwise) {
        return NONES.get(type).orElseGet(otherwise);
    }

    private static final class RecordShape implements Shape {
        private final Class<?> type;
        private final String[] names;
        /** The names as they are written. */
        private final String[] heads;
        private final int[] all;
        private final MethodHandle[] accessors;
        private final Shape[] shapes;
        private final MethodHandle constructor;
        private Object none;

        RecordShape(Class<?> type) {
            this.type = type;
            RecordComponent[] components = type.getRecordComponents();
            names = new String[components.length];
            heads = new String[components.length];
            all = java.util.stream.IntStream.range(0, components.length).toArray();
            accessors = new MethodHandle[components.length];
            shapes = new Shape[components.length];
            Class<?>[] parameterTypes = new Class<?>[components.length];
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                for (int i = 0; i < components.length; i++) {
                    names[i] = components[i].getName();
                    heads[i] = '"' + names[i] + "\":";
                    Method accessor = components[i].getAccessor();
                    accessor.setAccessible(true);
                    accessors[i] = lookup.unreflect(accessor)
                            .asType(java.lang.invoke.MethodType.methodType(Object.class, Object.class));
                    shapes[i] = shape(components[i].getGenericType());
                    parameterTypes[i] = components[i].getType();
                }
                Constructor<?> canonical = type.getDeclaredConstructor(parameterTypes);
                canonical.setAccessible(true);
                constructor = lookup.unreflectConstructor(canonical).asSpreader(Object[].class, components.length)
                        .asType(java.lang.invoke.MethodType.methodType(Object.class, Object[].class));
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException("no JSON form for " + type, e);
            }
        }

        public void write(Json.Writer out, Object value) {
            write(out, value, "", all);
        }

        int[] all() {
            return all;
        }

        /** Where the named components are, in the record's order. */
        int[] places(Set<String> fields) {
            return java.util.stream.IntStream.range(0, names.length).filter(i -> fields.contains(names[i])).toArray();
        }

        void write(Json.Writer out, Object value, String typeName, int[] places) {
            char separator = '{';
            if (!typeName.isEmpty()) {
                out.raw(separator).raw("\"type\":").text(typeName);
                separator = ',';
            }
            for (int i : places) {
                Object component = component(value, i);
                if (!shapes[i].isAbsent(component)) {
                    out.raw(separator).raw(heads[i]);
                    shapes[i].write(out, component);
                    separator = ',';
                }
            }
            out.raw(separator == '{' ? "{}" : "}");
        }

        private Object component(Object value, int i) {
            try {
                return accessors[i].invokeExact(value);
            } catch (Throwable e) {
                throw new IllegalStateException("cannot read " + type.getSimpleName() + "." + names[i], e);
            }
        }

        public Object read(Object tree) {
            if (!(tree instanceof Json.Obj object)) {
                throw misfit("an object", tree);
            }
            Object[] arguments = new Object[names.length];
            for (int i = 0; i < names.length; i++) {
                Object raw = object.raw(names[i]);
                try {
                    arguments[i] = raw == null ? shapes[i].absent() : shapes[i].read(raw);
                } catch (Json.MalformedException e) {
                    throw new Json.MalformedException(type.getSimpleName() + "." + names[i] + ": " + e.getMessage());
                }
            }
            return build(arguments);
        }

        private Object build(Object[] arguments) {
            try {
                return (Object) constructor.invokeExact(arguments);
            } catch (IllegalArgumentException e) {
                throw new Json.MalformedException(type.getSimpleName() + ": " + e.getMessage());
            } catch (Throwable e) {
                throw new IllegalStateException("cannot build " + type.getSimpleName(), e);
            }
        }

        public Object absent() {
            if (none == null) {
                none = constantNone(type, () -> {
                    Object[] arguments = new Object[names.length];
                    for (int i = 0; i < names.length; i++) {
                        arguments[i] = shapes[i].absent();
                    }
                    return build(arguments);
                });
            }
            return none;
        }
    }
}
