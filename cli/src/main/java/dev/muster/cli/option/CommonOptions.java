package dev.muster.cli.option;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.List;

/** Options that all commands share: version, help, and the report of wrong ones. */
public final class CommonOptions {
    private CommonOptions() {}

    /** Parses plain options; a mistake becomes getopt's sentence and the hint. */
    public static GetOpt.Parsed parse(CommandContext context, List<GetOpt.Opt> table) throws UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(table, context.args(), false);
        if (!parsed.error().isEmpty()) {
            throw new UsageException(
                    1,
                    List.of(
                            context.program() + ": " + parsed.error(),
                            "Try \"" + context.name() + " --help\" for more information"));
        }
        return parsed;
    }

    public static boolean helpOrVersion(CommandContext context, JobOptions options) {
        if (options.has(JobOption.VERSION)) {
            context.out().println(Release.LINE);
            return true;
        }
        String operands;
        if (options.command() == 'B') {
            operands = "script [args...]";
        } else if (options.command() == 'R') {
            operands = "executable [args...]";
        } else {
            operands = "[command [args...]]";
        }

        if (options.has(JobOption.USAGE)) {
            OptionHelp.usage(context, JobOption.table(options.command()), operands);
            return true;
        }
        if (options.has(JobOption.HELP)) {
            help(context, JobOption.table(options.command()), operands);
            return true;
        }
        return false;
    }

    /** Returns the letters of columns in rows of eight, as {@code --helpformat} lists them. */
    public static List<String> inRows(String[] letters) {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < letters.length; i++) {
            String row = i % 8 == 0 ? "" : rows.removeLast() + "    ";
            rows.add(row + "%" + letters[i]);
        }
        return rows;
    }

    /** Answers --version, --help and --usage. Returns false for other options. */
    public static boolean answer(CommandContext context, List<GetOpt.Opt> table, String operands, GetOpt.Hit hit) {
        switch (hit.opt().name()) {
            case "version" -> context.out().println(Release.LINE);
            case "help" -> help(context, table, operands);
            case "usage" -> OptionHelp.usage(context, table, operands);
            default -> {
                return false;
            }
        }
        return true;
    }

    public static void help(CommandContext context, List<GetOpt.Opt> table, String operands) {
        OptionHelp.help(context, table, operands);
    }

    /** Returns whether the priority plugin has factors; says so if it has none. */
    public static boolean isMultifactor(CommandContext context, String type) {
        if (type.equals("priority/multifactor")) {
            return true;
        }
        context.err().println("You are not running a supported priority plugin");
        context.err().println("(" + (type.isEmpty() ? "priority/basic" : type) + ").");
        context.err().println("Only 'priority/multifactor' is supported.");
        return false;
    }

    /** Prints why a request failed. Returns the exit code. */
    public static int reportFailure(CommandContext context, String call, SlurmException e) {
        context.out().flush();
        context.err().println(call + ": " + e.getMessage());
        return 1;
    }

    /** Returns whether the option stands on the command line. */
    public static boolean isTyped(GetOpt.Parsed parsed, String name) {
        return parsed.hits().stream().anyMatch(h -> h.opt().name().equals(name));
    }

    public static UsageException formatAndLong(CommandContext context) {
        return new UsageException(
                1,
                List.of(context.name() + ": fatal: Options -o(--format) and -l(--long) are mutually exclusive. "
                        + "Please remove one and retry."));
    }
}
