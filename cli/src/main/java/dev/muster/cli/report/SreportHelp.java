package dev.muster.cli.report;

import dev.muster.cli.command.CommandContext;

/** Prints {@code sreport --help}. */
final class SreportHelp {
    private static final String TEXT = """
        sreport [<OPTION>] [<COMMAND>]
            Valid <OPTION> values are:
             -a or --all_clusters: all clusters, not only this one
             -M or --cluster: the clusters to report on
             --federation: the clusters of this one's federation, if it is in one
             --local: this cluster, even in a federation
             -h or --help: this text
             -n or --noheader: no titles
             -p or --parsable: values with a '|' after each
             -P or --parsable2: values with a '|' between them
             -Q or --quiet: nothing but mistakes
             -t <time_format>: Second, Minute, Hour, Percent, SecPer, MinPer, HourPer
             -T or --tres: resources to report on, or 'ALL'
             -v or --verbose: say more
             -V or --version: display tool version number

            Without a command, lines are read until exit or quit.

            Valid <COMMAND> values are:
             exit, quit          end
             help                this text
             nonparsable         columns again
             parsable            values with a '|' after each
             parsable2           values with a '|' between them
             quiet, verbose      say less, say more
             time <time_format>  as -t
             version             display tool version number
             !!                  the last command again

            Reports and what they may be asked for:
             cluster AccountUtilizationByUser     Accounts=, Users=, Tree
             cluster AccountUtilizationByQOS      Accounts=, QOS=
             cluster UserUtilizationByAccount     Accounts=, Users=
             cluster UserUtilizationByWckey       Users=, Wckeys=
             cluster Utilization
             cluster WCKeyUtilizationByUser       Users=, Wckeys=
             job SizesByAccount                   Accounts=, AcctAsParent, FlatView, GID=, Grouping=N,N,...|individual, Jobs=, Nodes=,
                                                  Partitions=, PrintJobCount, Users=, Wckeys=
             job SizesByAccountAndWckey           the same
             job SizesByWckey                     the same
             reservation Utilization              Names=, Nodes=
             user TopUsage                        Accounts=, Group, TopCount=, Users=
             all of them                          All_Clusters, Clusters=, End=, Format=FIELD[%WIDTH],..., Start=

            A report is over whole hours; without Start and End over yesterday and the hour after it.
            Fields: Accounts, Allocated, Associations, Cluster, Down, End, Energy, Flags, Idle, Login, Name, Nodes, OverCommitted, Planned,
            PlannedDown, Proper, QOS, Reported, ReservationId, Start, TotalTime, TresCount, TresName, TresTime, Used, Wckey
        """;

    private SreportHelp() {}

    static void print(CommandContext context) {
        TEXT.lines().forEach(context.out()::println);
    }
}
