package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.model.Release;
import java.util.List;

/** Reads sacctmgr's options. */
final class SacctmgrOptions {
    enum Outcome {
        GO_ON,
        DONE,
        WRONG
    }

    static final List<GetOpt.Opt> TABLE = GetOpt.table(
            "autocomplete::r",
            "help:h:n",
            "usage::n",
            "immediate:i:n",
            "json::o",
            "noheader:n:n",
            "oneliner:o:n",
            "parsable:p:n",
            "parsable2:P:n",
            "quiet:Q:n",
            "readonly:r:n",
            "associations:s:n",
            "verbose:v:n",
            "version:V:n",
            "yaml::o");

    private SacctmgrOptions() {}

    static Outcome parse(CommandContext c, SacctmgrSwitches s, List<String> rest) throws UsageException {
        GetOpt.Parsed p = GetOpt.parse(TABLE, c.args(), false);
        if (!p.error().isEmpty()) {
            c.err().println(c.program() + ": " + p.error());
            c.err().println("Try \"sacctmgr --help\" for more information");
            return Outcome.WRONG;
        }
        for (GetOpt.Hit h : p.hits()) {
            switch (h.opt().name()) {
                case "help" -> {
                    help(c);
                    return Outcome.DONE;
                }
                case "usage" -> {
                    help(c);
                    return Outcome.DONE;
                }
                case "version" -> {
                    c.out().println(Release.LINE);
                    return Outcome.DONE;
                }
                case "immediate" -> s.immediate = true;
                case "noheader" -> s.noHeader = true;
                case "parsable" -> {
                    s.bars = true;
                    s.lastBar = true;
                }
                case "parsable2" -> {
                    s.bars = true;
                    s.lastBar = false;
                }
                case "quiet" -> s.quiet = true;
                case "readonly" -> s.readOnly = true;
                case "oneliner" -> {} // lists have a line for each as it is
                case "associations" -> s.associations = true;
                case "verbose" -> s.verbose++;
                case "json", "yaml" -> {
                    s.json = h.opt().name();
                    s.parser = JsonOutput.requireParser(c, s.json, h.value());
                }
                default -> {
                    c.error("--" + h.opt().name() + " is not supported by this version");
                    return Outcome.WRONG;
                }
            }
        }
        if (s.quiet && s.verbose > 0) {
            c.error("--quiet and --verbose are mutually exclusive");
            return Outcome.WRONG;
        }
        rest.addAll(p.operands());
        return Outcome.GO_ON;
    }

    static void help(CommandContext c) {
        for (String line : HELP.split("\n")) {
            c.out().println(line);
        }
    }

    private static final String HELP = """
            sacctmgr [<OPTION>] [<COMMAND>]
                Valid <OPTION> values are:
                 -h or --help: this text
                 -i or --immediate: commit changes immediately, without asking
                 -n or --noheader: no line of titles
                 -p or --parsable: values with a '|' after each
                 -P or --parsable2: values with a '|' between them
                 -Q or --quiet: with -i, nothing but mistakes
                 -v or --verbose: say what slurmdbd is asked
                 -r or --readonly: refuse every change
                 -s or --associations: lists of users and accounts with their associations
                 --json, --yaml: lists in the shapes of a data parser (=list names them)
                 -V or --version: display tool version number

                Without a command, lines are read until exit or quit.

                Valid <COMMAND> values are:
                 add <ENTITY> <SPECS>                 (or create)
                 archive dump [Directory=<DIR>] [Events] [Jobs] [Reservations] [Steps] [TXN] [Purge<WHAT>After=<N>[hours|days|months]]
                 archive load <FILENAME>
                 clear stats
                 delete <ENTITY> where <SPECS>        (or remove)
                 dump <CLUSTER> [File=<FILENAME>]
                 load <FILENAME> [Cluster=<CLUSTER>] [clean]
                 help
                 list <ENTITY> [<SPECS>]              (or show)
                 modify <ENTITY> where <SPECS> set <SPECS>   (or update)
                 ping
                 reconfigure
                 shutdown
                 version

                <ENTITY> may be account, association, cluster, configuration, coordinator, event, problem, qos,
                reservation, resource, runawayjobs, stats, transaction, tres, user, wckey

                <SPECS> are different for each command entity pair. Those of modify are after set what add has, after where what list has.

                add account        - Clusters=, DefaultQOS=, Description=, Fairshare=, Names=, Organization=, Parent=, QosLevel= and limits
                add cluster        - Classification=, DefaultQOS=, Fairshare=, Names=, QosLevel= and limits
                add coordinator    - Accounts=, Names=
                add qos            - Description=, Flags=, GraceTime=, Names=, Preempt=, PreemptMode=, Priority=, UsageFactor= and limits
                add resource       - Allowed=, Clusters=, Count=, Description=, Flags=, LastConsumed=, Names=, Server=, ServerType=, Type=
                add user           - Accounts=, AdminLevel=, Clusters=, DefaultAccount=, DefaultQOS=, Names=, Partitions=, QosLevel=,
                        WCKeys= and limits
                limits             - GrpJobs=, GrpSubmitJobs=, GrpTRES=, GrpTRESMins=, GrpTRESRunMins=, GrpWall=, MaxJobs=, MaxSubmitJobs=, MaxTRES=,
                                     MaxTRESMins=, MaxTRESPerNode=, MaxWall=, Priority=; of a QOS also those per user (PU) and account (PA)
                list associations  - Accounts=, Clusters=, OnlyDefaults, Parents=, Partitions=, QosLevel=, Users=, WithSubAccounts
                modify cluster     - Classification= and the limits of its root
                delete qos         - Names=, Descriptions=, Ids=
                list               - names or conditions as above, Format=FIELD[%WIDTH],..., WithAssoc, WithCoord, WithDeleted, WOPLimits, Tree
            """;
}
