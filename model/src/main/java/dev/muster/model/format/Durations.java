package dev.muster.model.format;

import java.util.OptionalLong;

/** Lengths of time as Slurm reads and prints them. All values are seconds; {@link #UNLIMITED} stands for no limit. */
public final class Durations {
    public static final long UNLIMITED = -1;
    /** The same in the int components that count minutes. */
    public static final int INFINITE = -1;

    public static final long MINUTE = 60;
    public static final long HOUR = 3600;
    public static final long DAY = 86_400;

    private Durations() {}

    /**
     * Reads {@code minutes}, {@code minutes:seconds}, {@code h:m:s}, {@code d-h}, {@code d-h:m}, {@code d-h:m:s},
     * {@code UNLIMITED}, {@code INFINITE} or {@code -1}. Empty when it is none of these.
     */
    public static OptionalLong parseSeconds(String text) {
        if (text.equalsIgnoreCase("UNLIMITED") || text.equalsIgnoreCase("INFINITE") || text.equals("-1")) {
            return OptionalLong.of(UNLIMITED);
        }
        int dash = text.indexOf('-');
        long days = 0;
        String remainder = text;
        if (dash >= 0) {
            days = Digits.parsePlain(text.substring(0, dash));
            remainder = text.substring(dash + 1);
            if (remainder.isEmpty()) {
                remainder = "0";
            }
        }
        long[] part = {0, 0, 0};
        int n = split(remainder, part);
        if (days < 0 || n == 0) {
            return OptionalLong.empty();
        }
        if (dash >= 0) {
            return OptionalLong.of(days * DAY + part[0] * HOUR + part[1] * MINUTE + part[2]);
        }
        return OptionalLong.of(n == 3 ? part[0] * HOUR + part[1] * MINUTE + part[2] : part[0] * MINUTE + part[1]);
    }

    /** Reads as {@link #parseSeconds} and rounds up to whole minutes, the unit of time limits. */
    public static OptionalLong parseMinutes(String text) {
        OptionalLong s = parseSeconds(text);
        if (s.isEmpty() || s.getAsLong() == UNLIMITED) {
            return s;
        }
        return OptionalLong.of((s.getAsLong() + MINUTE - 1) / MINUTE);
    }

    /** Number of parts between colons (1 to 3), 0 if one is not a number. */
    private static int split(String text, long[] into) {
        int n = 0;
        int index = 0;
        while (index <= text.length()) {
            int colon = text.indexOf(':', index);
            int end = colon < 0 ? text.length() : colon;
            long v = Digits.parsePlain(text.substring(index, end));
            if (v < 0 || n == into.length) {
                return 0;
            }
            into[n++] = v;
            index = end + 1;
        }
        return n;
    }

    /** Prints as squeue does: {@code 0:05}, {@code 2:00}, {@code 1:30:00}, {@code 1-02:03:04}, {@code UNLIMITED}. */
    public static String brief(long seconds) {
        if (seconds == UNLIMITED) {
            return "UNLIMITED";
        }
        StringBuilder text = new StringBuilder(16);
        long s = seconds;
        if (s < 0) {
            text.append('-');
            s = -s;
        }
        long days = s / DAY;
        long hours = s % DAY / HOUR;
        if (days > 0) {
            text.append(days).append('-');
            two(text, hours).append(':');
            two(text, s % HOUR / MINUTE);
        } else if (hours > 0) {
            text.append(hours).append(':');
            two(text, s % HOUR / MINUTE);
        } else {
            text.append(s % HOUR / MINUTE);
        }
        text.append(':');
        return two(text, s % MINUTE).toString();
    }

    /** Prints as scontrol and sacct do: {@code 00:02:00}, {@code 1-02:03:04}, {@code UNLIMITED}. */
    public static String full(long seconds) {
        if (seconds == UNLIMITED) {
            return "UNLIMITED";
        }
        if (seconds < 0) {
            return "INVALID";
        }
        StringBuilder text = new StringBuilder(16);
        if (seconds >= DAY) {
            text.append(seconds / DAY).append('-');
        }
        two(text, seconds % DAY / HOUR).append(':');
        two(text, seconds % HOUR / MINUTE).append(':');
        return two(text, seconds % MINUTE).toString();
    }

    public static String briefMinutes(long minutes) {
        return brief(minutes == UNLIMITED ? UNLIMITED : minutes * MINUTE);
    }

    public static String fullMinutes(long minutes) {
        return full(minutes == UNLIMITED ? UNLIMITED : minutes * MINUTE);
    }

    static StringBuilder two(StringBuilder text, long v) {
        if (v < 10) {
            text.append('0');
        }
        return text.append(v);
    }
}
