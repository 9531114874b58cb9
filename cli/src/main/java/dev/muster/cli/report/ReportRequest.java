package dev.muster.cli.report;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.CommandContext;
import dev.muster.model.format.Times;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The request for a report: words, lists and a span of whole hours. */
final class ReportRequest {
    private static final long HOUR = 3600;
    private static final String ALL = "all_clusters";

    /**
     * Names of conditions with the least letters of an abbreviation, longest rule first. A bang marks words without a
     * value.
     */
    private static final Map<String, String> NAMES = Map.of(
            "cluster",
                    "all_clusters:3:! clusters:1 cluster:1 accounts:2 end:1 format:1 qos:1 start:1 tree:4:! "
                            + "users:1 wckeys:2",
            "user",
                    "all_clusters:3:! clusters:1 cluster:1 accounts:2 end:1 format:1 group:1:! start:1 "
                            + "topcount:1 users:1",
            "job",
                    "all_clusters:3:! acctasparent:5:! flatview:2:! printjobcount:2:! clusters:1 cluster:1 "
                            + "accounts:2 end:1 format:2 gid:2 grouping:2 "
                            + "jobs:1 nodes:1 partitions:2 start:1 users:1 wckeys:1",
            "reservation", "all_clusters:3:! clusters:1 cluster:1 end:1 format:1 names:2 nodes:2 start:1");

    final List<String> clusters = new ArrayList<>();
    final List<String> format = new ArrayList<>();
    final List<String> flags = new ArrayList<>();
    final Map<String, String> lists = new LinkedHashMap<>();
    /** Some word was wrong: the report is printed, and the command fails. */
    boolean wrong;

    long from;
    long to;

    private final CommandContext context;

    private ReportRequest(CommandContext context) {
        this.context = context;
    }

    static ReportRequest of(CommandContext context, String type, List<String> words) {
        ReportRequest out = new ReportRequest(context);
        String start = "";
        String end = "";
        for (String word : words) {
            int equalSign = word.indexOf('=');
            String lower = word.toLowerCase(Locale.ROOT);
            if (equalSign < 0) {
                out.bare(type, lower, word);
                continue;
            }
            String value = unquoted(word.substring(equalSign + 1));
            switch (key(type, lower.substring(0, equalSign), false)) {
                case "" -> {
                    context.err().println(" Unknown condition: " + word);
                    context.err().println("Use keyword set to modify value");
                    out.wrong = true;
                }
                case "cluster", "clusters" -> out.clusters.addAll(split(value));
                case "format" -> out.format.addAll(split(value));
                case "start" -> start = value;
                case "end" -> end = value;
                case String key -> out.lists.merge(key, value, (a, b) -> a + "," + b);
            }
        }
        out.span(start, end);
        return out;
    }

    private void bare(String type, String lower, String word) {
        String flag = key(type, lower, true);
        if (!flag.isEmpty()) {
            flags.add(flag);
        } else if (!lower.equals("set") && !lower.equals("where")) {
            clusters.addAll(split(word));
        }
    }

    private static String key(String type, String typed, boolean word) {
        for (String entry : requireNonNull(NAMES.get(type), type).split(" ")) {
            String[] parts = entry.split(":");
            if (word == (parts.length > 2)
                    && typed.length() >= Integer.parseInt(parts[1])
                    && parts[0].startsWith(typed)) {
                return parts[0];
            }
        }
        return "";
    }

    static List<String> split(String text) {
        List<String> out = new ArrayList<>();
        for (String item : text.split(",")) {
            if (!item.isBlank()) {
                out.add(item.strip());
            }
        }
        return out;
    }

    private static String unquoted(String text) {
        boolean quoted = text.length() >= 2
                && (text.charAt(0) == '"' || text.charAt(0) == '\'')
                && text.charAt(text.length() - 1) == text.charAt(0);
        return quoted ? text.substring(1, text.length() - 1) : text;
    }

    boolean allClusters() {
        return flags.contains(ALL);
    }

    List<String> list(String key) {
        return split(lists.getOrDefault(key, ""));
    }

    /**
     * Whole hours, at least one: yesterday unless times were given; the hour in which it begins and the one in which it
     * ends are of it (25.05), and it ends with the hour that runs.
     */
    private void span(String start, String end) {
        ZoneId zone = context.host().zone();
        long now = context.host().nowMs() / 1000;
        LocalDate today = Instant.ofEpochSecond(now).atZone(zone).toLocalDate();
        from = start.isEmpty()
                ? today.minusDays(1).atStartOfDay(zone).toEpochSecond()
                : moment(start, today.minusDays(1), zone);
        // the hour rounds up by the minutes of now
        int minutes = Instant.ofEpochSecond(now).atZone(zone).getMinute();
        to = end.isEmpty() ? today.atStartOfDay(zone).plusMinutes(minutes).toEpochSecond() : moment(end, today, zone);
        long offset = zone.getRules().getOffset(Instant.ofEpochSecond(from)).getTotalSeconds();
        from -= Math.floorMod(from + offset, HOUR);
        to = Math.min(to, now);
        to += Math.floorMod(-(to + offset), HOUR);
        to = Math.max(to, from + HOUR);
    }

    private long moment(String typed, LocalDate otherwise, ZoneId zone) {
        return switch (Times.parse(typed, context.host().nowMs() / 1000, zone, true)) {
            case Times.Parsed.Ok ok -> ok.epochSec();
            case Times.Parsed.Invalid invalid -> {
                context.err().println("Invalid time specification (pos=" + invalid.position() + "): " + typed);
                yield otherwise.atStartOfDay(zone).toEpochSecond();
            }
        };
    }

    /** {@code 2008-01-01T00:00:00 - 2008-01-01T00:59:59}. */
    String spanText() {
        return context.time(from) + " - " + context.time(to - 1);
    }

    /** Returns {@link #spanText} with its length. */
    String spanWithLength() {
        return spanText() + " (" + (to - from) + " secs)";
    }
}
