package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Terminal;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs {@code muster why} and {@code muster plan}: what the scheduler plans, and what keeps jobs waiting. */
final class PlanCommand {
    private static final Pattern JOB = Pattern.compile("([0-9]{1,10})(?:[_+]([0-9]{1,7}))?");
    private static final Pattern MOMENT = Pattern.compile("@([0-9]{1,12})@");
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss");
    private static final DateTimeFormatter SHORT = DateTimeFormatter.ofPattern("d MMM HH:mm", java.util.Locale.ENGLISH);
    private static final int HOURS = 24;
    /** Plans reach no further. */
    private static final int HOURS_MAX = 168;

    private static final int COLUMNS = 100;
    /** More nodes are shown by their partitions. */
    private static final int ROWS = 40;

    private static final int JOBS = 20;
    private static final int NAME = 16;

    private final CommandContext context;

    PlanCommand(CommandContext context) {
        this.context = context;
    }

    private String time(DateTimeFormatter how, long seconds) {
        return how.format(Instant.ofEpochSecond(seconds).atZone(context.host().zone()));
    }

    private static String text(Json.Obj tree) {
        return new String(Json.print(tree), StandardCharsets.UTF_8);
    }

    /** Replaces times by the caller's local time, and removes control characters that a user wrote. */
    private String withTimes(String sentence) {
        Matcher matcher = MOMENT.matcher(sentence.replaceAll("\\p{Cntrl}", "?"));
        return matcher.replaceAll(r -> time(TIME, Long.parseLong(r.group(1))));
    }

    // ---- why

    int why(List<String> ids, boolean json) throws SlurmException {
        int rc = 0;
        String separator = "";
        for (String id : ids) {
            Matcher matcher = JOB.matcher(id);
            Json.Obj reply;
            try {
                if (!matcher.matches() || Long.parseLong(matcher.group(1)) > Integer.MAX_VALUE) {
                    throw new SlurmException(SlurmErrno.INVALID_JOB_ID.number(), "");
                }
                reply = ask(id, matcher);
            } catch (SlurmException e) {
                if (e.errno() != SlurmErrno.INVALID_JOB_ID.number()) {
                    throw e;
                }
                context.err().println("muster: error: Invalid job id specified: " + id);
                rc = 1;
                continue;
            }
            context.out().print(separator);
            separator = json ? "" : "\n";
            if (json) {
                context.out().println(withTimes(text(reply)));
            } else {
                report(reply);
            }
        }
        return rc;
    }

    /** {@code 12+1} is the second component of a heterogeneous job, which has the number behind the first's. */
    private Json.Obj ask(String id, Matcher matcher) throws SlurmException {
        long number = Long.parseLong(matcher.group(1));
        boolean het = id.indexOf('+') > 0;
        return context.host()
                .controller()
                .call(
                        "QueryWhy",
                        new Json.Obj()
                                .put("jobId", het ? number + Long.parseLong(matcher.group(2)) : number)
                                .put("task", matcher.group(2) == null || het ? -1L : Long.parseLong(matcher.group(2))));
    }

    private void report(Json.Obj w) {
        context.out()
                .println("Job " + w.text("shown") + " of " + w.text("user") + ": " + w.text("state")
                        + (w.text("state").equals("PENDING") ? " (" + w.text("reason") + ")" : ""));
        context.out().println(withTimes(w.text("says")));
        w.texts("evidence").forEach(e -> context.out().println("  " + withTimes(e)));
        if (!w.text("change").isEmpty()) {
            context.out().println("What would help: " + withTimes(w.text("change")));
        }
        if (w.text("state").equals("PENDING") && w.number("start") == 0) {
            context.out().println("No start is planned for it.");
        } else if (w.text("state").equals("PENDING")) {
            String start = time(TIME, Math.max(w.number("start"), w.number("now")));
            String nodes = w.text("nodes").isEmpty() ? "" : " on " + w.text("nodes");
            context.out().println("It is planned to start at " + start + nodes + ".");
        }
    }

    // ---- the plan

    int plan(String hoursText, String partition, boolean json) throws SlurmException, UsageException {
        if (!hoursText.isEmpty()
                && (!hoursText.matches("[0-9]{1,3}")
                        || Integer.parseInt(hoursText) < 1
                        || Integer.parseInt(hoursText) > HOURS_MAX)) {
            throw Wrapper.refused(context, "hours are from 1 to " + HOURS_MAX + ", not " + hoursText);
        }
        int hours = hoursText.isEmpty() ? HOURS : Integer.parseInt(hoursText);
        Json.Obj plan = context.host()
                .controller()
                .call(
                        "QueryPlan",
                        new Json.Obj()
                                .put("until", context.host().nowMs() / 1000 + hours * 3600L)
                                .put("partition", partition));
        if (json) {
            context.out().println(text(plan));
            return 0;
        }
        int[] size = context.host().isTty(1) ? Terminal.size() : new int[] {0, 0};
        int columns = size[1] > 0 ? size[1] : COLUMNS;
        chart(plan, hours, Math.max(10, columns - NAME - 3));
        next(plan);
        return 0;
    }

    /** A row of the chart: its capacity, and the use of that in each column. */
    private static final class Row {
        private long cpus;
        private boolean usable;
        private final double[] taken;

        private Row(int columns) {
            taken = new double[columns];
        }
    }

    private void chart(Json.Obj plan, int hours, int columns) {
        List<Json.Obj> nodes = plan.objects("nodes");
        boolean single = nodes.size() <= ROWS;
        Map<String, Row> rows = new LinkedHashMap<>();
        Map<String, List<Row>> of = new HashMap<>();
        for (Json.Obj node : nodes) {
            for (String name : single ? List.of(node.text("name")) : node.texts("partitions")) {
                Row row = rows.computeIfAbsent(name, k -> new Row(columns));
                row.cpus += node.number("cpus");
                row.usable |= node.flag("usable");
                of.computeIfAbsent(node.text("name"), k -> new ArrayList<>()).add(row);
            }
        }
        long now = plan.number("now");
        double step = hours * 3600.0 / columns;
        for (Json.Obj bar : plan.objects("bars")) {
            List<String> names = names(bar.text("nodes"));
            int from = Math.clamp(Math.round((bar.number("start") - now) / step), 0, columns - 1);
            int to = bar.number("end") == 0
                    ? columns
                    : (int) Math.clamp(Math.ceil((bar.number("end") - now) / step), from + 1, columns);
            for (String name : names) {
                for (Row row : of.getOrDefault(name, List.of())) {
                    for (int i = from; i < to; i++) {
                        row.taken[i] += (double) bar.number("cpus") / names.size();
                    }
                }
            }
        }
        context.out().println(Wrapper.left(single ? "NODE" : "PARTITION", NAME) + " " + scale(now, hours, columns));
        rows.forEach((name, row) -> context.out().println(Wrapper.left(name, NAME) + " " + line(row)));
        context.out()
                .println("# full, + half or more, : less, . free, - not usable; " + plan.number("waiting")
                        + (plan.number("waiting") == 1 ? " job waits, " : " jobs wait, ") + plan.number("planned")
                        + (plan.number("planned") == 1 ? " has" : " have") + " a time"
                        + (plan.number("more") > 0 ? "; " + plan.number("more") + " later ones are left out" : ""));
    }

    private static List<String> names(String list) {
        return HostList.parse(list) instanceof HostList.Parsed.Ok ok ? ok.list().names() : List.of();
    }

    private String scale(long now, int hours, int columns) {
        StringBuilder out = new StringBuilder();
        int marks = Math.max(1, columns / 18);
        for (int i = 0; i < marks; i++) {
            String word = "|" + time(SHORT, now + (long) hours * 3600 * i / marks);
            int until = columns * (i + 1) / marks;
            out.append(word).append(" ".repeat(Math.max(0, until - out.length())));
            out.setLength(Math.min(out.length(), until));
        }
        return out.toString().stripTrailing();
    }

    private static String line(Row row) {
        char[] out = new char[row.taken.length];
        Arrays.fill(out, '-');
        for (int i = 0; i < out.length && row.usable; i++) {
            double part = row.cpus == 0 ? 1 : row.taken[i] / row.cpus;
            if (part > 0.99) {
                out[i] = '#';
            } else if (part >= 0.5) {
                out[i] = '+';
            } else if (part > 0) {
                out[i] = ':';
            } else {
                out[i] = '.';
            }
        }
        return new String(out);
    }

    private void next(Json.Obj plan) {
        List<Json.Obj> waiting = plan.objects("bars").stream()
                .filter(b -> !b.flag("running") && b.number("jobId") > 0)
                .toList();
        if (waiting.isEmpty()) {
            return;
        }
        context.out()
                .println("\n" + Wrapper.left("JOBID", 12) + " " + Wrapper.left("USER", 10) + " "
                        + Wrapper.left("PARTITION", 10) + " " + Wrapper.left("START", 20) + Wrapper.right("CPUS", 6)
                        + "  NODES");
        for (Json.Obj b : waiting.subList(0, Math.min(JOBS, waiting.size()))) {
            context.out()
                    .println((Wrapper.left(b.text("shown"), 12) + " " + Wrapper.left(b.text("user"), 10) + " "
                                    + Wrapper.left(b.text("partition"), 10)
                                    + " " + Wrapper.left(time(TIME, b.number("start")), 20)
                                    + Wrapper.right(Long.toString(b.number("cpus")), 6) + "  "
                                    + b.text("nodes"))
                            .stripTrailing());
        }
        if (waiting.size() > JOBS) {
            context.out().println("... and " + (waiting.size() - JOBS) + " more");
        }
    }
}
