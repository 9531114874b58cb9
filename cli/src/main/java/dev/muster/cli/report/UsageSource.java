package dev.muster.cli.report;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Loads the rows of a report from slurmdbd. */
final class UsageSource {
    private final CommandContext context;
    private final SreportSwitches switches;
    private final ReportRequest conditions;
    private final Map<String, String> properNames = new HashMap<>();
    private @Nullable List<String> tres;

    UsageSource(CommandContext context, SreportSwitches switches, ReportRequest conditions) {
        this.context = context;
        this.switches = switches;
        this.conditions = conditions;
    }

    private List<Object> clusters() {
        if (switches.allClusters || conditions.allClusters()) {
            return new ArrayList<>();
        }
        List<Object> out = new ArrayList<>(switches.clusters);
        out.addAll(conditions.clusters);
        if (out.isEmpty()) {
            out.addAll(context.host().clusters());
        }
        return out;
    }

    List<Json.Obj> rows(String kind, Json.Obj where) throws UsageException {
        return call(
                        "Report",
                        new Json.Obj()
                                .put("kind", kind)
                                .put("clusters", clusters())
                                .put("from", conditions.from)
                                .put("to", conditions.to)
                                .put("where", where))
                .objects("rows");
    }

    private Json.Obj call(String message, Json.Obj request) throws UsageException {
        try {
            return context.host().accounting().call(message, request);
        } catch (SlurmException e) {
            String kind = request.text("kind");
            if (List.of("sizes", "reservations").contains(kind) && e.errno() != SlurmErrno.CTLD_CONNECT.number()) {
                throw new UsageException(
                        1,
                        List.of(
                                "sreport: error: " + e.getMessage(),
                                " Problem with " + (kind.equals("sizes") ? "job" : "reservation") + " query."));
            }
            throw new UsageException(
                    1,
                    List.of(
                            e.errno() == SlurmErrno.CTLD_CONNECT.number()
                                    ? "sreport: error: Sending PersistInit msg: Connection refused"
                                    : " Problem with query: " + e.getMessage()));
        }
    }

    /** The resources to report on, in the order in which they were named; CPUs unless some were. */
    List<String> tres() throws UsageException {
        if (tres == null) {
            tres = switches.tres.isEmpty() ? List.of("cpu") : named();
        }
        return tres;
    }

    private List<String> named() throws UsageException {
        List<String> known = new ArrayList<>();
        for (Json.Obj row : call(
                        "Show",
                        new Json.Obj()
                                .put("entity", "tres")
                                .put("where", new Json.Obj())
                                .put("options", new ArrayList<>()))
                .objects("rows")) {
            known.add(row.text("Type") + (row.text("Name").isEmpty() ? "" : "/" + row.text("Name")));
        }
        if (switches.tres.equalsIgnoreCase("ALL")) {
            return known;
        }
        List<String> out = new ArrayList<>();
        for (String name : ReportRequest.split(switches.tres.toLowerCase(Locale.ROOT))) {
            known.stream().filter(k -> k.equalsIgnoreCase(name)).forEach(out::add);
        }
        if (out.isEmpty()) {
            throw new UsageException(1, List.of("sreport: fatal: No valid TRES given"));
        }
        return out;
    }

    /** Returns a cluster's capacity by {@code CLUSTER TRES}, for percentages; empty if none are requested. */
    Map<String, Long> totals() throws UsageException {
        Map<String, Long> out = new HashMap<>();
        if (switches.unit.percent()) {
            for (Json.Obj row : rows("utilization", new Json.Obj())) {
                out.put(row.text("Cluster") + " " + row.text("TRES"), number(row, "Reported"));
            }
        }
        return out;
    }

    /** The user's name as the list of users has it. */
    String properName(String user) {
        return user.isEmpty() ? "" : properNames.computeIfAbsent(user, context.host()::properName);
    }

    static long number(Json.Obj row, String key) {
        String text = row.text(key);
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }
}
