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

    private record ShownColumn(Field field, int width) {}

    private final CommandContext context;
    private final SreportSwitches switches;
    private final List<ShownColumn> shown = new ArrayList<>();
    private boolean wrong;

    UseTable(CommandContext context, SreportSwitches switches, List<Field> fields, List<String> format) {
        this.context = context;
        this.switches = switches;
        shown.addAll(TextTable.named(format, (word, width) -> find(fields, word, width)));
    }

    private @Nullable ShownColumn find(List<Field> fields, String word, int width) {
        String lower = word.toLowerCase(Locale.ROOT);
        for (Field column : fields) {
            if (column.name.equals(lower)) {
                return new ShownColumn(column, width);
            }
        }
        for (Field column : fields) {
            if (lower.length() >= column.least && column.name.startsWith(lower)) {
                return new ShownColumn(column, width);
            }
        }
        context.err().println(" Unknown field '" + word + "'");
        wrong = true;
        return null;
    }

    /** Whether an unknown field was requested. */
    boolean wrong() {
        return wrong;
    }

    boolean has(String key) {
        return shown.stream().anyMatch(column -> column.field.key.equals(key));
    }

    private TextTable.Column column(ShownColumn column, List<Row> rows) {
        if (column.width != 0) {
            return new TextTable.Column(column.field.title, column.width);
        }
        if (column.field.width != 0) {
            return new TextTable.Column(column.field.title, column.field.width);
        }
        long maximum = rows.stream()
                .mapToLong(r -> r.use.getOrDefault(column.field.key, 0L))
                .max()
                .orElse(0);
        return new TextTable.Column(
                column.field.title,
                Math.max(USE_WIDTH, Long.toString(maximum).length()) + (switches.unit.both() ? UsageUnit.BRACKETS : 0));
    }

    void print(List<String> title, List<Row> rows) {
        TextTable.title(switches.style(), context.out(), title);
        TextTable grid = new TextTable(
                shown.stream().map(column -> column(column, rows)).toList(), switches.style(), context.out());
        grid.header();
        for (Row row : rows) {
            grid.row(shown.stream()
                    .map(column -> column.field.width != 0
                            ? row.texts.getOrDefault(column.field.key, "")
                            : switches.unit.text(
                                    row.use.getOrDefault(column.field.key, 0L),
                                    row.total.getOrDefault(column.field.key, 0L)))
                    .toList());
        }
    }

    /** The line that says in what use is given. */
    static String usage(SreportSwitches switches, String tres) {
        String kind = switches.tres.isEmpty() ? tres : "TRES";
        return "Usage reported in " + (switches.unit == UsageUnit.PERCENT ? "" : kind + " ") + switches.unit.words;
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
