package dev.muster.model;

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

    /** A JSON object; fields keep their order. Absent fields read as "", 0, false or empty. */
    public static final class Obj {
        private final LinkedHashMap<String, Object> fields = new LinkedHashMap<>();

        public Obj put(String name, Object value) {
            fields.put(name, value);
            return this;
        }

        public boolean has(String name) {
            return fields.containsKey(name);
        }

        /** The raw value, or null if absent or JSON null. */
        public Object raw(String name) {
            return fields.get(name);
        }

        public Map<String, Object> fields() {
            return fields;
        }

        public String text(String name) {
            Object value = fields.get(name);
            return value == null ? "" : value instanceof String s ? s : String.valueOf(value);
        }

        public long number(String name) {
            Object value = fields.get(name);
            return value instanceof Number n ? n.longValue() : 0;
        }

        public int integer(String name) {
            return (int) number(name);
        }

        public double real(String name) {
            Object value = fields.get(name);
            return value instanceof Number n ? n.doubleValue() : 0;
        }

        public boolean flag(String name) {
            return Boolean.TRUE.equals(fields.get(name));
        }

        public Obj obj(String name) {
            return fields.get(name) instanceof Obj o ? o : new Obj();
        }

        @SuppressWarnings("unchecked")
        public List<Object> list(String name) {
            return fields.get(name) instanceof List<?> l ? (List<Object>) l : List.of();
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
                if (element instanceof String s) {
                    out.add(s);
                }
            }
            return out;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Obj o && fields.equals(o.fields);
        }

        @Override
        public int hashCode() {
            return fields.hashCode();
        }

        @Override
        public String toString() {
            return new String(print(this), StandardCharsets.UTF_8);
        }
    }

    /** @throws MalformedException if the bytes are not one JSON value */
    public static Object parse(byte[] utf8) {
        return parse(utf8, 0, utf8.length);
    }

    public static Object parse(byte[] utf8, int from, int to) {
        Parser parser = new Parser(utf8, from, to);
        Object value = parser.value(0);
        parser.blanks();
        if (parser.at < to) {
            throw parser.bad("text after the value");
        }
        return value;
    }

    /** Parses a JSON object. @throws MalformedException if it is not one */
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
     * @param row  takes each as it comes
     * @return the other fields
     * @throws MalformedException where the bytes are not one object; rows before that place have been taken
     */
    public static Obj rows(byte[] utf8, String list, Consumer<Obj> row) {
        Parser parser = opened(utf8);
        Obj rest = parser.object(0, list, row);
        parser.blanks();
        if (parser.at < parser.end) {
            throw parser.bad("text after the value");
        }
        return rest;
    }

    /** The fields of an object that stand before the named list, or all if it has none: what follows is not looked at. */
    public static Obj before(byte[] utf8, String list) {
        return opened(utf8).object(0, list, null);
    }

    private static Parser opened(byte[] utf8) {
        Parser parser = new Parser(utf8, 0, utf8.length);
        parser.blanks();
        if (parser.at >= parser.end || utf8[parser.at] != '{') {
            throw new MalformedException("not a JSON object");
        }
        return parser;
    }

    public static byte[] print(Object value) {
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
            public void write(int b) {
                room(1);
                buf[count++] = (byte) b;
            }

            void room(int more) {
                if (buf.length - count < more) {
                    buf = Arrays.copyOf(buf, Math.addExact(count, Math.max(more, Math.max(count, 16))));
                }
            }

            void all(byte[] bytes) {
                room(bytes.length);
                System.arraycopy(bytes, 0, buf, count, bytes.length);
                count += bytes.length;
            }

            /** @return how many characters from the first on are themselves in JSON: these are written */
            int plain(String s) {
                int length = s.length();
                room(length);
                int i = 0;
                for (; i < length; i++) {
                    char c = s.charAt(i);
                    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') {
                        break;
                    }
                    buf[count + i] = (byte) c;
                }
                count += i;
                return i;
            }

            void ascii(String s) {
                int length = s.length();
                room(length);
                for (int i = 0; i < length; i++) {
                    buf[count + i] = (byte) s.charAt(i);
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
                int rest = (int) n;
                for (int i = count + digits; i > count; rest /= 10) {
                    buf[--i] = (byte) ('0' + rest % 10);
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

        public Writer text(String s) {
            out.write('"');
            int length = s.length();
            for (int i = out.plain(s); i < length; i++) {
                char c = s.charAt(i);
                if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
                    out.write(c);
                } else {
                    i += escaped(s, i);
                }
            }
            out.write('"');
            return this;
        }

        /** Writes the character at i that needs care; returns how many extra characters it took. */
        private int escaped(String s, int i) {
            char c = s.charAt(i);
            switch (c) {
                case '"' -> raw("\\\"");
                case '\\' -> raw("\\\\");
                case '\n' -> raw("\\n");
                case '\r' -> raw("\\r");
                case '\t' -> raw("\\t");
                default -> {
                    if (c < 0x20 || c == 0x7f) {
                        hex(c);
                    } else if (Character.isHighSurrogate(c) && i + 1 < s.length()
                            && Character.isLowSurrogate(s.charAt(i + 1))) {
                        out.writeBytes(s.substring(i, i + 2).getBytes(StandardCharsets.UTF_8));
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

        public Writer value(Object value) {
            if (value == null) {
                raw("null");
            } else if (value instanceof String s) {
                text(s);
            } else if (value instanceof Obj o) {
                char separator = '{';
                for (Map.Entry<String, Object> field : o.fields.entrySet()) {
                    raw(separator).text(field.getKey()).raw(':').value(field.getValue());
                    separator = ',';
                }
                raw(separator == '{' ? "{}" : "}");
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

        public byte[] toByteArray() {
            return out.toByteArray();
        }

        public int size() {
            return out.size();
        }

        /** @return what is there; it goes on empty */
        public byte[] take() {
            byte[] all = out.toByteArray();
            out.reset();
            return all;
        }

        /** Hands on what is there and goes on empty. */
        public void drain(OutputStream to) throws IOException {
            out.writeTo(to);
            out.reset();
        }
    }

    private static final class Parser {
        /** Strings that are kept to be used again, a power of two, and the longest of them. */
        private static final int REPEATED = 128;
        private static final int REPEATED_BYTES_MAX = 32;
        /** Numbers of so many digits are none that a long could not hold. */
        private static final int DIGITS_MAX = 18;
        private final byte[] in;
        private final int end;
        private int at;
        private final String[] repeated = new String[REPEATED];

        Parser(byte[] in, int from, int to) {
            this.in = in;
            this.at = from;
            this.end = to;
        }

        MalformedException bad(String what) {
            return new MalformedException("bad JSON at byte " + at + ": " + what);
        }

        void blanks() {
            while (at < end && (in[at] == ' ' || in[at] == '\n' || in[at] == '\r' || in[at] == '\t')) {
                at++;
            }
        }

        Object value(int depth) {
            if (depth > DEPTH_MAX) {
                throw bad("nested too deeply");
            }
            blanks();
            if (at >= end) {
                throw bad("unexpected end");
            }
            return switch (in[at]) {
                case '{' -> object(depth);
                case '[' -> array(depth);
                case '"' -> string();
                case 't' -> literal("true", Boolean.TRUE);
                case 'f' -> literal("false", Boolean.FALSE);
                case 'n' -> literal("null", null);
                default -> number();
            };
        }

        private Object literal(String word, Object value) {
            for (int i = 0; i < word.length(); i++) {
                if (at + i >= end || in[at + i] != word.charAt(i)) {
                    throw bad("unknown word");
                }
            }
            at += word.length();
            return value;
        }

        private boolean more(char close) {
            blanks();
            if (at >= end) {
                throw bad("unexpected end");
            }
            if (in[at] == close) {
                at++;
                return false;
            }
            return true;
        }

        private void comma(char close) {
            blanks();
            if (at < end && in[at] == ',') {
                at++;
                blanks();
                if (at < end && in[at] == close) {
                    throw bad("value expected");
                }
            } else if (at >= end || in[at] != close) {
                throw bad("',' expected");
            }
        }

        private Obj object(int depth) {
            return object(depth, null, null);
        }

        /** @param list the field whose elements go to row, null for none; without a row all ends there */
        private Obj object(int depth, String list, Consumer<Obj> row) {
            at++;
            Obj object = new Obj();
            while (more('}')) {
                if (in[at] != '"') {
                    throw bad("name expected");
                }
                String name = string();
                blanks();
                if (at >= end || in[at] != ':') {
                    throw bad("':' expected");
                }
                at++;
                blanks();
                if (name.equals(list) && at < end && in[at] == '[') {
                    if (row == null) {
                        return object;
                    }
                    each(depth + 1, row);
                } else {
                    object.put(name, value(depth + 1));
                }
                comma('}');
            }
            return object;
        }

        private void each(int depth, Consumer<Obj> row) {
            at++;
            while (more(']')) {
                if (value(depth + 1) instanceof Obj o) {
                    row.accept(o);
                }
                comma(']');
            }
        }

        private List<Object> array(int depth) {
            at++;
            List<Object> list = new ArrayList<>();
            while (more(']')) {
                list.add(value(depth + 1));
                comma(']');
            }
            return list;
        }

        private String string() {
            int start = ++at;
            while (at < end && in[at] != '"' && in[at] != '\\') {
                if (in[at] >= 0 && in[at] < 0x20) {
                    throw bad("control character in string");
                }
                at++;
            }
            if (at < end && in[at] == '"') {
                int length = at++ - start;
                return length == 0 ? "" : length <= REPEATED_BYTES_MAX ? repeated(start, length)
                        : new String(in, start, length, StandardCharsets.UTF_8);
            }
            StringBuilder text = new StringBuilder();
            text.append(new String(in, start, at - start, StandardCharsets.UTF_8));
            return escapedString(text);
        }

        /** Names, and words of lists, come again and again: one string serves for all of them. */
        private String repeated(int start, int length) {
            int hash = length;
            for (int i = start; i < start + length; i++) {
                hash = hash * 31 + in[i];
            }
            int place = (hash ^ hash >>> 8) & REPEATED - 1;
            String before = repeated[place];
            if (before != null && before.length() == length) {
                int i = 0;
                while (i < length && before.charAt(i) == in[start + i]) {
                    i++;
                }
                if (i == length) {
                    return before;
                }
            }
            String made = new String(in, start, length, StandardCharsets.UTF_8);
            repeated[place] = made;
            return made;
        }

        private String escapedString(StringBuilder text) {
            while (at < end) {
                if (in[at] == '"') {
                    at++;
                    return text.toString();
                }
                if (in[at] == '\\') {
                    at++;
                    escape(text);
                } else {
                    int start = at;
                    while (at < end && in[at] != '"' && in[at] != '\\') {
                        if (in[at] >= 0 && in[at] < 0x20) {
                            throw bad("control character in string");
                        }
                        at++;
                    }
                    text.append(new String(in, start, at - start, StandardCharsets.UTF_8));
                }
            }
            throw bad("unterminated string");
        }

        private void escape(StringBuilder text) {
            if (at >= end) {
                throw bad("unterminated string");
            }
            switch (in[at++]) {
                case '"' -> text.append('"');
                case '\\' -> text.append('\\');
                case '/' -> text.append('/');
                case 'b' -> text.append('\b');
                case 'f' -> text.append('\f');
                case 'n' -> text.append('\n');
                case 'r' -> text.append('\r');
                case 't' -> text.append('\t');
                case 'u' -> {
                    int code = 0;
                    for (int i = 0; i < 4; i++) {
                        int digit = at < end ? Character.digit(in[at], 16) : -1;
                        if (digit < 0) {
                            throw bad("bad \\u escape");
                        }
                        code = code * 16 + digit;
                        at++;
                    }
                    text.append((char) code);
                }
                default -> throw bad("bad escape");
            }
        }

        private Object number() {
            int start = at;
            long whole = 0;
            while (at < end && at - start < DIGITS_MAX && in[at] >= '0' && in[at] <= '9') {
                whole = whole * 10 + in[at++] - '0';
            }
            if (at > start && at < end && (in[at] == ',' || in[at] == '}' || in[at] == ']')) {
                return whole;
            }
            at = start;
            boolean real = false;
            boolean digit = false;
            while (at < end) {
                byte c = in[at];
                if (c >= '0' && c <= '9') {
                    digit = true;
                } else if (c == '.' || c == 'e' || c == 'E') {
                    real = true;
                } else if (c != '-' && c != '+') {
                    break;
                }
                at++;
            }
            if (!digit || at - start > 32) {
                throw bad("value expected");
            }
            String text = new String(in, start, at - start, StandardCharsets.US_ASCII);
            try {
                if (real) {
                    return Double.valueOf(text);
                }
                return Long.valueOf(text);
            } catch (NumberFormatException e) {
                throw bad("bad number " + text);
            }
        }
    }
}
