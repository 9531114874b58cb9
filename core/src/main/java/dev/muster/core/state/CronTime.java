package dev.muster.core.state;

import dev.muster.model.format.IndexSet;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The times at which a line of a crontab is due: five fields for minute, hour, day of the month, month and day of the
 * week, each {@code *}, numbers or names, ranges, lists and steps; or a word as {@code @daily}. A day is meant that
 * fits either field for days where both are given, as in cron.
 */
public record CronTime(
        IndexSet minutes,
        IndexSet hours,
        IndexSet days,
        IndexSet months,
        IndexSet weekdays,
        boolean everyDay,
        boolean everyWeekday) {
    private static final List<String> MONTHS =
            List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");
    private static final List<String> WEEKDAYS = List.of("sun", "mon", "tue", "wed", "thu", "fri", "sat");
    private static final Map<String, String> WORDS = Map.ofEntries(
            Map.entry("@yearly", "0 0 1 1 *"),
            Map.entry("@annually", "0 0 1 1 *"),
            Map.entry("@monthly", "0 0 1 * *"),
            Map.entry("@weekly", "0 0 * * 0"),
            Map.entry("@daily", "0 0 * * *"),
            Map.entry("@midnight", "0 0 * * *"),
            Map.entry("@hourly", "0 * * * *"),
            Map.entry("@elevenses", "0 11 * * *"),
            Map.entry("@fika", "0 15 * * *"),
            Map.entry("@teatime", "0 16 * * *"));
    /**
     * Days within which 29 February falls on a given weekday at least once (eight years without a leap day, and seven
     * weekdays).
     */
    private static final int DAYS_AHEAD_MAX = 366 * 41;

    /** Returns the times of a line; empty if it is none. */
    public static Optional<CronTime> parse(String text) {
        String[] f = WORDS.getOrDefault(text.strip().toLowerCase(Locale.ROOT), text)
                .strip()
                .split("\\s+");
        if (f.length != 5) {
            return Optional.empty();
        }
        IndexSet minutes = field(f[0], 0, 59, List.of(), 0);
        IndexSet hours = field(f[1], 0, 23, List.of(), 0);
        IndexSet days = field(f[2], 1, 31, List.of(), 0);
        IndexSet months = field(f[3], 1, 12, MONTHS, 1);
        IndexSet weekdays = field(f[4], 0, 7, WEEKDAYS, 0);
        for (IndexSet s : List.of(minutes, hours, days, months, weekdays)) {
            if (s.isEmpty()) {
                return Optional.empty();
            }
        }
        IndexSet week = weekdays.contains(7) ? weekdays.with(0).without(7) : weekdays;
        return Optional.of(
                new CronTime(minutes, hours, days, months, week, f[2].startsWith("*"), f[4].startsWith("*")));
    }

    /** Returns the numbers of one field; none if it is wrong. */
    private static IndexSet field(String text, int min, int max, List<String> names, int firstName) {
        IndexSet all = IndexSet.empty();
        for (String part : text.toLowerCase(Locale.ROOT).split(",", -1)) {
            int slash = part.indexOf('/');
            String range = slash < 0 ? part : part.substring(0, slash);
            int step = slash < 0 ? 1 : number(part.substring(slash + 1), List.of(), 0);
            int dash = range.indexOf('-');
            boolean star = range.equals("*");
            int from;
            if (star) {
                from = min;
            } else {
                from = number(dash < 0 ? range : range.substring(0, dash), names, firstName);
            }

            int to;
            if (star) {
                to = max;
            } else if (dash >= 0) {
                to = number(range.substring(dash + 1), names, firstName);
            } else if (slash < 0) {
                to = from;
            } else {
                to = max;
            }

            if (step < 1 || from < min || to < from || to > max) {
                return IndexSet.empty();
            }
            for (int i = from; i <= to; i += step) {
                all = all.with(i);
            }
        }
        return all;
    }

    private static int number(String text, List<String> names, int firstName) {
        int name = names.indexOf(text);
        if (name >= 0) {
            return name + firstName;
        }
        if (text.matches("[0-9]{1,2}")) {
            return Integer.parseInt(text);
        }
        return -1;
    }

    /**
     * Returns the first minute after a moment that fits; empty where none ever does (30 February).
     *
     * @param seconds since 1970
     */
    public OptionalLong after(long seconds, String zone) {
        ZoneId where = zone(zone);
        ZonedDateTime earliest =
                Instant.ofEpochSecond(seconds - Math.floorMod(seconds, 60) + 60).atZone(where);
        LocalDate day = earliest.toLocalDate();
        for (int i = 0; i < DAYS_AHEAD_MAX; i++, day = day.plusDays(1)) {
            if (!fits(day)) {
                continue;
            }
            for (int hour = hours.first(); hour >= 0; hour = hours.next(hour + 1)) {
                for (int minute = minutes.first(); minute >= 0; minute = minutes.next(minute + 1)) {
                    ZonedDateTime then = day.atTime(LocalTime.of(hour, minute)).atZone(where);
                    if (!then.isBefore(earliest)) {
                        return OptionalLong.of(then.toEpochSecond());
                    }
                }
            }
        }
        return OptionalLong.empty();
    }

    private boolean fits(LocalDate day) {
        boolean ofMonth = days.contains(day.getDayOfMonth());
        boolean ofWeek = weekdays.contains(day.getDayOfWeek().getValue() % 7);
        return months.contains(day.getMonthValue())
                && (everyDay || everyWeekday ? ofMonth && ofWeek : ofMonth || ofWeek);
    }

    private static ZoneId zone(String name) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException e) {
            return ZoneOffset.UTC;
        }
    }
}
