package dev.muster.cli.report;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A table of texts and usage. A column of usage is as wide as its largest number of seconds, at least 8 columns, and
 * wider where percentages are shown.
 */
final class UseTable {
    private static final int USE_WIDTH = 8;

    /**
     * A column that a report can have.
     *
     * @param name as {@code format=} has it
     * @param least number of letters of the shortest abbreviation
     * @param width 0 for a column of use
     */
    record Field(String name, int least, String key, String title, int width) {}

    /** @param total what a percentage is of, by key */
    record Row(Map<String, String> texts, Map<String, Long> use, Map<String, Long> total) {
        static Row of(Map<String, String> texts) {
            return new Row(new LinkedHashMap<>(texts), new LinkedHashMap<>(), new LinkedHashMap<>());
        }

        Row use(String key, long seconds, long of) {
            use.put(key, seconds);
            total.put(key, of);
            return this;
        }
    }

    private record Shown(Field field, int width) {}

    private final CommandContext c;
    private final SreportSwitches s;
    private final List<Shown> shown = new ArrayList<>();
    private boolean wrong;

    UseTable(CommandContext c, SreportSwitches s, List<Field> fields, List<String> format) {
        this.c = c;
        this.s = s;
        shown.addAll(TextTable.named(format, (word, width) -> find(fields, word, width)));
    }

    private @Nullable Shown find(List<Field> fields, String word, int width) {
        String lower = word.toLowerCase(Locale.ROOT);
        for (Field f : fields) {
            if (f.name.equals(lower)) {
                return new Shown(f, width);
            }
        }
        for (Field f : fields) {
            if (lower.length() >= f.least && f.name.startsWith(lower)) {
                return new Shown(f, width);
            }
        }
        c.err().println(" Unknown field '" + word + "'");
        wrong = true;
        return null;
    }

    /** A field was asked for that there is not. */
    boolean wrong() {
        return wrong;
    }

    boolean has(String key) {
        return shown.stream().anyMatch(f -> f.field.key.equals(key));
    }

    private TextTable.Column column(Shown f, List<Row> rows) {
        if (f.width != 0) {
            return new TextTable.Column(f.field.title, f.width);
        }
        if (f.field.width != 0) {
            return new TextTable.Column(f.field.title, f.field.width);
        }
        long most = rows.stream()
                .mapToLong(r -> r.use.getOrDefault(f.field.key, 0L))
                .max()
                .orElse(0);
        return new TextTable.Column(
                f.field.title,
                Math.max(USE_WIDTH, Long.toString(most).length()) + (s.unit.both() ? UsageUnit.BRACKETS : 0));
    }

    void print(List<String> title, List<Row> rows) {
        TextTable.title(s.style(), c.out(), title);
        TextTable grid = new TextTable(shown.stream().map(f -> column(f, rows)).toList(), s.style(), c.out());
        grid.header();
        for (Row row : rows) {
            grid.row(shown.stream()
                    .map(f -> f.field.width != 0
                            ? row.texts.getOrDefault(f.field.key, "")
                            : s.unit.text(
                                    row.use.getOrDefault(f.field.key, 0L), row.total.getOrDefault(f.field.key, 0L)))
                    .toList());
        }
    }

    /** The line that says in what use is given. */
    static String usage(SreportSwitches s, String tres) {
        String kind = s.tres.isEmpty() ? tres : "TRES";
        return "Usage reported in " + (s.unit == UsageUnit.PERCENT ? "" : kind + " ") + s.unit.words;
    }

    /** Refuses what makes no sense for nodes. */
    static void withoutNodes(List<String> tres, boolean refused, String report) throws UsageException {
        if (refused && tres.contains("node")) {
            throw new UsageException(
                    1,
                    List.of("sreport: fatal: TRES node usage is no longer reported in " + report
                            + ".  Please use TRES CPU instead."));
        }
    }
}
