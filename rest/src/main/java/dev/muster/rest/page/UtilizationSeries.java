package dev.muster.rest.page;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.accounting.DbdMessages.Report;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.operation.RestCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The utilization of this cluster over time: equal spans, each with the figures of {@code sreport cluster utilization}.
 */
final class UtilizationSeries {
    /** Each is a question to slurmdbd. */
    static final int SPANS_MAX = 100;
    /** Seconds. */
    static final long STEP_MIN_S = 3600;

    static final long STEP_MAX_S = 31 * 86_400L;
    private static final String NO_TOKENS = "slurmdbd takes no tokens: AuthAltTypes=auth/jwt is not in slurmdbd.conf";
    private static final String[] FIELDS = {"Allocated", "Down", "PlannedDown", "Idle", "Planned", "Reported", "Count"};

    private UtilizationSeries() {}

    /**
     * Rows of time, seconds, sums in TRES seconds and what the cluster had, by TRES. Spans that have not begun are left
     * out, the last one ends now at the latest.
     *
     * @param query from (seconds), step (seconds) and spans (how many)
     */
    static Json.Obj of(Host host, Map<String, String> query) throws RestException, SlurmException {
        long from = number(query, "from", 0, Long.MAX_VALUE >> 1);
        long step = number(query, "step", STEP_MIN_S, STEP_MAX_S);
        long spans = number(query, "spans", 1, SPANS_MAX);
        long now = host.nowMs() / 1000;
        Map<String, List<Object>> series = new TreeMap<>();
        // one question: each would have all that waits looked through anew
        for (Json.Obj row : report(
                host,
                from,
                Math.min(from + spans * step, from + (Math.max(0, now - from - 1) / step + 1) * step),
                step)) {
            String tres = row.text("TRES");
            long at = row.text("From").matches("[0-9]{1,18}") ? Long.parseLong(row.text("From")) : from;
            if (at < now && (tres.equals("cpu") || tres.equals("gres/gpu"))) {
                List<Object> point = new ArrayList<>(List.of(at, Math.min(step, now - at)));
                for (String field : FIELDS) {
                    point.add(row.text(field).matches("-?[0-9]{1,18}") ? Long.parseLong(row.text(field)) : 0L);
                }
                series.computeIfAbsent(tres, t -> new ArrayList<>()).add(point);
            }
        }
        Json.Obj out = new Json.Obj();
        series.forEach(out::put);
        return new Json.Obj()
                .put("now", now)
                .put(
                        "fields",
                        new ArrayList<Object>(List.of(
                                "time",
                                "seconds",
                                "allocated",
                                "down",
                                "planned_down",
                                "idle",
                                "planned",
                                "reported",
                                "count")))
                .put("series", out);
    }

    /** A slurmdbd that takes no tokens says nothing of whether the caller is logged in here. */
    private static List<Json.Obj> report(Host host, long from, long to, long step)
            throws RestException, SlurmException {
        try {
            return host.accounting()
                    .call(
                            "Report",
                            new Json.Obj()
                                    .put("kind", Report.UTILIZATION)
                                    .put("clusters", RestCall.objects(host.clusters()))
                                    .put("from", from)
                                    .put("to", to)
                                    .put("where", new Json.Obj())
                                    .put("step", step))
                    .objects("rows");
        } catch (SlurmException e) {
            if (RestException.of(e, "").status() == 401) {
                throw new RestException(503, e.errno(), NO_TOKENS, NO_TOKENS, "slurmdbd");
            }
            throw e;
        }
    }

    private static long number(Map<String, String> query, String name, long minimum, long maximum)
            throws RestException {
        String text = query.getOrDefault(name, "");
        if (!text.matches("[0-9]{1,12}") || Long.parseLong(text) < minimum || Long.parseLong(text) > maximum) {
            throw RestException.query(name + " is a number from " + minimum + " to " + maximum, "#/" + name + "/");
        }
        return Long.parseLong(text);
    }
}
