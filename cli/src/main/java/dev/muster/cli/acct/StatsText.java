package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.json.Json;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

/** Prints {@code sacctmgr show stats}. */
final class StatsText {
    private static final DateTimeFormatter CTIME = DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.US);
    private static final String STARS = "*".repeat(67);

    private StatsText() {}

    private static String moment(CommandContext context, long at) {
        return CTIME.format(Instant.ofEpochSecond(at).atZone(context.host().zone())) + " (" + at + ")";
    }

    static int print(CommandContext context, List<Json.Obj> rows) {
        long since = Long.parseLong(rows.getFirst().text("Name"));
        context.out().println(STARS);
        context.out()
                .println("sacctmgr show stats output at "
                        + moment(context, context.host().nowMs() / 1000));
        context.out().println("Data since                    " + moment(context, since));
        context.out().println("All statistics are in microseconds");
        context.out().println(STARS);
        context.out().println("");
        context.out().println("Remote Procedure Call statistics by message type");
        lines(context, rows, "type");
        context.out().println("");
        context.out().println("Remote Procedure Call statistics by user");
        lines(context, rows, "user");
        return 0;
    }

    private static void lines(CommandContext context, List<Json.Obj> rows, String kind) {
        for (Json.Obj row : rows) {
            if (row.text("Kind").equals(kind)) {
                String number = kind.equals("user")
                        ? String.format(Locale.ROOT, "%-19s (%10s)", row.text("Name"), row.text("Uid"))
                        : String.format(Locale.ROOT, "%-25s(%5s)", row.text("Name"), row.text("Uid"));
                context.out()
                        .println(String.format(
                                Locale.ROOT,
                                "\t%s count:%-6s ave_time:%-6s total_time:%s",
                                number,
                                row.text("Count"),
                                row.text("Average"),
                                row.text("Total")));
            }
        }
    }
}
