package dev.muster.json;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON from bytes: to a tree of plain values ({@link #value}), or value by value for a codec that knows the
 * fields. The latter stops with any exception at text that is not as our own writer writes it; the caller then reads
 * the tree, which reports the error.
 */
final class JsonReader {
    /** Result of {@link #first} and {@link #next} at the object's end. */
    static final int NO_MORE = -1;
    /** Strings that are kept to be used again, a power of two, and the longest of them. */
    private static final int REPEATED = 128;

    private static final int REPEATED_BYTES_MAX = 32;
    private static final int INTERNED_MAX = 1000;
    /** A long can hold every number of that many digits. */
    private static final int DIGITS_MAX = 18;

    private byte[] bytes;
    private int end;
    private int position;
    private final String[] repeated = new String[REPEATED];
    private final byte[][] repeatedBytes = new byte[REPEATED][];
    /** Made at the first name: a reader that goes value by value needs none. */
    @SuppressWarnings("NullAway.Init") // fieldName() makes it
    private String[] names;

    @SuppressWarnings("NullAway.Init") // made with names
    private byte[][] nameBytes;

    private int interned;
    /** Number of objects and lists that the value-by-value reader has opened. */
    private int depth;

    private boolean refusesUnknown;

    JsonReader(byte[] bytes, int from, int to) {
        over(bytes, from, to);
    }

    /** Goes on elsewhere, with the texts it has seen so far. */
    void over(byte[] bytes, int from, int to) {
        this.bytes = bytes;
        this.position = from;
        this.end = to;
        depth = 0;
    }

    Json.MalformedException bad(String expected) {
        return new Json.MalformedException("bad JSON at byte " + position + ": " + expected);
    }

    /** The fields of an object as they are written ({@code "name":}), and their places by name. */
    static final class Fields {
        private final byte[][] heads;
        private final Map<String, Integer> places = new HashMap<>();

        Fields(String[] names) {
            heads = new byte[names.length][];
            for (int i = 0; i < names.length; i++) {
                heads[i] = ('"' + names[i] + "\":").getBytes(StandardCharsets.US_ASCII);
                places.put(names[i], i);
            }
        }

        byte[] head(int place) {
            return heads[place];
        }
    }

    /** @throws Json.MalformedException if something follows */
    void finish() {
        blanks();
        if (position < end) {
            throw bad("text after the value");
        }
    }

    boolean isObject() {
        blanks();
        return position < end && bytes[position] == '{';
    }

    /** Returns whether something stands between the brackets; if not, both are read. */
    private boolean opens(char bracket, char closing) {
        if (depth++ > Json.DEPTH_MAX || position >= end || bytes[position] != bracket) {
            throw bad(bracket + " expected");
        }
        position++;
        boolean any = position >= end || bytes[position] != closing;
        if (!any) {
            position++;
            depth--;
        }
        return any;
    }

    /**
     * Opens an object.
     *
     * @return the place of the field whose value stands next, or {@link #NO_MORE}
     */
    int first(Fields fields) {
        if (!opens('{', '}')) {
            return NO_MORE;
        }
        int place = field(fields, 0);
        if (place >= 0) {
            return place;
        }
        value(depth);
        return next(fields, 0);
    }

    /**
     * After a value.
     *
     * @param from where to look first.
     * @return as {@link #first}; fields that are not known are read over
     */
    int next(Fields fields, int from) {
        int likely = from;
        while (position < end && bytes[position] == ',') {
            position++;
            int place = field(fields, likely);
            if (place >= 0) {
                return place;
            }
            value(depth);
            likely = 0;
        }
        if (position >= end || bytes[position] != '}') {
            throw bad("',' expected");
        }
        position++;
        depth--;
        return NO_MORE;
    }

    /** Refuses unknown fields from now on. */
    void refuseUnknown() {
        refusesUnknown = true;
    }

    boolean refusesUnknown() {
        return refusesUnknown;
    }

    /**
     * Reads a name.
     *
     * @return its place, {@link #NO_MORE} if it has none
     */
    private int field(Fields fields, int from) {
        int place = place(fields, from);
        if (place < 0 && refusesUnknown) {
            throw bad("unknown field");
        }
        return place;
    }

    private int place(Fields fields, int from) {
        byte[][] heads = fields.heads;
        for (int i = from; i < heads.length; i++) {
            byte[] head = heads[i];
            int stop = position + head.length;
            if (stop <= end
                    && bytes[position + 1] == head[1]
                    && Arrays.equals(bytes, position, stop, head, 0, head.length)) {
                position = stop;
                return i;
            }
        }
        return fields.places.getOrDefault(name(), NO_MORE);
    }

    /**
     * Opens an object whose first field is its type.
     *
     * @return the type; {@link #next} goes on
     */
    String type() {
        if (!opens('{', '}') || !name().equals("type")) {
            throw bad("no type");
        }
        return text();
    }

    /**
     * Opens a list.
     *
     * @return whether a value stands next
     */
    boolean firstOfList() {
        return opens('[', ']');
    }

    boolean nextOfList() {
        if (position >= end || bytes[position] != ',' && bytes[position] != ']') {
            throw bad("',' expected");
        }
        boolean more = bytes[position++] == ',';
        depth -= more ? 0 : 1;
        return more;
    }

    /**
     * Opens an object of any names.
     *
     * @return the first name, or null
     */
    @Nullable
    String firstName() {
        return opens('{', '}') ? name() : null;
    }

    @Nullable
    String nextName() {
        if (position < end && bytes[position] == ',') {
            position++;
            return name();
        }
        if (position >= end || bytes[position] != '}') {
            throw bad("',' expected");
        }
        position++;
        depth--;
        return null;
    }

    private String name() {
        String name = text();
        if (position >= end || bytes[position] != ':') {
            throw bad("':' expected");
        }
        position++;
        return name;
    }

    String text() {
        if (position >= end || bytes[position] != '"') {
            throw bad("string expected");
        }
        return string();
    }

    boolean flag() {
        if (position < end && bytes[position] == 't') {
            literal("true", Boolean.TRUE);
            return true;
        }
        literal("false", Boolean.FALSE);
        return false;
    }

    long wholeLong() {
        int start = position;
        long whole = digits();
        return position > start ? whole : (Long) number();
    }

    /** A whole number of few digits and no sign, as most are; of any other none is read. */
    private long digits() {
        int start = position;
        long whole = 0;
        while (position < end && position - start < DIGITS_MAX && bytes[position] >= '0' && bytes[position] <= '9') {
            whole = whole * 10 + bytes[position++] - '0';
        }
        if (position > start
                && position < end
                && (bytes[position] == ',' || bytes[position] == '}' || bytes[position] == ']')) {
            return whole;
        }
        position = start;
        return 0;
    }

    int whole() {
        return Math.toIntExact(wholeLong());
    }

    double real() {
        return ((Number) number()).doubleValue();
    }

    /** Any value, as a tree. */
    @Nullable
    Object tree() {
        return value(depth);
    }

    void blanks() {
        while (position < end
                && (bytes[position] == ' '
                        || bytes[position] == '\n'
                        || bytes[position] == '\r'
                        || bytes[position] == '\t')) {
            position++;
        }
    }

    @Nullable
    Object value(int depth) {
        if (depth > Json.DEPTH_MAX) {
            throw bad("nested too deeply");
        }
        blanks();
        if (position >= end) {
            throw bad("unexpected end");
        }
        return switch (bytes[position]) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> literal("true", Boolean.TRUE);
            case 'f' -> literal("false", Boolean.FALSE);
            case 'n' -> literal("null", null);
            default -> anyNumber();
        };
    }

    private @Nullable Object literal(String word, @Nullable Object value) {
        for (int i = 0; i < word.length(); i++) {
            if (position + i >= end || bytes[position + i] != word.charAt(i)) {
                throw bad("unknown word");
            }
        }
        position += word.length();
        return value;
    }

    private boolean hasMore(char close) {
        blanks();
        if (position >= end) {
            throw bad("unexpected end");
        }
        if (bytes[position] == close) {
            position++;
            return false;
        }
        return true;
    }

    private void comma(char close) {
        blanks();
        if (position < end && bytes[position] == ',') {
            position++;
            blanks();
            if (position < end && bytes[position] == close) {
                throw bad("value expected");
            }
        } else if (position >= end || bytes[position] != close) {
            throw bad("',' expected");
        }
    }

    private Json.Obj object(int depth) {
        return object(depth, null, null);
    }

    /** @param list the field whose elements go to row, null for none; without a row all ends there */
    Json.Obj object(int depth, @Nullable String list, @Nullable Consumer<Json.Obj> row) {
        position++;
        Json.Obj object = new Json.Obj();
        while (hasMore('}')) {
            if (bytes[position] != '"') {
                throw bad("name expected");
            }
            String name = fieldName();
            blanks();
            if (position >= end || bytes[position] != ':') {
                throw bad("':' expected");
            }
            position++;
            blanks();
            if (name.equals(list) && position < end && bytes[position] == '[') {
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

    private void each(int depth, Consumer<Json.Obj> row) {
        position++;
        while (hasMore(']')) {
            if (value(depth + 1) instanceof Json.Obj o) {
                row.accept(o);
            }
            comma(']');
        }
    }

    private List<Object> array(int depth) {
        position++;
        List<Object> list = new ArrayList<>();
        while (hasMore(']')) {
            list.add(value(depth + 1));
            comma(']');
        }
        return list;
    }

    private String string() {
        int start = ++position;
        while (position < end && bytes[position] != '"' && bytes[position] != '\\') {
            if (bytes[position] >= 0 && bytes[position] < 0x20) {
                throw bad("control character in string");
            }
            position++;
        }
        if (position < end && bytes[position] == '"') {
            int length = position++ - start;
            if (length == 0) {
                return "";
            }
            if (length <= REPEATED_BYTES_MAX) {
                return repeated(start, length);
            }
            return new String(bytes, start, length, StandardCharsets.UTF_8);
        }
        StringBuilder text = new StringBuilder();
        text.append(new String(bytes, start, position - start, StandardCharsets.UTF_8));
        return escapedString(text);
    }

    /**
     * The name of a field: interned, unless there are very many, so that it is the very string that a program asks for.
     */
    private String fieldName() {
        int start = position + 1;
        int stop = start;
        int hash = 0;
        while (stop < end && bytes[stop] != '"' && bytes[stop] != '\\' && bytes[stop] >= 0x20) {
            hash = hash * 31 + bytes[stop++];
        }
        if (stop == start || stop >= end || bytes[stop] != '"') {
            return string();
        }
        if (names == null) {
            names = new String[REPEATED];
            nameBytes = new byte[REPEATED][];
        }
        int place = (hash ^ hash >>> 8) & REPEATED - 1;
        byte[] before = nameBytes[place];
        if (before == null || !Arrays.equals(before, 0, before.length, bytes, start, stop)) {
            String made = new String(bytes, start, stop - start, StandardCharsets.US_ASCII);
            nameBytes[place] = Arrays.copyOfRange(bytes, start, stop);
            names[place] = interned++ < INTERNED_MAX ? made.intern() : made;
        }
        position = stop + 1;
        return names[place];
    }

    /** Words of lists, and values, come again and again: one string serves for all of them. */
    private String repeated(int start, int length) {
        int hash = length;
        for (int i = start; i < start + length; i++) {
            hash = hash * 31 + bytes[i];
        }
        int place = (hash ^ hash >>> 8) & REPEATED - 1;
        String before = repeated[place];
        if (before != null
                && Arrays.equals(repeatedBytes[place], 0, repeatedBytes[place].length, bytes, start, start + length)) {
            return before;
        }
        String made = new String(bytes, start, length, StandardCharsets.UTF_8);
        repeated[place] = made;
        repeatedBytes[place] = Arrays.copyOfRange(bytes, start, start + length);
        return made;
    }

    private String escapedString(StringBuilder text) {
        while (position < end) {
            if (bytes[position] == '"') {
                position++;
                return text.toString();
            }
            if (bytes[position] == '\\') {
                position++;
                escape(text);
            } else {
                int start = position;
                while (position < end && bytes[position] != '"' && bytes[position] != '\\') {
                    if (bytes[position] >= 0 && bytes[position] < 0x20) {
                        throw bad("control character in string");
                    }
                    position++;
                }
                text.append(new String(bytes, start, position - start, StandardCharsets.UTF_8));
            }
        }
        throw bad("unterminated string");
    }

    private void escape(StringBuilder text) {
        if (position >= end) {
            throw bad("unterminated string");
        }
        switch (bytes[position++]) {
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
                    int digit = position < end ? Character.digit(bytes[position], 16) : -1;
                    if (digit < 0) {
                        throw bad("bad \\u escape");
                    }
                    code = code * 16 + digit;
                    position++;
                }
                text.append((char) code);
            }
            default -> throw bad("bad escape");
        }
    }

    /** A number of a tree: whole numbers that are too large for a long are floating, and their reader refuses them. */
    private Object anyNumber() {
        int start = position;
        try {
            return number();
        } catch (Json.MalformedException e) {
            String text = new String(bytes, start, position - start, StandardCharsets.US_ASCII);
            if (!text.matches("-?[0-9]{19,32}")) {
                throw e;
            }
            return Double.valueOf(text);
        }
    }

    private Object number() {
        int start = position;
        long whole = digits();
        if (position > start) {
            return whole;
        }
        boolean real = false;
        boolean digit = false;
        while (position < end) {
            byte c = bytes[position];
            if (c >= '0' && c <= '9') {
                digit = true;
            } else if (c == '.' || c == 'e' || c == 'E') {
                real = true;
            } else if (c != '-' && c != '+') {
                break;
            }
            position++;
        }
        if (!digit || position - start > 32) {
            throw bad("value expected");
        }
        String text = new String(bytes, start, position - start, StandardCharsets.US_ASCII);
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
