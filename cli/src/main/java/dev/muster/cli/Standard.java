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
        if (o.has(JobOption.USAGE)) {
            c.out().println("Usage: " + c.name() + " [OPTIONS(0)...] [ : [OPTIONS(N)...]] "
                    + (o.command() == 'B' ? "script(0) [args(0)...]" : "[command(0) [args(0)...]]"));
            return true;
        }
        if (o.has(JobOption.HELP)) {
            help(c, JobOption.table(o.command()), o.command() == 'B' ? "script [args...]" : "[command [args...]]");
            return true;
        }
        return false;
    }

    static void help(CommandContext c, List<GetOpt.Opt> table, String operands) {
        c.out().println("Usage: " + c.name() + " [OPTIONS...] " + operands);
        for (GetOpt.Opt o : table) {
            String letter = o.letter() == 0 ? "      " : "  -" + o.letter() + (o.name().isEmpty() ? "  " : ", ");
            String value = o.arg() == GetOpt.Arg.NONE ? "" : o.arg() == GetOpt.Arg.OPTIONAL ? "[=value]" : "=value";
            c.out().println(letter + (o.name().isEmpty() ? "" : "--" + o.name()) + value);
        }
    }

    /** The exit code after a refused or impossible request, with the line that says why. */
    static int failed(CommandContext c, String what, SlurmException e) {
        c.out().flush();
        c.err().println(what + ": " + e.getMessage());
        return 1;
    }
}
