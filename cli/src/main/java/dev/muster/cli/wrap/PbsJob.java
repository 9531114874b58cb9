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
        Matcher matcher = ID.matcher(text);
        if (!matcher.matches()) {
            return text;
        }
        if (matcher.group(2) == null || matcher.group(2).isEmpty()) {
            return matcher.group(1);
        }
        return matcher.group(1) + "_" + matcher.group(2);
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException {
        if (arguments.operands().isEmpty()) {
            throw misused(context, "Missing Job ID");
        }
        String hold = arguments.has("h") ? arguments.value("h") : "u";
        if (!List.of("u", "o", "s", "n", "a").contains(hold)
                || hold.equals("a") && context.name().equals("qhold")) {
            throw refused(context, "-h: u, o, s" + (context.name().equals("qrls") ? ", a" : "") + " or n, not " + hold);
        }
        int rc = 0;
        for (String text : arguments.operands()) {
            String id = id(text);
            rc = Math.max(
                    rc,
                    switch (context.name()) {
                        case "qdel" -> delete(context, id);
                        case "qhold" -> {
                            if (hold.equals("n")) {
                                yield 0;
                            }
                            yield runAndExplain(
                                    context, id, "Error", "scontrol", List.of(hold.equals("u") ? "uhold" : "hold", id));
                        }
                        case "qrls" ->
                            hold.equals("n")
                                    ? 0
                                    : runAndExplain(context, id, "Error", "scontrol", List.of("release", id));
                        case "qrerun" -> runAndExplain(context, id, "Error", "scontrol", List.of("requeue", id));
                        default -> alter(context, arguments, id);
                    });
        }
        return rc;
    }

    /** scancel has no word for jobs that are not there, but PBS's users wait for one. */
    private int delete(CommandContext context, String id) throws SlurmException {
        String number = id.replaceFirst("_.*", "");
        String problem = "Invalid job id specified";
        for (Json.Obj job : jobs(context, List.of())) {
            if (Long.toString(job.number("jobId")).equals(number)
                    || Long.toString(job.number("arrayJobId")).equals(number)) {
                if (List.of("PENDING", "RUNNING", "SUSPENDED", "").contains(job.text("state"))) {
                    return runAndExplain(context, id, "Kill job error", "scancel", List.of(id));
                }
                problem = "Job/step already completing or completed";
            }
        }
        context.err().println("qdel: Kill job error on job id " + id + ": " + problem);
        return 1;
    }

    private int alter(CommandContext context, ParsedArguments arguments, String id) throws UsageException {
        List<String> args = new ArrayList<>(List.of("update", "JobId=" + id));
        if (arguments.has("N")) {
            args.add("JobName=" + arguments.value("N"));
        }
        if (arguments.has("r")) {
            args.add("Requeue=" + (Qsub.yes(context, "-r", arguments.value("r")) ? 1 : 0));
        }
        if (arguments.has("o")) {
            args.add("StdOut=" + arguments.value("o"));
        }
        if (args.size() == 2) {
            throw misused(context, "Nothing to alter: -N, -o or -r is needed");
        }
        return runAndExplain(context, id, "Error", "scontrol", args);
    }

    /** Runs the command; what it has to say about a failure follows this one's own beginning of the sentence. */
    private int runAndExplain(CommandContext context, String id, String action, String command, List<String> args) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Output to = new Output(err, false);
        int rc = run(context, command, args, context.out(), to);
        to.flush();
        String output = err.toString(StandardCharsets.UTF_8).strip();
        if (rc != 0 || !output.isEmpty()) {
            String last = output.substring(output.lastIndexOf('\n') + 1);
            context.err()
                    .println(context.name() + ": " + action + " on job id " + id + ": "
                            + last.substring(last.lastIndexOf(": ") < 0 ? 0 : last.lastIndexOf(": ") + 2)
                                    .replaceFirst(" for job .*|^slurm_\\w+ error:", ""));
        }
        return rc == 0 ? 0 : 1;
    }
}
