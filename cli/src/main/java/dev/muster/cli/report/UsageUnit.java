package dev.muster.cli.report;

import java.util.Locale;
import java.util.Optional;

/** A unit of usage as {@code -t} names it. */
enum UsageUnit {
    SECONDS("Seconds", 1, 1),
    MINUTES("Minutes", 60, 1),
    HOURS("Hours", 3600, 1),
    PERCENT("Percentage of Total", 0, 1),
    SECONDS_PERCENT("Seconds/Percentage of Total", 1, 4),
    MINUTES_PERCENT("Minutes/Percentage of Total", 60, 4),
    HOURS_PERCENT("Hours/Percentage of Total", 3600, 5);

    /** Room for a percentage in brackets. */
    static final int BRACKETS = 9;

    final String words;
    private final int seconds;
    private final int minimum;

    /** @param minimum number of letters that tell the word from the others */
    UsageUnit(String words, int seconds, int minimum) {
        this.words = words;
        this.seconds = seconds;
        this.minimum = minimum;
    }

    static Optional<UsageUnit> of(String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        for (UsageUnit u :
                new UsageUnit[] {SECONDS_PERCENT, MINUTES_PERCENT, HOURS_PERCENT, SECONDS, MINUTES, HOURS, PERCENT}) {
            if (lower.length() >= u.minimum && u.typed().startsWith(lower)) {
                return Optional.of(u);
            }
        }
        return Optional.empty();
    }

    private String typed() {
        return switch (this) {
            case SECONDS -> "seconds";
            case MINUTES -> "minutes";
            case HOURS -> "hours";
            case PERCENT -> "percent";
            case SECONDS_PERCENT -> "secper";
            case MINUTES_PERCENT -> "minper";
            case HOURS_PERCENT -> "hourper";
        };
    }

    boolean both() {
        return seconds > 0 && minimum > 1;
    }

    boolean percent() {
        return this == PERCENT || both();
    }

    /**
     * @param use amount times seconds
     * @param of the whole
     */
    String text(long use, long of) {
        double percent = of == 0 ? 0 : use * 100.0 / of;
        String share = String.format(Locale.ROOT, "%.2f%%", percent);
        if (this == PERCENT) {
            return share;
        }
        String amount = Long.toString(Math.round(Math.rint((double) use / seconds)));
        return both() ? amount + "(" + share + ")" : amount;
    }
}
