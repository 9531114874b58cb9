package dev.muster.cli.list;

import dev.muster.cli.command.CommandContext;
import java.util.List;

/** Prints what {@code squeue -v} shows first: the options in force. */
final class SqueueReport {
    private static final String RULE = "-----------------------------";

    private SqueueReport() {}

    static void options(CommandContext c, SqueueOptions w) {
        c.out().println(RULE);
        line(c, "all         ", flag(w.all));
        line(c, "array       ", flag(w.array));
        line(c, "federation  ", flag(w.federation));
        line(c, "format      ", orNull(w.format));
        line(c, "iterate     ", Integer.toString(w.iterateSeconds));
        line(c, "job_flag    ", bit(w.jobsBare || !w.jobs.isEmpty()));
        line(c, "jobs        ", list(w.jobs));
        line(c, "licenses    ", list(w.licenses));
        line(c, "local       ", flag(w.local));
        line(c, "names       ", list(w.names));
        line(c, "nodes       ", String.join(",", w.nodes));
        line(c, "partitions  ", list(w.partitions));
        line(c, "priority    ", flag(w.priority));
        line(c, "reservation ", list(w.reservations));
        line(c, "sibling      ", flag(w.sibling));
        line(c, "sort        ", orNull(w.sort));
        line(c, "start_flag  ", bit(w.start));
        line(c, "states      ", orNull(w.start && w.statesText.isEmpty() ? "PD" : w.statesText));
        line(c, "step_flag   ", bit(w.showSteps));
        line(c, "steps       ", list(w.steps));
        line(c, "users       ", orNull(w.usersText));
        line(c, "verbose     ", Integer.toString(w.verbose));
        c.out().println(RULE + "\n\n");
    }

    private static void line(CommandContext c, String name, String value) {
        c.out().println(name + "= " + value);
    }

    private static String flag(boolean on) {
        return Boolean.toString(on);
    }

    private static String bit(boolean on) {
        return on ? "1" : "0";
    }

    private static String orNull(String text) {
        return text.isEmpty() ? "(null)" : text;
    }

    private static String list(List<String> words) {
        return orNull(String.join(",", words));
    }
}
