package dev.muster.json;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/** Reads and writes the components of one type of record; made by {@link RecordCodecGenerator}. */
abstract class RecordCodec {
    private static Object @Nullable [] handed;
    private static @Nullable RecordCodec first;

    /** Brings a coder's class into being. */
    interface Begun {
        void begin() throws ReflectiveOperationException;
    }

    /**
     * The one coder of a class.
     *
     * @param constants what its fields are set to
     * @return null if the class has begun before
     */
    static synchronized @Nullable RecordCodec first(Object[] constants, Begun coder)
            throws ReflectiveOperationException {
        handed = constants;
        first = null;
        try {
            coder.begin();
            return first;
        } finally {
            handed = null;
            first = null;
        }
    }

    /** Returns the values for the coder that is being made. */
    static Object[] handed() {
        return requireNonNull(handed, "a coder begins within first()");
    }

    static void isFirst(RecordCodec coder) {
        first = coder;
    }

    /**
     * Writes the components that are present, without the closing brace.
     *
     * @param separator before the first component
     * @return what would stand before another
     */
    abstract char write(Json.Writer out, Object record, char separator);

    /** The same for the component at one place. */
    abstract char write(Json.Writer out, Object record, int place, char separator);

    /** @param first the place of the field whose value stands next, or {@link JsonReader#NO_MORE} */
    abstract Object read(JsonReader in, int first);
}
