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
    int go(CommandContext c, ParsedArguments g) throws SlurmException, UsageException {
        List<String> args = new ArrayList<>();
        for (var entry : g.values().entrySet()) {
            for (String v : entry.getValue()) {
                option(c, g, entry.getKey(), v, args);
            }
        }
        if (g.has("I") || g.has("Is") || g.has("Ip")) {
            if (g.operands().isEmpty()) {
                throw misused(c, "-I needs a command");
            }
            if (!g.has("I")) {
                args.add("--pty");
            }
            args.addAll(g.operands());
            return delegate(c, "srun", args);
        }
        args.add("--parsable");
        if (!g.operands().isEmpty()) {
            args.add("--wrap=" + String.join(" ", g.operands()));
            if (!g.has("J")) {
                args.add("-J" + Qsub.base(g.operands().getFirst()));
            }
        }
        Ran ran = capture(c, "sbatch", args);
        String id = ran.out().strip().replaceFirst(";.*", "");
        if (!id.isEmpty()) {
            String queue = g.has("q")
                    ? g.value("q")
                    : jobs(c, List.of(id)).stream()
                            .findFirst()
                            .map(j -> j.text("partition"))
                            .orElse("");
            c.out()
                    .println("Job <" + id + "> is submitted to " + (g.has("q") ? "" : "default ") + "queue <" + queue
                            + ">.");
        }
        return ran.rc();
    }

    private static void option(CommandContext c, ParsedArguments g, String name, String v, List<String> args)
            throws UsageException {
        switch (name) {
            case "b" -> args.add("--begin=" + v);
            case "B" -> args.add("--mail-type=BEGIN");
            case "N" -> args.add("--mail-type=END");
            case "cwd" -> args.add("-D" + v);
            case "e" -> args.add("-e" + file(g, v));
            case "o" -> args.add("-o" + file(g, v));
            case "G", "P" -> args.add("--account=" + v);
            case "H" -> args.add("-H");
            case "J" -> named(v, args);
            case "K" -> args.add("--wait");
            case "m" -> args.add("-w" + v.strip().replaceAll("\\s+", ","));
            case "M" -> args.add("--mem=" + Math.max(1, kilobytes(c, v) / 1024) + "M");
            case "n" -> {
                if (!v.matches("\\d{1,9}")) {
                    throw refused(c, "-n: a number of tasks is needed, not " + v);
                }
                args.add("-n" + v);
            }
            case "q" -> args.add("-p" + v);
            case "r" -> args.add("--requeue");
            case "R" -> resources(c, v, args);
            case "u" -> args.add("--mail-user=" + v);
            case "w" -> args.add("--dependency=" + dependency(c, v));
            case "W" -> args.add("-t" + minutes(c, v));
            case "x" -> args.add("--exclusive");
            default -> {} // I, Is and Ip choose the command
        }
    }

    private static String file(ParsedArguments g, String v) {
        boolean array = g.has("J") && ARRAY.matcher(g.value("J")).matches();
        return v.replace("%J", array ? "%A" : "%j").replace("%I", "%a");
    }

    private static void named(String v, List<String> args) {
        Matcher m = ARRAY.matcher(v);
        if (!m.matches()) {
            args.add("-J" + v);
            return;
        }
        if (!m.group(1).isEmpty()) {
            args.add("-J" + m.group(1));
        }
        args.add("--array=" + m.group(2) + (m.group(3) == null ? "" : m.group(3)));
    }

    /** LSF counts in kibibytes where no unit is given. */
    private static long kilobytes(CommandContext c, String v) throws UsageException {
        var bytes = v.matches("\\d+") ? PbsResources.bytes(v + "k") : PbsResources.bytes(v);
        if (bytes.isEmpty()) {
            throw refused(c, "-M: an amount of memory is needed, not " + v);
        }
        return bytes.getAsLong() / 1024;
    }

    /** {@code [hours:]minutes}, whatever host it is told for. */
    static long minutes(CommandContext c, String v) throws UsageException {
        Matcher m = Pattern.compile("(?:(\\d{1,6}):)?(\\d{1,8})").matcher(v);
        if (!m.matches()) {
            throw refused(c, "-W: [hours:]minutes are needed, not " + v);
        }
        return (m.group(1) == null ? 0 : Long.parseLong(m.group(1)) * 60) + Long.parseLong(m.group(2));
    }

    private static void resources(CommandContext c, String text, List<String> args) throws UsageException {
        Matcher m = Pattern.compile("(\\w+)\\[([^\\]]*)]\\s*").matcher(text);
        int at = 0;
        while (m.find() && m.start() == at) {
            at = m.end();
            String one = m.group(1) + "[" + m.group(2) + "]";
            if (one.equals("span[hosts=1]")) {
                args.add("-N1");
            } else if (one.matches("span\\[ptile=\\d+]")) {
                args.add("--ntasks-per-node=" + one.replaceAll("\\D", ""));
            } else if (one.matches("rusage\\[mem=\\d+]")) {
                args.add("--mem=" + one.replaceAll("\\D", "") + "M");
            } else {
                at = -1;
            }
        }
        if (at != text.length()) {
            throw refused(c, "-R " + text + " is not supported: span[hosts=1], span[ptile=N] and rusage[mem=MB] are");
        }
    }

    /** {@code done(1) && ended(2)}. */
    static String dependency(CommandContext c, String text) throws UsageException {
        boolean any = text.contains("||");
        if (any && text.contains("&&")) {
            throw refused(c, "-w " + text + ": conditions are joined by && or by ||, not both");
        }
        List<String> out = new ArrayList<>();
        for (String one : text.split("&&|\\|\\|")) {
            Matcher m = CONDITION.matcher(one.strip());
            if (!m.matches()) {
                throw refused(
                        c,
                        "-w " + one.strip() + " is not supported: done(ID), ended(ID), exit(ID) and started(ID) are");
            }
            out.add(switch (m.group(1) == null ? "done" : m.group(1)) {
                        case "ended" -> "afterany:";
                        case "exit" -> "afternotok:";
                        case "started" -> "after:";
                        default -> "afterok:";
                    }
                    + m.group(2));
        }
        return String.join(any ? "?" : ",", out);
    }
}
