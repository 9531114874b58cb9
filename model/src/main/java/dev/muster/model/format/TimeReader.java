package dev.muster.model.format;

import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads one moment for {@link Times#parse}: words, times and dates in any order, at most one of each. */
final class TimeReader {
    private static final int UNSET = -1;
    private static final Map<String, Long> UNITS = Map.of(
            "second",
            1L,
            "minute",
            Durations.MINUTE,
            "hour",
            Durations.HOUR,
            "day",
            Durations.DAY,
            "week",
            7L * Durations.DAY);
    private static final List<String> WORDS =
            List.of("midnight", "noon", "elevenses", "fika", "teatime", "today", "tomorrow");

    private final String text;
    private final long nowSec;
    private final ZoneId zone;
    private final boolean past;
    private int position;
    private int wrong = UNSET;
    private int secondOfDay = UNSET;
    private int year = UNSET;
    private int month = UNSET;
    private int day = UNSET;
    private @Nullable LocalDate named;
    private long unit = 1;

    TimeReader(String text, long nowSec, ZoneId zone, boolean past) {
        this.text = text;
        this.nowSec = nowSec;
        this.zone = zone;
        this.past = past;
    }

    Times.Parsed read() {
        skipBlanks();
        if (position == text.length()) {
            return new Times.Parsed.Invalid(position);
        }
        if (startsWithWord("now")) {
            return now();
        }
        if (startsWithWord("uts")) {
            position += 3;
            long v = digits(15);
            return v < 0 || position < text.length() ? new Times.Parsed.Invalid(position) : new Times.Parsed.Ok(v);
        }
        while (position < text.length() && wrong == UNSET) {
            if (isDigit(text.charAt(position))) {
                number();
            } else {
                word();
            }
            skipBlanks();
            if (position < text.length() && joins(text.charAt(position))) {
                position++;
            }
        }
        return wrong != UNSET ? new Times.Parsed.Invalid(wrong) : resolve();
    }

    /** Whether a character may stand between the parts that were read and the next. */
    private boolean joins(char c) {
        return c == 'T' && month != UNSET || c == '-' && (month != UNSET || named != null || secondOfDay != UNSET);
    }

    private boolean startsWithWord(String w) {
        return text.regionMatches(true, position, w, 0, w.length());
    }

    private void skipBlanks() {
        while (position < text.length()
                && (text.charAt(position) == ' ' || text.charAt(position) == '\t' || text.charAt(position) == '\n')) {
            position++;
        }
    }

    private Times.Parsed now() {
        position += 3;
        skipBlanks();
        if (position == text.length()) {
            return new Times.Parsed.Ok(nowSec);
        }
        char sign = text.charAt(position);
        if (sign != '+' && sign != '-') {
            return new Times.Parsed.Invalid(position);
        }
        position++;
        skipBlanks();
        long n = digits(12);
        skipBlanks();
        if (n < 0 || position < text.length() && !unitFollows()) {
            return new Times.Parsed.Invalid(position - 1);
        }
        skipBlanks();
        if (position < text.length()) {
            return new Times.Parsed.Invalid(position);
        }
        return new Times.Parsed.Ok(sign == '+' ? nowSec + n * unit : nowSec - n * unit);
    }

    /** One of the units is next, in singular or plural; the text is read as far as it goes. */
    private boolean unitFollows() {
        for (Map.Entry<String, Long> one : UNITS.entrySet()) {
            if (startsWithWord(one.getKey())) {
                position += one.getKey().length();
                position += startsWithWord("s") ? 1 : 0;
                unit = one.getValue();
                return true;
            }
        }
        return false;
    }

    /** Up to max digits from here; -1 when there is none or there are more. */
    private long digits(int max) {
        int from = position;
        long v = 0;
        while (position < text.length() && text.charAt(position) >= '0' && text.charAt(position) <= '9') {
            if (position - from == max) {
                return -1;
            }
            v = v * 10 + (text.charAt(position) - '0');
            position++;
        }
        return position == from ? -1 : v;
    }

    private void word() {
        int from = position;
        while (position < text.length() && Character.isLetter(text.charAt(position))) {
            position++;
        }
        StringBuilder lower = new StringBuilder();
        for (int i = from; i < position; i++) {
            char c = text.charAt(i);
            lower.append(c >= 'A' && c <= 'Z' ? (char) (c + 32) : c);
        }
        String w = lower.toString();
        Optional<Integer> ofDay = Times.wordOfDay(w);
        if (ofDay.isPresent() && secondOfDay == UNSET) {
            secondOfDay = ofDay.get();
        } else if ((w.equals("today") || w.equals("tomorrow")) && named == null && month == UNSET) {
            named = today().plusDays(w.equals("today") ? 0 : 1);
        } else {
            wrong = from
                    + WORDS.stream()
                            .filter(w::startsWith)
                            .mapToInt(String::length)
                            .findFirst()
                            .orElse(0);
        }
    }

    private void number() {
        int from = position;
        int end = position;
        while (end < text.length() && isDigit(text.charAt(end))) {
            end++;
        }
        char next = end < text.length() ? text.charAt(end) : ' ';
        if (next == ':' && end - from <= 2) {
            time(from);
        } else if (month != UNSET || named != null || !date(from, end, next)) {
            wrong = end - from <= 2 ? end : from;
        }
    }

    /**
     * Reads a date that begins with a number.
     *
     * @param end where its digits end
     * @return false if no date has such a number
     */
    private boolean date(int from, int end, char next) {
        int count = end - from;
        if ((next == '/' || next == '.') && count <= 2) {
            slashDate(from, next);
        } else if (count == 4 && isoDateFollows(end)) {
            isoDate();
        } else if (count == 4 || count == 6) {
            bareDate(from, end);
        } else {
            return false;
        }
        return true;
    }

    /** MMDD or MMDDYY. */
    private void bareDate(int from, int end) {
        month = two(from);
        day = two(from + 2);
        year = end - from == 6 ? 2000 + two(from + 4) : UNSET;
        position = end;
        checkDate(from);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Whether {@code -MM-} follows the digits of a year. */
    private boolean isoDateFollows(int yearEnd) {
        return yearEnd + 4 <= text.length()
                && text.charAt(yearEnd) == '-'
                && text.charAt(yearEnd + 3) == '-'
                && Digits.only(text.substring(yearEnd + 1, yearEnd + 3), 2);
    }

    private int two(int from) {
        return Integer.parseInt(text, from, from + 2, 10);
    }

    private void time(int from) {
        long hour = digits(2);
        position++;
        int minuteAt = position;
        long minute = exactlyTwo();
        long second = 0;
        int secondAt = position;
        if (position < text.length() && text.charAt(position) == ':') {
            position++;
            secondAt = position;
            second = exactlyTwo();
        }
        if (wrong != UNSET) {
            return;
        }
        skipBlanks();
        boolean am = startsWithWord("am");
        boolean pm = startsWithWord("pm");
        if (am || pm) {
            position += 2;
            if (hour < 1 || hour > 12) {
                hour = 99;
            } else {
                hour = hour % 12 + (pm ? 12 : 0);
            }
        }
        if (hour > 23 || secondOfDay != UNSET) {
            wrong = from;
        } else if (minute > 59) {
            wrong = minuteAt;
        } else if (second > 59) {
            wrong = secondAt;
        } else {
            secondOfDay = (int) (hour * 3600 + minute * 60 + second);
        }
    }

    private long exactlyTwo() {
        int from = position;
        long v = digits(2);
        if (v < 0 || position - from != 2) {
            wrong = wrong == UNSET ? position : wrong;
        }
        return v;
    }

    private void slashDate(int from, char separator) {
        month = (int) digits(2);
        position++;
        day = (int) digits(2);
        if (position < text.length() && text.charAt(position) == separator) {
            position++;
            int yearFrom = position;
            year = (int) digits(4);
            int n = position - yearFrom;
            if (n == 2) {
                year += 2000;
            } else if (n != 4) {
                wrong = position;
                return;
            }
        }
        checkDate(from);
    }

    private void isoDate() {
        year = (int) digits(4);
        position++;
        int monthAt = position;
        month = (int) digits(2);
        if (month < 1 || month > 12) {
            wrong = monthAt;
            return;
        }
        position++;
        int dayAt = position;
        day = (int) digits(2);
        checkDate(dayAt);
    }

    private void checkDate(int from) {
        if (month < 1 || month > 12 || day < 1 || day > 31) {
            wrong = from;
        }
    }

    private LocalDate today() {
        return Times.local(nowSec, zone).toLocalDate();
    }

    private Times.Parsed resolve() {
        int second = secondOfDay == UNSET ? 0 : secondOfDay;
        if (named != null) {
            return new Times.Parsed.Ok(Times.at(named, second, zone));
        }
        if (month == UNSET) {
            long t = Times.at(today(), second, zone);
            return new Times.Parsed.Ok(t < nowSec && !past ? Times.at(today().plusDays(1), second, zone) : t);
        }
        if (year != UNSET) {
            return new Times.Parsed.Ok(Times.at(day(year), second, zone));
        }
        int thisYear = today().getYear();
        long t = Times.at(day(thisYear), second, zone);
        return new Times.Parsed.Ok(t < nowSec && !past ? Times.at(day(thisYear + 1), second, zone) : t);
    }

    /** The days that a month is short of are those of the next: February 30th is March 2nd, or 1st. */
    private LocalDate day(int ofYear) {
        return LocalDate.of(ofYear, month, 1).plusDays(day - 1L);
    }
}
