package dev.muster.cli.format;

import dev.muster.cli.command.Output;
import dev.muster.cli.command.Texts;
import java.util.ArrayList;
import java.util.List;

/**
 * A row layout: columns with a width, a side and the text that follows them. It is read from {@code -o} ({@code %.18i
 * %9P}) or {@code -O} ({@code JobID:8,Name:.10,State:|}). Printing pads or cuts each value.
 */
public final class RowFormat {
    static final int WIDE_DEFAULT = 20;

    /**
     * @param field index into the command's field table, or {@link #LITERAL}
     * @param width 0 for the exact value
     * @param suffix text after the column
     */
    public record Column(int field, int width, boolean right, String suffix) {}

    public static final int LITERAL = -1;

    /** A value that is not there, which is not told in part. */
    private static final String NULL = "(null)";

    /** A layout of letters that has none: rows are empty lines. */
    public static final String NO_COLUMNS = "%";

    /** Returns the layout of a given option. An empty layout differs from the default one of a missing option. */
    public static String explicit(String format) {
        return format.isEmpty() ? NO_COLUMNS : format;
    }

    /** Gives field numbers for letters and names; -1 if unknown. */
    public interface Fields {
        int byLetter(char letter);

        int byName(String name);

        /** Returns whether a right-justified column prints wider values and headings whole instead of cutting them. */
        default boolean isWhole(int field, String value) {
            return false;
        }
    }

    private final List<Column> columns;
    private final Fields fields;

    private RowFormat(List<Column> columns, Fields fields) {
        this.columns = columns;
        this.fields = fields;
    }

    public List<Column> columns() {
        return columns;
    }

    /**
     * Every field that has a letter, small letters before capitals.
     *
     * @param behindCapital what follows each capital's field besides the bar
     */
    public static String everyLetter(Fields fields, String behindCapital) {
        StringBuilder text = new StringBuilder();
        for (char letter = 'a'; letter != '['; ) {
            if (fields.byLetter(letter) >= 0) {
                text.append(text.isEmpty() ? "%" : "|%").append(letter).append(letter < 'a' ? behindCapital : "");
            }
            letter = letter == 'z' ? 'A' : (char) (letter + 1);
        }
        return text.toString();
    }

    /** @param unknown receives each field that does not exist; its text is then printed as it stands */
    public static RowFormat ofLetters(String format, Fields fields, List<String> unknown) {
        List<Column> out = new ArrayList<>();
        int i = 0;
        int literal = format.indexOf('%');
        if (literal != 0) {
            literal = literal < 0 ? format.length() : literal;
            out.add(new Column(LITERAL, 0, false, format.substring(0, literal)));
            i = literal;
        }
        while (i < format.length()) {
            int next = format.indexOf('%', i + 1);
            int end = next < 0 ? format.length() : next;
            int p = i + 1;
            boolean right = p < end && format.charAt(p) == '.';
            p += right ? 1 : 0;
            int width = 0;
            while (p < end && format.charAt(p) >= '0' && format.charAt(p) <= '9' && width < 100_000) {
                width = width * 10 + format.charAt(p++) - '0';
            }
            int field = p < end ? fields.byLetter(format.charAt(p)) : -1;
            if (field >= 0) {
                out.add(new Column(field, width, right, format.substring(p + 1, end)));
            } else if (end > i + 1) { // signs of per cent side by side are one, and one with nothing after it is none
                unknown.add(p < end ? String.valueOf(format.charAt(p)) : "");
                out.add(new Column(LITERAL, 0, false, format.substring(i, end)));
            }
            i = end;
        }
        return new RowFormat(out, fields);
    }

    /** Returns the layout without unknown fields, for commands that leave them out. */
    public RowFormat known() {
        return new RowFormat(
                columns.stream()
                        .filter(c -> c.field() != LITERAL || !c.suffix().startsWith("%"))
                        .toList(),
                fields);
    }

    /**
     * Long names with optional {@code :[.]width[suffix]} or {@code :[.]suffix}; the dot says the side and is no part of
     * the suffix.
     */
    public static RowFormat ofNames(String format, Fields fields, List<String> unknown) {
        List<Column> out = new ArrayList<>();
        for (String item : Texts.split(format, ',')) {
            int colon = item.indexOf(':');
            String name = colon < 0 ? item : item.substring(0, colon);
            int width = WIDE_DEFAULT;
            boolean right = false;
            String suffix = "";
            if (colon >= 0) {
                String size = item.substring(colon + 1);
                int p = size.startsWith(".") ? 1 : 0;
                int end = p;
                int n = 0;
                while (end < size.length() && size.charAt(end) >= '0' && size.charAt(end) <= '9' && n < 100_000) {
                    n = n * 10 + size.charAt(end++) - '0';
                }
                right = p == 1 && end > 1;
                width = end > p ? n : 0;
                suffix = size.substring(end);
            }
            int field = fields.byName(Texts.lower(name));
            if (field < 0) {
                unknown.add(name);
            } else {
                out.add(new Column(field, width, right, suffix));
            }
        }
        return new RowFormat(out, fields);
    }

    /** Prints a row: values by column in order. */
    public void print(List<String> values, Output out) {
        out.println(line(values));
    }

    /** Returns the text that {@link #print} prints, without the line's end. */
    public String line(List<String> values) {
        StringBuilder text = new StringBuilder(120);
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.get(i);
            if (column.field != LITERAL) {
                String value = values.get(i);
                append(
                        text,
                        value,
                        column.right && fields.isWhole(column.field, value)
                                ? Math.max(column.width, value.length())
                                : column.width,
                        column.right);
            }
            text.append(column.suffix);
        }
        return text.toString();
    }

    public static void append(StringBuilder out, String value, int width, boolean right) {
        if (width == 0) {
            out.append(value);
            return;
        }
        String text;
        if (value.length() <= width) {
            text = value;
        } else if (value.equals(NULL) && !right) {
            text = "";
        } else {
            text = value.substring(0, width);
        }

        if (right) {
            out.repeat(' ', width - text.length());
        }
        out.append(text);
        if (!right) {
            out.repeat(' ', width - text.length());
        }
    }
}
