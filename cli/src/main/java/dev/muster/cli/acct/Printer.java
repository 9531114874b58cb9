package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.TextTable;
import dev.muster.json.Json;
import dev.muster.model.format.Durations;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints sacctmgr's rows in columns or with bars between them. */
final class Printer {
    /** @param width cut and padded to it; negative: left side */
    private record Field(Entity.Column column, int width) {}

    /** Administrator level of a user whose line in the file sets none. */
    static final String NOT_SET = "Not Set";

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT);

    private final CommandContext context;
    private final TextTable grid;
    private final List<Field> fields = new ArrayList<>();
    private final boolean tree;
    private int highest;

    Printer(CommandContext context, TextTable.Style style, Entity entity, String format, boolean tree)
            throws UsageException {
        this(context, style, entity, format, tree, Map.of());
    }

    /** @param titles replacement titles by column key */
    Printer(
            CommandContext context,
            TextTable.Style style,
            Entity entity,
            String format,
            boolean tree,
            Map<String, String> titles)
            throws UsageException {
        this.context = context;
        this.tree = tree;
        for (String item : format.split(",")) {
            int percent = item.indexOf('%');
            String name = (percent < 0 ? item : item.substring(0, percent)).strip();
            if (name.isEmpty()) {
                continue;
            }
            Entity.Column column = entity.column(name)
                    .orElseThrow(() -> new UsageException(1, List.of("Unknown field '" + name + "'")));
            int width = column.width();
            if (percent >= 0) {
                try {
                    width = Integer.parseInt(item.substring(percent + 1).strip());
                } catch (NumberFormatException e) {
                    width = column.width();
                }
            } else if (tree && column.key().equals("Account")) {
                width = -20;
            }
            fields.add(new Field(column, width));
        }
        grid = new TextTable(
                fields.stream()
                        .map(f -> new TextTable.Column(titles.getOrDefault(f.column.key(), f.column.title()), f.width))
                        .toList(),
                style,
                context.out());
    }

    void header() {
        grid.header();
    }

    /** Prints the rows. Rows of a tree are indented by their depth below the topmost printed row. */
    void rows(List<Json.Obj> rows) {
        highest = rows.stream().mapToInt(Printer::depth).min().orElse(0);
        rows.forEach(this::row);
    }

    private static int depth(Json.Obj row) {
        return row.text("Depth").isEmpty() ? 0 : Integer.parseInt(row.text("Depth"));
    }

    private void row(Json.Obj row) {
        List<String> values = new ArrayList<>();
        for (Field f : fields) {
            String value = value(context, f.column, row);
            values.add(tree && f.column.key().equals("Account") ? " ".repeat(depth(row) - highest) + value : value);
        }
        grid.row(values);
    }

    static String value(CommandContext context, Entity.Column column, Json.Obj row) {
        String raw = row.text(column.key());
        raw = raw.isEmpty() ? column.initial() : raw;
        return shown(context, column.kind(), raw);
    }

    /** Formats a stored value for display. */
    static String shown(CommandContext context, Entity.Kind kind, String raw) {
        if (raw.isEmpty()) {
            return kind == Entity.Kind.TIME ? "Unknown" : "";
        }
        return switch (kind) {
            case TEXT -> raw;
            case LOWER -> raw.toLowerCase(java.util.Locale.ROOT);
            case TRES -> tres(raw);
            case MINUTES -> Durations.full(Long.parseLong(raw) * 60);
            case SECONDS -> Durations.full(Long.parseLong(raw));
            case REAL -> raw;
            case TIME ->
                raw.equals("0")
                        ? "Unknown"
                        : TIME.format(Instant.ofEpochSecond(Long.parseLong(raw))
                                .atZone(context.host().zone()));
            case LEVEL -> {
                if (raw.equalsIgnoreCase("Administrator") || raw.equalsIgnoreCase("Admin")) {
                    yield "Administrator";
                }
                if (raw.equalsIgnoreCase("Operator")) {
                    yield "Operator";
                }
                if (raw.equals(NOT_SET)) {
                    yield raw;
                }
                yield "None";
            }
            case CPUS -> count(raw, "cpu");
            case NODES -> count(raw, "node");
            case MEMORY -> count(raw, "mem");
        };
    }

    private static String count(String tres, String name) {
        for (String item : tres.split(",")) {
            if (item.startsWith(name + "=")) {
                return item.substring(name.length() + 1);
            }
        }
        return "";
    }

    /** Sorts names as Slurm lists them. */
    private static List<String> sorted(String raw) {
        List<String> items = new ArrayList<>(List.of(raw.split(",")));
        items.sort(Comparator.comparing(i -> i.substring(0, Math.max(0, i.indexOf('=')))));
        return items;
    }

    /** Memory gets its unit: {@code mem=1024} is {@code mem=1G}. */
    static String tres(String raw) {
        StringBuilder out = new StringBuilder();
        for (String item : sorted(raw)) {
            out.append(out.isEmpty() ? "" : ",");
            if (item.startsWith("mem=") || item.startsWith("bb/")) {
                int equalSign = item.indexOf('=');
                if (item.length() - equalSign > 18) {
                    out.append(item);
                    continue;
                }
                long mb = Long.parseLong(item.substring(equalSign + 1));
                int unit = 0;
                while (mb > 0 && mb % 1024 == 0 && unit < 3) {
                    mb /= 1024;
                    unit++;
                }
                out.append(item, 0, equalSign + 1).append(mb).append(mb == 0 ? "" : "MGTP".charAt(unit));
            } else {
                out.append(item);
            }
        }
        return out.toString();
    }
}
