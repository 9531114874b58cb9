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
    public int run(CommandContext context) throws SlurmException, UsageException {
        SacctmgrSwitches switches = new SacctmgrSwitches();
        List<String> args = new ArrayList<>();
        SacctmgrOptions.Outcome outcome = SacctmgrOptions.parse(context, switches, args);
        if (outcome == SacctmgrOptions.Outcome.DONE) {
            return 0;
        }
        if (outcome == SacctmgrOptions.Outcome.WRONG) {
            return 1;
        }
        if (!context.host().accountingType().equals(SLURMDBD)) {
            context.err().println("You are not running a supported accounting_storage plugin");
            context.err().println("Only '" + SLURMDBD + "' is supported.");
            return 1;
        }
        if (args.isEmpty()) {
            return interactive(context, switches);
        }
        return runCommand(context, switches, args);
    }

    private int interactive(CommandContext context, SacctmgrSwitches switches) {
        context.host().needsOwnProcess();
        return InteractiveShell.run(
                context, false, first -> verb(first).equals("exit"), words -> runCommand(context, switches, words));
    }

    static String verb(String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        return VERBS.stream()
                .filter(v -> v.means(lower))
                .findFirst()
                .map(Entity.Name::key)
                .orElse("");
    }

    private int runCommand(CommandContext context, SacctmgrSwitches switches, List<String> words)
            throws SlurmException, UsageException {
        String verb = verb(words.getFirst());
        List<String> operands = words.subList(1, words.size());
        if (switches.readOnly
                && List.of("add", "modify", "delete", "load", "archive", "shutdown")
                        .contains(verb)) {
            context.err().println("Can't run this command in readonly mode.");
            return 1;
        }
        switch (verb) {
            case "show", "problem", "associations" -> {
                return new ShowCommand(context, switches)
                        .run(verb.equals("show") ? operands : prefixed(verb, operands));
            }
            case "add", "modify", "delete" -> {
                return new EditCommand(context, switches, verb).run(operands);
            }
            case "clear" -> {
                return clear(context, operands);
            }
            case "ping" -> {
                return ping(context, switches);
            }
            case "reconfigure" -> {
                return simple(context, "Reconfigure", " Problem reconfiguring server: ");
            }
            case "shutdown" -> {
                return simple(context, "Shutdown", " Problem shutting down server: ");
            }
            case "version" -> context.out().println(Release.LINE);
            case "help" -> SacctmgrOptions.help(context);
            case "quiet" -> switches.quiet = true;
            case "verbose" -> switches.verbose++;
            case "parsable" -> {
                switches.bars = true;
                switches.lastBar = true;
            }
            case "readonly" -> switches.readOnly = true;
            case "dump" -> {
                return new DumpCommand(context).run(operands);
            }
            case "archive" -> {
                return new ArchiveCommand(context, switches).run(operands);
            }
            case "roll" -> {
                return new ArchiveCommand(context, switches).roll(operands);
            }
            case "load" -> {
                return new LoadCommand(context, switches).run(operands);
            }
            case "oneliner" -> {} // lists have a line for each as it is
            default -> {
                context.err().println("invalid keyword: " + words.getFirst());
                return 1;
            }
        }
        return 0;
    }

    private static List<String> prefixed(String first, List<String> operands) {
        List<String> out = new ArrayList<>(List.of(first));
        out.addAll(operands);
        return out;
    }

    private static int simple(CommandContext context, String message, String problem) {
        try {
            context.host().accounting().call(message, new Json.Obj());
            return 0;
        } catch (SlurmException e) {
            context.err().println(problem + e.getMessage());
            return 1;
        }
    }

    private static int clear(CommandContext context, List<String> operands) {
        if (operands.isEmpty() || !"stats".startsWith(operands.getFirst().toLowerCase(Locale.ROOT))) {
            context.err().println("No valid entity in list command");
            context.err().println("Input line must include \"Stats\"");
            return 1;
        }
        return simple(context, "ClearStats", "sacctmgr: error: Problem clearing stats: ");
    }

    /** Asks each host of slurmdbd. Returns 0 if one of them serves; one in standby mode is up, and does not. */
    private static int ping(CommandContext context, SacctmgrSwitches switches) throws UsageException {
        List<String> hosts = context.host().accountingHosts();
        List<ControlJson.Ping> pings = new ArrayList<>();
        for (int i = 0; i < hosts.size(); i++) {
            pings.add(ping(context, hosts, i));
        }
        if (switches.json.isEmpty()) {
            pings.forEach(p -> context.out()
                    .println("slurmdbd(" + p.mode() + ") at " + p.host() + " is " + (p.isUp() ? "UP" : "DOWN")));
        } else {
            JsonOutput.print(context, switches.json, switches.parser, ControlJson.slurmdbdPings(pings));
        }
        return pings.stream().anyMatch(p -> p.isUp() && !p.member().flag("standby")) ? 0 : 1;
    }

    private static ControlJson.Ping ping(CommandContext context, List<String> hosts, int index) {
        long beganNs = System.nanoTime();
        Json.Obj answer = new Json.Obj();
        boolean up = true;
        try {
            answer = context.host().callAccounting(index, "Ping", new Json.Obj());
        } catch (SlurmException e) {
            up = false;
        }
        long latencyUs = (System.nanoTime() - beganNs) / 1000;
        return new ControlJson.Ping(hosts.get(index), index, hosts.size(), up, latencyUs, answer);
    }
}
