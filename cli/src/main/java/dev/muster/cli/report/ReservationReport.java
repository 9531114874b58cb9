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

    private final CommandContext context;
    private final SreportSwitches switches;
    private final ReportRequest request;
    private final UsageSource source;

    ReservationReport(CommandContext context, SreportSwitches switches, ReportRequest request) {
        this.context = context;
        this.switches = switches;
        this.request = request;
        this.source = new UsageSource(context, switches, request);
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
        List<String> only =
                switches.tres.isEmpty() || switches.tres.equalsIgnoreCase("ALL") ? List.of() : source.tres();
        UseTable table = new UseTable(context, switches, fields(), format());
        List<UseTable.Row> rows = new ArrayList<>();
        Json.Obj where = new Json.Obj();
        for (String key : List.of("names", "nodes")) {
            if (request.lists.containsKey(key)) {
                where.put(key, request.lists.get(key));
            }
        }
        for (Json.Obj row : source.rows("reservations", where)) {
            if (only.isEmpty() || only.contains(row.text("TRES"))) {
                rows.add(row(row));
            }
        }
        table.print(List.of("Reservation Utilization " + request.spanText(), UseTable.usage(switches, "TRES")), rows);
        return table.wrong() || request.wrong ? 1 : 0;
    }

    /** The columns; those of usage become wider where they show two units. */
    private List<String> format() {
        int width = USE_WIDTH + (switches.unit.both() ? UsageUnit.BRACKETS : 0);
        List<String> format = new ArrayList<>();
        for (String word : request.format.isEmpty()
                ? List.of("cluster", "name", "start", "end", "tresname", "allocated", "idle")
                : request.format) {
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
                context.time(start),
                "End",
                context.time(end)));
        row.texts().put("Time", Durations.full(end - start));
        row.texts().put("TRESTime", Durations.full(whole));
        long used = Math.min(whole, UsageSource.number(r, "Allocated"));
        return row.use("Allocated", used, whole).use("Idle", whole - used, whole);
    }
}
