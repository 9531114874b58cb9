package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs {@code bsub}: submits a command, or a script from standard input, with LSF's options. */
public final class Bsub extends Wrapper {
    private static final Pattern ARRAY = Pattern.compile("(.*)\\[(.*)](%\\d+)?");
    private static final Pattern CONDITION = Pattern.compile("(?:(done|ended|exit|started)\\()?(\\d+)\\)?");

    public Bsub(CommandRunner runner) {
        super(
                runner,
                "[command [args...]]",
                "b::r",
                "B::n",
                "cwd::r",
                "e::r",
                "G::r",
                "H::n",
                "I::n",
                "Is::n",
                "Ip::n",
                "J::r",
                "K::n",
                "m::r",
                "M::r",
                "n::r",
                "N::n",
                "o::r",
                "P::r",
                "q::r",
                "r::n",
                "R::r",
                "u::r",
                "w::r",
                "W::r",
                "x::n");
    }

    @Override
    boolean startsProgram() {
        return true;
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException {
        List<String> args = new ArrayList<>();
        for (var entry : arguments.values().entrySet()) {
            for (String value : entry.getValue()) {
                option(context, arguments, entry.getKey(), value, args);
            }
        }
        if (arguments.has("I") || arguments.has("Is") || arguments.has("Ip")) {
            if (arguments.operands().isEmpty()) {
                throw misused(context, "-I needs a command");
            }
            if (!arguments.has("I")) {
                args.add("--pty");
            }
            args.addAll(arguments.operands());
            return delegate(context, "srun", args);
        }
        args.add("--parsable");
        if (!arguments.operands().isEmpty()) {
            args.add("--wrap=" + String.join(" ", arguments.operands()));
            if (!arguments.has("J")) {
                args.add("-J" + Qsub.base(arguments.operands().getFirst()));
            }
        }
        Ran ran = capture(context, "sbatch", args);
        String id = ran.out().strip().replaceFirst(";.*", "");
        if (!id.isEmpty()) {
            String queue = arguments.has("q")
                    ? arguments.value("q")
                    : jobs(context, List.of(id)).stream()
                            .findFirst()
                            .map(j -> j.text("partition"))
                            .orElse("");
            context.out()
                    .println("Job <" + id + "> is submitted to " + (arguments.has("q") ? "" : "default ") + "queue <"
                            + queue + ">.");
        }
        return ran.rc();
    }

    private static void option(
            CommandContext context, ParsedArguments arguments, String name, String value, List<String> args)
            throws UsageException {
        switch (name) {
            case "b" -> args.add("--begin=" + value);
            case "B" -> args.add("--mail-type=BEGIN");
            case "N" -> args.add("--mail-type=END");
            case "cwd" -> args.add("-D" + value);
            case "e" -> args.add("-e" + file(arguments, value));
            case "o" -> args.add("-o" + file(arguments, value));
            case "G", "P" -> args.add("--account=" + value);
            case "H" -> args.add("-H");
            case "J" -> named(value, args);
            case "K" -> args.add("--wait");
            case "m" -> args.add("-w" + value.strip().replaceAll("\\s+", ","));
            case "M" -> args.add("--mem=" + Math.max(1, kilobytes(context, value) / 1024) + "M");
            case "n" -> {
                if (!value.matches("\\d{1,9}")) {
                    throw refused(context, "-n: a number of tasks is needed, not " + value);
                }
                args.add("-n" + value);
            }
            case "q" -> args.add("-p" + value);
            case "r" -> args.add("--requeue");
            case "R" -> resources(context, value, args);
            case "u" -> args.add("--mail-user=" + value);
            case "w" -> args.add("--dependency=" + dependency(context, value));
            case "W" -> args.add("-t" + minutes(context, value));
            case "x" -> args.add("--exclusive");
            default -> {} // I, Is and Ip choose the command
        }
    }

    private static String file(ParsedArguments arguments, String value) {
        boolean array =
                arguments.has("J") && ARRAY.matcher(arguments.value("J")).matches();
        return value.replace("%J", array ? "%A" : "%j").replace("%I", "%a");
    }

    private static void named(String value, List<String> args) {
        Matcher matcher = ARRAY.matcher(value);
        if (!matcher.matches()) {
            args.add("-J" + value);
            return;
        }
        if (!matcher.group(1).isEmpty()) {
            args.add("-J" + matcher.group(1));
        }
        args.add("--array=" + matcher.group(2) + (matcher.group(3) == null ? "" : matcher.group(3)));
    }

    /** LSF counts in kibibytes where no unit is given. */
    private static long kilobytes(CommandContext context, String value) throws UsageException {
        var bytes = value.matches("\\d+") ? PbsResources.bytes(value + "k") : PbsResources.bytes(value);
        if (bytes.isEmpty()) {
            throw refused(context, "-M: an amount of memory is needed, not " + value);
        }
        return bytes.getAsLong() / 1024;
    }

    /** Reads {@code [hours:]minutes}; the host behind it is ignored. */
    static long minutes(CommandContext context, String value) throws UsageException {
        Matcher matcher = Pattern.compile("(?:(\\d{1,6}):)?(\\d{1,8})").matcher(value);
        if (!matcher.matches()) {
            throw refused(context, "-W: [hours:]minutes are needed, not " + value);
        }
        return (matcher.group(1) == null ? 0 : Long.parseLong(matcher.group(1)) * 60)
                + Long.parseLong(matcher.group(2));
    }

    private static void resources(CommandContext context, String text, List<String> args) throws UsageException {
        Matcher matcher = Pattern.compile("(\\w+)\\[([^\\]]*)]\\s*").matcher(text);
        int index = 0;
        while (matcher.find() && matcher.start() == index) {
            index = matcher.end();
            String one = matcher.group(1) + "[" + matcher.group(2) + "]";
            if (one.equals("span[hosts=1]")) {
                args.add("-N1");
            } else if (one.matches("span\\[ptile=\\d+]")) {
                args.add("--ntasks-per-node=" + one.replaceAll("\\D", ""));
            } else if (one.matches("rusage\\[mem=\\d+]")) {
                args.add("--mem=" + one.replaceAll("\\D", "") + "M");
            } else {
                index = -1;
            }
        }
        if (index != text.length()) {
            throw refused(
                    context, "-R " + text + " is not supported: span[hosts=1], span[ptile=N] and rusage[mem=MB] are");
        }
    }

    /** {@code done(1) && ended(2)}. */
    static String dependency(CommandContext context, String text) throws UsageException {
        boolean any = text.contains("||");
        if (any && text.contains("&&")) {
            throw refused(context, "-w " + text + ": conditions are joined by && or by ||, not both");
        }
        List<String> out = new ArrayList<>();
        for (String one : text.split("&&|\\|\\|")) {
            Matcher matcher = CONDITION.matcher(one.strip());
            if (!matcher.matches()) {
                throw refused(
                        context,
                        "-w " + one.strip() + " is not supported: done(ID), ended(ID), exit(ID) and started(ID) are");
            }
            out.add(switch (matcher.group(1) == null ? "done" : matcher.group(1)) {
                        case "ended" -> "afterany:";
                        case "exit" -> "afternotok:";
                        case "started" -> "after:";
                        default -> "afterok:";
                    }
                    + matcher.group(2));
        }
        return String.join(any ? "?" : ",", out);
    }
}
