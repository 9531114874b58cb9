package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.List;

/** Runs {@code bjobs}, {@code bkill} and {@code lsid}. */
public final class LsfCommand extends Wrapper {
    private static final int NOT_FOUND = 255;

    private LsfCommand(CommandRunner runner, String operands, String... options) {
        super(runner, operands, options);
    }

    /** @param name of one of the three */
    public static LsfCommand of(CommandRunner runner, String name) {
        return switch (name) {
            case "bjobs" ->
                new LsfCommand(
                        runner,
                        "[job_id...]",
                        "a::n",
                        "d::n",
                        "J::r",
                        "noheader::n",
                        "p::n",
                        "q::r",
                        "r::n",
                        "s::n",
                        "u::r",
                        "w::n");
            case "bkill" -> new LsfCommand(runner, "job_id...", "J::r", "q::r", "s::r", "u::r");
            default -> new LsfCommand(runner, "");
        };
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException {
        switch (context.name()) {
            case "lsid" -> {
                context.out().println(Release.LINE);
                context.out()
                        .println("My cluster name is "
                                + String.join(",", context.host().clusters()));
                context.out()
                        .println("My master name is "
                                + context.host().controllers().stream()
                                        .findFirst()
                                        .orElse("unknown"));
                return 0;
            }
            case "bkill" -> {
                return kill(context, arguments);
            }
            default -> {
                return list(context, arguments);
            }
        }
    }

    private static String status(Json.Obj job) {
        return switch (job.text("state")) {
            case "PENDING", "" -> job.text("reason").startsWith("JobHeld") ? "PSUSP" : "PEND";
            case "RUNNING" -> "RUN";
            case "SUSPENDED" -> "SSUSP";
            case "COMPLETED" -> "DONE";
            default -> "EXIT";
        };
    }

    private static boolean isOver(Json.Obj job) {
        return List.of("DONE", "EXIT").contains(status(job))
                && !job.texts("flags").contains("COMPLETING");
    }

    private static String id(Json.Obj job) {
        long array = job.number("arrayJobId");
        if (array == 0) {
            return Long.toString(job.number("jobId"));
        }
        return array + "["
                + (job.text("arrayTasks").isEmpty() ? Long.toString(job.number("arrayTaskId")) : job.text("arrayTasks"))
                + "]";
    }

    /** Returns the jobs of the caller, of another user or of all, by name, queue and number. */
    private static List<Json.Obj> selectedJobs(CommandContext context, ParsedArguments arguments)
            throws SlurmException {
        String user = arguments.has("u")
                ? arguments.value("u")
                : context.host().userName(context.host().uid());
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj job : jobs(context, List.of())) {
            boolean named = arguments.operands().isEmpty()
                    || arguments.operands().stream().anyMatch(o -> isNamed(job, o));
            if (named
                    && (user.equals("all")
                            || !arguments.operands().isEmpty() && !arguments.has("u")
                            || job.text("userName").equals(user))
                    && (!arguments.has("J") || job.text("name").equals(arguments.value("J")))
                    && (!arguments.has("q") || job.text("partition").equals(arguments.value("q")))) {
                out.add(job);
            }
        }
        return out;
    }

    private static boolean isNamed(Json.Obj job, String text) {
        return text.equals(id(job))
                || text.equals(Long.toString(job.number("jobId")))
                || text.equals(Long.toString(job.number("arrayJobId")));
    }

    private static boolean isSelected(ParsedArguments arguments, Json.Obj job) {
        String status = status(job);
        if (!arguments.has("p") && !arguments.has("r") && !arguments.has("s") && !arguments.has("d")) {
            return arguments.has("a") || !arguments.operands().isEmpty() || !isOver(job);
        }
        return arguments.has("p") && status.startsWith("P")
                || arguments.has("r") && status.equals("RUN")
                || arguments.has("s") && status.endsWith("SUSP")
                || arguments.has("d") && isOver(job);
    }

    private static int list(CommandContext context, ParsedArguments arguments) throws SlurmException {
        List<Json.Obj> shown = selectedJobs(context, arguments).stream()
                .filter(j -> isSelected(arguments, j))
                .toList();
        int rc = 0;
        for (String o : arguments.operands()) {
            if (shown.stream().noneMatch(j -> isNamed(j, o))) {
                context.err().println("Job <" + o + "> is not found");
                rc = NOT_FOUND;
            }
        }
        if (shown.isEmpty()) {
            if (rc == 0) {
                context.err()
                        .println(arguments.has("a") || arguments.has("d") ? "No job found" : "No unfinished job found");
            }
            return NOT_FOUND;
        }
        if (!arguments.has("noheader")) {
            context.out().println("JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME");
        }
        for (Json.Obj job : shown) {
            List<String> hosts = new ArrayList<>();
            shares(job).forEach(s -> hosts.add((s[1].equals("1") ? "" : s[1] + "*") + s[0]));
            context.out()
                    .println(String.join(
                            " ",
                            cell(arguments, id(job), 7),
                            cell(arguments, job.text("userName"), 7),
                            cell(arguments, status(job), 5),
                            cell(arguments, job.text("partition"), 10),
                            cell(arguments, job.text("submitHost"), 11),
                            cell(arguments, String.join(":", hosts), 11),
                            cell(arguments, job.text("name"), 10),
                            Times.strftime(
                                    job.number("submitTime"), context.host().zone(), "%b %e %H:%M")));
        }
        return rc;
    }

    private static String cell(ParsedArguments arguments, String text, int width) {
        return arguments.has("w") && text.length() > width ? text : left(text, width);
    }

    private int kill(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException {
        if (arguments.operands().isEmpty()) {
            throw misused(context, "Job ID must be specified, 0 for all");
        }
        boolean all = arguments.operands().contains("0");
        ParsedArguments wide = all ? new ParsedArguments(arguments.values(), List.of()) : arguments;
        List<Json.Obj> found =
                selectedJobs(context, wide).stream().filter(j -> !isOver(j)).toList();
        int rc = 0;
        for (String o : wide.operands()) {
            if (found.stream().noneMatch(j -> isNamed(j, o))) {
                context.err().println("Job <" + o + ">: No matching job found");
                rc = NOT_FOUND;
            }
        }
        if (all && found.isEmpty()) {
            context.err().println("No match");
            return NOT_FOUND;
        }
        for (Json.Obj job : found) {
            String slurmId = id(job).replaceFirst("\\[", "_").replace("]", "");
            List<String> args = new ArrayList<>(
                    List.of(job.text("arrayTasks").isEmpty() ? slurmId : Long.toString(job.number("arrayJobId"))));
            if (arguments.has("s")) {
                args.add("--signal=" + arguments.value("s"));
                args.add("--full");
            }
            if (delegate(context, "scancel", args) == 0) {
                context.out()
                        .println("Job <" + id(job) + "> is being " + (arguments.has("s") ? "signaled" : "terminated"));
            } else {
                rc = NOT_FOUND;
            }
        }
        return rc;
    }
}
