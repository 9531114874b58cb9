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

    private static String moment(CommandContext c, long at) {
        return CTIME.format(Instant.ofEpochSecond(at).atZone(c.host().zone())) + " (" + at + ")";
    }

    static int print(CommandContext c, List<Json.Obj> rows) {
        long since = Long.parseLong(rows.getFirst().text("Name"));
        c.out().println(STARS);
        c.out().println("sacctmgr show stats output at " + moment(c, c.host().nowMs() / 1000));
        c.out().println("Data since                    " + moment(c, since));
        c.out().println("All statistics are in microseconds");
        c.out().println(STARS);
        c.out().println("");
        c.out().println("Remote Procedure Call statistics by message type");
        lines(c, rows, "type");
        c.out().println("");
        c.out().println("Remote Procedure Call statistics by user");
        lines(c, rows, "user");
        return 0;
    }

    private static void lines(CommandContext c, List<Json.Obj> rows, String kind) {
        for (Json.Obj row : rows) {
            if (row.text("Kind").equals(kind)) {
                String number = kind.equals("user")
                        ? String.format(Locale.ROOT, "%-19s (%10s)", row.text("Name"), row.text("Uid"))
                        : String.format(Locale.ROOT, "%-25s(%5s)", row.text("Name"), row.text("Uid"));
                c.out()
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
