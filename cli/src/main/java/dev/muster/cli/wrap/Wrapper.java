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
    abstract int go(CommandContext c, ParsedArguments given) throws SlurmException, UsageException;

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
    public final int run(CommandContext c) throws SlurmException, UsageException {
        ParsedArguments given = ParsedArguments.parse(this, c, startsProgram());
        if (given.has("version")) {
            c.out().println(versionLine());
            return 0;
        }
        if (given.has("help")) {
            help(c);
            return 0;
        }
        return go(c, given);
    }

    private void help(CommandContext c) {
        OptionHelp texts = new OptionHelp(c.name());
        c.out().println("Usage: " + c.name() + " [OPTIONS] " + operands + "\n");
        for (GetOpt.Opt o : options) {
            String left = "  " + sign(this, o) + o.name() + (o.arg() == GetOpt.Arg.NONE ? "" : " " + texts.value(o));
            c.out()
                    .println((left
                                    + " ".repeat(Math.max(1, COLUMN - left.length()))
                                    + texts.of(o).meaning())
                            .stripTrailing());
        }
    }

    /** A mistake in the arguments: what it is, and how the command is used. */
    UsageException misused(CommandContext c, String sentence) {
        OptionHelp texts = new OptionHelp(c.name());
        List<String> lines = new ArrayList<>(List.of(sentence, "Usage:"));
        StringBuilder line = new StringBuilder("    " + c.name());
        for (GetOpt.Opt o : options) {
            String word =
                    "[" + sign(this, o) + o.name() + (o.arg() == GetOpt.Arg.NONE ? "" : " " + texts.value(o)) + "]";
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
    static UsageException refused(CommandContext c, String sentence) {
        return new UsageException(MISTAKE, List.of(c.name() + ": error: " + sentence));
    }

    // ---- the system's own commands

    /** Runs another command with streams of its own. */
    final int run(CommandContext c, String name, List<String> args, Output out, Output err) {
        return runner.run(new CommandContext(name, name, args, c.env(), c.host(), out, err, c.in()));
    }

    /** Runs another command in place of this one, with its streams. */
    final int delegate(CommandContext c, String name, List<String> args) {
        return run(c, name, args, c.out(), c.err());
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
    final Ran capture(CommandContext c, String name, List<String> args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Output to = new Output(out, false);
        int rc = run(c, name, args, to, c.err());
        to.flush();
        return new Ran(rc, out.toString(StandardCharsets.UTF_8));
    }

    /** Returns all jobs that the controller remembers, or those named, with their shares of nodes. */
    static List<Json.Obj> jobs(CommandContext c, List<String> ids) throws SlurmException {
        Json.Obj q = new Json.Obj()
                .put("allStates", Boolean.TRUE)
                .put("allPartitions", Boolean.TRUE)
                .put("details", Boolean.TRUE);
        if (!ids.isEmpty()) {
            q.put("jobs", new ArrayList<Object>(ids));
        }
        return c.host().controller().call("QueryJobs", q).objects("jobs");
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
        for (Json.Obj d : job.objects("details")) {
            int cpus = 0;
            for (String range : d.text("cpuIds").split(",")) {
                int dash = range.indexOf('-');
                if (dash >= 0) {
                    cpus += Integer.parseInt(range.substring(dash + 1))
                            - Integer.parseInt(range.substring(0, dash))
                            + 1;
                } else if (!range.isEmpty()) {
                    cpus++;
                }
            }
            for (String node : names(d.text("nodes"))) {
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
