package dev.muster.cli.acct;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.cli.submit.InteractiveShell;
import dev.muster.json.Json;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Runs sacctmgr, which shows and changes accounts, users, QOS and other entities of accounting. */
public final class Sacctmgr implements Command {
    private static final String SLURMDBD = "accounting_storage/slurmdbd";
    private static final List<Entity.Name> VERBS =
            Entity.names("add:3=add archive:3=archive associations:3=associations clear:2=clear create:3=add "
                    + "delete:3=delete dump:3=dump exit:2=exit help:1=help list:3=show load:2=load modify:1=modify "
                    + "oneliner:1=oneliner parsable:1=parsable "
                    + "ping:2=ping problem:3=problem quiet:4=quiet quit:4=exit readonly:4=readonly "
                    + "reconfigure:3=reconfigure remove:3=delete "
                    + "rollup:2=roll show:3=show "
                    + "shutdown:4=shutdown update:1=modify verbose:4=verbose version:4=version");

    @Override
    public List<GetOpt.Opt> options() {
        return SacctmgrOptions.TABLE;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        SacctmgrSwitches s = new SacctmgrSwitches();
        List<String> args = new ArrayList<>();
        SacctmgrOptions.Outcome outcome = SacctmgrOptions.parse(c, s, args);
        if (outcome == SacctmgrOptions.Outcome.DONE) {
            return 0;
        }
        if (outcome == SacctmgrOptions.Outcome.WRONG) {
            return 1;
        }
        if (!c.host().accountingType().equals(SLURMDBD)) {
            c.err().println("You are not running a supported accounting_storage plugin");
            c.err().println("Only '" + SLURMDBD + "' is supported.");
            return 1;
        }
        if (args.isEmpty()) {
            return interactive(c, s);
        }
        return runCommand(c, s, args);
    }

    private int interactive(CommandContext c, SacctmgrSwitches s) {
        c.host().needsOwnProcess();
        return InteractiveShell.run(c, false, first -> verb(first).equals("exit"), words -> runCommand(c, s, words));
    }

    static String verb(String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        return VERBS.stream()
                .filter(v -> v.means(lower))
                .findFirst()
                .map(Entity.Name::key)
                .orElse("");
    }

    private int runCommand(CommandContext c, SacctmgrSwitches s, List<String> words)
            throws SlurmException, UsageException {
        String verb = verb(words.getFirst());
        List<String> rest = words.subList(1, words.size());
        if (s.readOnly
                && List.of("add", "modify", "delete", "load", "archive", "shutdown")
                        .contains(verb)) {
            c.err().println("Can't run this command in readonly mode.");
            return 1;
        }
        switch (verb) {
            case "show", "problem", "associations" -> {
                return new ShowCommand(c, s).run(verb.equals("show") ? rest : prefixed(verb, rest));
            }
            case "add", "modify", "delete" -> {
                return new EditCommand(c, s, verb).run(rest);
            }
            case "clear" -> {
                return clear(c, rest);
            }
            case "ping" -> {
                return ping(c, s);
            }
            case "reconfigure" -> {
                return simple(c, "Reconfigure", " Problem reconfiguring server: ");
            }
            case "shutdown" -> {
                return simple(c, "Shutdown", " Problem shutting down server: ");
            }
            case "version" -> c.out().println(Release.LINE);
            case "help" -> SacctmgrOptions.help(c);
            case "quiet" -> s.quiet = true;
            case "verbose" -> s.verbose++;
            case "parsable" -> {
                s.bars = true;
                s.lastBar = true;
            }
            case "readonly" -> s.readOnly = true;
            case "dump" -> {
                return new DumpCommand(c).run(rest);
            }
            case "archive" -> {
                return new ArchiveCommand(c, s).run(rest);
            }
            case "roll" -> {
                return new ArchiveCommand(c, s).roll(rest);
            }
            case "load" -> {
                return new LoadCommand(c, s).run(rest);
            }
            case "oneliner" -> {} // lists have a line for each as it is
            default -> {
                c.err().println("invalid keyword: " + words.getFirst());
                return 1;
            }
        }
        return 0;
    }

    private static List<String> prefixed(String first, List<String> rest) {
        List<String> out = new ArrayList<>(List.of(first));
        out.addAll(rest);
        return out;
    }

    private static int simple(CommandContext c, String message, String problem) {
        try {
            c.host().accounting().call(message, new Json.Obj());
            return 0;
        } catch (SlurmException e) {
            c.err().println(problem + e.getMessage());
            return 1;
        }
    }

    private static int clear(CommandContext c, List<String> rest) {
        if (rest.isEmpty() || !"stats".startsWith(rest.getFirst().toLowerCase(Locale.ROOT))) {
            c.err().println("No valid entity in list command");
            c.err().println("Input line must include \"Stats\"");
            return 1;
        }
        return simple(c, "ClearStats", "sacctmgr: error: Problem clearing stats: ");
    }

    private static int ping(CommandContext c, SacctmgrSwitches s) throws UsageException {
        String host = c.host().accountingHost();
        boolean up = true;
        long began = System.nanoTime();
        try {
            c.host().accounting().call("Ping", new Json.Obj());
        } catch (SlurmException e) {
            up = false;
        }
        if (s.json.isEmpty()) {
            c.out().println("slurmdbd(primary) at " + host + " is " + (up ? "UP" : "DOWN"));
        } else {
            JsonOutput.print(
                    c, s.json, s.parser, ControlJson.slurmdbdPing(host, up, (System.nanoTime() - began) / 1000));
        }
        return up ? 0 : 1;
    }
}
