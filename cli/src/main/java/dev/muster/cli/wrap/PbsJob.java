package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs {@code qdel}, {@code qhold}, {@code qrls}, {@code qrerun} and {@code qalter}, which each change jobs in one way.
 */
public final class PbsJob extends Wrapper {
    private static final Pattern ID = Pattern.compile("(\\d+)(?:\\[(\\d*)\\])?(?:\\..*)?");

    private PbsJob(CommandRunner runner, String operands, String... options) {
        super(runner, operands, options);
    }

    /** @param name of one of the five */
    public static PbsJob of(CommandRunner runner, String name) {
        return switch (name) {
            case "qhold", "qrls" -> new PbsJob(runner, "job_id...", "h::r");
            case "qalter" -> new PbsJob(runner, "job_id...", "N::r", "o::r", "r::r");
            default -> new PbsJob(runner, "job_id...");
        };
    }

    /** {@code 12}, {@code 12.server}, {@code 12[3]} and {@code 12[]} in Slurm's writing; anything else as it is. */
    static String id(String text) {
        Matcher m = ID.matcher(text);
        if (!m.matches()) {
            return text;
        }
        if (m.group(2) == null || m.group(2).isEmpty()) {
            return m.group(1);
        }
        return m.group(1) + "_" + m.group(2);
    }

    @Override
    int go(CommandContext c, ParsedArguments g) throws SlurmException, UsageException {
        if (g.operands().isEmpty()) {
            throw misused(c, "Missing Job ID");
        }
        String hold = g.has("h") ? g.value("h") : "u";
        if (!List.of("u", "o", "s", "n", "a").contains(hold)
                || hold.equals("a") && c.name().equals("qhold")) {
            throw refused(c, "-h: u, o, s" + (c.name().equals("qrls") ? ", a" : "") + " or n, not " + hold);
        }
        int rc = 0;
        for (String text : g.operands()) {
            String id = id(text);
            rc = Math.max(
                    rc,
                    switch (c.name()) {
                        case "qdel" -> delete(c, id);
                        case "qhold" -> {
                            if (hold.equals("n")) {
                                yield 0;
                            }
                            yield runAndExplain(
                                    c, id, "Error", "scontrol", List.of(hold.equals("u") ? "uhold" : "hold", id));
                        }
                        case "qrls" ->
                            hold.equals("n") ? 0 : runAndExplain(c, id, "Error", "scontrol", List.of("release", id));
                        case "qrerun" -> runAndExplain(c, id, "Error", "scontrol", List.of("requeue", id));
                        default -> alter(c, g, id);
                    });
        }
        return rc;
    }

    /** scancel has no word for jobs that are not there, but PBS's users wait for one. */
    private int delete(CommandContext c, String id) throws SlurmException {
        String number = id.replaceFirst("_.*", "");
        String problem = "Invalid job id specified";
        for (Json.Obj j : jobs(c, List.of())) {
            if (Long.toString(j.number("jobId")).equals(number)
                    || Long.toString(j.number("arrayJobId")).equals(number)) {
                if (List.of("PENDING", "RUNNING", "SUSPENDED", "").contains(j.text("state"))) {
                    return runAndExplain(c, id, "Kill job error", "scancel", List.of(id));
                }
                problem = "Job/step already completing or completed";
            }
        }
        c.err().println("qdel: Kill job error on job id " + id + ": " + problem);
        return 1;
    }

    private int alter(CommandContext c, ParsedArguments g, String id) throws UsageException {
        List<String> args = new ArrayList<>(List.of("update", "JobId=" + id));
        if (g.has("N")) {
            args.add("JobName=" + g.value("N"));
        }
        if (g.has("r")) {
            args.add("Requeue=" + (Qsub.yes(c, "-r", g.value("r")) ? 1 : 0));
        }
        if (g.has("o")) {
            args.add("StdOut=" + g.value("o"));
        }
        if (args.size() == 2) {
            throw misused(c, "Nothing to alter: -N, -o or -r is needed");
        }
        return runAndExplain(c, id, "Error", "scontrol", args);
    }

    /** Runs the command; what it has to say about a failure follows this one's own beginning of the sentence. */
    private int runAndExplain(CommandContext c, String id, String what, String command, List<String> args) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Output to = new Output(err, false);
        int rc = run(c, command, args, c.out(), to);
        to.flush();
        String said = err.toString(StandardCharsets.UTF_8).strip();
        if (rc != 0 || !said.isEmpty()) {
            String last = said.substring(said.lastIndexOf('\n') + 1);
            c.err()
                    .println(c.name() + ": " + what + " on job id " + id + ": "
                            + last.substring(last.lastIndexOf(": ") < 0 ? 0 : last.lastIndexOf(": ") + 2)
                                    .replaceFirst(" for job .*|^slurm_\\w+ error:", ""));
        }
        return rc == 0 ? 0 : 1;
    }
}
