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
    int go(CommandContext c, ParsedArguments g) throws SlurmException, UsageException {
        switch (c.name()) {
            case "lsid" -> {
                c.out().println(Release.LINE);
                c.out()
                        .println("My cluster name is "
                                + String.join(",", c.host().clusters()));
                c.out()
                        .println("My master name is "
                                + c.host().controllers().stream().findFirst().orElse("unknown"));
                return 0;
            }
            case "bkill" -> {
                return kill(c, g);
            }
            default -> {
                return list(c, g);
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
    private static List<Json.Obj> selectedJobs(CommandContext c, ParsedArguments g) throws SlurmException {
        String user = g.has("u") ? g.value("u") : c.host().userName(c.host().uid());
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj j : jobs(c, List.of())) {
            boolean named = g.operands().isEmpty() || g.operands().stream().anyMatch(o -> isNamed(j, o));
            if (named
                    && (user.equals("all")
                            || !g.operands().isEmpty() && !g.has("u")
                            || j.text("userName").equals(user))
                    && (!g.has("J") || j.text("name").equals(g.value("J")))
                    && (!g.has("q") || j.text("partition").equals(g.value("q")))) {
                out.add(j);
            }
        }
        return out;
    }

    private static boolean isNamed(Json.Obj job, String text) {
        return text.equals(id(job))
                || text.equals(Long.toString(job.number("jobId")))
                || text.equals(Long.toString(job.number("arrayJobId")));
    }

    private static boolean isSelected(ParsedArguments g, Json.Obj j) {
        String status = status(j);
        if (!g.has("p") && !g.has("r") && !g.has("s") && !g.has("d")) {
            return g.has("a") || !g.operands().isEmpty() || !isOver(j);
        }
        return g.has("p") && status.startsWith("P")
                || g.has("r") && status.equals("RUN")
                || g.has("s") && status.endsWith("SUSP")
                || g.has("d") && isOver(j);
    }

    private static int list(CommandContext c, ParsedArguments g) throws SlurmException {
        List<Json.Obj> shown =
                selectedJobs(c, g).stream().filter(j -> isSelected(g, j)).toList();
        int rc = 0;
        for (String o : g.operands()) {
            if (shown.stream().noneMatch(j -> isNamed(j, o))) {
                c.err().println("Job <" + o + "> is not found");
                rc = NOT_FOUND;
            }
        }
        if (shown.isEmpty()) {
            if (rc == 0) {
                c.err().println(g.has("a") || g.has("d") ? "No job found" : "No unfinished job found");
            }
            return NOT_FOUND;
        }
        if (!g.has("noheader")) {
            c.out().println("JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME");
        }
        for (Json.Obj j : shown) {
            List<String> hosts = new ArrayList<>();
            shares(j).forEach(s -> hosts.add((s[1].equals("1") ? "" : s[1] + "*") + s[0]));
            c.out()
                    .println(String.join(
                            " ",
                            cell(g, id(j), 7),
                            cell(g, j.text("userName"), 7),
                            cell(g, status(j), 5),
                            cell(g, j.text("partition"), 10),
                            cell(g, j.text("submitHost"), 11),
                            cell(g, String.join(":", hosts), 11),
                            cell(g, j.text("name"), 10),
                            Times.strftime(j.number("submitTime"), c.host().zone(), "%b %e %H:%M")));
        }
        return rc;
    }

    private static String cell(ParsedArguments g, String text, int width) {
        return g.has("w") && text.length() > width ? text : left(text, width);
    }

    private int kill(CommandContext c, ParsedArguments g) throws SlurmException, UsageException {
        if (g.operands().isEmpty()) {
            throw misused(c, "Job ID must be specified, 0 for all");
        }
        boolean all = g.operands().contains("0");
        ParsedArguments wide = all ? new ParsedArguments(g.values(), List.of()) : g;
        List<Json.Obj> found =
                selectedJobs(c, wide).stream().filter(j -> !isOver(j)).toList();
        int rc = 0;
        for (String o : wide.operands()) {
            if (found.stream().noneMatch(j -> isNamed(j, o))) {
                c.err().println("Job <" + o + ">: No matching job found");
                rc = NOT_FOUND;
            }
        }
        if (all && found.isEmpty()) {
            c.err().println("No match");
            return NOT_FOUND;
        }
        for (Json.Obj j : found) {
            String slurmId = id(j).replaceFirst("\\[", "_").replace("]", "");
            List<String> args = new ArrayList<>(
                    List.of(j.text("arrayTasks").isEmpty() ? slurmId : Long.toString(j.number("arrayJobId"))));
            if (g.has("s")) {
                args.add("--signal=" + g.value("s"));
                args.add("--full");
            }
            if (delegate(c, "scancel", args) == 0) {
                c.out().println("Job <" + id(j) + "> is being " + (g.has("s") ? "signaled" : "terminated"));
            } else {
                rc = NOT_FOUND;
            }
        }
        return rc;
    }
}
