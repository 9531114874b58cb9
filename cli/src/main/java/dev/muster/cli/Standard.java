package dev.muster.cli;

import java.util.List;

/** What every command does alike: version, help, wrong options. */
final class Standard {
    static final String VERSION = "slurm 26.05.3";

    private Standard() {}

    /** Parses plain options; a mistake becomes getopt's sentence and the hint. */
    static GetOpt.Parsed parse(CommandContext c, List<GetOpt.Opt> table) throws UsageException {
        GetOpt.Parsed p = GetOpt.parse(table, c.args(), false);
        if (!p.error().isEmpty()) {
            throw new UsageException(1, List.of(c.program() + ": " + p.error(),
                    "Try \"" + c.name() + " --help\" for more information"));
        }
        return p;
    }

    static boolean helpOrVersion(CommandContext c, JobOptions o) {
        if (o.has(JobOption.VERSION)) {
            c.out().println(VERSION);
            return true;
        }
        String operands = o.command() == 'B' ? "script [args...]" : o.command() == 'R' ? "executable [args...]" : "[command [args...]]";
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

    static void help(CommandContext c, List<GetOpt.Opt> table, String operands) {
        OptionHelp.help(c, table, operands);
    }

    /** The exit code after a refused or impossible request, with the line that says why. */
    static int failed(CommandContext c, String what, SlurmException e) {
        c.out().flush();
        c.err().println(what + ": " + e.getMessage());
        return 1;
    }
}
