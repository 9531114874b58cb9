package dev.muster.cli.format;

import dev.muster.cli.command.Output;
import java.util.ArrayList;
import java.util.List;

/** Prints columns under titles, or values with bars between them. */
public final class TextTable {
    /** @param width cut and padded to it; negative: on the left side */
    public record Column(String title, int width) {}

    /**
     * @param bars values with bars between them
     * @param lastBar whether a bar follows the last column
     */
    public record Style(boolean header, boolean bars, boolean lastBar) {}

    private static final String RULE = "-".repeat(80);

    private final List<Column> columns;
    private final Style style;
    private final Output out;

    public TextTable(List<Column> columns, Style style, Output out) {
        this.columns = List.copyOf(columns);
        this.style = style;
        this.out = out;
    }

    /** The lines above the table. */
    public static void title(Style style, Output out, List<String> lines) {
        if (style.header()) {
            out.println(RULE);
            lines.forEach(out::println);
            out.println(RULE);
        }
    }

    /** The titles, and lines below them. */
    public void header() {
        if (!style.header()) {
            return;
        }
        line(columns.stream().map(Column::title).toList(), false);
        if (!style.bars()) {
            StringBuilder rule = new StringBuilder();
            columns.forEach(c -> rule.append("-".repeat(Math.abs(c.width))).append(' '));
            out.println(rule.toString());
        }
    }

    /** A line of values: one that is cut ends in a plus sign. */
    public void row(List<String> values) {
        line(values, true);
    }

    private void line(List<String> values, boolean mark) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < columns.size(); i++) {
            cell(line, columns.get(i), values.get(i), mark);
        }
        if (style.bars() && !style.lastBar() && !line.isEmpty()) {
            line.setLength(line.length() - 1);
        }
        out.println(line.toString());
    }

    private void cell(StringBuilder line, Column column, String value, boolean mark) {
        if (style.bars()) {
            line.append(value).append('|');
            return;
        }
        int width = Math.abs(column.width);
        String text;
        if (value.length() <= width) {
            text = value;
        } else if (mark && width > 0) {
            text = value.substring(0, width - 1) + "+";
        } else {
            text = value.substring(0, width);
        }

        String pad = " ".repeat(width - text.length());
        line.append(column.width < 0 ? text + pad : pad + text).append(' ');
    }

    /** Columns as {@code format=} names them, of those that a report has. */
    public static <T> List<T> named(List<String> words, java.util.function.BiFunction<String, Integer, T> find) {
        List<T> out = new ArrayList<>();
        for (String item : words) {
            int percent = item.indexOf('%');
            int width = 0;
            if (percent >= 0) {
                try {
                    width = Integer.parseInt(item.substring(percent + 1).strip());
                } catch (NumberFormatException e) {
                    width = 0;
                }
            }
            T found = find.apply(
                    (percent < 0 ? item : item.substring(0, percent)).strip(), Math.max(-1000, Math.min(1000, width)));
            if (found != null) {
                out.add(found);
            }
        }
        return out;
    }
}
