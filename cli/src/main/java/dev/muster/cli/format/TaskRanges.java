package dev.muster.cli.format;

import java.util.List;
import java.util.TreeSet;

/** Formats task numbers in messages: {@code 0-3,5}. */
public final class TaskRanges {
    private TaskRanges() {}

    public static String text(List<Integer> ranks) {
        StringBuilder text = new StringBuilder();
        int from = -1;
        int last = -2;
        for (int r : new TreeSet<>(ranks)) {
            if (r != last + 1) {
                close(text, from, last);
                from = r;
            }
            last = r;
        }
        close(text, from, last);
        return text.toString();
    }

    private static void close(StringBuilder text, int from, int last) {
        if (from < 0) {
            return;
        }
        text.append(text.isEmpty() ? "" : ",").append(from);
        if (last > from) {
            text.append('-').append(last);
        }
    }
}
