package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs {@code qstat}, which lists jobs and partitions as PBS does. */
public final class Qstat extends Wrapper {
    /** PBS's exit code for an unknown job. */
    private static final int UNKNOWN_JOB = 153;

    private static final String NONE = "--";
    private static final List<String> ALTERNATE = List.of("a", "i", "r", "u", "n", "G", "M");

    public Qstat(CommandRunner runner) {
        super(
                runner,
                "[job_id... | queue...]",
                "1::n",
                "a::n",
                "f::n",
                "G::n",
                "i::n",
                "M::n",
                "n::n",
                "Q::n",
                "q::n",
                "r::n",
                "u::r");
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException {
        if (arguments.has("Q") || arguments.has("q")) {
            return queues(context, arguments);
        }
        List<Json.Obj> shown = new ArrayList<>();
        List<String> ids = arguments.operands().stream().map(PbsJob::id).toList();
        for (Json.Obj job : jobs(context, List.of())) {
            boolean owned = !arguments.has("u")
                    || Arrays.asList(arguments.value("u").split(",")).contains(job.text("userName"));
            if (owned && isNamed(job, ids) && isInState(arguments, state(job))) {
                shown.add(job);
            }
        }
        if (shown.isEmpty()) {
            return arguments.has("u") ? 0 : UNKNOWN_JOB;
        }
        if (arguments.has("f")) {
            shown.forEach(j -> full(context, j));
        } else if (ALTERNATE.stream().anyMatch(arguments::has)) {
            alternate(context, arguments, shown);
        } else {
            brief(context, shown);
        }
        return 0;
    }

    private static boolean isNamed(Json.Obj job, List<String> ids) {
        return ids.isEmpty()
                || ids.contains(job.text("jobId"))
                || ids.contains(Long.toString(job.number("jobId")))
                || job.number("arrayJobId") != 0 && ids.contains(Long.toString(job.number("arrayJobId")));
    }

    private static boolean isInState(ParsedArguments arguments, char state) {
        return arguments.has("i") ? state == 'Q' : !arguments.has("r") || state == 'R' || state == 'S';
    }

    private static char state(Json.Obj job) {
        if (job.texts("flags").contains("COMPLETING")) {
            return 'E';
        }
        return switch (job.text("state")) {
            case "PENDING", "" -> 'Q';
            case "RUNNING" -> 'R';
            case "SUSPENDED" -> 'S';
            default -> 'C';
        };
    }

    private static void brief(CommandContext context, List<Json.Obj> jobs) {
        context.out().println("Job id              Name             Username        Time Use S Queue          ");
        context.out().println("------------------- ---------------- --------------- -------- - ---------------");
        for (Json.Obj job : jobs) {
            context.out()
                    .println(String.join(
                            " ",
                            left(number(job), 19),
                            left(job.text("name"), 16),
                            left(job.text("userName"), 15),
                            right(clock(job.number("runSeconds")), 8),
                            Character.toString(state(job)),
                            left(job.text("partition"), 15)));
        }
    }

    private static String number(Json.Obj job) {
        return Long.toString(job.number("jobId"));
    }

    private static String clock(long seconds) {
        return hoursMinutes(seconds) + ":" + pad(seconds % 60);
    }

    private static void alternate(CommandContext context, ParsedArguments arguments, List<Json.Obj> jobs) {
        context.out().println("\n" + context.host().hostName() + ":");
        context.out().println(" ".repeat(79) + "Req'd  Req'd   Elap ");
        context.out()
                .println("Job id               Username Queue    Name                 SessID NDS   TSK   "
                        + "Memory Time Use S Time ");
        context.out()
                .println("-------------------- -------- -------- -------------------- ------ ----- ----- "
                        + "------ ----- - -----");
        for (Json.Obj job : jobs) {
            long limit = job.number("timeLimitMin");
            String line = String.join(
                    " ",
                    left(number(job), 20),
                    left(job.text("userName"), 8),
                    left(job.text("partition"), 8),
                    left(job.text("name"), 20),
                    left(NONE, 6),
                    right(Long.toString(Math.max(1, job.number("nodeCount"))), 5),
                    right(Long.toString(job.number("cpus")), 5),
                    right(memory(arguments, job), 6),
                    right(limit > 0 ? hoursMinutes(limit * 60) : NONE, 5),
                    Character.toString(state(job)),
                    right(hoursMinutes(job.number("runSeconds")), 5));
            String before = arguments.has("1") ? "   " : "\n   ";
            context.out().println(line + (arguments.has("n") ? before + hosts(job) : ""));
        }
    }

    private static String hosts(Json.Obj job) {
        String all = String.join(
                "+", shares(job).stream().map(s -> s[0] + "/" + s[1]).toList());
        return all.isEmpty() ? NONE : all;
    }

    /** Memory of the whole job. */
    private static String memory(ParsedArguments arguments, Json.Obj job) {
        long mb = job.number("memPerNodeMb") > 0
                ? job.number("memPerNodeMb") * Math.max(1, job.number("nodeCount"))
                : job.number("memPerCpuMb") * job.number("cpus");
        if (mb <= 0) {
            return NONE;
        }
        if (arguments.has("G")) {
            return Math.ceilDiv(mb, 1024L) + "gb";
        }
        if (arguments.has("M")) {
            return Math.ceilDiv(mb, 8L) + "mw";
        }
        return mb + "mb";
    }

    private static void full(CommandContext context, Json.Obj job) {
        List<String> lines = new ArrayList<>(List.of(
                "Job Id:\t" + number(job),
                "Job_Name = " + job.text("name"),
                "Job_Owner = " + job.text("userName") + "@" + job.text("submitHost"),
                "job_state = " + state(job),
                "queue = " + job.text("partition")));
        time(context, lines, "qtime", job.number("submitTime"));
        if (state(job) != 'Q') {
            time(context, lines, "mtime", job.number("startTime"));
            time(context, lines, "ctime", job.number("endTime"));
            if (!shares(job).isEmpty()) {
                lines.add("exec_host = " + hosts(job));
            }
        }
        lines.add("Priority = " + job.number("priority"));
        lines.add("euser = " + job.text("userName") + "(" + job.number("userId") + ")");
        lines.add("egroup = " + job.text("groupName") + "(" + job.number("groupId") + ")");
        if (job.number("timeLimitMin") > 0) {
            lines.add("Resource_List.walltime = " + clock(job.number("timeLimitMin") * 60));
        }
        lines.add("Resource_List.nodect = " + Math.max(1, job.number("nodeCount")));
        lines.add("Resource_List.ncpus = " + job.number("cpus"));
        context.out().println(String.join("\n\t", lines) + "\n");
    }

    private static void time(CommandContext context, List<String> lines, String name, long seconds) {
        if (seconds > 0) {
            lines.add(name + " = " + Times.strftime(seconds, context.host().zone(), "%a %b %d %H:%M:%S %Y"));
        }
    }

    // ---- queues

    private static int queues(CommandContext context, ParsedArguments arguments) throws SlurmException {
        List<Json.Obj> all = context.host()
                .controller()
                .call("QueryPartitions", new Json.Obj().put("all", Boolean.TRUE))
                .objects("partitions");
        List<Json.Obj> jobs = jobs(context, List.of());
        if (arguments.has("q")) {
            context.out().println("Queue            Memory CPU Time Walltime Node  Run Que Lm State");
            context.out().println("---------------- ------ -------- -------- ----  --- --- -- -----");
        } else if (!arguments.has("f")) {
            context.out().println("Queue              Max   Tot   Ena   Str   Que   Run   Hld   Wat   Trn   Ext T");
            context.out().println("----------------   ---   ---   ---   ---   ---   ---   ---   ---   ---   --- -");
        }
        long running = 0;
        long waiting = 0;
        for (Json.Obj partition : all) {
            if (!arguments.operands().isEmpty() && !arguments.operands().contains(partition.text("name"))) {
                continue;
            }
            Queue queue = Queue.of(partition, jobs);
            running += queue.running;
            waiting += queue.waiting;
            if (arguments.has("q")) {
                context.out().println(queue.limits(partition.number("maxTimeMin")));
            } else if (arguments.has("f")) {
                context.out().println(queue.inFull(partition.number("totalNodes")));
            } else {
                context.out().println(queue.counts());
            }
        }
        if (arguments.has("q")) {
            context.out().println(" ".repeat(47) + "----- -----");
            context.out().println(" ".repeat(47) + right(Long.toString(running), 5) + right(Long.toString(waiting), 6));
        }
        return 0;
    }

    /**
     * A partition in the words of PBS.
     *
     * @param enabled takes new jobs
     * @param started starts jobs
     * @param waiting jobs, those that are held among them
     */
    private record Queue(String name, boolean enabled, boolean started, long running, long waiting, long held) {
        static Queue of(Json.Obj partition, List<Json.Obj> jobs) {
            String name = partition.text("name");
            long running = jobs.stream()
                    .filter(j -> j.text("partition").equals(name) && "RSE".indexOf(state(j)) >= 0)
                    .count();
            long waiting = jobs.stream()
                    .filter(j -> List.of(j.text("partition").split(",")).contains(name) && state(j) == 'Q')
                    .count();
            long held = jobs.stream()
                    .filter(j ->
                            j.text("partition").equals(name) && j.text("reason").startsWith("JobHeld"))
                    .count();
            String state = partition.text("state");
            return new Queue(
                    name,
                    List.of("UP", "DOWN").contains(state),
                    List.of("UP", "DRAIN").contains(state),
                    running,
                    waiting,
                    held);
        }

        String limits(long limitMin) {
            return left(name, 16) + "   --      --    " + (limitMin > 0 ? right(clock(limitMin * 60), 8) : "   --   ")
                    + "   -- " + right(Long.toString(running), 4) + right(Long.toString(waiting), 4) + " --  "
                    + (enabled ? "E" : "D") + " " + (started ? "R" : "S") + " ";
        }

        String inFull(long nodes) {
            return "Queue:\t" + name + "\n\tqueue_type = Execution\n\tresources_default.nodes = " + nodes
                    + "\n\tenabled = " + yes(enabled) + "\n\tstarted = " + yes(started) + "\n";
        }

        String counts() {
            StringBuilder line = new StringBuilder(left(name, 16));
            for (String cell : List.of(
                    "?",
                    Long.toString(running + waiting),
                    yes(enabled),
                    yes(started),
                    Long.toString(waiting - held),
                    Long.toString(running),
                    Long.toString(held),
                    "?",
                    "?",
                    "?")) {
                line.append(right(cell, 6));
            }
            return line + " E";
        }
    }

    private static String yes(boolean is) {
        return is ? "yes" : "no";
    }
}
