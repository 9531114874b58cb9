package dev.muster.cli.report;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.TextTable;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Reports of {@code job Sizes…}: usage by the number of CPUs of jobs. */
final class JobReports {
    private static final List<Integer> STANDARD = List.of(50, 250, 500, 1000);
    private static final int NAME_WIDTH = 9;
    private static final int PAIR_WIDTH = -20;
    private static final int COUNT_WIDTH = 11;
    private static final int SIZE_WIDTH = 13;
    private static final int BOTH_WIDTH = 20;
    private static final int SHARE_WIDTH = 12;

    /** A range of sizes, {@code to} not in it. */
    private record Range(String title, long from, long to) {}

    private final CommandContext c;
    private final SreportSwitches s;
    private final ReportRequest asked;
    private final UsageSource source;
    private final boolean counts;

    JobReports(CommandContext c, SreportSwitches s, ReportRequest asked) {
        this.c = c;
        this.s = s;
        this.asked = asked;
        this.source = new UsageSource(c, s, asked);
        this.counts = asked.flags.contains("printjobcount");
    }

    /** @param by account, accountandwckey or wckey */
    int sizes(String by) throws UsageException {
        List<String> tres = source.tres();
        if (tres.size() > 1) {
            throw new UsageException(
                    1,
                    List.of(
                            " Job report only supports a single --tres type.",
                            " Generate a separate report for each TRES type."));
        }
        Json.Obj where = new Json.Obj().put("by", by).put("tres", tres.getFirst());
        for (String key : List.of("accounts", "jobs", "nodes", "partitions", "users", "wckeys")) {
            if (asked.lists.containsKey(key)) {
                where.put(key, asked.lists.get(key));
            }
        }
        if (asked.lists.containsKey("gid")) {
            where.put("gids", groups());
        }
        asked.flags.forEach(flag -> where.put(flag, "1"));
        List<Json.Obj> rows = source.rows("sizes", where);
        List<Range> ranges = ranges(rows);
        List<String> title = new ArrayList<>(
                List.of((by.equals("wckey") ? "Job Sizes by Wckey " : "Job Sizes ") + asked.spanWithLength()));
        if (!s.tres.isEmpty()) {
            title.add("TRES type is " + tres.getFirst());
        }
        title.add(counts ? "Units are in number of jobs ran" : "Time reported in " + s.unit.words);
        print(by, title, ranges, rows);
        return asked.wrong ? 1 : 0;
    }

    private String groups() {
        List<String> out = new ArrayList<>();
        for (String name : asked.list("gid")) {
            int gid = c.host().groupId(name);
            if (gid < 0) {
                c.error("Invalid group id: " + name);
                asked.wrong = true;
            } else {
                out.add(Integer.toString(gid));
            }
        }
        return String.join(",", out.isEmpty() ? List.of("-1") : out);
    }

    /** Returns the groups of {@code grouping=}: bounds, or every size of a job. */
    private List<Range> ranges(List<Json.Obj> rows) {
        List<Range> out = new ArrayList<>();
        String unit = s.tres.isEmpty() || s.tres.equalsIgnoreCase("cpu") ? "CPUs" : "TRES";
        String grouping = asked.lists.getOrDefault("grouping", "");
        if (grouping.equalsIgnoreCase("individual")) {
            TreeSet<Long> sizes = new TreeSet<>();
            rows.forEach(r -> sizes.add(UsageSource.number(r, "CPUs")));
            sizes.forEach(size -> out.add(new Range(size + " " + unit, size, size + 1)));
            return out;
        }
        TreeSet<Long> bounds = new TreeSet<>();
        for (String bound : ReportRequest.split(grouping)) {
            if (bound.matches("\\d{1,9}") && Long.parseLong(bound) > 0) {
                bounds.add(Long.parseLong(bound));
            } else {
                c.error("Invalid value for grouping (" + bound + ")");
                asked.wrong = true;
            }
        }
        if (bounds.isEmpty()) {
            STANDARD.forEach(b -> bounds.add((long) b));
        }
        long from = 0;
        for (long bound : bounds) {
            out.add(new Range(from + "-" + (bound - 1) + " " + unit, from, bound));
            from = bound;
        }
        out.add(new Range(">= " + from + " " + unit, from, Long.MAX_VALUE));
        return out;
    }

    private void print(String by, List<String> title, List<Range> ranges, List<Json.Obj> rows) {
        boolean shares = s.unit.both() && !counts;
        int width = shares ? BOTH_WIDTH : SIZE_WIDTH;
        boolean cluster = asked.format.isEmpty()
                || asked.format.stream()
                        .anyMatch(f -> f.toLowerCase(java.util.Locale.ROOT).startsWith("c"));
        boolean name = asked.format.isEmpty()
                || asked.format.stream()
                        .anyMatch(f -> !f.toLowerCase(java.util.Locale.ROOT).startsWith("c"));
        List<TextTable.Column> columns = new ArrayList<>();
        if (cluster) {
            columns.add(new TextTable.Column("Cluster", NAME_WIDTH));
        }
        if (name) {
            columns.add(new TextTable.Column(
                    by.equals("wckey") ? "Wckey" : "Account", by.equals("accountandwckey") ? PAIR_WIDTH : NAME_WIDTH));
        }
        ranges.forEach(r -> columns.add(new TextTable.Column(r.title, width)));
        columns.add(new TextTable.Column("Total Count", COUNT_WIDTH));
        columns.add(new TextTable.Column("% of cluster", SHARE_WIDTH));
        TextTable.title(s.style(), c.out(), title);
        TextTable grid = new TextTable(columns, s.style(), c.out());
        grid.header();
        Map<String, List<Json.Obj>> clusters = new LinkedHashMap<>();
        rows.forEach(r -> clusters.computeIfAbsent(r.text("Cluster"), k -> new ArrayList<>())
                .add(r));
        clusters.forEach((of, own) -> {
            long all = sum(own, new Range("", 0, Long.MAX_VALUE));
            Map<String, List<Json.Obj>> names = new LinkedHashMap<>();
            own.forEach(r -> names.computeIfAbsent(r.text("Name"), k -> new ArrayList<>())
                    .add(r));
            names.forEach((n, mine) -> {
                List<String> line = new ArrayList<>();
                if (cluster) {
                    line.add(of);
                }
                if (name) {
                    line.add(n);
                }
                long total = sum(mine, new Range("", 0, Long.MAX_VALUE));
                ranges.forEach(r -> line.add(text(sum(mine, r), total)));
                line.add(text(total, total));
                line.add(UsageUnit.PERCENT.text(total, all));
                grid.row(line);
            });
        });
    }

    private String text(long value, long of) {
        return counts ? Long.toString(value) : s.unit.text(value, of);
    }

    private long sum(List<Json.Obj> rows, Range range) {
        return rows.stream()
                .filter(r -> UsageSource.number(r, "CPUs") >= range.from && UsageSource.number(r, "CPUs") < range.to)
                .mapToLong(r -> UsageSource.number(r, counts ? "Jobs" : "Seconds"))
                .sum();
    }
}
