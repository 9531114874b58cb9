package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.NameService;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.cli.shape.SacctJson;
import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Times;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Runs the commands of scontrol that ask this machine's slurmd: its state, processes and jobs. */
final class ScontrolNode {
    private ScontrolNode() {}

    /** The nodes that are this machine: the one a job runs on, the one named, or all with this host's name. */
    private static List<Json.Obj> nodesOfThisHost(CommandContext context, String name) throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("all", Boolean.TRUE);
        query.put("fields", List.of("name", "hostname", "address", "port"));
        String wanted = name.isEmpty() ? context.env("SLURMD_NODENAME") : name;
        String host = context.host().hostName();
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj node :
                context.host().controller().call("QueryNodes", query).objects("nodes")) {
            if (wanted.isEmpty()
                    ? node.text("hostname").equals(host) || node.text("name").equals(host)
                    : node.text("name").equals(wanted)) {
                out.add(node);
            }
        }
        return out;
    }

    /** {@code getaddrs}: where each of the nodes is spoken to. */
    static int addresses(CommandContext context, List<String> words) throws SlurmException {
        if (words.isEmpty()) {
            return Scontrol.tooFew(context, "getaddrs");
        }
        if (!(dev.muster.model.format.HostList.parse(String.join(",", words))
                instanceof dev.muster.model.format.HostList.Parsed.Ok wanted)) {
            context.err().println("Invalid node name specified");
            return 1;
        }
        Json.Obj query = new Json.Obj();
        query.put("all", Boolean.TRUE);
        query.put("fields", List.of("name", "address", "port"));
        List<Json.Obj> all =
                context.host().controller().call("QueryNodes", query).objects("nodes");
        int rc = 0;
        for (String name : wanted.list().names()) {
            java.util.Optional<Json.Obj> node =
                    all.stream().filter(n -> n.text("name").equals(name)).findFirst();
            if (node.isEmpty()) {
                context.error("Invalid node name specified: " + name);
                rc = 1;
            } else {
                context.out()
                        .println(name + ": " + node.get().text("address") + ":"
                                + node.get().number("port"));
            }
        }
        return rc;
    }

    private static Json.Obj ask(CommandContext context, Json.Obj node, String message, Json.Obj query)
            throws SlurmException {
        return context.host().callNode(node.text("address"), node.integer("port"), message, query);
    }

    static int daemon(CommandContext context, String name) {
        try {
            List<Json.Obj> nodes = nodesOfThisHost(context, name);
            if (nodes.isEmpty()) {
                context.err().println("slurm_load_slurmd_status: No slurmd of this host is configured");
                return 1;
            }
            show(context, ask(context, nodes.getFirst(), "QueryDaemon", new Json.Obj()));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_slurmd_status", e);
        }
    }

    private static void show(CommandContext context, Json.Obj daemon) {
        String[][] rows = {
            {"Active Steps", daemon.texts("steps").isEmpty() ? "NONE" : String.join(",", daemon.texts("steps"))},
            {"Actual CPUs", number(daemon, "cpus")},
            {"Actual Boards", number(daemon, "boards")},
            {"Actual sockets", number(daemon, "sockets")},
            {"Actual cores", number(daemon, "cores")},
            {"Actual threads per core", number(daemon, "threads")},
            {"Actual real memory", number(daemon, "memoryMb") + " MB"},
            {"Actual temp disk space", number(daemon, "tmpDiskMb") + " MB"},
            {"Boot time", Times.isoOr(daemon.number("startTime"), context.host().zone(), "Unknown")},
            {"Hostname", daemon.text("node")},
            {
                "Last slurmctld msg time",
                Times.isoOr(daemon.number("lastMessage"), context.host().zone(), "NONE")
            },
            {"Slurmd PID", number(daemon, "pid")},
            {"Slurmd Debug", daemon.text("debugLevel")},
            {"Slurmd Logfile", daemon.text("logFile").isEmpty() ? "(null)" : daemon.text("logFile")},
            {"Version", daemon.text("version")}
        };
        for (String[] row : rows) {
            context.out().println(row[0] + " ".repeat(25 - row[0].length()) + "= " + row[1]);
        }
    }

    private static String number(Json.Obj daemon, String field) {
        return Long.toString(daemon.number(field));
    }

    /**
     * The steps with processes here.
     *
     * @param jobId 0 for all; pid as in the message
     */
    private static List<Json.Obj> steps(CommandContext context, long jobId, long pid) throws SlurmException {
        return steps(context, "", jobId, pid);
    }

    private static List<Json.Obj> steps(CommandContext context, String node, long jobId, long pid)
            throws SlurmException {
        Json.Obj query = new Json.Obj();
        JobRequest.put(query, "jobId", jobId);
        JobRequest.put(query, "pid", pid);
        List<Json.Obj> out = new ArrayList<>();
        SlurmException silent = null;
        for (Json.Obj one : nodesOfThisHost(context, node)) {
            try {
                out.addAll(ask(context, one, "QueryProcesses", query).objects("steps"));
            } catch (SlurmException e) {
                silent = e;
            }
        }
        if (out.isEmpty() && silent != null) {
            throw silent;
        }
        return out;
    }

    static int pidInfo(CommandContext context, List<String> operands) throws SlurmException {
        if (operands.isEmpty()) {
            context.err().println("missing argument for keyword:pidinfo");
            return 1;
        }
        long pid = Digits.parseNumber(operands.getFirst());
        List<Json.Obj> found = pid <= 0 ? List.of() : steps(context, 0, pid);
        if (found.isEmpty()) {
            context.err().println("Failed to locate job for requested pid");
            return 1;
        }
        int jobId = found.getFirst().integer("jobId");
        Json.Obj query = new Json.Obj();
        query.put("jobs", List.of(Integer.toString(jobId)));
        Json.Obj reply = context.host().controller().call("QueryJobs", query);
        for (Json.Obj job : reply.objects("jobs")) {
            long end = job.number("endTime");
            if (end == 0) {
                // without a limit: Slurm names the end of a year
                end = reply.number("now") + 365L * 86_400;
            }
            java.time.ZonedDateTime at =
                    java.time.Instant.ofEpochSecond(end).atZone(context.host().zone());
            context.out()
                    .println("Slurm JobId=" + jobId + " ends at "
                            + java.time.format.DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss yyyy", Locale.ROOT)
                                    .format(at));
            context.out().println("Job remaining time is " + Math.max(0, end - reply.number("now")) + " seconds");
        }
        return 0;
    }

    static int listPids(CommandContext context, ScontrolSwitches switches, List<String> operands)
            throws SlurmException, UsageException {
        String node = operands.size() > 1 ? operands.get(1) : "";
        String id = operands.isEmpty() || operands.getFirst().equals("*") ? "" : operands.getFirst();
        int dot = id.indexOf('.');
        String job = dot < 0 ? id : id.substring(0, dot);
        long jobId = job.isEmpty() ? 0 : JobIds.resolve(context, job);
        if (jobId < 0) {
            context.err().println("\"" + id + "\" does not look like a jobid");
            return 1;
        }
        String wanted = dot < 0 ? "" : id.substring(dot + 1);
        List<Object> found = new ArrayList<>();
        boolean any = false;
        boolean ofJob = false;
        for (Json.Obj step : steps(context, node, jobId, 0)) {
            ofJob = true;
            if (isWanted(wanted, step)) {
                any = true;
                found.addAll(processes(step));
            }
        }
        if (!any) {
            String kind = ofJob || !wanted.isEmpty() ? "StepId=" : "JobId=";
            context.err()
                    .println(
                            id.isEmpty()
                                    ? "No job steps exist on this node."
                                    : kind + id + " does not exist on node " + shownNode(context, operands) + ".");
            return 1;
        }
        if (!switches.json.isEmpty()) {
            return JsonOutput.print(context, switches.json, switches.parser, new Json.Obj().put("pids", found));
        }
        printPids(context, found);
        return 0;
    }

    private static String shownNode(CommandContext context, List<String> words) {
        if (words.size() > 1) {
            return words.get(1);
        }
        return context.env("SLURMD_NODENAME").isEmpty() ? "(null)" : context.env("SLURMD_NODENAME");
    }

    /** @param wanted "" for every step */
    private static boolean isWanted(String wanted, Json.Obj step) {
        return wanted.isEmpty() || StepId.means(StepId.parse(wanted).orElse(Integer.MIN_VALUE), step.integer("stepId"));
    }

    private static void printPids(CommandContext context, List<Object> found) {
        context.out().println("PID      JOBID    STEPID   LOCALID GLOBALID");
        for (Object one : found) {
            Json.Obj pid = (Json.Obj) one;
            context.out()
                    .println(String.format(
                            Locale.ROOT,
                            "%-8d %-8d %-8s %-7s %-8s ",
                            pid.number("pid"),
                            pid.number("job_id"),
                            pid.text("step_id"),
                            orDash(pid.obj("local_task_id")),
                            orDash(pid.obj("global_task_id"))));
        }
    }

    private static String orDash(Json.Obj number) {
        return number.flag("set") ? Long.toString(number.number("number")) : "-";
    }

    private static List<Object> processes(Json.Obj step) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj task : step.objects("tasks")) {
            for (Object pid : task.list("pids")) {
                boolean isTask = task.integer("rank") >= 0 && ((Number) pid).intValue() == task.integer("pid");
                out.add(new Json.Obj()
                        .put("global_task_id", isTask ? Tree.number(task.integer("rank")) : Tree.unset())
                        .put("local_task_id", isTask ? Tree.number(task.integer("local")) : Tree.unset())
                        .put("job_id", step.number("jobId"))
                        .put("pid", ((Number) pid).longValue())
                        .put("step_id", SacctJson.stepName(step)));
            }
        }
        return out;
    }

    /**
     * {@code getent}: the user and groups of each step on this node, as its launch message has them, not as the node
     * looks them up.
     */
    static int getent(CommandContext context, List<String> operands) throws SlurmException {
        List<Json.Obj> steps = steps(context, operands.isEmpty() ? "" : operands.getFirst(), 0, 0);
        for (Json.Obj step : steps) {
            Json.Obj owner = step.obj("owner");
            String name = SacctJson.stepName(step);
            String user = owner.text("user");
            context.out()
                    .println("JobId=" + step.integer("jobId") + "."
                            + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1) + ":");
            context.out().println("User:");
            context.out()
                    .println(String.join(
                            ":",
                            user,
                            "x",
                            Long.toString(owner.number("uid")),
                            Long.toString(owner.number("gid")),
                            NameService.fromGetent("passwd", user, 4),
                            owner.text("home"),
                            owner.text("shell")));
            context.out().println("Groups:");
            for (Object gid : owner.list("gids")) {
                boolean isPrimary = owner.number("gid") == ((Number) gid).longValue();
                String group = isPrimary ? owner.text("group") : NameService.fromGetent("group", gid.toString(), 0);
                context.out().println(group + ":x:" + gid + ":" + user);
            }
            context.out().println("");
        }
        if (steps.isEmpty()) {
            context.err().println("No job steps exist on this node.");
            return 1;
        }
        return 0;
    }

    /** {@code listjobs} and {@code liststeps}. */
    static int list(CommandContext context, ScontrolSwitches switches, List<String> operands, boolean steps)
            throws SlurmException, UsageException {
        List<Json.Obj> found = steps(context, operands.isEmpty() ? "" : operands.getFirst(), 0, 0);
        if (found.isEmpty()) {
            context.err().println("No slurmstepd's found on this node");
            return 1;
        }
        List<Object> rows = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (Json.Obj step : found) {
            Json.Obj row = new Json.Obj().put("job_id", step.number("jobId"));
            if (steps) {
                rows.add(row.put("step_id", SacctJson.stepName(step)));
            } else if (seen.add(step.number("jobId"))) {
                rows.add(row);
            }
        }
        if (!switches.json.isEmpty()) {
            return JsonOutput.print(
                    context, switches.json, switches.parser, new Json.Obj().put(steps ? "steps" : "jobs", rows));
        }
        context.out().println(steps ? "JOBID    STEPID" : "JOBID");
        for (Object one : rows) {
            Json.Obj row = (Json.Obj) one;
            context.out()
                    .println(
                            steps
                                    ? String.format(Locale.ROOT, "%-8d %s", row.number("job_id"), row.text("step_id"))
                                    : Long.toString(row.number("job_id")));
        }
        return 0;
    }
}
