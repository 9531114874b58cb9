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

    private final CommandContext context;
    private final SreportSwitches switches;
    private final ReportRequest request;
    private final UsageSource source;
    private final boolean counts;

    JobReports(CommandContext context, SreportSwitches switches, ReportRequest request) {
        this.context = context;
        this.switches = switches;
        this.request = request;
        this.source = new UsageSource(context, switches, request);
        this.counts = request.flags.contains("printjobcount");
    }

    /** @param grouping account, accountandwckey or wckey */
    int sizes(String grouping) throws UsageException {
        List<String> tres = source.tres();
        if (tres.size() > 1) {
            throw new UsageException(
                    1,
                    List.of(
                            " Job report only supports a single --tres type.",
                            " Generate a separate report for each TRES type."));
        }
        Json.Obj where = new Json.Obj().put("by", grouping).put("tres", tres.getFirst());
        for (String key : List.of("accounts", "jobs", "nodes", "partitions", "users", "wckeys")) {
            if (request.lists.containsKey(key)) {
                where.put(key, request.lists.get(key));
            }
        }
        if (request.lists.containsKey("gid")) {
            where.put("gids", groups());
        }
        request.flags.forEach(flag -> where.put(flag, "1"));
        List<Json.Obj> rows = source.rows("sizes", where);
        List<Range> ranges = ranges(rows);
        List<String> title = new ArrayList<>(
                List.of((grouping.equals("wckey") ? "Job Sizes by Wckey " : "Job Sizes ") + request.spanWithLength()));
        if (!switches.tres.isEmpty()) {
            title.add("TRES type is " + tres.getFirst());
        }
        title.add(counts ? "Units are in number of jobs ran" : "Time reported in " + switches.unit.words);
        print(grouping, title, ranges, rows);
        return request.wrong ? 1 : 0;
    }

    private String groups() {
        List<String> out = new ArrayList<>();
        for (String name : request.list("gid")) {
            int gid = context.host().groupId(name);
            if (gid < 0) {
                context.error("Invalid group id: " + name);
                request.wrong = true;
            } else {
                out.add(Integer.toString(gid));
            }
        }
        return String.join(",", out.isEmpty() ? List.of("-1") : out);
    }

    /** Returns the groups of {@code grouping=}: bounds, or every size of a job. */
    private List<Range> ranges(List<Json.Obj> rows) {
        List<Range> out = new ArrayList<>();
        String unit = switches.tres.isEmpty() || switches.tres.equalsIgnoreCase("cpu") ? "CPUs" : "TRES";
        String grouping = request.lists.getOrDefault("grouping", "");
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
                context.error("Invalid value for grouping (" + bound + ")");
                request.wrong = true;
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

    private void print(String grouping, List<String> title, List<Range> ranges, List<Json.Obj> rows) {
        boolean shares = switches.unit.both() && !counts;
        int width = shares ? BOTH_WIDTH : SIZE_WIDTH;
        boolean cluster = request.format.isEmpty()
                || request.format.stream()
                        .anyMatch(f -> f.toLowerCase(java.util.Locale.ROOT).startsWith("c"));
        boolean name = request.format.isEmpty()
                || request.format.stream()
                        .anyMatch(f -> !f.toLowerCase(java.util.Locale.ROOT).startsWith("c"));
        List<TextTable.Column> columns = new ArrayList<>();
        if (cluster) {
            columns.add(new TextTable.Column("Cluster", NAME_WIDTH));
        }
        if (name) {
            columns.add(new TextTable.Column(
                    grouping.equals("wckey") ? "Wckey" : "Account",
                    grouping.equals("accountandwckey") ? PAIR_WIDTH : NAME_WIDTH));
        }
        ranges.forEach(r -> columns.add(new TextTable.Column(r.title, width)));
        columns.add(new TextTable.Column("Total Count", COUNT_WIDTH));
        columns.add(new TextTable.Column("% of cluster", SHARE_WIDTH));
        TextTable.title(switches.style(), context.out(), title);
        TextTable grid = new TextTable(columns, switches.style(), context.out());
        grid.header();
        Map<String, List<Json.Obj>> clusters = new LinkedHashMap<>();
        rows.forEach(r -> clusters.computeIfAbsent(r.text("Cluster"), k -> new ArrayList<>())
                .add(r));
        clusters.forEach((of, jobs) -> {
            long all = sum(jobs, new Range("", 0, Long.MAX_VALUE));
            Map<String, List<Json.Obj>> names = new LinkedHashMap<>();
            jobs.forEach(r -> names.computeIfAbsent(r.text("Name"), k -> new ArrayList<>())
                    .add(r));
            names.forEach((n, accountJobs) -> {
                List<String> line = new ArrayList<>();
                if (cluster) {
                    line.add(of);
                }
                if (name) {
                    line.add(n);
                }
                long total = sum(accountJobs, new Range("", 0, Long.MAX_VALUE));
                ranges.forEach(r -> line.add(text(sum(accountJobs, r), total)));
                line.add(text(total, total));
                line.add(UsageUnit.PERCENT.text(total, all));
                grid.row(line);
            });
        });
    }

    private String text(long value, long of) {
        return counts ? Long.toString(value) : switches.unit.text(value, of);
    }

    private long sum(List<Json.Obj> rows, Range range) {
        return rows.stream()
                .filter(r -> UsageSource.number(r, "CPUs") >= range.from && UsageSource.number(r, "CPUs") < range.to)
                .mapToLong(r -> UsageSource.number(r, counts ? "Jobs" : "Seconds"))
                .sum();
    }
}
