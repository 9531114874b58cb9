package dev.muster.cli.connection;

/**
 * Makes the request ids of one command from the id that its launcher made. A command that is repeated on another path
 * uses the same ids.
 */
public final class RequestIds {
    private static final int COUNT_DIGITS = 4;

    private final String first;
    private int used;

    public RequestIds(String first) {
        this.first = first;
    }

    public synchronized String next() {
        int n = used++;
        int split = first.length() - COUNT_DIGITS;
        int tail = Integer.parseInt(first.substring(split), 16) ^ n & 0xffff;
        String digits = Integer.toHexString(tail);
        return first.substring(0, split) + "0".repeat(COUNT_DIGITS - digits.length()) + digits;
    }
}
