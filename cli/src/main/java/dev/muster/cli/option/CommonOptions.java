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
    public static GetOpt.Parsed parse(CommandContext c, List<GetOpt.Opt> table) throws UsageException {
        GetOpt.Parsed p = GetOpt.parse(table, c.args(), false);
        if (!p.error().isEmpty()) {
            throw new UsageException(
                    1, List.of(c.program() + ": " + p.error(), "Try \"" + c.name() + " --help\" for more information"));
        }
        return p;
    }

    public static boolean helpOrVersion(CommandContext c, JobOptions o) {
        if (o.has(JobOption.VERSION)) {
            c.out().println(Release.LINE);
            return true;
        }
        String operands;
        if (o.command() == 'B') {
            operands = "script [args...]";
        } else if (o.command() == 'R') {
            operands = "executable [args...]";
        } else {
            operands = "[command [args...]]";
        }

        if (o.has(JobOption.USAGE)) {
            OptionHelp.usage(c, JobOption.table(o.command()), operands);
            return true;
        }
        if (o.has(JobOption.HELP)) {
            help(c, JobOption.table(o.command()), operands);
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
    public static boolean answer(CommandContext c, List<GetOpt.Opt> table, String operands, GetOpt.Hit hit) {
        switch (hit.opt().name()) {
            case "version" -> c.out().println(Release.LINE);
            case "help" -> help(c, table, operands);
            case "usage" -> OptionHelp.usage(c, table, operands);
            default -> {
                return false;
            }
        }
        return true;
    }

    public static void help(CommandContext c, List<GetOpt.Opt> table, String operands) {
        OptionHelp.help(c, table, operands);
    }

    /** Returns whether the priority plugin has factors; says so if it has none. */
    public static boolean isMultifactor(CommandContext c, String type) {
        if (type.equals("priority/multifactor")) {
            return true;
        }
        c.err().println("You are not running a supported priority plugin");
        c.err().println("(" + (type.isEmpty() ? "priority/basic" : type) + ").");
        c.err().println("Only 'priority/multifactor' is supported.");
        return false;
    }

    /** Prints why a request failed. Returns the exit code. */
    public static int reportFailure(CommandContext c, String what, SlurmException e) {
        c.out().flush();
        c.err().println(what + ": " + e.getMessage());
        return 1;
    }

    /** Returns whether the option stands on the command line. */
    public static boolean isTyped(GetOpt.Parsed p, String name) {
        return p.hits().stream().anyMatch(h -> h.opt().name().equals(name));
    }

    public static UsageException formatAndLong(CommandContext c) {
        return new UsageException(
                1,
                List.of(c.name() + ": fatal: Options -o(--format) and -l(--long) are mutually exclusive. "
                        + "Please remove one and retry."));
    }
}
