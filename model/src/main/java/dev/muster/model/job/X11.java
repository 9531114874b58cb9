package dev.muster.model.job;

import java.util.Locale;
import java.util.Optional;

/**
 * What {@code --x11} asks for.
 *
 * @param nodes where windows are to be opened from
 * @param cookie of the user's display, in hex digits: a program that presents it may draw there
 */
public record X11(Nodes nodes, String cookie) {
    private static final int COOKIE_DIGITS_MAX = 256;

    /** BATCH is the first node, where a batch script would run. */
    public enum Nodes {
        ALL,
        BATCH,
        FIRST,
        LAST
    }

    /** A word of the option, in any case; empty for another. */
    public static Optional<Nodes> nodes(String word) {
        for (Nodes each : Nodes.values()) {
            if (each.name().equalsIgnoreCase(word)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** Reads what {@link #text} has written. */
    public static Optional<X11> parse(String text) {
        int space = text.indexOf(' ');
        if (space < 0) {
            return Optional.empty();
        }
        String cookie = text.substring(space + 1);
        boolean good = !cookie.isEmpty()
                && cookie.length() <= COOKIE_DIGITS_MAX
                && cookie.length() % 2 == 0
                && cookie.chars().allMatch(c -> Character.digit(c, 16) >= 0 && c < 128);
        return good ? nodes(text.substring(0, space)).map(n -> new X11(n, cookie)) : Optional.empty();
    }

    public String text() {
        return nodes.name().toLowerCase(Locale.ROOT) + " " + cookie;
    }

    /**
     * Whether one of an allocation's nodes is meant.
     *
     * @param index of the node, of {@code count}
     */
    public boolean covers(int index, int count) {
        return switch (nodes) {
            case ALL -> true;
            case BATCH, FIRST -> index == 0;
            case LAST -> index == count - 1;
        };
    }
}
