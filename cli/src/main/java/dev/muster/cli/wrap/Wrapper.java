package dev.muster.cli.wrap;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.OptionHelp;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.format.HostList;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The base of commands of other workload managers, whose options have one dash and a whole word: {@code -N name},
 * {@code -N=name}, {@code --N name}, each as short as it is unique.
 */
public abstract class Wrapper implements Command {
    /** Exit code for a mistake in the arguments. */
    static final int MISTAKE = 2;

    private static final List<String> TWO_DASHES = List.of("help", "version");
    private static final int COLUMN = 26;
    private final List<GetOpt.Opt> options;
    private final String operands;
    private final CommandRunner runner;

    /**
     * @param runner runs the cluster's own commands
     * @param entries as {@link GetOpt#table}, without those for help and version
     */
    Wrapper(CommandRunner runner, String operands, String... entries) {
        this.runner = runner;
        List<GetOpt.Opt> all = new ArrayList<>(GetOpt.table(entries));
        all.addAll(GetOpt.table("help::n", "version::n"));
        this.options = List.copyOf(all);
        this.operands = operands;
    }

    /** Returns the exit code. */
    abstract int go(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException;

    /** Returns the line that --version prints. */
    String versionLine() {
        return Release.LINE;
    }

    /** Returns whether the words behind the first operand belong to a program. */
    boolean startsProgram() {
        return false;
    }

    @Override
    public final List<GetOpt.Opt> options() {
        return options;
    }

    /** The sign before an option's name: one dash, or two where others have none with one. */
    public static String sign(Command command, GetOpt.Opt option) {
        return command instanceof Wrapper && !TWO_DASHES.contains(option.name()) ? "-" : "--";
    }

    @Override
    public final int run(CommandContext context) throws SlurmException, UsageException {
        ParsedArguments arguments = ParsedArguments.parse(this, context, startsProgram());
        if (arguments.has("version")) {
            context.out().println(versionLine());
            return 0;
        }
        if (arguments.has("help")) {
            help(context);
            return 0;
        }
        return go(context, arguments);
    }

    private void help(CommandContext context) {
        OptionHelp texts = new OptionHelp(context.name());
        context.out().println("Usage: " + context.name() + " [OPTIONS] " + operands + "\n");
        for (GetOpt.Opt option : options) {
            String left = "  " + sign(this, option) + option.name()
                    + (option.arg() == GetOpt.Arg.NONE ? "" : " " + texts.value(option));
            context.out()
                    .println((left
                                    + " ".repeat(Math.max(1, COLUMN - left.length()))
                                    + texts.of(option).meaning())
                            .stripTrailing());
        }
    }

    /** A mistake in the arguments: what it is, and how the command is used. */
    UsageException misused(CommandContext context, String sentence) {
        OptionHelp texts = new OptionHelp(context.name());
        List<String> lines = new ArrayList<>(List.of(sentence, "Usage:"));
        StringBuilder line = new StringBuilder("    " + context.name());
        for (GetOpt.Opt option : options) {
            String word = "[" + sign(this, option) + option.name()
                    + (option.arg() == GetOpt.Arg.NONE ? "" : " " + texts.value(option)) + "]";
            if (line.length() + word.length() >= 78) {
                lines.add(line.toString());
                line = new StringBuilder("   ");
            }
            line.append(' ').append(word);
        }
        lines.add(line.append(' ').append(operands).toString());
        return new UsageException(MISTAKE, lines);
    }

    /** Makes the error for a request that this system cannot serve. */
    static UsageException refused(CommandContext context, String sentence) {
        return new UsageException(MISTAKE, List.of(context.name() + ": error: " + sentence));
    }

    // ---- the system's own commands

    /** Runs another command with streams of its own. */
    final int run(CommandContext context, String name, List<String> args, Output out, Output err) {
        return runner.run(new CommandContext(name, name, args, context.env(), context.host(), out, err, context.in()));
    }

    /** Runs another command in place of this one, with its streams. */
    final int delegate(CommandContext context, String name, List<String> args) {
        return run(context, name, args, context.out(), context.err());
    }

    /**
     * The end of another command.
     *
     * @param out its standard output
     */
    record Ran(int rc, String out) {
        List<String> lines() {
            return out.isEmpty() ? List.of() : out.lines().toList();
        }
    }

    /** Runs another command and captures its standard output; its standard error goes to the user. */
    final Ran capture(CommandContext context, String name, List<String> args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Output to = new Output(out, false);
        int rc = run(context, name, args, to, context.err());
        to.flush();
        return new Ran(rc, out.toString(StandardCharsets.UTF_8));
    }

    /** Returns all jobs that the controller remembers, or those named, with their shares of nodes. */
    static List<Json.Obj> jobs(CommandContext context, List<String> ids) throws SlurmException {
        Json.Obj query = new Json.Obj()
                .put("allStates", Boolean.TRUE)
                .put("allPartitions", Boolean.TRUE)
                .put("details", Boolean.TRUE);
        if (!ids.isEmpty()) {
            query.put("jobs", new ArrayList<Object>(ids));
        }
        return context.host().controller().call("QueryJobs", query).objects("jobs");
    }

    /** Hours of two digits or more and minutes. */
    static String hoursMinutes(long seconds) {
        return pad(seconds / 3600) + ":" + pad(seconds / 60 % 60);
    }

    static String pad(long n) {
        return n < 10 ? "0" + n : Long.toString(n);
    }

    /** The text on the left of a column, cut to its width. */
    static String left(String text, int width) {
        return text.length() >= width ? text.substring(0, width) : text + " ".repeat(width - text.length());
    }

    /** The text on the right of a column. */
    static String right(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    /** Nodes of a running job and how many CPUs it has on each. */
    static List<String[]> shares(Json.Obj job) {
        List<String[]> out = new ArrayList<>();
        for (Json.Obj detail : job.objects("details")) {
            int cpus = 0;
            for (String range : detail.text("cpuIds").split(",")) {
                int dash = range.indexOf('-');
                if (dash >= 0) {
                    cpus += Integer.parseInt(range.substring(dash + 1))
                            - Integer.parseInt(range.substring(0, dash))
                            + 1;
                } else if (!range.isEmpty()) {
                    cpus++;
                }
            }
            for (String node : names(detail.text("nodes"))) {
                out.add(new String[] {node, Integer.toString(cpus)});
            }
        }
        return out;
    }

    static List<String> names(String hostList) {
        return HostList.parse(hostList) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : List.of(hostList);
    }
}
