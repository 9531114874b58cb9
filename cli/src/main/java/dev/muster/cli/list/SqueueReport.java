package dev.muster.cli.list;

import dev.muster.cli.command.CommandContext;
import java.util.List;

/** Prints what {@code squeue -v} shows first: the options in force. */
final class SqueueReport {
    private static final String RULE = "-----------------------------";

    private SqueueReport() {}

    static void options(CommandContext context, SqueueOptions options) {
        context.out().println(RULE);
        line(context, "all         ", flag(options.all));
        line(context, "array       ", flag(options.array));
        line(context, "federation  ", flag(options.federation));
        line(context, "format      ", orNull(options.format));
        line(context, "iterate     ", Integer.toString(options.iterateSeconds));
        line(context, "job_flag    ", bit(options.jobsBare || !options.jobs.isEmpty()));
        line(context, "jobs        ", list(options.jobs));
        line(context, "licenses    ", list(options.licenses));
        line(context, "local       ", flag(options.local));
        line(context, "names       ", list(options.names));
        line(context, "nodes       ", String.join(",", options.nodes));
        line(context, "partitions  ", list(options.partitions));
        line(context, "priority    ", flag(options.priority));
        line(context, "reservation ", list(options.reservations));
        line(context, "sibling      ", flag(options.sibling));
        line(context, "sort        ", orNull(options.sort));
        line(context, "start_flag  ", bit(options.start));
        line(
                context,
                "states      ",
                orNull(options.start && options.statesText.isEmpty() ? "PD" : options.statesText));
        line(context, "step_flag   ", bit(options.showSteps));
        line(context, "steps       ", list(options.steps));
        line(context, "users       ", orNull(options.usersText));
        line(context, "verbose     ", Integer.toString(options.verbose));
        context.out().println(RULE + "\n\n");
    }

    private static void line(CommandContext context, String name, String value) {
        context.out().println(name + "= " + value);
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
