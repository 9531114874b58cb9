package dev.muster.json;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes a record by its components. A type with a {@link RecordCodec} from the installation, or one that is
 * used often and gets a codec, is read and written by code of its own; other types go through method handles, which
 * cost less to set up.
 */
final class RecordAdapter implements JsonAdapter {
    /** Uses after which a type gets code of its own; a program with fewer ends before that pays. */
    private static final int OFTEN = 1500;

    private static final byte[] NOTHING = {};

    private final Class<?> type;
    private final String[] names;
    private final JsonReader.Fields fields;
    private final int[] all;
    private final JsonAdapter[] shapes;
    /** The components' types, numbers as objects. */
    private final Class<?>[] boxed;
    /** Made at the first use: each handle is a class of the virtual machine. */
    private volatile @Nullable Handles handles;

    private final byte[] typeField;
    private final boolean hasType;
    private volatile @Nullable Object none;
    /** Whether what stands for an absent one is the record of all defaults. */
    private volatile boolean isNonePlain;

    private volatile @Nullable RecordCodec coder;
    /** Whether one was looked for among those of the installation. */
    private volatile boolean isSought;
    /** Not counted exactly. */
    private int uses;

    private record Handles(MethodHandle[] accessors, MethodHandle constructor) {}

    RecordAdapter(Class<?> type) {
        this.type = type;
        RecordComponent[] components = type.getRecordComponents();
        names = new String[components.length];
        all = IntStream.range(0, components.length).toArray();
        shapes = new JsonAdapter[components.length];
        boxed = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            names[i] = StoredNames.of(type, components[i].getName());
            shapes[i] = JsonAdapter.of(components[i].getGenericType());
            boxed[i] = MethodType.methodType(components[i].getType()).wrap().returnType();
        }
        fields = new JsonReader.Fields(names);
        typeField = ("\"type\":\"" + type.getSimpleName() + '"').getBytes(java.nio.charset.StandardCharsets.UTF_8);
        hasType = Arrays.asList(names).contains("type");
    }

    private Handles handles() {
        Handles known = handles;
        if (known == null) {
            known = made();
            handles = known;
        }
        return known;
    }

    private Handles made() {
        RecordComponent[] components = type.getRecordComponents();
        MethodHandle[] accessors = new MethodHandle[components.length];
        Class<?>[] parameterTypes = new Class<?>[components.length];
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            for (int i = 0; i < components.length; i++) {
                Method accessor = components[i].getAccessor();
                accessor.setAccessible(true);
                accessors[i] = lookup.unreflect(accessor).asType(MethodType.methodType(Object.class, Object.class));
                parameterTypes[i] = components[i].getType();
            }
            Constructor<?> canonical = type.getDeclaredConstructor(parameterTypes);
            canonical.setAccessible(true);
            return new Handles(
                    accessors,
                    lookup.unreflectConstructor(canonical)
                            .asSpreader(Object[].class, components.length)
                            .asType(MethodType.methodType(Object.class, Object[].class)));
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("no JSON form for " + type, e);
        }
    }

    Class<?> type() {
        return type;
    }

    JsonReader.Fields fields() {
        return fields;
    }

    JsonAdapter shape(int place) {
        return shapes[place];
    }

    int[] all() {
        return all;
    }

    /** Indexes of the named components, in the record's order. */
    int[] places(Set<String> wanted) {
        return IntStream.range(0, names.length)
                .filter(i -> wanted.contains(names[i]))
                .toArray();
    }

    private @Nullable RecordCodec coder() {
        RecordCodec codec = coder;
        if (codec == null && !isSought) {
            codec = installed();
        }
        if (codec == null && uses <= OFTEN && ++uses > OFTEN) {
            codec = RecordCodecGenerator.make(this).orElse(null);
            coder = codec;
        }
        return codec;
    }

    /** Other threads wait meanwhile. A record that contains this one is locked before it, never after. */
    private synchronized @Nullable RecordCodec installed() {
        if (!isSought) {
            coder = RecordCodecGenerator.ready(this).orElse(null);
            isSought = true;
        }
        return coder;
    }

    /**
     * Makes code for it now.
     *
     * @return whether it can be had: a record that is not public goes without
     */
    boolean compile() {
        coder = RecordCodecGenerator.make(this).orElse(null);
        return coder != null;
    }

    @Override
    public void write(Json.Writer out, Object value) {
        end(out, body(out, value, '{'));
    }

    /** Writes a record with its type as the first field. */
    void writeTyped(Json.Writer out, Object value) {
        end(out, body(out, value, out.field('{', typeField)));
    }

    private static void end(Json.Writer out, char separator) {
        if (separator == '{') {
            out.raw('{');
        }
        out.raw('}');
    }

    private char body(Json.Writer out, Object value, char begun) {
        RecordCodec codec = coder();
        if (codec != null) {
            return codec.write(out, value, begun);
        }
        return writeComponents(out, value, begun, all);
    }

    /** The components at the given places only. */
    void write(Json.Writer out, Object value, int[] places) {
        RecordCodec codec = coder();
        if (codec == null) {
            end(out, writeComponents(out, value, '{', places));
            return;
        }
        char separator = '{';
        for (int i : places) {
            separator = codec.write(out, value, i, separator);
        }
        end(out, separator);
    }

    private char writeComponents(Json.Writer out, Object value, char begun, int[] places) {
        char separator = begun;
        for (int i : places) {
            separator = shapes[i].writeField(out, separator, fields.head(i), component(value, i));
        }
        return separator;
    }

    @Override
    public char writeField(Json.Writer out, char separator, byte[] head, Object value) {
        if (value == null || value == absent()) {
            return separator;
        }
        if (!isNonePlain) {
            return JsonAdapter.super.writeField(out, separator, head, value);
        }
        // written to see whether there is anything to say: to compare it first with the default would be to go through
        // it twice, at each depth
        int before = out.size();
        char next = out.field(separator, head);
        char after = body(out, value, '{');
        if (after == '{') {
            out.cut(before);
            return separator;
        }
        out.raw('}');
        return next;
    }

    private Object component(Object value, int i) {
        try {
            return handles().accessors[i].invokeExact(value);
        } catch (Throwable e) {
            throw new IllegalStateException("cannot read " + type.getSimpleName() + "." + names[i], e);
        }
    }

    @Override
    public Object read(@Nullable Object tree) {
        if (!(tree instanceof Json.Obj object)) {
            throw JsonAdapters.misfit("an object", tree);
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

    @Override
    public Optional<String> unknown(@Nullable Object tree) {
        if (!(tree instanceof Json.Obj object)) {
            return Optional.empty();
        }
        for (Map.Entry<String, Object> field : object.fields().entrySet()) {
            int place = Arrays.asList(names).indexOf(field.getKey());
            Optional<String> found;
            if (place < 0) {
                found = Optional.of(type.getSimpleName() + "." + field.getKey());
            } else if (field.getValue() == null) {
                found = Optional.empty();
            } else {
                found = shapes[place].unknown(field.getValue());
            }

            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    @Override
    public Object read(JsonReader in) {
        return read(in, in.first(fields));
    }

    /** Reads a record after {@link JsonReader#type}. */
    Object readAfterType(JsonReader in) {
        if (hasType) {
            throw in.bad("two types");
        }
        return read(in, in.next(fields, 0));
    }

    private Object read(JsonReader in, int first) {
        RecordCodec codec = coder();
        if (codec != null) {
            return codec.read(in, first);
        }
        Object[] arguments = new Object[names.length];
        for (int i = first; i != JsonReader.NO_MORE; i = in.next(fields, i + 1)) {
            arguments[i] = shapes[i].read(in);
        }
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] == null) {
                arguments[i] = shapes[i].absent();
            }
        }
        return build(arguments);
    }

    /** All components of a record, in their order. */
    Object[] components(Object record) {
        Object[] out = new Object[names.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = component(record, i);
        }
        return out;
    }

    /** The place of the component with that name in messages. */
    int place(String name) {
        int place = Arrays.asList(names).indexOf(name);
        if (place < 0) {
            throw new IllegalArgumentException(type.getSimpleName() + " has no " + name);
        }
        return place;
    }

    /** The value as the component has it: an int for a long that is one, a constant for its name. */
    Object fitting(String name, Object value) {
        Class<?> wanted = boxed[place(name)];
        if (wanted == Integer.class && value instanceof Long n) {
            if (n != n.intValue()) {
                throw new Json.MalformedException(type.getSimpleName() + "." + name + ": expected a 32-bit number");
            }
            return n.intValue();
        }
        if (wanted == Long.class && value instanceof Integer n) {
            return n.longValue();
        }
        if (wanted.isEnum() && value instanceof String) {
            return shapes[place(name)].read(value);
        }
        if (!wanted.isInstance(value)) {
            throw new IllegalArgumentException(type.getSimpleName() + "." + name + " is no "
                    + value.getClass().getSimpleName());
        }
        return value;
    }

    Object build(Object[] arguments) {
        try {
            return (Object) handles().constructor.invokeExact(arguments);
        } catch (IllegalArgumentException e) {
            throw new Json.MalformedException(type.getSimpleName() + ": " + e.getMessage());
        } catch (Throwable e) {
            throw new IllegalStateException("cannot build " + type.getSimpleName(), e);
        }
    }

    @Override
    public Object absent() {
        Object known = none;
        if (known == null) {
            known = JsonAdapters.constantNone(type, this::defaults);
            isNonePlain = isAllAbsent(known);
            none = known;
        }
        return known;
    }

    private Object defaults() {
        RecordCodec codec = coder();
        if (codec != null) {
            return codec.read(new JsonReader(NOTHING, 0, 0), JsonReader.NO_MORE);
        }
        Object[] arguments = new Object[names.length];
        for (int i = 0; i < names.length; i++) {
            arguments[i] = shapes[i].absent();
        }
        return build(arguments);
    }

    private boolean isAllAbsent(Object value) {
        RecordCodec codec = coder();
        if (codec != null) {
            return codec.write(new Json.Writer(), value, '{') == '{';
        }
        return IntStream.of(all).allMatch(i -> shapes[i].isAbsent(component(value, i)));
    }
}
