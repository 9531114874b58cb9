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

    static Outcome parse(CommandContext context, SacctmgrSwitches switches, List<String> operands)
            throws UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(TABLE, context.args(), false);
        if (!parsed.error().isEmpty()) {
            context.err().println(context.program() + ": " + parsed.error());
            context.err().println("Try \"sacctmgr --help\" for more information");
            return Outcome.WRONG;
        }
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "help" -> {
                    help(context);
                    return Outcome.DONE;
                }
                case "usage" -> {
                    help(context);
                    return Outcome.DONE;
                }
                case "version" -> {
                    context.out().println(Release.LINE);
                    return Outcome.DONE;
                }
                case "immediate" -> switches.immediate = true;
                case "noheader" -> switches.noHeader = true;
                case "parsable" -> {
                    switches.bars = true;
                    switches.lastBar = true;
                }
                case "parsable2" -> {
                    switches.bars = true;
                    switches.lastBar = false;
                }
                case "quiet" -> switches.quiet = true;
                case "readonly" -> switches.readOnly = true;
                case "oneliner" -> {} // lists have a line for each as it is
                case "associations" -> switches.associations = true;
                case "verbose" -> switches.verbose++;
                case "json", "yaml" -> {
                    switches.json = hit.opt().name();
                    switches.parser = JsonOutput.requireParser(context, switches.json, hit.value());
                }
                default -> {
                    context.error("--" + hit.opt().name() + " is not supported by this version");
                    return Outcome.WRONG;
                }
            }
        }
        if (switches.quiet && switches.verbose > 0) {
            context.error("--quiet and --verbose are mutually exclusive");
            return Outcome.WRONG;
        }
        operands.addAll(parsed.operands());
        return Outcome.GO_ON;
    }

    static void help(CommandContext context) {
        for (String line : HELP.split("\n")) {
            context.out().println(line);
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
