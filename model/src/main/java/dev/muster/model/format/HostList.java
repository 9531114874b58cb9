package dev.muster.model.format;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A list of host names in Slurm's compressed notation: {@code n[1-3,5],m0[08-11]}. Order and duplicates are kept as
 * given. Stored as runs of numbers behind a prefix, so that 60,000 nodes with one naming scheme are one run.
 */
public final class HostList {
    /** More names than this are refused: an expression of a few bytes must not fill the memory. */
    public static final int MAX_NAMES = 65_536;
    /** Longer digit strings are part of the name, not a number that can be counted. */
    private static final int MAX_DIGITS = 18;

    private static final HostList EMPTY = new HostList(List.of());

    /** The outcome of reading an expression. */
    public sealed interface Parsed {
        record Ok(HostList list) implements Parsed {}

        /** {@code detail} is the sentence about the offending range, empty if only the whole is wrong. */
        record Invalid(String detail) implements Parsed {}
    }

    /** Names prefix+lo ... prefix+hi, padded with zeros to width; width 0 is the bare prefix (no number). */
    private record Run(String prefix, long lo, long hi, int width) {
        int size() {
            return (int) (hi - lo + 1);
        }

        String name(long number) {
            return width == 0 ? prefix : prefix + padded(number, width);
        }
    }

    private final List<Run> runs;
    private final int size;

    private HostList(List<Run> runs) {
        this.runs = runs;
        int n = 0;
        for (Run run : runs) {
            n += run.size();
        }
        this.size = n;
    }

    public static HostList empty() {
        return EMPTY;
    }

    public static HostList of(Iterable<String> names) {
        List<Run> out = new ArrayList<>();
        for (String name : names) {
            push(out, single(name));
        }
        return new HostList(List.copyOf(out));
    }

    /** Reads an expression; blanks, tabs and newlines separate names like commas do. */
    public static Parsed parse(String text) {
        List<Run> out = new ArrayList<>();
        int total = 0;
        int index = 0;
        while (index < text.length()) {
            int end = itemEnd(text, index);
            if (end < 0) {
                return new Parsed.Invalid("");
            }
            if (end > index) {
                List<Run> item = new ArrayList<>();
                String error = expandItem(text.substring(index, end), item);
                if (error != null) {
                    return new Parsed.Invalid(error);
                }
                for (Run run : item) {
                    total += run.size();
                    push(out, run);
                }
                if (total > MAX_NAMES) {
                    return new Parsed.Invalid("Too many hosts in list");
                }
            }
            index = end + 1;
        }
        return new Parsed.Ok(new HostList(List.copyOf(out)));
    }

    private static int itemEnd(String text, int from) {
        boolean inside = false;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '[') {
                if (inside) {
                    return -1;
                }
                inside = true;
            } else if (c == ']') {
                if (!inside) {
                    return -1;
                }
                inside = false;
            } else if (!inside && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
                return i;
            }
        }
        return inside ? -1 : text.length();
    }

    /** Adds the runs of one item ({@code run[1-2]n[1-4]}); the answer is null or what is wrong with it. */
    private static @Nullable String expandItem(String item, List<Run> out) {
        int open = item.indexOf('[');
        if (open < 0) {
            out.add(single(item));
            return null;
        }
        int end = item.lastIndexOf(']') + 1;
        if (end < item.length()) {
            // what all share behind their numbers, as in n[1-2]-int: such names are not put together again
            List<Run> before = new ArrayList<>();
            String error = expandItem(item.substring(0, end), before);
            for (Run run : before) {
                for (long n = run.lo; n <= run.hi; n++) {
                    out.add(single(run.name(n) + item.substring(end)));
                }
            }
            return error;
        }
        List<String> prefixes = List.of("");
        String remainder = item;
        while (true) {
            open = remainder.indexOf('[');
            int close = remainder.indexOf(']');
            String literal = remainder.substring(0, open);
            List<Run> ranges = new ArrayList<>();
            String error = parseRanges(remainder.substring(open + 1, close), ranges);
            if (error != null) {
                return error;
            }
            long count = 0;
            for (Run run : ranges) {
                count += run.size();
            }
            if (count * prefixes.size() > MAX_NAMES) {
                return "Too many hosts in range `" + remainder.substring(open + 1, close) + "'";
            }
            boolean last = close == remainder.length() - 1;
            List<String> next = new ArrayList<>();
            for (String p : prefixes) {
                for (Run run : ranges) {
                    if (last) {
                        out.add(new Run(p + literal, run.lo, run.hi, run.width));
                    } else {
                        for (long n = run.lo; n <= run.hi; n++) {
                            next.add(p + literal + padded(n, run.width));
                        }
                    }
                }
            }
            if (last) {
                return null;
            }
            prefixes = next;
            remainder = remainder.substring(close + 1);
        }
    }

    private static @Nullable String parseRanges(String text, List<Run> out) {
        int index = 0;
        while (index <= text.length()) {
            int comma = text.indexOf(',', index);
            int end = comma < 0 ? text.length() : comma;
            String range = text.substring(index, end);
            int dash = range.indexOf('-');
            String low = dash < 0 ? range : range.substring(0, dash);
            String high = dash < 0 ? range : range.substring(dash + 1);
            if (!isNumber(low) || !isNumber(high)) {
                return "Invalid range: `" + range + "'";
            }
            long from = Long.parseLong(low);
            long to = Long.parseLong(high);
            if (from > to) {
                return "Invalid range: `" + range + "'";
            }
            if (to - from >= MAX_NAMES) {
                return "Too many hosts in range `" + range + "'";
            }
            out.add(new Run("", from, to, low.length()));
            index = end + 1;
        }
        return null;
    }

    private static boolean isNumber(String text) {
        if (text.isEmpty() || text.length() > MAX_DIGITS) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    private static Run single(String name) {
        int i = name.length();
        while (i > 0 && name.charAt(i - 1) >= '0' && name.charAt(i - 1) <= '9') {
            i--;
        }
        int digits = name.length() - i;
        if (digits == 0 || digits > MAX_DIGITS) {
            return new Run(name, 0, 0, 0);
        }
        long n = Long.parseLong(name, i, name.length(), 10);
        return new Run(name.substring(0, i), n, n, digits);
    }

    /** Appends, growing the last run when the new one continues it with the same padding. */
    private static void push(List<Run> runs, Run next) {
        if (!runs.isEmpty()) {
            Run last = runs.getLast();
            if (last.width > 0
                    && next.width > 0
                    && last.prefix.equals(next.prefix)
                    && next.lo == last.hi + 1
                    && digits(next.lo, last.width) == digits(next.lo, next.width)) {
                runs.set(runs.size() - 1, new Run(last.prefix, last.lo, next.hi, last.width));
                return;
            }
        }
        runs.add(next);
    }

    private static int digits(long number, int width) {
        return Math.max(width, Long.toString(number).length());
    }

    private static String padded(long number, int width) {
        String text = Long.toString(number);
        return text.length() >= width ? text : "0".repeat(width - text.length()) + text;
    }

    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    public List<String> names() {
        List<String> out = new ArrayList<>(size);
        for (Run run : runs) {
            for (long n = run.lo; n <= run.hi; n++) {
                out.add(run.name(n));
            }
        }
        return out;
    }

    public String name(int index) {
        int remaining = Objects.checkIndex(index, size);
        for (Run run : runs) {
            if (remaining < run.size()) {
                return run.name(run.lo + remaining);
            }
            remaining -= run.size();
        }
        throw new IllegalStateException("size and runs disagree");
    }

    public boolean contains(String name) {
        for (Run run : runs) {
            if (run.width == 0 ? run.prefix.equals(name) : name.startsWith(run.prefix) && hasNumber(run, name)) {
                return true;
            }
        }
        return false;
    }

    /** The names of a list, each once, in its order; none if the text is no list. */
    public static List<String> distinct(String text) {
        return !text.isEmpty() && parse(text) instanceof Parsed.Ok ok
                ? ok.list().names().stream().distinct().toList()
                : List.of();
    }

    /** The names of a list in its order, for many lookups; none if the text is no list. */
    public static Set<String> nameSet(String text) {
        return text.isEmpty() ? Set.of() : Collections.unmodifiableSet(new LinkedHashSet<>(distinct(text)));
    }

    /** Whether two lists as text have a node in common; one that cannot be read has none. */
    public static boolean intersect(String some, String others) {
        return parse(some) instanceof Parsed.Ok a
                && parse(others) instanceof Parsed.Ok b
                && a.list().names().stream().anyMatch(b.list()::contains);
    }

    private static boolean hasNumber(Run run, String name) {
        String number = name.substring(run.prefix.length());
        if (!isNumber(number)) {
            return false;
        }
        long n = Long.parseLong(number);
        return run.lo <= n && n <= run.hi && digits(n, run.width) == number.length();
    }

    /** Slurm's order: by prefix, then by digits written, then by number. Duplicates stay. */
    public HostList sorted() {
        List<Run> all = new ArrayList<>(size);
        for (Run run : runs) {
            for (long n = run.lo; n <= run.hi; n++) {
                all.add(run.width == 0 ? run : new Run(run.prefix, n, n, digits(n, run.width)));
            }
        }
        all.sort((a, b) -> {
            int c = a.prefix.compareTo(b.prefix);
            c = c != 0 ? c : Integer.compare(a.width, b.width);
            return c != 0 ? c : Long.compare(a.lo, b.lo);
        });
        List<Run> out = new ArrayList<>();
        for (Run run : all) {
            push(out, run);
        }
        return new HostList(List.copyOf(out));
    }

    /** The same names once each, in the order of their first appearance. */
    public HostList distinct() {
        Set<String> seen = new HashSet<>();
        List<String> out = new ArrayList<>();
        for (String n : names()) {
            if (seen.add(n)) {
                out.add(n);
            }
        }
        return of(out);
    }

    /** The expression {@code scontrol show hostlist} prints; {@code scontrol show hostlistsorted} is sorted() first. */
    public String compressed() {
        StringBuilder text = new StringBuilder();
        int i = 0;
        while (i < runs.size()) {
            int end = i + 1;
            String prefix = runs.get(i).prefix;
            while (runs.get(i).width > 0
                    && end < runs.size()
                    && runs.get(end).width > 0
                    && runs.get(end).prefix.equals(prefix)) {
                end++;
            }
            if (!text.isEmpty()) {
                text.append(',');
            }
            appendGroup(text, runs.subList(i, end));
            i = end;
        }
        return text.toString();
    }

    private static void appendGroup(StringBuilder text, List<Run> group) {
        Run first = group.getFirst();
        text.append(first.prefix);
        if (first.width == 0) {
            return;
        }
        boolean brackets = group.size() > 1 || first.size() > 1;
        if (brackets) {
            text.append('[');
        }
        String sep = "";
        for (Run run : group) {
            text.append(sep).append(padded(run.lo, run.width));
            if (run.hi > run.lo) {
                text.append('-').append(padded(run.hi, run.width));
            }
            sep = ",";
        }
        if (brackets) {
            text.append(']');
        }
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof HostList other && size == other.size && names().equals(other.names());
    }

    @Override
    public int hashCode() {
        return names().hashCode();
    }

    @Override
    public String toString() {
        return compressed();
    }

    /** Divided at commas outside brackets, as lists of nodes are, and of tasks of arrays. */
    public static List<String> split(String text) {
        List<String> out = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i <= text.length(); i++) {
            char c = i < text.length() ? text.charAt(i) : ',';
            if (c == '[') {
                depth++;
            } else if (c == ']') {
                depth--;
            }
            if (c == ',' && (depth == 0 || i == text.length())) {
                if (i > from) {
                    out.add(text.substring(from, i));
                }
                from = i + 1;
            }
        }
        return out;
    }
}
