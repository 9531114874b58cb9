package dev.muster.model.job;

import java.util.Optional;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * How many nodes are asked for: {@code 4}, {@code 2-8}, {@code -8} for at most eight, or some numbers alone,
 * {@code 1,5,9} or {@code 1-15:4}.
 *
 * @param sizes the numbers that will do, ascending, with commas; "" for all from least to most
 */
public record NodeCounts(int least, int most, String sizes) {
    /** Most sizes that one list may have. */
    private static final int SIZES_MAX = 10_000;

    /**
     * @param number what a word means, below 0 for nothing; empty if the text is no such count, or a range ends before
     *     it begins
     */
    public static Optional<NodeCounts> parse(String text, ToLongFunction<String> number) {
        if (text.indexOf(',') < 0 && text.indexOf(':') < 0) {
            return range(text, number);
        }
        TreeSet<Long> all = new TreeSet<>();
        for (String item : text.split(",", -1)) {
            if (!addSizes(item, number, all)) {
                return Optional.empty();
            }
        }
        int minimum = all.first().intValue();
        int maximum = all.last().intValue();
        return Optional.of(new NodeCounts(
                minimum,
                maximum,
                maximum - minimum + 1 == all.size()
                        ? ""
                        : all.stream().map(String::valueOf).collect(Collectors.joining(","))));
    }

    /** Reads {@code 4}, {@code +4}, {@code 2-4} and {@code -4}. */
    private static Optional<NodeCounts> range(String text, ToLongFunction<String> number) {
        int dash = text.indexOf('-');
        long minimum;
        long maximum;
        if (dash < 0) {
            minimum = number.applyAsLong(text.startsWith("+") ? text.substring(1) : text);
            maximum = minimum;
        } else {
            minimum = dash == 0 ? 1 : number.applyAsLong(text.substring(0, dash));
            maximum = number.applyAsLong(text.substring(dash + 1));
        }
        return isCount(minimum) && isCount(maximum) && minimum <= maximum
                ? Optional.of(new NodeCounts((int) minimum, (int) maximum, ""))
                : Optional.empty();
    }

    /**
     * Adds the sizes of {@code 4}, {@code 2-8} or {@code 2-8:2}.
     *
     * @return false if the item is invalid or the sizes are too many
     */
    private static boolean addSizes(String item, ToLongFunction<String> number, TreeSet<Long> sizes) {
        int colon = item.indexOf(':');
        String range = colon < 0 ? item : item.substring(0, colon);
        int dash = range.indexOf('-');
        long first = number.applyAsLong(dash < 0 ? range : range.substring(0, dash));
        long last = dash < 0 ? first : number.applyAsLong(range.substring(dash + 1));
        long step = colon < 0 ? 1 : number.applyAsLong(item.substring(colon + 1));
        if (!isCount(first)
                || !isCount(last)
                || first < 1
                || last < first
                || step < 1
                || colon >= 0 && dash < 0
                || (last - first) / step + sizes.size() >= SIZES_MAX) {
            return false;
        }
        for (long n = first; n <= last; n += step) {
            sizes.add(n);
        }
        return true;
    }

    private static boolean isCount(long n) {
        return n >= 0 && n <= Integer.MAX_VALUE;
    }
}
