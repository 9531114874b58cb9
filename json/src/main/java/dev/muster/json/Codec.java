package dev.muster.json;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records to JSON and back by their components; the rules are in {@code docs/contracts.md}: defaults are not written,
 * absent fields read as defaults, unknown fields are skipped, sealed interfaces carry {@code "type"}.
 *
 * <p>Kinds of component: int, long, double, boolean, String, enum, {@link Bytes}, records, sealed interfaces of
 * records, List, Map with String keys (read back sorted), {@link NamedTexts}, and any class with a static
 * {@code parse(String)} whose {@code toString()} is its inverse. A record's default is its static field {@code NONE} if
 * it has one, else the record of all defaults.
 */
public final class Codec {
    private Codec() {}

    public static byte[] encode(Object record) {
        Json.Writer out = new Json.Writer();
        write(out, record);
        return out.toByteArray();
    }

    /** Encodes with the {@code "type"} field of the given sealed interface. */
    public static byte[] encode(Object record, Class<?> sealed) {
        Json.Writer out = new Json.Writer();
        JsonAdapter.of(sealed).write(out, record);
        return out.toByteArray();
    }

    public static void write(Json.Writer out, Object record) {
        JsonAdapter.of(record.getClass()).write(out, record);
    }

    /** Writes only the named components of a record. */
    public static void writeFields(Json.Writer out, Object record, Set<String> fields) {
        RecordAdapter shape = (RecordAdapter) JsonAdapter.of(record.getClass());
        shape.write(out, record, shape.places(fields));
    }

    /**
     * Chosen components of a record type: what a bulk read moves, found once for all rows.
     *
     * @param fields empty for all; unknown names are none
     */
    public static Columns columns(Class<? extends Record> type, Set<String> fields) {
        RecordAdapter shape = (RecordAdapter) JsonAdapter.of(type);
        return new Columns(shape, fields.isEmpty() ? shape.all() : shape.places(fields));
    }

    /** The result of {@link #columns}. */
    public static final class Columns {
        private final RecordAdapter shape;
        private final int[] places;

        private Columns(RecordAdapter shape, int[] places) {
            this.shape = shape;
            this.places = places;
        }

        public void write(Json.Writer out, Record row) {
            shape.write(out, row, places);
        }
    }

    /** @throws Json.MalformedException if the bytes are not such a value */
    public static <T> T decode(byte[] json, Class<T> type) {
        return new Decoder<>(type).decode(json);
    }

    /**
     * Reads a client's request: a field that is not known here is refused instead of skipped. Otherwise as
     * {@link #decode}.
     *
     * @throws Json.MalformedException if the bytes are not such a value
     */
    public static <T> T decodeKnown(byte[] json, Class<T> type) {
        Decoder<T> decoder = new Decoder<>(type);
        decoder.in.refuseUnknown();
        return decoder.decode(json);
    }

    /**
     * Reads many values of one type, one after the other: a text that came before is not made again. For one thread.
     */
    public static final class Decoder<T> {
        private static final byte[] NOTHING = {};
        private final Class<T> type;
        private final JsonAdapter shape;
        private final JsonReader in = new JsonReader(NOTHING, 0, 0);

        public Decoder(Class<T> type) {
            this.type = type;
            shape = JsonAdapter.of(type);
        }

        /** @throws Json.MalformedException if the bytes are not such a value */
        public T decode(byte[] json) {
            try {
                in.over(json, 0, json.length);
                Object value = shape.read(in);
                in.finish();
                return type.cast(value);
            } catch (RuntimeException notAsWeWrite) {
                // blanks, null, a type that does not come first: allowed, and rare; and if it is wrong, the tree says
                // with what
                Object tree = Json.parse(json);
                if (in.refusesUnknown()) {
                    shape.unknown(tree).ifPresent(name -> {
                        throw new Json.MalformedException("unknown field " + name);
                    });
                }
                return bind(tree, type);
            }
        }
    }

    /** @throws Json.MalformedException if the tree does not fit the type */
    public static <T> T bind(@Nullable Object tree, Class<T> type) {
        return type.cast(JsonAdapter.of(type).read(tree));
    }
}
