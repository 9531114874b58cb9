package dev.muster.daemon;

import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

/**
 * How a line of a daemon's log begins: the key LogTimeFormat of slurm.conf(5) and slurmdbd.conf(5).
 *
 * @param word the format's name in lower case; {@code iso8601_ms} where the key names none
 * @param alsoStderr lines on standard error begin with the time as well ({@code format_stderr})
 */
record LogTimeFormat(String word, boolean alsoStderr) {
    private static final String DEFAULT = "iso8601_ms";
    private static final List<String> WORDS =
            List.of(DEFAULT, "iso8601", "rfc5424", "rfc5424_ms", "rfc3339", "short", "clock", "thread_id");

    /** Reads the key's value; words that name no format are passed over, as Slurm does. */
    static LogTimeFormat parse(String value) {
        List<String> words = List.of(value.toLowerCase(Locale.ROOT).split(","));
        return new LogTimeFormat(
                words.stream().filter(WORDS::contains).findFirst().orElse(DEFAULT), words.contains("format_stderr"));
    }

    /** The time between brackets; {@code clock} is the process's CPU time in microseconds. */
    String at(Instant now) {
        return switch (word) {
            case "iso8601" -> text(now, "yyyy-MM-dd'T'HH:mm:ss");
            case "rfc5424", "rfc3339" -> text(now, "yyyy-MM-dd'T'HH:mm:ssxxx");
            case "rfc5424_ms" -> text(now, "yyyy-MM-dd'T'HH:mm:ss.SSSxxx");
            case "short" -> text(now, "MMM dd HH:mm:ss");
            case "clock" -> Long.toString(cpuTimeUs());
            case "thread_id" ->
                text(now, "MMM dd HH:mm:ss.SSSSSS")
                        + String.format(
                                Locale.ROOT,
                                " %5d %-12s 0x%x",
                                ProcessHandle.current().pid(),
                                Thread.currentThread().getName(),
                                Thread.currentThread().threadId());
            default -> text(now, "yyyy-MM-dd'T'HH:mm:ss.SSS");
        };
    }

    private static String text(Instant now, String pattern) {
        return DateTimeFormatter.ofPattern(pattern, Locale.ROOT)
                .withZone(ZoneId.systemDefault())
                .format(now);
    }

    private static long cpuTimeUs() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getProcessCpuTime() / 1000
                : 0;
    }
}
