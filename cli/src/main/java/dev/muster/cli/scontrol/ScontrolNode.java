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
    private static List<Json.Obj> nodesOfThisHost(CommandContext c, String name) throws SlurmException {
        Json.Obj q = new Json.Obj();
        q.put("all", Boolean.TRUE);
        q.put("fields", List.of("name", "hostname", "address", "port"));
        String wanted = name.isEmpty() ? c.env("SLURMD_NODENAME") : name;
        String host = c.host().hostName();
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj n : c.host().controller().call("QueryNodes", q).objects("nodes")) {
            if (wanted.isEmpty()
                    ? n.text("hostname").equals(host) || n.text("name").equals(host)
                    : n.text("name").equals(wanted)) {
                out.add(n);
            }
        }
        return out;
    }

    /** {@code getaddrs}: where each of the nodes is spoken to. */
    static int addresses(CommandContext c, List<String> words) throws SlurmException {
        if (words.isEmpty()) {
            return Scontrol.tooFew(c, "getaddrs");
        }
        if (!(dev.muster.model.format.HostList.parse(String.join(",", words))
                instanceof dev.muster.model.format.HostList.Parsed.Ok wanted)) {
            c.err().println("Invalid node name specified");
            return 1;
        }
        Json.Obj q = new Json.Obj();
        q.put("all", Boolean.TRUE);
        q.put("fields", List.of("name", "address", "port"));
        List<Json.Obj> all = c.host().controller().call("QueryNodes", q).objects("nodes");
        int rc = 0;
        for (String name : wanted.list().names()) {
            java.util.Optional<Json.Obj> node =
                    all.stream().filter(n -> n.text("name").equals(name)).findFirst();
            if (node.isEmpty()) {
                c.error("Invalid node name specified: " + name);
                rc = 1;
            } else {
                c.out()
                        .println(name + ": " + node.get().text("address") + ":"
                                + node.get().number("port"));
            }
        }
        return rc;
    }

    private static Json.Obj ask(CommandContext c, Json.Obj node, String message, Json.Obj q) throws SlurmException {
        return c.host().callNode(node.text("address"), node.integer("port"), message, q);
    }

    static int daemon(CommandContext c, String name) {
        try {
            List<Json.Obj> nodes = nodesOfThisHost(c, name);
            if (nodes.isEmpty()) {
                c.err().println("slurm_load_slurmd_status: No slurmd of this host is configured");
                return 1;
            }
            show(c, ask(c, nodes.getFirst(), "QueryDaemon", new Json.Obj()));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_slurmd_status", e);
        }
    }

    private static void show(CommandContext c, Json.Obj d) {
        String[][] rows = {
            {"Active Steps", d.texts("steps").isEmpty() ? "NONE" : String.join(",", d.texts("steps"))},
            {"Actual CPUs", number(d, "cpus")},
            {"Actual Boards", number(d, "boards")},
            {"Actual sockets", number(d, "sockets")},
            {"Actual cores", number(d, "cores")},
            {"Actual threads per core", number(d, "threads")},
            {"Actual real memory", number(d, "memoryMb") + " MB"},
            {"Actual temp disk space", number(d, "tmpDiskMb") + " MB"},
            {"Boot time", Times.isoOr(d.number("startTime"), c.host().zone(), "Unknown")},
            {"Hostname", d.text("node")},
            {
                "Last slurmctld msg time",
                Times.isoOr(d.number("lastMessage"), c.host().zone(), "NONE")
            },
            {"Slurmd PID", number(d, "pid")},
            {"Slurmd Debug", d.text("debugLevel")},
            {"Slurmd Logfile", d.text("logFile").isEmpty() ? "(null)" : d.text("logFile")},
            {"Version", d.text("version")}
        };
        for (String[] row : rows) {
            c.out().println(row[0] + " ".repeat(25 - row[0].length()) + "= " + row[1]);
        }
    }

    private static String number(Json.Obj d, String field) {
        return Long.toString(d.number(field));
    }

    /**
     * The steps with processes here.
     *
     * @param jobId 0 for all; pid as in the message
     */
    private static List<Json.Obj> steps(CommandContext c, long jobId, long pid) throws SlurmException {
        return steps(c, "", jobId, pid);
    }

    private static List<Json.Obj> steps(CommandContext c, String node, long jobId, long pid) throws SlurmException {
        Json.Obj q = new Json.Obj();
        JobRequest.put(q, "jobId", jobId);
        JobRequest.put(q, "pid", pid);
        List<Json.Obj> out = new ArrayList<>();
        SlurmException silent = null;
        for (Json.Obj one : nodesOfThisHost(c, node)) {
            try {
                out.addAll(ask(c, one, "QueryProcesses", q).objects("steps"));
            } catch (SlurmException e) {
                silent = e;
            }
        }
        if (out.isEmpty() && silent != null) {
            throw silent;
        }
        return out;
    }

    static int pidInfo(CommandContext c, List<String> rest) throws SlurmException {
        if (rest.isEmpty()) {
            c.err().println("missing argument for keyword:pidinfo");
            return 1;
        }
        long pid = Digits.parseNumber(rest.getFirst());
        List<Json.Obj> found = pid <= 0 ? List.of() : steps(c, 0, pid);
        if (found.isEmpty()) {
            c.err().println("Failed to locate job for requested pid");
            return 1;
        }
        int jobId = found.getFirst().integer("jobId");
        Json.Obj q = new Json.Obj();
        q.put("jobs", List.of(Integer.toString(jobId)));
        Json.Obj reply = c.host().controller().call("QueryJobs", q);
        for (Json.Obj j : reply.objects("jobs")) {
            long end = j.number("endTime");
            if (end == 0) {
                // without a limit: Slurm names the end of a year
                end = reply.number("now") + 365L * 86_400;
            }
            java.time.ZonedDateTime at =
                    java.time.Instant.ofEpochSecond(end).atZone(c.host().zone());
            c.out()
                    .println("Slurm JobId=" + jobId + " ends at "
                            + java.time.format.DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss yyyy", Locale.ROOT)
                                    .format(at));
            c.out().println("Job remaining time is " + Math.max(0, end - reply.number("now")) + " seconds");
        }
        return 0;
    }

    static int listPids(CommandContext c, ScontrolSwitches s, List<String> rest) throws SlurmException, UsageException {
        String node = rest.size() > 1 ? rest.get(1) : "";
        String id = rest.isEmpty() || rest.getFirst().equals("*") ? "" : rest.getFirst();
        int dot = id.indexOf('.');
        String job = dot < 0 ? id : id.substring(0, dot);
        long jobId = job.isEmpty() ? 0 : JobIds.resolve(c, job);
        if (jobId < 0) {
            c.err().println("\"" + id + "\" does not look like a jobid");
            return 1;
        }
        String wanted = dot < 0 ? "" : id.substring(dot + 1);
        List<Object> found = new ArrayList<>();
        boolean any = false;
        boolean ofJob = false;
        for (Json.Obj step : steps(c, node, jobId, 0)) {
            ofJob = true;
            if (isWanted(wanted, step)) {
                any = true;
                found.addAll(processes(step));
            }
        }
        if (!any) {
            String kind = ofJob || !wanted.isEmpty() ? "StepId=" : "JobId=";
            c.err()
                    .println(
                            id.isEmpty()
                                    ? "No job steps exist on this node."
                                    : kind + id + " does not exist on node " + shownNode(c, rest) + ".");
            return 1;
        }
        if (!s.json.isEmpty()) {
            return JsonOutput.print(c, s.json, s.parser, new Json.Obj().put("pids", found));
        }
        printPids(c, found);
        return 0;
    }

    private static String shownNode(CommandContext c, List<String> words) {
        if (words.size() > 1) {
            return words.get(1);
        }
        return c.env("SLURMD_NODENAME").isEmpty() ? "(null)" : c.env("SLURMD_NODENAME");
    }

    /** @param wanted "" for every step */
    private static boolean isWanted(String wanted, Json.Obj step) {
        return wanted.isEmpty() || StepId.means(StepId.parse(wanted).orElse(Integer.MIN_VALUE), step.integer("stepId"));
    }

    private static void printPids(CommandContext c, List<Object> found) {
        c.out().println("PID      JOBID    STEPID   LOCALID GLOBALID");
        for (Object one : found) {
            Json.Obj pid = (Json.Obj) one;
            c.out()
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
                boolean own = task.integer("rank") >= 0 && ((Number) pid).intValue() == task.integer("pid");
                out.add(new Json.Obj()
                        .put("global_task_id", own ? Tree.number(task.integer("rank")) : Tree.unset())
                        .put("local_task_id", own ? Tree.number(task.integer("local")) : Tree.unset())
                        .put("job_id", step.number("jobId"))
                        .put("pid", ((Number) pid).longValue())
                        .put("step_id", SacctJson.stepName(step)));
            }
        }
        return out;
    }

    /**
     * {@code getent}: the user of each step here and his groups, as the node was told them, not as it looks them up.
     */
    static int getent(CommandContext c, List<String> rest) throws SlurmException {
        List<Json.Obj> steps = steps(c, rest.isEmpty() ? "" : rest.getFirst(), 0, 0);
        for (Json.Obj step : steps) {
            Json.Obj owner = step.obj("owner");
            String name = SacctJson.stepName(step);
            String user = owner.text("user");
            c.out()
                    .println("JobId=" + step.integer("jobId") + "."
                            + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1) + ":");
            c.out().println("User:");
            c.out()
                    .println(String.join(
                            ":",
                            user,
                            "x",
                            Long.toString(owner.number("uid")),
                            Long.toString(owner.number("gid")),
                            NameService.fromGetent("passwd", user, 4),
                            owner.text("home"),
                            owner.text("shell")));
            c.out().println("Groups:");
            for (Object gid : owner.list("gids")) {
                boolean isPrimary = owner.number("gid") == ((Number) gid).longValue();
                String group = isPrimary ? owner.text("group") : NameService.fromGetent("group", gid.toString(), 0);
                c.out().println(group + ":x:" + gid + ":" + user);
            }
            c.out().println("");
        }
        if (steps.isEmpty()) {
            c.err().println("No job steps exist on this node.");
            return 1;
        }
        return 0;
    }

    /** {@code listjobs} and {@code liststeps}. */
    static int list(CommandContext c, ScontrolSwitches s, List<String> rest, boolean steps)
            throws SlurmException, UsageException {
        List<Json.Obj> found = steps(c, rest.isEmpty() ? "" : rest.getFirst(), 0, 0);
        if (found.isEmpty()) {
            c.err().println("No slurmstepd's found on this node");
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
        if (!s.json.isEmpty()) {
            return JsonOutput.print(c, s.json, s.parser, new Json.Obj().put(steps ? "steps" : "jobs", rows));
        }
        c.out().println(steps ? "JOBID    STEPID" : "JOBID");
        for (Object one : rows) {
            Json.Obj row = (Json.Obj) one;
            c.out()
                    .println(
                            steps
                                    ? String.format(Locale.ROOT, "%-8d %s", row.number("job_id"), row.text("step_id"))
                                    : Long.toString(row.number("job_id")));
        }
        return 0;
    }
}
