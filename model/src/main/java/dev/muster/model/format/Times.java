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
        LocalDateTime time = local(epochSec, zone);
        StringBuilder text = new StringBuilder(20);
        text.append(time.getYear()).append('-');
        Durations.two(text, time.getMonthValue()).append('-');
        Durations.two(text, time.getDayOfMonth()).append('T');
        return hms(text, time).toString();
    }

    /** ISO, or the word for "not known" that the field uses ({@code Unknown}, {@code N/A}) where the moment is 0. */
    public static String isoOr(long epochSec, ZoneId zone, String none) {
        return epochSec == 0 ? none : iso(epochSec, zone);
    }

    private static StringBuilder hms(StringBuilder text, LocalDateTime time) {
        Durations.two(text, time.getHour()).append(':');
        Durations.two(text, time.getMinute()).append(':');
        return Durations.two(text, time.getSecond());
    }

    /** Prints by SLURM_TIME_FORMAT: empty or {@code standard}, {@code relative}, or a strftime pattern. */
    public static String print(long epochSec, ZoneId zone, String format, long nowSec) {
        if (format.isEmpty() || format.equals("standard")) {
            return iso(epochSec, zone);
        }
        return format.equals("relative") ? relative(epochSec, zone, nowSec) : strftime(epochSec, zone, format);
    }

    private static String relative(long epochSec, ZoneId zone, long nowSec) {
        LocalDateTime time = local(epochSec, zone);
        LocalDate today = local(nowSec, zone).toLocalDate();
        long days = time.toLocalDate().toEpochDay() - today.toEpochDay();
        StringBuilder text = new StringBuilder(16);
        if (days == 0) {
            return hms(text, time).toString();
        }
        if (time.getYear() != today.getYear()) {
            return text.append(time.getDayOfMonth())
                    .append(' ')
                    .append(MONTHS[time.getMonthValue() - 1])
                    .append(' ')
                    .append(time.getYear())
                    .toString();
        }
        if (days == -1) {
            text.append("Ystday ");
        } else if (days == 1) {
            text.append("Tomorr ");
        } else if (days > -7 && days < 7) {
            text.append(day(time.getDayOfWeek())).append(' ');
        } else {
            text.append(time.getDayOfMonth())
                    .append(' ')
                    .append(MONTHS[time.getMonthValue() - 1])
                    .append(' ');
        }
        Durations.two(text, time.getHour()).append(':');
        return Durations.two(text, time.getMinute()).toString();
    }

    private static String day(DayOfWeek d) {
        return DAYS[d.getValue() - 1];
    }

    /** The strftime conversions that make sense in a table; an unknown one is printed as it stands. */
    public static String strftime(long epochSec, ZoneId zone, String format) {
        LocalDateTime time = local(epochSec, zone);
        StringBuilder text = new StringBuilder();
        int next = 0;
        while (next < format.length()) {
            char c = format.charAt(next++);
            if (c != '%' || next == format.length()) {
                text.append(c);
            } else {
                conversion(text, format.charAt(next++), time, epochSec, zone);
            }
        }
        return text.toString();
    }

    private static void conversion(StringBuilder text, char c, LocalDateTime time, long epochSec, ZoneId zone) {
        int hour12 = time.getHour() % 12 == 0 ? 12 : time.getHour() % 12;
        switch (c) {
            case 'Y' -> text.append(time.getYear());
            case 'y' -> Durations.two(text, time.getYear() % 100);
            case 'C' -> Durations.two(text, time.getYear() / 100);
            case 'm' -> Durations.two(text, time.getMonthValue());
            case 'd' -> Durations.two(text, time.getDayOfMonth());
            case 'e' -> text.append(time.getDayOfMonth() < 10 ? " " : "").append(time.getDayOfMonth());
            case 'H' -> Durations.two(text, time.getHour());
            case 'I' -> Durations.two(text, hour12);
            case 'M' -> Durations.two(text, time.getMinute());
            case 'S' -> Durations.two(text, time.getSecond());
            case 'p' -> text.append(time.getHour() < 12 ? "AM" : "PM");
            case 's' -> text.append(epochSec);
            case 'j' ->
                text.append(time.getDayOfYear() < 100 ? "0" : "")
                        .append(time.getDayOfYear() < 10 ? "0" : "")
                        .append(time.getDayOfYear());
            case 'u' -> text.append(time.getDayOfWeek().getValue());
            case 'w' -> text.append(time.getDayOfWeek().getValue() % 7);
            case 'a' -> text.append(day(time.getDayOfWeek()));
            case 'b', 'h' -> text.append(MONTHS[time.getMonthValue() - 1]);
            case 'F' -> text.append(strftime(epochSec, zone, "%Y-%m-%d"));
            case 'D' -> text.append(strftime(epochSec, zone, "%m/%d/%y"));
            case 'T' -> hms(text, time);
            case 'R' -> text.append(strftime(epochSec, zone, "%H:%M"));
            case 'c' -> text.append(strftime(epochSec, zone, "%a %b %e %H:%M:%S %Y"));
            case 'x' -> text.append(strftime(epochSec, zone, "%m/%d/%y"));
            case 'X' -> hms(text, time);
            case 'z' -> zoneOffset(text, offset(epochSec, zone).getTotalSeconds());
            case 'Z' -> text.append(zoneName(epochSec, zone));
            case 'n' -> text.append('\n');
            case 't' -> text.append('\t');
            case '%' -> text.append('%');
            default -> text.append('%').append(c);
        }
    }

    private static void zoneOffset(StringBuilder text, int seconds) {
        int s = Math.abs(seconds);
        text.append(seconds < 0 ? '-' : '+');
        Durations.two(text, s / 3600);
        Durations.two(text, s % 3600 / 60);
    }

    private static String zoneName(long epochSec, ZoneId zone) {
        int s = offset(epochSec, zone).getTotalSeconds();
        if (s == 0) {
            return "UTC";
        }
        StringBuilder text = new StringBuilder();
        zoneOffset(text, s);
        return text.toString();
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
