package dev.muster.json;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** How the values of one type are written and read; see {@link Codec}. */
interface JsonAdapter {
    void write(Json.Writer out, Object value);

    /** @throws Json.MalformedException if the tree does not fit */
    Object read(@Nullable Object tree);

    /**
     * Reads the value straight from the text, without a tree.
     *
     * @throws RuntimeException of any kind where it is not just as {@link #write} writes it
     */
    Object read(JsonReader in);

    /** The first field within the tree that this type does not have. */
    default Optional<String> unknown(@Nullable Object tree) {
        return Optional.empty();
    }

    /** The value of an absent field. */
    Object absent();

    default boolean isAbsent(Object value) {
        return value == null || value.equals(absent());
    }

    /**
     * Writes a field, unless there is nothing to say.
     *
     * @return what stands before the next one
     */
    default char writeField(Json.Writer out, char separator, byte[] head, Object value) {
        if (isAbsent(value)) {
            return separator;
        }
        char next = out.field(separator, head);
        write(out, value);
        return next;
    }

    /** Not a holder of its own for each: the same types come everywhere. */
    Map<Type, JsonAdapter> KNOWN = new ConcurrentHashMap<>();

    static JsonAdapter of(Type type) {
        JsonAdapter known = KNOWN.get(type);
        if (known != null) {
            return known;
        }
        JsonAdapter made = make(type);
        JsonAdapter earlier = KNOWN.putIfAbsent(type, made);
        return earlier == null ? made : earlier;
    }

    private static JsonAdapter make(Type type) {
        if (type instanceof ParameterizedType p) {
            Type[] arguments = p.getActualTypeArguments();
            if (p.getRawType() == List.class) {
                return new JsonAdapters.Lists(arguments[0]);
            }
            if (Map.class.isAssignableFrom((Class<?>) p.getRawType())) {
                return new JsonAdapters.Maps(arguments[1]);
            }
        }
        if (!(type instanceof Class<?> c)) {
            throw new IllegalArgumentException("no JSON form for " + type);
        }
        return ofClass(c);
    }

    private static JsonAdapter ofClass(Class<?> c) {
        if (c == String.class) {
            return new JsonAdapters.Text();
        }
        if (c == int.class || c == Integer.class) {
            return new JsonAdapters.Whole(true);
        }
        if (c == long.class || c == Long.class) {
            return new JsonAdapters.Whole(false);
        }
        if (c == double.class || c == Double.class) {
            return new JsonAdapters.Real();
        }
        if (c == boolean.class || c == Boolean.class) {
            return new JsonAdapters.Flag();
        }
        return ofContainerOrRecord(c);
    }

    private static JsonAdapter ofContainerOrRecord(Class<?> c) {
        if (c == Bytes.class) {
            return new JsonAdapters.Raw();
        }
        if (c == Json.Obj.class) {
            return new JsonAdapters.Tree();
        }
        if (c.isEnum()) {
            return new JsonAdapters.Words(c);
        }
        if (NamedTexts.class.isAssignableFrom(c)) {
            return new JsonAdapters.Texts(c);
        }
        if (c.isRecord()) {
            return new RecordAdapter(c);
        }
        if (c.isSealed()) {
            return new JsonAdapters.Sealed(c);
        }
        return new JsonAdapters.Parsed(c);
    }
}
