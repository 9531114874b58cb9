package dev.muster.cli.format;

import java.util.List;
import java.util.TreeSet;

/** Formats task numbers in messages: {@code 0-3,5}. */
public final class TaskRanges {
    private TaskRanges() {}

    public static String text(List<Integer> ranks) {
        StringBuilder b = new StringBuilder();
        int from = -1;
        int last = -2;
        for (int r : new TreeSet<>(ranks)) {
            if (r != last + 1) {
                close(b, from, last);
                from = r;
            }
            last = r;
        }
        close(b, from, last);
        return b.toString();
    }

    private static void close(StringBuilder b, int from, int last) {
        if (from < 0) {
            return;
        }
        b.append(b.isEmpty() ? "" : ",").append(from);
        if (last > from) {
            b.append('-').append(last);
        }
    }
}
