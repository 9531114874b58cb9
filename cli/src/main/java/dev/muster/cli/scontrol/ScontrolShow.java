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

    private static int reportMissing(CommandContext context, String typed) {
        context.err().println("Job " + typed + " not found");
        return 1;
    }

    /**
     * The job is there, but not as an array with that task: the original has loaded it then, and looks for the task in
     * vain.
     */
    private static boolean isTaskOfAnother(CommandContext context, String id, SlurmException e) {
        int bar = id.indexOf('_');
        if (bar < 0 || e.errno() != SlurmErrno.INVALID_JOB_ID.number()) {
            return false;
        }
        try {
            Json.Obj query =
                    new Json.Obj().put("jobs", List.of(id.substring(0, bar))).put("allStates", Boolean.TRUE);
            return !context.host()
                    .controller()
                    .call("QueryJobs", query)
                    .objects("jobs")
                    .isEmpty();
        } catch (SlurmException none) {
            return false;
        }
    }

    /** Job 0 is every job, 0_3 every array's task 3. */
    static int jobs(CommandContext context, ScontrolSwitches switches, String typed) throws UsageException {
        boolean every = typed.matches("0(_[0-9]{1,9})?");
        int task = every && typed.length() > 2 ? Integer.parseInt(typed.substring(2)) : -1;
        String id = every ? "" : typed;
        if (!id.isEmpty() && !JobIds.isJob(id)) {
            context.err().println("scontrol_print_job error: " + SlurmErrno.INVALID_JOB_ID.sentence());
            return 1;
        }
        Json.Obj reply;
        try {
            reply = context.host().controller().call("QueryJobs", jobsQuery(switches, id));
        } catch (SlurmException e) {
            return isTaskOfAnother(context, id, e)
                    ? reportMissing(context, typed)
                    : CommonOptions.reportFailure(context, "slurm_load_jobs error", e);
        }
        List<Json.Obj> jobs = reply.objects("jobs");
        jobs.removeIf(j -> task >= 0 && JobRows.taskId(j) != task);
        if (jobs.isEmpty() && (task >= 0 || !id.isEmpty())) {
            return noJob(context, typed, id);
        }
        return print(context, switches, reply, jobs);
    }

    private static int print(CommandContext context, ScontrolSwitches switches, Json.Obj reply, List<Json.Obj> jobs)
            throws UsageException {
        if (!switches.json.isEmpty()) {
            return JsonOutput.print(
                    context,
                    switches.json,
                    switches.parser,
                    JobsJson.answer(JsonOutput.names(context), reply, JsonOutput.version(switches.parser)));
        }
        if (jobs.isEmpty() && !switches.quiet) {
            context.out().println("No jobs in the system");
        }
        updated(context, switches, reply, reply.objects("jobs").size());
        ShowText text = new ShowText(context, switches.oneLine, reply.number("now"));
        for (Json.Obj job : jobs) {
            context.out().println(text.job(job, switches.details));
        }
        return 0;
    }

    /** @param id "" for all jobs */
    private static Json.Obj jobsQuery(ScontrolSwitches switches, String id) {
        Json.Obj query = new Json.Obj();
        if (!id.isEmpty()) {
            query.put("jobs", List.of(id));
        }
        query.put("allStates", Boolean.TRUE);
        JobRequest.put(query, "allPartitions", switches.all);
        JobRequest.put(query, "details", switches.details || !switches.json.isEmpty());
        return query;
    }

    /** @param id "" if tasks of every array were asked for */
    private static int noJob(CommandContext context, String typed, String id) {
        if (id.isEmpty() || isTaskOfAnother(context, id, new SlurmException(SlurmErrno.INVALID_JOB_ID.number(), ""))) {
            return reportMissing(context, typed);
        }
        context.err().println("slurm_load_jobs error: " + SlurmErrno.INVALID_JOB_ID.sentence());
        return 1;
    }

    static int nodes(CommandContext context, ScontrolSwitches switches, String names) throws UsageException {
        List<Object> wanted = new ArrayList<>();
        if (!names.isEmpty()) {
            if (HostList.parse(NodeCalls.expanded(context, names)) instanceof HostList.Parsed.Ok ok) {
                wanted.addAll(ok.list().names());
            }
            if (wanted.isEmpty()) {
                context.err().println("Invalid node name specified");
                return 1;
            }
        }
        Json.Obj query = new Json.Obj();
        if (!wanted.isEmpty()) {
            query.put("nodes", wanted);
        }
        query.put("all", Boolean.TRUE);
        JobRequest.put(query, "shownPartitions", !switches.all && switches.json.isEmpty());
        Json.Obj reply;
        try {
            reply = context.host().controller().call("QueryNodes", query);
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.INVALID_NODE_NAME.number()) {
                return CommonOptions.reportFailure(context, "slurm_load_node error", e);
            }
            reply = new Json.Obj();
        }
        updated(context, switches, reply, reply.objects("nodes").size());
        List<Object> missing = new ArrayList<>(wanted);
        List<Json.Obj> found = new ArrayList<>();
        for (Json.Obj node : reply.objects("nodes")) {
            if (!switches.future && node.text("state").equals("FUTURE")) {
                continue;
            }
            missing.remove(node.text("name"));
            if (wanted.isEmpty() || wanted.contains(node.text("name"))) {
                found.add(node);
            }
        }
        if (!switches.json.isEmpty()) {
            return JsonOutput.print(
                    context, switches.json, switches.parser, NodesJson.nodes(JsonOutput.names(context), reply, found));
        }
        return print(context, switches, new ShowText(context, switches.oneLine, reply.number("now")), found, missing);
    }

    private static int print(
            CommandContext context,
            ScontrolSwitches switches,
            ShowText text,
            List<Json.Obj> nodes,
            List<Object> missing) {
        for (Json.Obj node : nodes) {
            context.out().println(text.node(node, switches.details));
        }
        for (Object name : missing) {
            context.out().println("Node " + name + " not found");
        }
        return missing.isEmpty() ? 0 : 1;
    }

    static int partitions(CommandContext context, ScontrolSwitches switches, String name) throws UsageException {
        Json.Obj query = new Json.Obj();
        if (!name.isEmpty()) {
            query.put("partitions", List.of(name));
        }
        JobRequest.put(query, "all", switches.all || !switches.json.isEmpty());
        Json.Obj reply;
        try {
            reply = context.host().controller().call("QueryPartitions", query);
        } catch (SlurmException e) {
            if (e.errno() != SlurmErrno.INVALID_PARTITION_NAME.number()) {
                return CommonOptions.reportFailure(context, "slurm_load_partitions error", e);
            }
            reply = new Json.Obj();
        }
        if (!switches.json.isEmpty()) {
            List<Json.Obj> all = reply.objects("partitions");
            all.removeIf(p -> !name.isEmpty() && !name.equals(p.text("name")));
            return JsonOutput.print(context, switches.json, switches.parser, NodesJson.partitions(reply, all));
        }
        updated(context, switches, reply, reply.objects("partitions").size());
        ShowText text = new ShowText(context, switches.oneLine, reply.number("now"));
        int shown = 0;
        for (Json.Obj partition : reply.objects("partitions")) {
            if (name.isEmpty() || name.equals(partition.text("name"))) {
                context.out().println(text.partition(partition));
                shown++;
            }
        }
        if (shown == 0) {
            context.out().println(name.isEmpty() ? "No partitions in the system" : "Partition " + name + " not found");
            return name.isEmpty() ? 0 : 1;
        }
        return 0;
    }

    private static final String CONTAINER_ID = "container-id=";

    /** The first step of that container. */
    private static List<Json.Obj> ofContainer(CommandContext context, String container) throws SlurmException {
        return StepRows.load(context, List.of()).stream()
                .filter(s -> s.text("containerId").equals(container))
                .limit(1)
                .toList();
    }

    private static boolean isOfKnownJob(CommandContext context, String step) {
        try {
            return JobIds.isJobOrStep(step) && JobIds.isKnown(context, step);
        } catch (SlurmException e) {
            return false;
        }
    }

    private static int stepsRefused(CommandContext context, String id, String reason) {
        context.error("scontrol_print_step: slurm_get_job_steps(" + id + ") failed: " + reason);
        return 1;
    }

    static int steps(CommandContext context, ScontrolSwitches switches, String id) throws UsageException {
        boolean ofContainer = id.regionMatches(true, 0, CONTAINER_ID, 0, CONTAINER_ID.length());
        java.util.Optional<SlurmErrno> fault =
                id.isEmpty() || ofContainer ? java.util.Optional.empty() : JobIds.fault(id);
        if (fault.isPresent()) {
            return stepsRefused(context, id, fault.get().sentence());
        }
        List<String> ids = id.isEmpty() ? List.of() : List.of(id);
        List<Json.Obj> steps;
        try {
            steps = ofContainer
                    ? ofContainer(context, id.substring(CONTAINER_ID.length()))
                    : StepRows.load(context, ids, switches.all || !id.isEmpty() || !switches.json.isEmpty());
        } catch (SlurmException e) {
            return stepsRefused(context, id, e.getMessage());
        }
        if (!switches.json.isEmpty()) {
            return JsonOutput.print(
                    context,
                    switches.json,
                    switches.parser,
                    ControlJson.steps(
                            JsonOutput.names(context).cluster(),
                            steps,
                            context.host().nowMs() / 1000));
        }
        if (steps.isEmpty() && !id.isEmpty()) {
            return noStep(context, id);
        }
        if (steps.isEmpty() && !switches.quiet) {
            context.out().println("No job steps in the system");
        }
        for (Json.Obj step : steps) {
            context.out().println(new ShowText(context, switches.oneLine, step.number("now")).step(step));
        }
        return 0;
    }

    private static int noStep(CommandContext context, String id) {
        if (!isOfKnownJob(context, id)) {
            return stepsRefused(context, id, SlurmErrno.INVALID_JOB_ID.sentence());
        }
        context.out().println("Job step " + id + (id.indexOf('.') > 0 ? "" : ".") + " not found");
        return 1;
    }

    /** The data parser's first version with a shape for slurm.conf, and the exit code with an older one. */
    private static final int CONF_SINCE = 45;

    private static final int NO_SHAPE = 244;

    static int config(CommandContext context, ScontrolSwitches switches, String key) throws UsageException {
        try {
            Json.Obj reply = context.host().controller().call("QueryConfig", new Json.Obj());
            if (!switches.json.isEmpty()) {
                JsonOutput.require(context, switches.json, switches.parser, CONF_SINCE, NO_SHAPE);
                return JsonOutput.print(
                        context,
                        switches.json,
                        switches.parser,
                        ConfJson.slurm(reply, context.host().controllers()));
            }
            List<String> lines = reply.texts("lines");
            boolean titled = !lines.isEmpty() && lines.getFirst().startsWith("Configuration data as of");
            if (!titled && key.isEmpty()) {
                context.out()
                        .println("Configuration data as of "
                                + Times.print(
                                        reply.number("now"),
                                        context.host().zone(),
                                        context.env("SLURM_TIME_FORMAT"),
                                        context.host().nowMs() / 1000));
            }
            for (String line : lines) {
                if (key.isEmpty() || line.regionMatches(true, 0, key + " ", 0, key.length() + 1)) {
                    context.out().println(line);
                }
            }
            if (key.isEmpty()) {
                context.out().println("");
                ScontrolControllers.lines(ScontrolControllers.pings(context)).forEach(context.out()::println);
            }
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_ctl_conf error", e);
        }
    }

    /** Entities that this cluster has none of, each with the sentence for "none"; the rest are mistakes. */
    static int others(CommandContext context, String entity) {
        String e = Texts.lower(entity);
        if (e.length() > 1 && "daemons".startsWith(e)) {
            return daemons(context);
        }
        if (e.length() > 1 && "federation".startsWith(e)) {
            // no topology is configured, so nothing is shown
            return 0;
        }
        context.err().println("invalid entity:" + entity + " for keyword:show ");
        return 1;
    }

    /** Nodes whose slurmd is on a host: this one if none is named. */
    static int aliases(CommandContext context, String host) {
        String wanted = host.isEmpty() ? context.host().hostName() : host;
        try {
            StringBuilder out = new StringBuilder();
            for (Json.Obj node : context.host()
                    .controller()
                    .call("QueryNodes", new Json.Obj().put("all", Boolean.TRUE))
                    .objects("nodes")) {
                if (node.text("hostname").equals(wanted)) {
                    out.append(out.isEmpty() ? "" : " ").append(node.text("name"));
                }
            }
            if (!out.isEmpty()) {
                context.out().println(out.toString());
            }
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_node error", e);
        }
    }

    /** The daemons that belong on this machine. */
    private static int daemons(CommandContext context) {
        StringBuilder out = new StringBuilder();
        String here = context.host().hostName();
        if (context.host().controllers().contains(here)) {
            out.append("slurmctld");
        }
        Json.Obj query = new Json.Obj();
        query.put("all", Boolean.TRUE);
        query.put("fields", List.of("name", "hostname"));
        try {
            for (Json.Obj node :
                    context.host().controller().call("QueryNodes", query).objects("nodes")) {
                if (here.equals(node.text("hostname")) || here.equals(node.text("name"))) {
                    out.append(out.isEmpty() ? "" : " ").append("slurmd");
                    break;
                }
            }
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_node error", e);
        }
        context.out().println(out.toString());
        return 0;
    }

    /** Prints the line of {@code -v} before the records. */
    private static void updated(CommandContext context, ScontrolSwitches switches, Json.Obj reply, int records) {
        if (switches.verbose && !switches.quiet && switches.json.isEmpty()) {
            long at = reply.has("lastUpdate") ? reply.number("lastUpdate") : reply.number("now");
            context.out().println("last_update_time=" + context.time(at) + ", records=" + records);
        }
    }
}
