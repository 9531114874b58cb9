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
    int go(CommandContext c, ParsedArguments g) throws SlurmException, UsageException {
        if (g.has("Q") || g.has("q")) {
            return queues(c, g);
        }
        List<Json.Obj> shown = new ArrayList<>();
        List<String> ids = g.operands().stream().map(PbsJob::id).toList();
        for (Json.Obj job : jobs(c, List.of())) {
            boolean owned =
                    !g.has("u") || Arrays.asList(g.value("u").split(",")).contains(job.text("userName"));
            if (owned && isNamed(job, ids) && isInState(g, state(job))) {
                shown.add(job);
            }
        }
        if (shown.isEmpty()) {
            return g.has("u") ? 0 : UNKNOWN_JOB;
        }
        if (g.has("f")) {
            shown.forEach(j -> full(c, j));
        } else if (ALTERNATE.stream().anyMatch(g::has)) {
            alternate(c, g, shown);
        } else {
            brief(c, shown);
        }
        return 0;
    }

    private static boolean isNamed(Json.Obj job, List<String> ids) {
        return ids.isEmpty()
                || ids.contains(job.text("jobId"))
                || ids.contains(Long.toString(job.number("jobId")))
                || job.number("arrayJobId") != 0 && ids.contains(Long.toString(job.number("arrayJobId")));
    }

    private static boolean isInState(ParsedArguments g, char state) {
        return g.has("i") ? state == 'Q' : !g.has("r") || state == 'R' || state == 'S';
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

    private static void brief(CommandContext c, List<Json.Obj> jobs) {
        c.out().println("Job id              Name             Username        Time Use S Queue          ");
        c.out().println("------------------- ---------------- --------------- -------- - ---------------");
        for (Json.Obj j : jobs) {
            c.out()
                    .println(String.join(
                            " ",
                            left(number(j), 19),
                            left(j.text("name"), 16),
                            left(j.text("userName"), 15),
                            right(clock(j.number("runSeconds")), 8),
                            Character.toString(state(j)),
                            left(j.text("partition"), 15)));
        }
    }

    private static String number(Json.Obj job) {
        return Long.toString(job.number("jobId"));
    }

    private static String clock(long seconds) {
        return hoursMinutes(seconds) + ":" + pad(seconds % 60);
    }

    private static void alternate(CommandContext c, ParsedArguments g, List<Json.Obj> jobs) {
        c.out().println("\n" + c.host().hostName() + ":");
        c.out().println(" ".repeat(79) + "Req'd  Req'd   Elap ");
        c.out()
                .println("Job id               Username Queue    Name                 SessID NDS   TSK   "
                        + "Memory Time Use S Time ");
        c.out()
                .println("-------------------- -------- -------- -------------------- ------ ----- ----- "
                        + "------ ----- - -----");
        for (Json.Obj j : jobs) {
            long limit = j.number("timeLimitMin");
            String line = String.join(
                    " ",
                    left(number(j), 20),
                    left(j.text("userName"), 8),
                    left(j.text("partition"), 8),
                    left(j.text("name"), 20),
                    left(NONE, 6),
                    right(Long.toString(Math.max(1, j.number("nodeCount"))), 5),
                    right(Long.toString(j.number("cpus")), 5),
                    right(memory(g, j), 6),
                    right(limit > 0 ? hoursMinutes(limit * 60) : NONE, 5),
                    Character.toString(state(j)),
                    right(hoursMinutes(j.number("runSeconds")), 5));
            String before = g.has("1") ? "   " : "\n   ";
            c.out().println(line + (g.has("n") ? before + hosts(j) : ""));
        }
    }

    private static String hosts(Json.Obj job) {
        String all = String.join(
                "+", shares(job).stream().map(s -> s[0] + "/" + s[1]).toList());
        return all.isEmpty() ? NONE : all;
    }

    /** Memory of the whole job. */
    private static String memory(ParsedArguments g, Json.Obj j) {
        long mb = j.number("memPerNodeMb") > 0
                ? j.number("memPerNodeMb") * Math.max(1, j.number("nodeCount"))
                : j.number("memPerCpuMb") * j.number("cpus");
        if (mb <= 0) {
            return NONE;
        }
        if (g.has("G")) {
            return Math.ceilDiv(mb, 1024L) + "gb";
        }
        if (g.has("M")) {
            return Math.ceilDiv(mb, 8L) + "mw";
        }
        return mb + "mb";
    }

    private static void full(CommandContext c, Json.Obj j) {
        List<String> lines = new ArrayList<>(List.of(
                "Job Id:\t" + number(j),
                "Job_Name = " + j.text("name"),
                "Job_Owner = " + j.text("userName") + "@" + j.text("submitHost"),
                "job_state = " + state(j),
                "queue = " + j.text("partition")));
        time(c, lines, "qtime", j.number("submitTime"));
        if (state(j) != 'Q') {
            time(c, lines, "mtime", j.number("startTime"));
            time(c, lines, "ctime", j.number("endTime"));
            if (!shares(j).isEmpty()) {
                lines.add("exec_host = " + hosts(j));
            }
        }
        lines.add("Priority = " + j.number("priority"));
        lines.add("euser = " + j.text("userName") + "(" + j.number("userId") + ")");
        lines.add("egroup = " + j.text("groupName") + "(" + j.number("groupId") + ")");
        if (j.number("timeLimitMin") > 0) {
            lines.add("Resource_List.walltime = " + clock(j.number("timeLimitMin") * 60));
        }
        lines.add("Resource_List.nodect = " + Math.max(1, j.number("nodeCount")));
        lines.add("Resource_List.ncpus = " + j.number("cpus"));
        c.out().println(String.join("\n\t", lines) + "\n");
    }

    private static void time(CommandContext c, List<String> lines, String name, long seconds) {
        if (seconds > 0) {
            lines.add(name + " = " + Times.strftime(seconds, c.host().zone(), "%a %b %d %H:%M:%S %Y"));
        }
    }

    // ---- queues

    private static int queues(CommandContext c, ParsedArguments g) throws SlurmException {
        List<Json.Obj> all = c.host()
                .controller()
                .call("QueryPartitions", new Json.Obj().put("all", Boolean.TRUE))
                .objects("partitions");
        List<Json.Obj> jobs = jobs(c, List.of());
        if (g.has("q")) {
            c.out().println("Queue            Memory CPU Time Walltime Node  Run Que Lm State");
            c.out().println("---------------- ------ -------- -------- ----  --- --- -- -----");
        } else if (!g.has("f")) {
            c.out().println("Queue              Max   Tot   Ena   Str   Que   Run   Hld   Wat   Trn   Ext T");
            c.out().println("----------------   ---   ---   ---   ---   ---   ---   ---   ---   ---   --- -");
        }
        long running = 0;
        long waiting = 0;
        for (Json.Obj p : all) {
            if (!g.operands().isEmpty() && !g.operands().contains(p.text("name"))) {
                continue;
            }
            Queue queue = Queue.of(p, jobs);
            running += queue.running;
            waiting += queue.waiting;
            if (g.has("q")) {
                c.out().println(queue.limits(p.number("maxTimeMin")));
            } else if (g.has("f")) {
                c.out().println(queue.inFull(p.number("totalNodes")));
            } else {
                c.out().println(queue.counts());
            }
        }
        if (g.has("q")) {
            c.out().println(" ".repeat(47) + "----- -----");
            c.out().println(" ".repeat(47) + right(Long.toString(running), 5) + right(Long.toString(waiting), 6));
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
        static Queue of(Json.Obj p, List<Json.Obj> jobs) {
            String name = p.text("name");
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
            String state = p.text("state");
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
