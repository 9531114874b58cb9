package dev.muster.cli.report;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.format.Durations;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The report {@code reservation Utilization}: how far jobs used the reservations that overlap the span. */
final class ReservationReport {
    private static final int USE_WIDTH = 20;

    private final CommandContext c;
    private final SreportSwitches s;
    private final ReportRequest asked;
    private final UsageSource source;

    ReservationReport(CommandContext c, SreportSwitches s, ReportRequest asked) {
        this.c = c;
        this.s = s;
        this.asked = asked;
        this.source = new UsageSource(c, s, asked);
    }

    private List<UseTable.Field> fields() {
        return List.of(
                new UseTable.Field("allocated", 2, "Allocated", "Allocated", 0),
                new UseTable.Field("associations", 2, "Assocs", "Associations", 15),
                new UseTable.Field("cluster", 2, "Cluster", "Cluster", 9),
                new UseTable.Field("count", 2, "Count", "TRES count", 10),
                new UseTable.Field("end", 1, "End", "End", 19),
                new UseTable.Field("flags", 1, "Flags", "Flags", 20),
                new UseTable.Field("idle", 1, "Idle", "Idle", 0),
                new UseTable.Field("name", 2, "Name", "Name", 9),
                new UseTable.Field("nodes", 2, "Nodes", "Nodes", 15),
                new UseTable.Field("reservationid", 1, "ID", "Id", 8),
                new UseTable.Field("start", 1, "Start", "Start", 19),
                new UseTable.Field("totaltime", 2, "Time", "TotalTime", 9),
                new UseTable.Field("trescount", 5, "Count", "TRES count", 10),
                new UseTable.Field("tresname", 5, "TRES", "TRES Name", 14),
                new UseTable.Field("trestime", 5, "TRESTime", "TRES Time", 9));
    }

    int utilization() throws UsageException {
        List<String> only = s.tres.isEmpty() || s.tres.equalsIgnoreCase("ALL") ? List.of() : source.tres();
        UseTable table = new UseTable(c, s, fields(), format());
        List<UseTable.Row> rows = new ArrayList<>();
        Json.Obj where = new Json.Obj();
        for (String key : List.of("names", "nodes")) {
            if (asked.lists.containsKey(key)) {
                where.put(key, asked.lists.get(key));
            }
        }
        for (Json.Obj r : source.rows("reservations", where)) {
            if (only.isEmpty() || only.contains(r.text("TRES"))) {
                rows.add(row(r));
            }
        }
        table.print(List.of("Reservation Utilization " + asked.spanText(), UseTable.usage(s, "TRES")), rows);
        return table.wrong() || asked.wrong ? 1 : 0;
    }

    /** The columns; those of usage become wider where they show two units. */
    private List<String> format() {
        int width = USE_WIDTH + (s.unit.both() ? UsageUnit.BRACKETS : 0);
        List<String> format = new ArrayList<>();
        for (String word : asked.format.isEmpty()
                ? List.of("cluster", "name", "start", "end", "tresname", "allocated", "idle")
                : asked.format) {
            String lower = word.toLowerCase(java.util.Locale.ROOT);
            boolean isUsage = !word.contains("%")
                    && word.length() > 1
                    && ("allocated".startsWith(lower) || "idle".startsWith(lower));
            format.add(isUsage ? word + "%" + width : word);
        }
        return format;
    }

    private UseTable.Row row(Json.Obj r) {
        long start = UsageSource.number(r, "Start");
        long end = UsageSource.number(r, "End");
        long whole = UsageSource.number(r, "Count") * (end - start);
        UseTable.Row row = UseTable.Row.of(Map.of(
                "Cluster",
                r.text("Cluster"),
                "Name",
                r.text("Name"),
                "ID",
                r.text("ID"),
                "Nodes",
                r.text("Nodes"),
                "Flags",
                r.text("Flags"),
                "Assocs",
                r.text("Assocs"),
                "TRES",
                r.text("TRES"),
                "Count",
                r.text("Count"),
                "Start",
                c.time(start),
                "End",
                c.time(end)));
        row.texts().put("Time", Durations.full(end - start));
        row.texts().put("TRESTime", Durations.full(whole));
        long used = Math.min(whole, UsageSource.number(r, "Allocated"));
        return row.use("Allocated", used, whole).use("Idle", whole - used, whole);
    }
}
