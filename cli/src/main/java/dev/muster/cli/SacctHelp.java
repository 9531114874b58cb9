package dev.muster.cli;

import java.util.List;

/** {@code sacct --help}. */
final class SacctHelp {
    private static final String TIMES = """
            valid start/end time formats are...
               HH:MM[:SS] [AM|PM]
               MMDD[YY] or MM/DD[/YY] or MM.DD[.YY]
               MM/DD[/YY]-HH:MM[:SS]
               YYYY-MM-DD[THH:MM[:SS]]
               now[{+|-}count[seconds(default)|minutes|hours|days|weeks]]
            """;

    private SacctHelp() {}

    static void print(CommandContext c, List<GetOpt.Opt> options) {
        c.out().println("sacct [<OPTION>]");
        c.out().println("    Valid <OPTION> values are:");
        for (GetOpt.Opt o : options) {
            String name = o.name().isEmpty() ? "" : "--" + o.name();
            String letter = o.letter() == 0 ? "" : "-" + o.letter() + (name.isEmpty() ? "" : ", ");
            c.out().println("     " + letter + name + ":");
            String says = says(o.name());
            if (!says.isEmpty()) {
                c.out().println("                 " + says);
            }
        }
        c.out().println("");
        c.out().print(TIMES);
    }

    private static String says(String option) {
        return switch (option) {
            case "accounts" -> "jobs charged to these accounts";
            case "allocations" -> "jobs only, without their steps";
            case "allusers" -> "jobs of every user";
            case "batch-script" -> "print the batch script of a job";
            case "brief" -> "columns job, state and exit code";
            case "delimiter" -> "text between columns of --parsable and --parsable2";
            case "duplicates" -> "every run of a job that was requeued or whose number was used again";
            case "endtime" -> "jobs that were there before this time";
            case "format" -> "columns, each with %width where wanted (see --helpformat)";
            case "gid" -> "jobs of these groups";
            case "helpformat" -> "names of the columns";
            case "jobs" -> "these jobs or steps";
            case "json" -> "print JSON";
            case "yaml" -> "print YAML";
            case "long" -> "many columns";
            case "name" -> "jobs of these names";
            case "ncpus" -> "jobs with that many CPUs, or a range";
            case "nnodes" -> "jobs on that many nodes, or a range";
            case "nodelist" -> "jobs that ran on any of these nodes";
            case "noheader" -> "no line of titles";
            case "parsable" -> "columns end with '|'";
            case "parsable2" -> "'|' between columns";
            case "partition" -> "jobs of these partitions";
            case "qos" -> "jobs with these qualities of service";
            case "starttime" -> "jobs that were there after this time (today's midnight, where nothing else says so)";
            case "state" -> "jobs that were in one of these states";
            case "truncate" -> "times cut to the window asked for";
            case "units" -> "memory in K, M, G, T or P";
            case "user", "uid" -> "jobs of these users";
            case "version" -> "print the version";
            default -> "";
        };
    }
}
