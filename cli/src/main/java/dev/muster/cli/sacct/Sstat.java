package dev.muster.cli.sacct;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.shape.SacctJson;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.job.StepId;
import dev.muster.model.job.UsageSample;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Runs sstat, which shows the current usage of running steps. It asks their nodes. */
public final class Sstat implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "allsteps:a:n",
            "helpformat:e:n",
            "pidformat:i:n",
            "jobs:j:r",
            "noheader:n:n",
            "noconvert::n",
            "format:o:r",
            "fields:o:r",
            "parsable:p:n",
            "parsable2:P:n",
            "verbose:v:n",
            "version:V:n",
            "help:h:n",
            "usage::n");
    private static final String PIDS = "JobID,Nodelist,Pids";

    private static final class Options {
        boolean all;
        boolean noHeader;
        boolean noConvert;
        boolean verbose;
        String format = "";
        String delimiter = "";
        boolean trailing;
        final List<String> steps = new ArrayList<>();
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = new Options();
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "version" -> {
                    context.out().println(Release.LINE);
                    return 0;
                }
                case "help" -> {
                    help(context);
                    return 0;
                }
                case "usage" -> {
                    context.out().println("Usage: sstat [options] -j <job(.stepid)>\n\tUse --help for help");
                    return 0;
                }
                case "helpformat" -> {
                    SstatField.list(context);
                    return 0;
                }
                case "allsteps" -> options.all = true;
                case "pidformat" -> options.format = PIDS;
                case "jobs" -> options.steps.addAll(Texts.split(hit.value(), ','));
                case "noheader" -> options.noHeader = true;
                case "noconvert" -> options.noConvert = true;
                case "format", "fields" -> options.format = hit.value();
                case "parsable" -> {
                    options.delimiter = "|";
                    options.trailing = true;
                }
                case "parsable2" -> options.delimiter = "|";
                case "verbose" -> options.verbose = true;
                default -> throw new IllegalStateException(hit.opt().name());
            }
        }
        for (String operand : parsed.operands()) {
            options.steps.addAll(Texts.split(operand, ','));
        }
        if (options.steps.isEmpty()) {
            throw context.bad(1, "You didn't give me any jobs to stat.");
        }
        for (String step : options.steps) {
            if (JobIds.fault(step).isPresent()) {
                throw new UsageException(1, List.of("sstat: fatal: " + JobIds.objection(step)));
            }
        }
        List<SstatField.Column> columns =
                SstatField.columns(context, options.format.isEmpty() ? SstatField.STANDARD : options.format);
        return show(context, options, columns);
    }

    private static void help(CommandContext context) {
        context.out().println("sstat [<OPTION>] -j <job(.stepid)>\n    Valid <OPTION> values are:");
        for (GetOpt.Opt option : OPTIONS) {
            String letter = option.letter() == 0 ? "" : "-" + option.letter() + ", ";
            context.out().println("      " + letter + "--" + option.name() + ":");
        }
        context.out()
                .println("    A step is named job.step; without a step the lowest numbered one of the job is "
                        + "meant, with -a all of them.");
    }

    private static int show(CommandContext context, Options options, List<SstatField.Column> columns)
            throws SlurmException {
        if (!options.noHeader) {
            SstatField.header(context, columns, options.delimiter, options.trailing);
        }
        for (String name : options.steps) {
            int dot = name.indexOf('.');
            String job = dot < 0 ? name : name.substring(0, dot);
            String step = dot < 0 ? "" : name.substring(dot + 1);
            Optional<List<Json.Obj>> running = running(context, job);
            if (running.isEmpty()) {
                context.error("couldn't get steps for JobId=" + job);
                continue;
            }
            List<Json.Obj> matching = selectedSteps(running.get(), step, options.all);
            if (running.get().isEmpty()) {
                context.error("No steps running for JobId=" + job);
            } else if (matching.isEmpty() && !step.isEmpty()) {
                context.error("StepId=" + name + " not found running.");
            }
            for (Json.Obj one : matching) {
                if (options.verbose) {
                    context.info("StepId=" + job + "." + one.text("stepId") + " runs on " + one.text("nodes"));
                }
                if (isForeign(context, one)) {
                    context.error("problem getting step_layout for StepId=" + one.number("jobId") + "."
                            + one.text("stepId") + ": Invalid user id");
                    continue;
                }
                SstatField.row(
                        context,
                        columns,
                        one,
                        usage(context, one),
                        options.delimiter,
                        options.trailing,
                        options.noConvert);
            }
        }
        return 0;
    }

    /** Empty for a job that is not known. */
    private static Optional<List<Json.Obj>> running(CommandContext context, String job) throws SlurmException {
        int id = JobIds.resolve(context, job);
        if (id <= 0) {
            return Optional.empty();
        }
        Json.Obj query = new Json.Obj();
        query.put("jobIds", List.of((long) id));
        Json.Obj known = new Json.Obj();
        known.put("jobs", List.of(job));
        known.put("allStates", Boolean.TRUE);
        known.put("allPartitions", Boolean.TRUE);
        known.put("fields", List.of("jobId"));
        try {
            context.host().controller().call("QueryJobs", known);
        } catch (SlurmException e) {
            if (e.errno() == SlurmErrno.INVALID_JOB_ID.number()) {
                return Optional.empty();
            }
            throw e;
        }
        return Optional.of(context.host().controller().call("QuerySteps", query).objects("steps"));
    }

    /** Whether the nodes refuse to describe the step: they answer its user, root and SlurmUser alone. */
    private static boolean isForeign(CommandContext context, Json.Obj step) {
        int me = context.host().uid();
        return me != 0
                && me != step.integer("userId")
                && !context.host().userName(me).equals(context.host().slurmUser());
    }

    /** The step named, all, or the lowest numbered one; of a heterogeneous step all components. */
    private static List<Json.Obj> selectedSteps(List<Json.Obj> running, String step, boolean all) {
        OptionalInt lowest = running.stream()
                .mapToInt(Sstat::id)
                .filter(id -> id >= 0)
                .map(StepId::number)
                .min();
        OptionalInt wanted = step.isEmpty() ? lowest : StepId.parse(step);
        return running.stream()
                .filter(s -> step.isEmpty() && all || wanted.isPresent() && StepId.means(wanted.getAsInt(), id(s)))
                .toList();
    }

    private static int id(Json.Obj step) {
        return StepId.parse(step.text("stepId")).orElse(Integer.MIN_VALUE);
    }

    /** The step's tasks with their nodes, from all nodes that answer. */
    private static List<Json.Obj> usage(CommandContext context, Json.Obj step) throws SlurmException {
        Map<String, Json.Obj> nodes = new HashMap<>();
        Json.Obj all = new Json.Obj();
        all.put("all", Boolean.TRUE);
        all.put("fields", List.of("name", "address", "port"));
        context.host().controller().call("QueryNodes", all).objects("nodes").forEach(n -> nodes.put(n.text("name"), n));
        Json.Obj query = new Json.Obj();
        query.put("jobId", step.number("jobId"));
        List<Json.Obj> out = new ArrayList<>();
        List<String> names = HostList.parse(step.text("nodes")) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : List.of();
        for (String name : names) {
            Json.Obj node = nodes.get(name);
            if (node == null) {
                continue;
            }
            try {
                Json.Obj reply =
                        context.host().callNode(node.text("address"), node.integer("port"), "QueryProcesses", query);
                for (Json.Obj row : reply.objects("steps")) {
                    if (row.integer("jobId") == step.integer("jobId")
                            && SacctJson.stepName(row).equals(step.text("stepId"))) {
                        row.objects("tasks").forEach(t -> out.add(t.put("node", name)));
                        for (String meter : List.of("energyJ", "netInBytes", "netOutBytes")) {
                            step.put(meter, step.number(meter) + row.number(meter));
                        }
                        UsageSample more = Codec.bind(row.obj("metered"), UsageSample.class);
                        step.put(
                                "metered",
                                UsageSample.parse(step.text("metered"))
                                        .and(more)
                                        .text());
                    }
                }
            } catch (SlurmException e) {
                String reason = e.errno() == SlurmErrno.CTLD_CONNECT.number() ? "no answer" : e.getMessage();
                context.error("problem getting step_layout for StepId=" + step.integer("jobId") + "."
                        + step.text("stepId") + " on " + name + ": " + reason);
            }
        }
        return out;
    }
}
