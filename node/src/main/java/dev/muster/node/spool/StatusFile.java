package dev.muster.node.spool;

import dev.muster.model.format.Digits;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.node.NodeMessages.Usage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * stepd's status file as written in {@code native/README.md}.
 *
 * @param begun whether a task may have run
 */
public record StatusFile(State state, int stepdPid, boolean begun, String reason, List<Task> tasks, Usage usage) {
    /** The head of a record is shorter. */
    static final int HEAD_BYTES = 1024;

    public enum State {
        RUNNING,
        ENDING,
        COMPLETE
    }

    /** @param fields of its line; read only where they are asked for: a step may have many tasks */
    public record Task(int rank, boolean ended, int pid, int waitStatus, long endedMs, String reason, String fields) {
        public ExitStatus exit() {
            return ExitStatus.ofWaitStatus(waitStatus);
        }

        /** Use of the task and of the children that it waited for, as the kernel counted it at the end. */
        public TaskPeaks.Task use() {
            return new TaskPeaks.Task(
                    rank,
                    count(fields, "utime_us") + count(fields, "stime_us"),
                    count(fields, "maxrss_kb"),
                    0,
                    count(fields, "majflt"),
                    count(fields, "inblock") * SECTOR,
                    count(fields, "oublock") * SECTOR);
        }
    }

    private static final long SECTOR = 512;
    private static final String END = "\nend\n";

    /** The last whole record of the file; empty if there is none, or if a disk's fault has damaged it. */
    public static Optional<StatusFile> parse(byte[] content) {
        try {
            return lastRecord(content);
        } catch (IllegalArgumentException damaged) {
            return Optional.empty();
        }
    }

    private static Optional<StatusFile> lastRecord(byte[] content) {
        String all = new String(content, StandardCharsets.UTF_8);
        int end = all.lastIndexOf(END);
        if (end < 0) {
            return Optional.empty();
        }
        int before = all.lastIndexOf(END, end - 1);
        String text = all.substring(before < 0 ? 0 : before + END.length(), end);
        State state = State.RUNNING;
        int stepd = 0;
        boolean begun = true;
        String reason = "";
        List<Task> tasks = new ArrayList<>();
        Usage usage = NO_USAGE;
        for (String line : text.split("\n")) {
            int space = line.indexOf(' ');
            String rest = space < 0 ? "" : line.substring(space + 1);
            switch (space < 0 ? line : line.substring(0, space)) {
                case "state" -> state = State.valueOf(rest.toUpperCase(java.util.Locale.ROOT));
                case "stepd" -> stepd = Integer.parseInt(rest);
                case "begun" -> begun = !rest.equals("no");
                case "reason" -> reason = rest;
                case "task" -> tasks.add(task(rest));
                case "usage" -> usage = usage(rest);
                default -> {}
            }
        }
        return Optional.of(new StatusFile(state, stepd, begun, reason, tasks, usage));
    }

    /**
     * The process id that stands in each record's head; 0 if it is not there yet.
     *
     * @param head of the file
     */
    static int stepdPid(byte[] head) {
        String text = new String(head, StandardCharsets.UTF_8);
        int at = text.indexOf("\nstepd ");
        int end = at < 0 ? -1 : text.indexOf('\n', at + 1);
        String number = end < 0 ? "" : text.substring(at + 7, end);
        return Digits.only(number, 9) ? Integer.parseInt(number) : 0;
    }

    public static final Usage NO_USAGE = new Usage(0, 0, 0, 0, 0, 0, 0);

    private static Task task(String line) {
        int at = line.indexOf(" reason=");
        String reason = at < 0 ? "" : line.substring(at + 8);
        String fields = at < 0 ? line : line.substring(0, at);
        return new Task(
                (int) number(fields, "id"),
                fields.contains(" phase=done"),
                (int) number(fields, "pid"),
                (int) number(fields, "status"),
                millis(field(fields, "ended")),
                reason,
                fields);
    }

    private static Usage usage(String line) {
        return new Usage(
                number(line, "utime_us"),
                number(line, "stime_us"),
                number(line, "maxrss_kb"),
                0,
                number(line, "inblock") * SECTOR,
                number(line, "oublock") * SECTOR,
                number(line, "majflt"));
    }

    private static long number(String line, String name) {
        String value = field(line, name);
        return value.isEmpty() ? 0 : Long.parseLong(value);
    }

    /** Returns a count of the kernel; 0 if the number is damaged. */
    private static long count(String fields, String name) {
        String value = field(fields, name);
        return Digits.only(value, 15) ? Long.parseLong(value) : 0;
    }

    private static long millis(String seconds) {
        int dot = seconds.indexOf('.');
        if (dot < 0) {
            return 0;
        }
        if (seconds.length() < dot + 4) {
            throw new IllegalArgumentException("no time in seconds: " + seconds);
        }
        return Long.parseLong(seconds.substring(0, dot)) * 1000 + Long.parseLong(seconds.substring(dot + 1, dot + 4));
    }

    /** Looked for in place: a file of many tasks is read several times for each step. */
    private static String field(String line, String name) {
        String key = name + "=";
        int at = line.startsWith(key) ? 0 : line.indexOf(" " + key) + 1;
        if (at == 0 && !line.startsWith(key)) {
            return "";
        }
        int end = line.indexOf(' ', at);
        return line.substring(at + key.length(), end < 0 ? line.length() : end);
    }
}
