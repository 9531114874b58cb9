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
    private int at;
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
        if (at == text.length()) {
            return new Times.Parsed.Invalid(at);
        }
        if (startsWithWord("now")) {
            return now();
        }
        if (startsWithWord("uts")) {
            at += 3;
            long v = digits(15);
            return v < 0 || at < text.length() ? new Times.Parsed.Invalid(at) : new Times.Parsed.Ok(v);
        }
        while (at < text.length() && wrong == UNSET) {
            if (isDigit(text.charAt(at))) {
                number();
            } else {
                word();
            }
            skipBlanks();
            if (at < text.length() && joins(text.charAt(at))) {
                at++;
            }
        }
        return wrong != UNSET ? new Times.Parsed.Invalid(wrong) : resolve();
    }

    /** Whether a character may stand between the parts that were read and the next. */
    private boolean joins(char c) {
        return c == 'T' && month != UNSET || c == '-' && (month != UNSET || named != null || secondOfDay != UNSET);
    }

    private boolean startsWithWord(String w) {
        return text.regionMatches(true, at, w, 0, w.length());
    }

    private void skipBlanks() {
        while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t' || text.charAt(at) == '\n')) {
            at++;
        }
    }

    private Times.Parsed now() {
        at += 3;
        skipBlanks();
        if (at == text.length()) {
            return new Times.Parsed.Ok(nowSec);
        }
        char sign = text.charAt(at);
        if (sign != '+' && sign != '-') {
            return new Times.Parsed.Invalid(at);
        }
        at++;
        skipBlanks();
        long n = digits(12);
        skipBlanks();
        if (n < 0 || at < text.length() && !unitFollows()) {
            return new Times.Parsed.Invalid(at - 1);
        }
        skipBlanks();
        if (at < text.length()) {
            return new Times.Parsed.Invalid(at);
        }
        return new Times.Parsed.Ok(sign == '+' ? nowSec + n * unit : nowSec - n * unit);
    }

    /** One of the units is next, in singular or plural; the text is read as far as it goes. */
    private boolean unitFollows() {
        for (Map.Entry<String, Long> one : UNITS.entrySet()) {
            if (startsWithWord(one.getKey())) {
                at += one.getKey().length();
                at += startsWithWord("s") ? 1 : 0;
                unit = one.getValue();
                return true;
            }
        }
        return false;
    }

    /** Up to max digits from here; -1 when there is none or there are more. */
    private long digits(int max) {
        int from = at;
        long v = 0;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            if (at - from == max) {
                return -1;
            }
            v = v * 10 + (text.charAt(at) - '0');
            at++;
        }
        return at == from ? -1 : v;
    }

    private void word() {
        int from = at;
        while (at < text.length() && Character.isLetter(text.charAt(at))) {
            at++;
        }
        StringBuilder lower = new StringBuilder();
        for (int i = from; i < at; i++) {
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
        int from = at;
        int end = at;
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
        at = end;
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
        at++;
        int minuteAt = at;
        long minute = exactlyTwo();
        long second = 0;
        int secondAt = at;
        if (at < text.length() && text.charAt(at) == ':') {
            at++;
            secondAt = at;
            second = exactlyTwo();
        }
        if (wrong != UNSET) {
            return;
        }
        skipBlanks();
        boolean am = startsWithWord("am");
        boolean pm = startsWithWord("pm");
        if (am || pm) {
            at += 2;
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
        int from = at;
        long v = digits(2);
        if (v < 0 || at - from != 2) {
            wrong = wrong == UNSET ? at : wrong;
        }
        return v;
    }

    private void slashDate(int from, char separator) {
        month = (int) digits(2);
        at++;
        day = (int) digits(2);
        if (at < text.length() && text.charAt(at) == separator) {
            at++;
            int yearFrom = at;
            year = (int) digits(4);
            int n = at - yearFrom;
            if (n == 2) {
                year += 2000;
            } else if (n != 4) {
                wrong = at;
                return;
            }
        }
        checkDate(from);
    }

    private void isoDate() {
        year = (int) digits(4);
        at++;
        int monthAt = at;
        month = (int) digits(2);
        if (month < 1 || month > 12) {
            wrong = monthAt;
            return;
        }
        at++;
        int dayAt = at;
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
