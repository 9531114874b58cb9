package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.NodeCalls;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.ShowText;
import dev.muster.cli.format.StepRows;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.ConfJson;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.JobsJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.cli.shape.NodesJson;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.List;

/** Runs {@code scontrol show}: loads and prints records. */
final class ScontrolShow {
    private ScontrolShow() {}

    private static int reportMissing(CommandContext c, String typed) {
        c.err().println("Job " + typed + " not found");
        return 1;
    }

    /**
     * The job is there, but not as an array with that task: the original has loaded it then, and looks for the task in
     * vain.
     */
    private static boolean isTaskOfAnother(CommandContext c, String id, SlurmException e) {
        int bar = id.indexOf('_');
        if (bar < 0 || e.errno() != SlurmErrno.INVALID_JOB_ID.number()) {
            return false;
        }
        try {
            Json.Obj q =
                    new Json.Obj().put("jobs", List.of(id.substring(0, bar))).put("allStates", Boolean.TRUE);
            return !c.host().controller().call("QueryJobs", q).objects("jobs").isEmpty();
        } catch (SlurmException none) {
            return false;
        }
    }

    /** Job 0 is every job, 0_3 every array's task 3. */
    static int jobs(CommandContext c, ScontrolSwitches s, String typed) throws UsageException {
        boolean every = typed.matches("0(_[0-9]{1,9})?");
        int task = every && typed.length() > 2 ? Integer.parseInt(typed.substring(2)) : -1;
        String id = every ? "" : typed;
        if (!id.isEmpty() && !JobIds.isJob(id)) {
            c.err().println("scontrol_print_job error: " + SlurmErrno.INVALID_JOB_ID.sentence());
            return 1;
        }
        Json.Obj reply;
        try {
            reply = c.host().controller().call("QueryJobs", jobsQuery(s, id));
        } catch (SlurmException e) {
            return isTaskOfAnother(c, id, e)
                    ? reportMissing(c, typed)
                    : CommonOptions.reportFailure(c, "slurm_load_jobs error", e);
        }
        List<Json.Obj> jobs = reply.objects("jobs");
        jobs.removeIf(j -> task >= 0 && JobRows.taskId(j) != task);
        if (jobs.isEmpty() && (task >= 0 || !id.isEmpty())) {
            return noJob(c, typed, id);
        }
        return print(c, s, reply, jobs);
    }

    private static int print(CommandContext c, ScontrolSwitches s, Json.Obj reply, List<Json.Obj> jobs)
            throws UsageException {
        if (!s.json.isEmpty()) {
            return JsonOutput.print(
                    c, s.json, s.parser, JobsJson.answer(JsonOutput.names(c), reply, JsonOutput.version(s.parser)));
        }
        if (jobs.isEmpty() && !s.quiet) {
            c.out().println("No jobs in the system");
        }
        updated(c, s, reply, reply.objects("jobs").size());
        ShowText text = new ShowText(c, s.oneLine, reply.number("now"));
        for (Json.Obj j : jobs) {
            c.out().println(text.job(j, s.details));
        }
        return 0;
    }

    /** @param id "" for all jobs */
    private static Json.Obj jobsQuery(ScontrolSwitches s, String id) {
        Json.Obj q = new Json.Obj();
        if (!id.isEmpty()) {
            q.put("jobs", List.of(id));
        }
        q.put("allStates", Boolean.TRUE);
        JobRequest.put(q, "allPartitions", s.all);
        JobRequest.put(q, "details", s.details || !s.json.isEmpty());
        return q;
    }

    /** @param id "" if tasks of every array were asked for */
    private static int noJob(CommandContext c, String typed, String id) {
        if (id.isEmpty() || isTaskOfAnother(c, id, new SlurmException(SlurmErrno.INVALID_JOB_ID.number(), ""))) {
            return reportMissing(c, typed);
        }
        c.err().println("slurm_load_jobs error: " + SlurmErrno.INVALID_JOB_ID.sentence());
        return 1;
    }

    static int nodes(CommandContext c, ScontrolSwitches s, String names) throws UsageException {
        List<Object> wanted = new ArrayList<>();
        if (!names.isEmpty()) {
            if (HostList.parse(NodeCalls.expanded(c, names)) instanceof HostList.Parsed.Ok ok) {
                wanted.addAll(ok.list().names());
            }
            if (wanted.isEmpty()) {
                c.err().println("Invalid node name specified");
                return 1;
            }
        }
        Json.Obj q = new Json.Obj();
        if (!wanted.isEmpty()) {
            q.put("nodes", wanted);
        }
        q.put("all", Boolean.TRUE);
        JobRequest.put(q, "shownPartitions", !s.all && s.json.isEmpty());
        Json.Obj reply;
        try {
            reply = c.host().controller().call("QueryNodes", q);
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.INVALID_NODE_NAME.number()) {
                return CommonOptions.reportFailure(c, "slurm_load_node error", e);
            }
            reply = new Json.Obj();
        }
        updated(c, s, reply, reply.objects("nodes").size());
        List<Object> missing = new ArrayList<>(wanted);
        List<Json.Obj> found = new ArrayList<>();
        for (Json.Obj n : reply.objects("nodes")) {
            if (!s.future && n.text("state").equals("FUTURE")) {
                continue;
            }
            missing.remove(n.text("name"));
            if (wanted.isEmpty() || wanted.contains(n.text("name"))) {
                found.add(n);
            }
        }
        if (!s.json.isEmpty()) {
            return JsonOutput.print(c, s.json, s.parser, NodesJson.nodes(JsonOutput.names(c), reply, found));
        }
        return print(c, s, new ShowText(c, s.oneLine, reply.number("now")), found, missing);
    }

    private static int print(
            CommandContext c, ScontrolSwitches s, ShowText text, List<Json.Obj> nodes, List<Object> missing) {
        for (Json.Obj n : nodes) {
            c.out().println(text.node(n, s.details));
        }
        for (Object name : missing) {
            c.out().println("Node " + name + " not found");
        }
        return missing.isEmpty() ? 0 : 1;
    }

    static int partitions(CommandContext c, ScontrolSwitches s, String name) throws UsageException {
        Json.Obj q = new Json.Obj();
        if (!name.isEmpty()) {
            q.put("partitions", List.of(name));
        }
        JobRequest.put(q, "all", s.all || !s.json.isEmpty());
        Json.Obj reply;
        try {
            reply = c.host().controller().call("QueryPartitions", q);
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.INVALID_PARTITION_NAME.number()) {
                return CommonOptions.reportFailure(c, "slurm_load_partitions error", e);
            }
            reply = new Json.Obj();
        }
        if (!s.json.isEmpty()) {
            List<Json.Obj> all = reply.objects("partitions");
            all.removeIf(p -> !name.isEmpty() && !name.equals(p.text("name")));
            return JsonOutput.print(c, s.json, s.parser, NodesJson.partitions(reply, all));
        }
        updated(c, s, reply, reply.objects("partitions").size());
        ShowText text = new ShowText(c, s.oneLine, reply.number("now"));
        int shown = 0;
        for (Json.Obj p : reply.objects("partitions")) {
            if (name.isEmpty() || name.equals(p.text("name"))) {
                c.out().println(text.partition(p));
                shown++;
            }
        }
        if (shown == 0) {
            c.out().println(name.isEmpty() ? "No partitions in the system" : "Partition " + name + " not found");
            return name.isEmpty() ? 0 : 1;
        }
        return 0;
    }

    private static final String CONTAINER_ID = "container-id=";

    /** The first step of that container. */
    private static List<Json.Obj> ofContainer(CommandContext c, String container) throws SlurmException {
        return StepRows.load(c, List.of()).stream()
                .filter(s -> s.text("containerId").equals(container))
                .limit(1)
                .toList();
    }

    private static boolean isOfKnownJob(CommandContext c, String step) {
        try {
            return JobIds.isJobOrStep(step) && JobIds.isKnown(c, step);
        } catch (SlurmException e) {
            return false;
        }
    }

    private static int stepsRefused(CommandContext c, String id, String why) {
        c.error("scontrol_print_step: slurm_get_job_steps(" + id + ") failed: " + why);
        return 1;
    }

    static int steps(CommandContext c, ScontrolSwitches s, String id) throws UsageException {
        boolean ofContainer = id.regionMatches(true, 0, CONTAINER_ID, 0, CONTAINER_ID.length());
        java.util.Optional<SlurmErrno> fault =
                id.isEmpty() || ofContainer ? java.util.Optional.empty() : JobIds.fault(id);
        if (fault.isPresent()) {
            return stepsRefused(c, id, fault.get().sentence());
        }
        List<String> ids = id.isEmpty() ? List.of() : List.of(id);
        List<Json.Obj> steps;
        try {
            steps = ofContainer
                    ? ofContainer(c, id.substring(CONTAINER_ID.length()))
                    : StepRows.load(c, ids, s.all || !id.isEmpty() || !s.json.isEmpty());
        } catch (SlurmException e) {
            return stepsRefused(c, id, e.getMessage());
        }
        if (!s.json.isEmpty()) {
            return JsonOutput.print(
                    c,
                    s.json,
                    s.parser,
                    ControlJson.steps(
                            JsonOutput.names(c).cluster(), steps, c.host().nowMs() / 1000));
        }
        if (steps.isEmpty() && !id.isEmpty()) {
            return noStep(c, id);
        }
        if (steps.isEmpty() && !s.quiet) {
            c.out().println("No job steps in the system");
        }
        for (Json.Obj step : steps) {
            c.out().println(new ShowText(c, s.oneLine, step.number("now")).step(step));
        }
        return 0;
    }

    private static int noStep(CommandContext c, String id) {
        if (!isOfKnownJob(c, id)) {
            return stepsRefused(c, id, SlurmErrno.INVALID_JOB_ID.sentence());
        }
        c.out().println("Job step " + id + (id.indexOf('.') > 0 ? "" : ".") + " not found");
        return 1;
    }

    /** The data parser's first version with a shape for slurm.conf, and the exit code with an older one. */
    private static final int CONF_SINCE = 45;

    private static final int NO_SHAPE = 244;

    static int config(CommandContext c, ScontrolSwitches s, String key) throws UsageException {
        try {
            Json.Obj reply = c.host().controller().call("QueryConfig", new Json.Obj());
            if (!s.json.isEmpty()) {
                JsonOutput.require(c, s.json, s.parser, CONF_SINCE, NO_SHAPE);
                return JsonOutput.print(
                        c, s.json, s.parser, ConfJson.slurm(reply, c.host().controllers()));
            }
            List<String> lines = reply.texts("lines");
            boolean titled = !lines.isEmpty() && lines.getFirst().startsWith("Configuration data as of");
            if (!titled && key.isEmpty()) {
                c.out()
                        .println("Configuration data as of "
                                + Times.print(
                                        reply.number("now"),
                                        c.host().zone(),
                                        c.env("SLURM_TIME_FORMAT"),
                                        c.host().nowMs() / 1000));
            }
            for (String line : lines) {
                if (key.isEmpty() || line.regionMatches(true, 0, key + " ", 0, key.length() + 1)) {
                    c.out().println(line);
                }
            }
            if (key.isEmpty()) {
                c.out().println("");
                ScontrolControllers.lines(ScontrolControllers.pings(c)).forEach(c.out()::println);
            }
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_ctl_conf error", e);
        }
    }

    /** Entities that this cluster has none of, each with the sentence for "none"; the rest are mistakes. */
    static int others(CommandContext c, String entity) {
        String e = Texts.lower(entity);
        if (e.length() > 1 && "daemons".startsWith(e)) {
            return daemons(c);
        }
        if (e.length() > 1 && "federation".startsWith(e)) {
            // there is none, and so nothing to show
            return 0;
        }
        c.err().println("invalid entity:" + entity + " for keyword:show ");
        return 1;
    }

    /** Nodes whose slurmd is on a host: this one if none is named. */
    static int aliases(CommandContext c, String host) {
        String wanted = host.isEmpty() ? c.host().hostName() : host;
        try {
            StringBuilder out = new StringBuilder();
            for (Json.Obj n : c.host()
                    .controller()
                    .call("QueryNodes", new Json.Obj().put("all", Boolean.TRUE))
                    .objects("nodes")) {
                if (n.text("hostname").equals(wanted)) {
                    out.append(out.isEmpty() ? "" : " ").append(n.text("name"));
                }
            }
            if (!out.isEmpty()) {
                c.out().println(out.toString());
            }
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_node error", e);
        }
    }

    /** The daemons that belong on this machine. */
    private static int daemons(CommandContext c) {
        StringBuilder out = new StringBuilder();
        String here = c.host().hostName();
        if (c.host().controllers().contains(here)) {
            out.append("slurmctld");
        }
        Json.Obj q = new Json.Obj();
        q.put("all", Boolean.TRUE);
        q.put("fields", List.of("name", "hostname"));
        try {
            for (Json.Obj n : c.host().controller().call("QueryNodes", q).objects("nodes")) {
                if (here.equals(n.text("hostname")) || here.equals(n.text("name"))) {
                    out.append(out.isEmpty() ? "" : " ").append("slurmd");
                    break;
                }
            }
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_node error", e);
        }
        c.out().println(out.toString());
        return 0;
    }

    /** Prints the line of {@code -v} before the records. */
    private static void updated(CommandContext c, ScontrolSwitches s, Json.Obj reply, int records) {
        if (s.verbose && !s.quiet && s.json.isEmpty()) {
            long at = reply.has("lastUpdate") ? reply.number("lastUpdate") : reply.number("now");
            c.out().println("last_update_time=" + c.time(at) + ", records=" + records);
        }
    }
}
