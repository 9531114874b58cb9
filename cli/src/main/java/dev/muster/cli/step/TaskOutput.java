package dev.muster.cli.step;

import dev.muster.cli.command.Output;
import java.util.HashMap;
import java.util.Map;

/**
 * Merges the streams of many tasks into one output: whole lines at a time, so that lines of different tasks do not mix,
 * with the task's number before each if labels are on; or unbuffered bytes.
 */
final class TaskOutput {
    /** A longer line goes out in pieces. */
    private static final int LINE_BYTES_MAX = 64 << 10;

    private final Output out;
    private final boolean labelled;
    private final boolean direct;
    private final int labelWidth;
    private final Map<Integer, Line> lines = new HashMap<>();

    private static final class Line {
        byte[] bytes = new byte[256];
        int used;
    }

    TaskOutput(Output out, boolean labelled, boolean direct, int tasks) {
        this.out = out;
        this.labelled = labelled;
        this.direct = direct && !labelled;
        this.labelWidth = Integer.toString(Math.max(0, tasks - 1)).length();
    }

    /** Returns how many bytes of the task are held back for the rest of their line. */
    synchronized int write(int task, byte[] data) {
        if (direct) {
            out.write(data, 0, data.length);
            out.flush();
            return 0;
        }
        Line line = lines.computeIfAbsent(task, t -> new Line());
        int from = 0;
        for (int i = 0; i < data.length; i++) {
            if (data[i] == '\n') {
                append(line, data, from, i + 1 - from);
                flushLine(task, line);
                from = i + 1;
            }
        }
        append(line, data, from, data.length - from);
        if (line.used > LINE_BYTES_MAX) {
            flushLine(task, line);
        }
        out.flush();
        return line.used;
    }

    private static void append(Line line, byte[] data, int from, int length) {
        if (line.used + length > line.bytes.length) {
            line.bytes = java.util.Arrays.copyOf(line.bytes, Math.max(line.bytes.length * 2, line.used + length));
        }
        System.arraycopy(data, from, line.bytes, line.used, length);
        line.used += length;
    }

    private void flushLine(int task, Line line) {
        if (labelled) {
            String n = Integer.toString(task);
            out.print(" ".repeat(Math.max(0, labelWidth - n.length())) + n + ": ");
        }
        out.write(line.bytes, 0, line.used);
        if (labelled && line.used > 0 && line.bytes[line.used - 1] != '\n') {
            out.print("\n");
        }
        line.used = 0;
    }

    /** The task's stream has ended: an unfinished line goes out as it is. */
    synchronized void end(int task) {
        Line line = lines.remove(task);
        if (line != null && line.used > 0) {
            flushLine(task, line);
            out.flush();
        }
    }
}
