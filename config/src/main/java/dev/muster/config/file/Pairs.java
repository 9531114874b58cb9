package dev.muster.config.file;

import dev.muster.config.key.Values;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** Walks the {@code Key=value} pairs of one line. Values may be quoted; blanks around the sign are allowed. */
public final class Pairs {
    private final String line;
    private int position;
    private int pairStart;
    private String key = "";
    private String value = "";
    private final Set<String> keys = new HashSet<>();

    public Pairs(String line) {
        this.line = line;
    }

    /** Moves to the next pair; false at the end of the line or at something that is no pair. */
    public boolean next() {
        pairStart = position;
        int i = blanks(position);
        int keyStart = i;
        while (i < line.length() && keyChar(line.charAt(i))) {
            i++;
        }
        int keyEnd = i;
        i = blanks(i);
        if (i + 1 < line.length() && line.charAt(i + 1) == '=' && "+-*/".indexOf(line.charAt(i)) >= 0) {
            i++;
        }
        if (keyEnd == keyStart || i >= line.length() || line.charAt(i) != '=') {
            return false;
        }
        i = blanks(i + 1);
        if (i >= line.length()) {
            return false;
        }
        key = line.substring(keyStart, keyEnd);
        position = value(i);
        return true;
    }

    private int value(int from) {
        if (line.charAt(from) == '"') {
            int close = line.indexOf('"', from + 1);
            if (close > 0) {
                value = line.substring(from + 1, close);
                return close + 1;
            }
        }
        int end = from;
        while (end < line.length() && !blank(line.charAt(end))) {
            end++;
        }
        value = line.substring(from, end);
        return end;
    }

    public String key() {
        return key;
    }

    public String value() {
        return value;
    }

    /** Logs that the current key stood in the line before. The reader takes its last value. */
    public void warnIfRepeated(Values values) {
        if (!keys.add(key.toLowerCase(Locale.ROOT))) {
            values.warning(key.concat(" 1 specified more than once, latest value used"));
        }
    }

    /** The current pair and all that follows it, as errors quote it. */
    public String rest() {
        return line.substring(pairStart);
    }

    public boolean atEnd() {
        return blanks(position) >= line.length();
    }

    private int blanks(int from) {
        int i = from;
        while (i < line.length() && blank(line.charAt(i))) {
            i++;
        }
        return i;
    }

    static boolean blank(char c) {
        return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\u000b';
    }

    private static boolean keyChar(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.';
    }
}
