package dev.muster.model.format;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * Moments as Slurm reads and prints them. A moment is seconds since 1970; the time zone and "now" come from the caller.
 */
public final class Times {
    private static final int ELEVENSES = 11 * 3600;
    private static final int NOON = 12 * 3600;
    private static final int FIKA = 15 * 3600;
    private static final int TEATIME = 16 * 3600;
    private static final String[] DAYS = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    private static final String[] MONTHS = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
    };

    private Times() {}

    /** The outcome of reading a moment. */
    public sealed interface Parsed {
        record Ok(long epochSec) implements Parsed {}

        /** Position of the character that could not be understood. */
        record Invalid(int position) implements Parsed {}
    }

    /**
     * Reads {@code now[+-N[unit]]}, {@code HH:MM[:SS][am|pm]}, {@code midnight elevenses noon fika teatime today
     * tomorrow}, {@code MMDD[YY] MM/DD[/YY] MM.DD[.YY] YYYY-MM-DD[THH:MM[:SS]]}, a date and a time,
     * {@code uts<seconds>}. A time of day that has passed means tomorrow and a date without a year that has passed next
     * year, unless past is wanted.
     */
    public static Parsed parse(String text, long nowSec, ZoneId zone, boolean past) {
        return new TimeReader(text, nowSec, zone, past).read();
    }

    static LocalDateTime local(long epochSec, ZoneId zone) {
        return LocalDateTime.ofEpochSecond(epochSec, 0, offset(epochSec, zone));
    }

    private static ZoneOffset offset(long epochSec, ZoneId zone) {
        return zone instanceof ZoneOffset o ? o : zone.getRules().getOffset(Instant.ofEpochSecond(epochSec));
    }

    /** {@code 2026-11-21T10:00:00}. */
    public static String iso(long epochSec, ZoneId zone) {
        LocalDateTime t = local(epochSec, zone);
        StringBuilder b = new StringBuilder(20);
        b.append(t.getYear()).append('-');
        Durations.two(b, t.getMonthValue()).append('-');
        Durations.two(b, t.getDayOfMonth()).append('T');
        return hms(b, t).toString();
    }

    /** ISO, or the word for "not known" that the field uses ({@code Unknown}, {@code N/A}) where the moment is 0. */
    public static String isoOr(long epochSec, ZoneId zone, String none) {
        return epochSec == 0 ? none : iso(epochSec, zone);
    }

    private static StringBuilder hms(StringBuilder b, LocalDateTime t) {
        Durations.two(b, t.getHour()).append(':');
        Durations.two(b, t.getMinute()).append(':');
        return Durations.two(b, t.getSecond());
    }

    /** Prints by SLURM_TIME_FORMAT: empty or {@code standard}, {@code relative}, or a strftime pattern. */
    public static String print(long epochSec, ZoneId zone, String format, long nowSec) {
        if (format.isEmpty() || format.equals("standard")) {
            return iso(epochSec, zone);
        }
        return format.equals("relative") ? relative(epochSec, zone, nowSec) : strftime(epochSec, zone, format);
    }

    private static String relative(long epochSec, ZoneId zone, long nowSec) {
        LocalDateTime t = local(epochSec, zone);
        LocalDate today = local(nowSec, zone).toLocalDate();
        long days = t.toLocalDate().toEpochDay() - today.toEpochDay();
        StringBuilder b = new StringBuilder(16);
        if (days == 0) {
            return hms(b, t).toString();
        }
        if (t.getYear() != today.getYear()) {
            return b.append(t.getDayOfMonth())
                    .append(' ')
                    .append(MONTHS[t.getMonthValue() - 1])
                    .append(' ')
                    .append(t.getYear())
                    .toString();
        }
        if (days == -1) {
            b.append("Ystday ");
        } else if (days == 1) {
            b.append("Tomorr ");
        } else if (days > -7 && days < 7) {
            b.append(day(t.getDayOfWeek())).append(' ');
        } else {
            b.append(t.getDayOfMonth())
                    .append(' ')
                    .append(MONTHS[t.getMonthValue() - 1])
                    .append(' ');
        }
        Durations.two(b, t.getHour()).append(':');
        return Durations.two(b, t.getMinute()).toString();
    }

    private static String day(DayOfWeek d) {
        return DAYS[d.getValue() - 1];
    }

    /** The strftime conversions that make sense in a table; an unknown one is printed as it stands. */
    public static String strftime(long epochSec, ZoneId zone, String format) {
        LocalDateTime t = local(epochSec, zone);
        StringBuilder b = new StringBuilder();
        int next = 0;
        while (next < format.length()) {
            char c = format.charAt(next++);
            if (c != '%' || next == format.length()) {
                b.append(c);
            } else {
                conversion(b, format.charAt(next++), t, epochSec, zone);
            }
        }
        return b.toString();
    }

    private static void conversion(StringBuilder b, char c, LocalDateTime t, long epochSec, ZoneId zone) {
        int hour12 = t.getHour() % 12 == 0 ? 12 : t.getHour() % 12;
        switch (c) {
            case 'Y' -> b.append(t.getYear());
            case 'y' -> Durations.two(b, t.getYear() % 100);
            case 'C' -> Durations.two(b, t.getYear() / 100);
            case 'm' -> Durations.two(b, t.getMonthValue());
            case 'd' -> Durations.two(b, t.getDayOfMonth());
            case 'e' -> b.append(t.getDayOfMonth() < 10 ? " " : "").append(t.getDayOfMonth());
            case 'H' -> Durations.two(b, t.getHour());
            case 'I' -> Durations.two(b, hour12);
            case 'M' -> Durations.two(b, t.getMinute());
            case 'S' -> Durations.two(b, t.getSecond());
            case 'p' -> b.append(t.getHour() < 12 ? "AM" : "PM");
            case 's' -> b.append(epochSec);
            case 'j' ->
                b.append(t.getDayOfYear() < 100 ? "0" : "")
                        .append(t.getDayOfYear() < 10 ? "0" : "")
                        .append(t.getDayOfYear());
            case 'u' -> b.append(t.getDayOfWeek().getValue());
            case 'w' -> b.append(t.getDayOfWeek().getValue() % 7);
            case 'a' -> b.append(day(t.getDayOfWeek()));
            case 'b', 'h' -> b.append(MONTHS[t.getMonthValue() - 1]);
            case 'F' -> b.append(strftime(epochSec, zone, "%Y-%m-%d"));
            case 'D' -> b.append(strftime(epochSec, zone, "%m/%d/%y"));
            case 'T' -> hms(b, t);
            case 'R' -> b.append(strftime(epochSec, zone, "%H:%M"));
            case 'c' -> b.append(strftime(epochSec, zone, "%a %b %e %H:%M:%S %Y"));
            case 'x' -> b.append(strftime(epochSec, zone, "%m/%d/%y"));
            case 'X' -> hms(b, t);
            case 'z' -> zoneOffset(b, offset(epochSec, zone).getTotalSeconds());
            case 'Z' -> b.append(zoneName(epochSec, zone));
            case 'n' -> b.append('\n');
            case 't' -> b.append('\t');
            case '%' -> b.append('%');
            default -> b.append('%').append(c);
        }
    }

    private static void zoneOffset(StringBuilder b, int seconds) {
        int s = Math.abs(seconds);
        b.append(seconds < 0 ? '-' : '+');
        Durations.two(b, s / 3600);
        Durations.two(b, s % 3600 / 60);
    }

    private static String zoneName(long epochSec, ZoneId zone) {
        int s = offset(epochSec, zone).getTotalSeconds();
        if (s == 0) {
            return "UTC";
        }
        StringBuilder b = new StringBuilder();
        zoneOffset(b, s);
        return b.toString();
    }

    /** Seconds of the day of a word, if it is one. */
    static Optional<Integer> wordOfDay(String word) {
        return switch (word) {
            case "midnight" -> Optional.of(0);
            case "noon" -> Optional.of(NOON);
            case "elevenses" -> Optional.of(ELEVENSES);
            case "fika" -> Optional.of(FIKA);
            case "teatime" -> Optional.of(TEATIME);
            default -> Optional.empty();
        };
    }

    static long at(LocalDate day, int secondOfDay, ZoneId zone) {
        return LocalDateTime.of(day, LocalTime.ofSecondOfDay(secondOfDay))
                .atZone(zone)
                .toEpochSecond();
    }
}
