package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.SlurmdMessages;
import dev.muster.model.format.HostList;
import dev.muster.model.job.StepId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Runs {@code srun --no-allocate}: root and SlurmUser run tasks on named nodes, past slurmctld and its queue. */
final class SrunDirect {
    private static final int MINUTE_S = 60;
    private static final int RUN_BITS = (1 << 28) - 1;

    private final CommandContext context;
    private final JobOptions options;

    SrunDirect(CommandContext context, JobOptions options) {
        this.context = context;
        this.options = options;
    }

    static boolean is(int jobId) {
        return jobId >= SlurmdMessages.UNALLOCATED_FIRST;
    }

    int run(List<String> named) throws SlurmException, UsageException {
        if (!options.has(JobOption.NODELIST)) {
            throw context.bad(options.exitError(1), "must specify a node list with -Z, --no-allocate.");
        }
        for (JobOption other : List.of(JobOption.ASYNC, JobOption.TEST_ONLY, JobOption.CONTAINER)) {
            if (options.has(other)) {
                throw context.bad(
                        options.exitError(1),
                        "--" + other.longName + " is not for --no-allocate in this version of Muster");
            }
        }
        context.host().needsOwnProcess();
        if (!options.has(JobOption.QUIET)) {
            context.info("do not allocate resources");
        }
        List<Json.Obj> nodes = nodes();
        int tasks = (int) Math.max(nodes.size(), options.number(JobOption.NTASKS));
        // the copying of a program is a run of its own, of the same command
        int run =
                Integer.parseUnsignedInt(context.host().requestId().substring(0, 7), 16) ^ named.hashCode() & RUN_BITS;
        int jobId = SlurmdMessages.UNALLOCATED_FIRST | run;
        Optional<List<String>> sent = Bcast.sent(
                context,
                options,
                named,
                jobId,
                List.of("--no-allocation", "--nodelist=" + options.text(JobOption.NODELIST)));
        if (sent.isEmpty()) {
            return options.exitError(1);
        }
        List<String> program = sent.get();
        int stepId = run & StepId.NUMBER_MAX;
        options.set(JobOption.NTASKS, Integer.toString(tasks), JobOptions.Origin.COMMAND_LINE);
        Json.Obj step = new StepRequest(options, program, true, List.of())
                .describe(new StepFiles.Names(
                        jobId,
                        Integer.toString(stepId),
                        Texts.baseName(program.getFirst()),
                        context.host().userName(context.host().uid()),
                        "",
                        ""));
        Json.Obj started = new Json.Obj()
                .put("attempt", 1L)
                .put("stepId", (long) stepId)
                .put("ioToken", context.host().requestId())
                .put("tasks", (long) tasks)
                .put("shares", shares(nodes, tasks));
        String names =
                HostList.of(nodes.stream().map(n -> n.text("name")).toList()).compressed();
        Json.Obj allocation = new Json.Obj()
                .put("jobId", (long) jobId)
                .put("nodes", names)
                .put("name", step.text("name"))
                .put("userName", context.host().userName(context.host().uid()));
        StepSignals signals = StepSignals.begin(context, options);
        return launched(step, jobId, started, names)
                ? StepFollower.follow(context, options, program, allocation, started, signals, false)
                : options.exitError(1);
    }

    private boolean launched(Json.Obj step, int jobId, Json.Obj started, String names) {
        List<Json.Obj> shares = started.objects("shares");
        for (int i = 0; i < shares.size(); i++) {
            Json.Obj share = shares.get(i);
            Json.Obj query = new Json.Obj()
                    .put("jobId", (long) jobId)
                    .put("stepId", started.number("stepId"))
                    .put("step", step)
                    .put("ranks", share.list("taskIds"))
                    .put("nodeIndex", (long) i)
                    .put("stepNodes", (long) shares.size())
                    .put("stepTasks", started.number("tasks"))
                    .put("nodeList", names)
                    .put("ioToken", started.text("ioToken"))
                    .put("limitS", Math.max(0, options.number(JobOption.TIME)) * MINUTE_S);
            try {
                context.host().callNode(share.text("address"), share.integer("port"), "RunUnallocated", query);
            } catch (SlurmException e) {
                context.error("Task launch for StepId=" + jobId + "." + started.number("stepId") + " failed on node "
                        + share.text("node") + ": " + e.getMessage());
                context.error("Application launch failed: " + e.getMessage());
                context.info("Job step aborted");
                signal(context, jobId, started, Signals.KILL);
                return false;
            }
        }
        return true;
    }

    /** Sends a signal to each node of the step and reports nodes that do not answer. */
    static void signal(CommandContext context, int jobId, Json.Obj started, int signal) {
        Json.Obj query = new Json.Obj()
                .put("jobId", (long) jobId)
                .put("stepId", started.number("stepId"))
                .put("signal", (long) signal);
        for (Json.Obj share : started.objects("shares")) {
            try {
                context.host().callNode(share.text("address"), share.integer("port"), "SignalUnallocated", query);
            } catch (SlurmException e) {
                context.error(
                        "Unable to signal StepId=" + jobId + "." + started.number("stepId") + ": " + e.getMessage());
            }
        }
    }

    /** Returns the nodes in the order in which they were named. */
    private List<Json.Obj> nodes() throws SlurmException, UsageException {
        List<String> wanted = HostList.parse(options.text(JobOption.NODELIST)) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : List.of();
        Map<String, Json.Obj> known = new TreeMap<>();
        Json.Obj query = new Json.Obj().put("all", Boolean.TRUE).put("fields", List.of("name", "address", "port"));
        context.host()
                .controller()
                .call("QueryNodes", query)
                .objects("nodes")
                .forEach(n -> known.put(n.text("name"), n));
        List<Json.Obj> out = new ArrayList<>();
        for (String name : wanted) {
            if (!known.containsKey(name)) {
                throw context.bad(options.exitError(1), SlurmErrno.INVALID_NODE_NAME.sentence() + ": " + name);
            }
            out.add(known.get(name));
        }
        if (out.isEmpty()) {
            throw context.bad(options.exitError(1), "Invalid node list: " + options.text(JobOption.NODELIST));
        }
        return out;
    }

    /** Ranks go on from node to node, as evenly as they can. */
    static List<Object> shares(List<Json.Obj> nodes, int tasks) {
        List<Object> out = new ArrayList<>();
        long next = 0;
        for (int i = 0; i < nodes.size(); i++) {
            int here = tasks / nodes.size() + (i < tasks % nodes.size() ? 1 : 0);
            List<Object> ranks = new ArrayList<>();
            for (int k = 0; k < here; k++) {
                ranks.add(next++);
            }
            out.add(new Json.Obj()
                    .put("node", nodes.get(i).text("name"))
                    .put("address", nodes.get(i).text("address"))
                    .put("port", nodes.get(i).number("port"))
                    .put("taskIds", ranks));
        }
        return out;
    }
}
