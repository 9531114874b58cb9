package dev.muster.json;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * JSON as a tree of plain values: {@link Obj}, {@code List<Object>}, {@code String}, {@code Long}, {@code Double},
 * {@code Boolean} and {@code null}. Small on purpose: it is on the start path of every command.
 */
public final class Json {
    /** Deeper nesting is refused: a reader must not be made to overflow its stack. */
    public static final int DEPTH_MAX = 64;

    private Json() {}

    /** The input is not JSON; the message names the offset. */
    public static final class MalformedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public MalformedException(String message) {
            super(message);
        }
    }

    /**
     * A JSON object; fields keep their order. Absent fields read as "", 0, false or empty. A few fields are kept in a
     * row and looked for one by one, which for those is less than a map costs, and a reply may be a hundred thousand of
     * them.
     */
    public static final class Obj {
        private static final int FEW = 12;
        private final String[] names = new String[FEW];
        private final Object[] values = new Object[FEW];
        private int count;
        /** A bit for each name that is here, by its hash: most of what is asked for and not there is known from it. */
        private long some;
        /**
         * Replaces the arrays in an object with many fields, and once a caller has asked for a map. Several threads may
         * read one object.
         */
        private volatile @Nullable LinkedHashMap<String, Object> map;

        /**
         * Sets a field, or with {@code OBJECT.FIELD} one of the object that this one has under that name; the object is
         * made if it is not there.
         */
        public void putAt(String path, @Nullable Object value) {
            int dot = path.indexOf('.');
            if (dot < 0) {
                put(path, value);
                return;
            }
            Obj part = obj(path.substring(0, dot));
            part.put(path.substring(dot + 1), value);
            put(path.substring(0, dot), part);
        }

        public Obj put(String name, @Nullable Object value) {
            boolean isMap = map != null;
            int place = isMap ? -1 : place(name);
            if (isMap || place < 0 && count == FEW) {
                fields().put(name, value);
            } else if (place >= 0) {
                values[place] = value;
            } else {
                names[count] = name;
                values[count++] = value;
                some |= 1L << name.hashCode();
            }
            return this;
        }

        private int place(String name) {
            int hash = name.hashCode();
            if ((some >>> hash & 1) == 0) {
                return -1;
            }
            // names that were read are interned, and so are those that a program asks for
            for (int i = 0; i < count; i++) {
                if (names[i] == name) {
                    return i;
                }
            }
            for (int i = 0; i < count; i++) {
                if (names[i].hashCode() == hash && names[i].equals(name)) {
                    return i;
                }
            }
            return -1;
        }

        private @Nullable Object get(String name) {
            LinkedHashMap<String, Object> all = map;
            if (all != null) {
                return all.get(name);
            }
            int place = place(name);
            return place < 0 ? null : values[place];
        }

        public boolean has(String name) {
            return map != null ? map.containsKey(name) : place(name) >= 0;
        }

        /** The raw value, or null if absent or JSON null. */
        public @Nullable Object raw(String name) {
            return get(name);
        }

        /** To be changed, too. */
        public Map<String, Object> fields() {
            LinkedHashMap<String, Object> all = map;
            if (all == null) {
                all = new LinkedHashMap<>();
                for (int i = 0; i < count; i++) {
                    all.put(names[i], values[i]);
                }
                map = all;
            }
            return all;
        }

        public String text(String name) {
            Object value = get(name);
            if (value == null) {
                return "";
            }
            if (value instanceof String text) {
                return text;
            }
            return String.valueOf(value);
        }

        public long number(String name) {
            Object value = get(name);
            return value instanceof Number n ? n.longValue() : 0;
        }

        public int integer(String name) {
            return (int) number(name);
        }

        public double real(String name) {
            Object value = get(name);
            return value instanceof Number n ? n.doubleValue() : 0;
        }

        public boolean flag(String name) {
            return Boolean.TRUE.equals(get(name));
        }

        public Obj obj(String name) {
            return get(name) instanceof Obj o ? o : new Obj();
        }

        @SuppressWarnings("unchecked")
        public List<Object> list(String name) {
            return get(name) instanceof List<?> l ? (List<Object>) l : List.of();
        }

        /** The elements of a list that are objects. */
        public List<Obj> objects(String name) {
            List<Obj> out = new ArrayList<>();
            for (Object element : list(name)) {
                if (element instanceof Obj o) {
                    out.add(o);
                }
            }
            return out;
        }

        /** The elements of a list that are strings. */
        public List<String> texts(String name) {
            List<String> out = new ArrayList<>();
            for (Object element : list(name)) {
                if (element instanceof String text) {
                    out.add(text);
                }
            }
            return out;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Obj o && fields().equals(o.fields());
        }

        @Override
        public int hashCode() {
            return fields().hashCode();
        }

        @Override
        public String toString() {
            return new String(print(this), StandardCharsets.UTF_8);
        }
    }

    /** @throws MalformedException if the bytes are not one JSON value */
    public static @Nullable Object parse(byte[] utf8) {
        return parse(utf8, 0, utf8.length);
    }

    public static @Nullable Object parse(byte[] utf8, int from, int to) {
        JsonReader parser = new JsonReader(utf8, from, to);
        Object value = parser.value(0);
        parser.finish();
        return value;
    }

    /**
     * Parses a JSON object.
     *
     * @throws MalformedException if it is not one
     */
    public static Obj object(byte[] utf8) {
        if (parse(utf8) instanceof Obj o) {
            return o;
        }
        throw new MalformedException("not a JSON object");
    }

    /**
     * Reads a long object in parts, so that never more than one row of it is a tree.
     *
     * @param list the field whose elements are rows; what in it is no object is passed over
     * @param row takes each as it comes
     * @return the other fields
     * @throws MalformedException where the bytes are not one object; rows before that place have been taken
     */
    public static Obj rows(byte[] utf8, String list, Consumer<Obj> row) {
        JsonReader parser = opened(utf8);
        Obj rest = parser.object(0, list, row);
        parser.finish();
        return rest;
    }

    /**
     * The fields of an object that stand before the named list, or all if it has none. The list and later fields are
     * not read.
     */
    public static Obj before(byte[] utf8, String list) {
        return opened(utf8).object(0, list, null);
    }

    /** Reads objects that are alike one after the other: what they have in common is there once. For one thread. */
    public static final class Objects {
        private final JsonReader reader = new JsonReader(new byte[0], 0, 0);

        /** @throws MalformedException if there is not one object between the places */
        public Obj read(byte[] utf8, int from, int to) {
            reader.over(utf8, from, to);
            if (!(reader.value(0) instanceof Obj o)) {
                throw new MalformedException("not a JSON object");
            }
            reader.finish();
            return o;
        }
    }

    private static JsonReader opened(byte[] utf8) {
        JsonReader parser = new JsonReader(utf8, 0, utf8.length);
        if (!parser.isObject()) {
            throw new MalformedException("not a JSON object");
        }
        return parser;
    }

    public static byte[] print(@Nullable Object value) {
        Writer out = new Writer();
        out.value(value);
        return out.toByteArray();
    }

    /** Appends JSON text to a byte buffer; the structure is the caller's business. */
    public static final class Writer {
        private final Buffer out = new Buffer();

        private static final class Buffer extends ByteArrayOutputStream {
            Buffer() {
                super(512);
            }

            /** One thread writes: a lock for every byte would be the larger part of the work. */
            @Override
            @SuppressWarnings("UnsynchronizedOverridesSynchronized")
            public void write(int b) {
                room(1);
                buf[count++] = (byte) b;
            }

            void room(int more) {
                if (buf.length - count < more) {
                    buf = Arrays.copyOf(buf, Math.addExact(count, Math.max(more, Math.max(count, 16))));
                }
            }

            void cut(int size) {
                count = size;
            }

            void all(byte[] bytes) {
                room(bytes.length);
                System.arraycopy(bytes, 0, buf, count, bytes.length);
                count += bytes.length;
            }

            /** Returns how many characters from the first on are themselves in JSON: these are written. */
            int plain(String text) {
                int length = text.length();
                room(length);
                int i = 0;
                for (; i < length; i++) {
                    char c = text.charAt(i);
                    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') {
                        break;
                    }
                    buf[count + i] = (byte) c;
                }
                count += i;
                return i;
            }

            void ascii(String text) {
                int length = text.length();
                room(length);
                for (int i = 0; i < length; i++) {
                    buf[count + i] = (byte) text.charAt(i);
                }
                count += length;
            }

            void number(long n) {
                if (n < 0 || n > Integer.MAX_VALUE) {
                    ascii(Long.toString(n));
                    return;
                }
                int digits = 1;
                for (long m = n; m > 9; m /= 10) {
                    digits++;
                }
                room(digits);
                int remainder = (int) n;
                for (int i = count + digits; i > count; remainder /= 10) {
                    buf[--i] = (byte) ('0' + remainder % 10);
                }
                count += digits;
            }
        }

        public Writer raw(char c) {
            out.write(c);
            return this;
        }

        public Writer raw(String ascii) {
            out.ascii(ascii);
            return this;
        }

        /** JSON that has been made before. */
        public Writer raw(byte[] json) {
            out.all(json);
            return this;
        }

        public Writer number(long n) {
            out.number(n);
            return this;
        }

        /**
         * Begins a field.
         *
         * @param separator what stands before it.
         * @param head its name as written.
         * @return what stands before the next
         */
        char field(char separator, byte[] head) {
            out.write(separator);
            out.all(head);
            return ',';
        }

        /** Takes back what was written since the size was so. */
        void cut(int size) {
            out.cut(size);
        }

        public Writer text(String text) {
            out.write('"');
            int length = text.length();
            for (int i = out.plain(text); i < length; i++) {
                char c = text.charAt(i);
                if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
                    out.write(c);
                } else {
                    i += escaped(text, i);
                }
            }
            out.write('"');
            return this;
        }

        /** Writes the character at i that needs care; returns how many extra characters it took. */
        private int escaped(String text, int i) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> raw("\\\"");
                case '\\' -> raw("\\\\");
                case '\n' -> raw("\\n");
                case '\r' -> raw("\\r");
                case '\t' -> raw("\\t");
                default -> {
                    if (c < 0x20 || c == 0x7f) {
                        hex(c);
                    } else if (Character.isHighSurrogate(c)
                            && i + 1 < text.length()
                            && Character.isLowSurrogate(text.charAt(i + 1))) {
                        out.writeBytes(text.substring(i, i + 2).getBytes(StandardCharsets.UTF_8));
                        return 1;
                    } else if (Character.isSurrogate(c)) {
                        hex(c);
                    } else {
                        utf8(c);
                    }
                }
            }
            return 0;
        }

        private void utf8(char c) {
            if (c < 0x800) {
                out.write(0xc0 | c >> 6);
            } else {
                out.write(0xe0 | c >> 12);
                out.write(0x80 | c >> 6 & 0x3f);
            }
            out.write(0x80 | c & 0x3f);
        }

        private void hex(char c) {
            raw("\\u");
            for (int shift = 12; shift >= 0; shift -= 4) {
                raw(Character.forDigit(c >> shift & 15, 16));
            }
        }

        public Writer value(@Nullable Object value) {
            if (value == null) {
                raw("null");
            } else if (value instanceof String text) {
                text(text);
            } else if (value instanceof Obj o) {
                object(o);
            } else if (value instanceof List<?> list) {
                char separator = '[';
                for (Object element : list) {
                    raw(separator).value(element);
                    separator = ',';
                }
                raw(separator == '[' ? "[]" : "]");
            } else if (value instanceof Double d && (d.isNaN() || d.isInfinite())) {
                raw("null");
            } else if (value instanceof Number || value instanceof Boolean) {
                raw(value.toString());
            } else {
                throw new IllegalArgumentException("not a JSON value: " + value.getClass());
            }
            return this;
        }

        private void object(Obj o) {
            char separator = '{';
            for (int i = 0; o.map == null && i < o.count; i++) {
                raw(separator).text(o.names[i]).raw(':').value(o.values[i]);
                separator = ',';
            }
            if (o.map != null) {
                for (Map.Entry<String, Object> field : o.map.entrySet()) {
                    raw(separator).text(field.getKey()).raw(':').value(field.getValue());
                    separator = ',';
                }
            }
            raw(separator == '{' ? "{}" : "}");
        }

        public byte[] toByteArray() {
            return out.toByteArray();
        }

        public int size() {
            return out.size();
        }

        /** Returns the bytes and empties the writer. */
        public byte[] take() {
            byte[] all = out.toByteArray();
            out.reset();
            return all;
        }

        /** Writes the buffered bytes and empties the buffer. */
        public void drain(OutputStream to) throws IOException {
            out.writeTo(to);
            out.reset();
        }
    }
}
