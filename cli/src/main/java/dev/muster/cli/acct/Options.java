package dev.muster.cli.acct;

import dev.muster.cli.CommandContext;
import dev.muster.cli.GetOpt;
import java.util.List;

/** sacctmgr's options. */
final class Options {
    enum Outcome { GO_ON, DONE, WRONG }

    private static final List<GetOpt.Opt> TABLE = GetOpt.table("autocomplete::r", "help:h:n", "usage::n", "immediate:i:n", "json::o", "noheader:n:n",
            "oneliner:o:n", "parsable:p:n", "parsable2:P:n", "quiet:Q:n", "readonly:r:n", "associations:s:n", "verbose:v:n", "version:V:n", "yaml::o");

    private Options() {}

    static Outcome parse(CommandContext c, Sacctmgr.Settings s, List<String> rest) {
        GetOpt.Parsed p = GetOpt.parse(TABLE, c.args(), true);
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
                    c.out().println("Usage: sacctmgr [-hiovV] <command> [...]");
                    return Outcome.DONE;
                }
                case "version" -> {
                    c.out().println("slurm 26.05.3");
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
                case "associations" -> s.associations = true;
                case "verbose" -> s.verbose++;
                case "json", "yaml" -> {
                    s.json = h.opt().name();
                    s.parser = h.value();
                }
                case "oneliner" -> { }
                default -> {
                    c.error("--" + h.opt().name() + " is not supported by this version");
                    return Outcome.WRONG;
                }
            }
        }
        rest.addAll(p.operands());
        return Outcome.GO_ON;
    }

    static void help(CommandContext c) {
        c.out().println("sacctmgr [<OPTION>] [<COMMAND>]");
        for (GetOpt.Opt o : TABLE) {
            c.out().println("     " + (o.letter() == 0 ? "" : "-" + o.letter() + " or ") + "--" + o.name());
        }
        c.out().println("  Commands: add, create, delete, remove, modify, update, list, show, dump, clear stats, ping, reconfigure, shutdown,");
        c.out().println("  help, version, exit. Without one, lines are read until exit.");
        c.out().println("  Entities: account, association, cluster, configuration, coordinator, event, problem, qos, resource, runawayjobs,");
        c.out().println("  stats, transaction, tres, user, wckey.");
    }
}
