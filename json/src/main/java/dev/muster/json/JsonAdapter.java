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

    private static JsonAdapter ofClass(Class<?> type) {
        if (type == String.class) {
            return new JsonAdapters.Text();
        }
        if (type == int.class || type == Integer.class) {
            return new JsonAdapters.Whole(true);
        }
        if (type == long.class || type == Long.class) {
            return new JsonAdapters.Whole(false);
        }
        if (type == double.class || type == Double.class) {
            return new JsonAdapters.Real();
        }
        if (type == boolean.class || type == Boolean.class) {
            return new JsonAdapters.Flag();
        }
        return ofContainerOrRecord(type);
    }

    private static JsonAdapter ofContainerOrRecord(Class<?> type) {
        if (type == Bytes.class) {
            return new JsonAdapters.Raw();
        }
        if (type == Json.Obj.class) {
            return new JsonAdapters.Tree();
        }
        if (type.isEnum()) {
            return new JsonAdapters.Words(type);
        }
        if (NamedTexts.class.isAssignableFrom(type)) {
            return new JsonAdapters.Texts(type);
        }
        if (type.isRecord()) {
            return new RecordAdapter(type);
        }
        if (type.isSealed()) {
            return new JsonAdapters.Sealed(type);
        }
        return new JsonAdapters.Parsed(type);
    }
}
