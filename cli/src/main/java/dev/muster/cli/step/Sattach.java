package dev.muster.cli.step;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.StepRows;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.submit.AllocationClient;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.StepId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Runs sattach, which shows the output of a running step. */
public final class Sattach implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "error-filter::r",
            "help:h:n",
            "input-filter::r",
            "label:l:n",
            "layout::n",
            "output-filter::r",
            "pty::n",
            "quiet:Q:n",
            "usage::n",
            "verbose:v:n",
            "version:V:n");

    private static final int INPUT_BYTES = 16 << 10;
    private static final int PAUSE_MS = 20;

    private static final class Options {
        boolean label;
        boolean quiet;
        boolean layout;
        int verbose;
        /** The task that sends output, or {@link IoFrame#ALL_TASKS}. */
        int outputTask = IoFrame.ALL_TASKS;

        int errorTask = IoFrame.ALL_TASKS;
        /** The one task that gets the input, or {@link IoFrame#ALL_TASKS}. */
        int inputTask = IoFrame.ALL_TASKS;
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        try {
            return attach(context);
        } catch (UsageException e) {
            throw e.exitCode() == 1 ? new UsageException(context.exitError(1), e.lines()) : e;
        }
    }

    private int attach(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = new Options();
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "<jobid.stepid>", hit)) {
                return 0;
            }
            switch (hit.opt().name()) {
                case "label" -> options.label = true;
                case "layout" -> options.layout = true;
                case "quiet" -> options.quiet = true;
                case "verbose" -> options.verbose++;
                case "output-filter" -> options.outputTask = filter(context, hit.value());
                case "input-filter" -> options.inputTask = filter(context, hit.value());
                case "error-filter" -> options.errorTask = filter(context, hit.value());
                default -> throw context.bad(1, "--" + hit.opt().name() + " is not supported by this cluster");
            }
        }
        if (parsed.operands().size() != 1) {
            context.out().println("Usage: sattach [options] <jobid.stepid>");
            throw context.bad(1, "too many parameters");
        }
        String id = parsed.operands().getFirst();
        JobIds.check(context, id, 1);
        if (id.indexOf('.') < 0) {
            context.out().println("Usage: sattach [options] <jobid.stepid>");
            throw context.bad(1, "Failed to parse stepid from command line options");
        }
        if (options.verbose > 0) {
            context.info("defined options");
            context.info("-------------------- --------------------");
            context.info("verbose             : " + options.verbose);
            context.info("-------------------- --------------------");
            context.info("end of defined options");
        }
        int dot = id.indexOf('.');
        String step = id.substring(dot + 1);
        if (step.equals("batch") || step.equals("extern")) {
            throw context.bad(1, "Cannot be used with extern or batch steps");
        }
        return attach(context, options, JobIds.resolve(context, id.substring(0, dot)) + id.substring(dot));
    }

    private static int filter(CommandContext context, String value) throws UsageException {
        if (value.equals("all")) {
            return IoFrame.ALL_TASKS;
        }
        if (!Texts.isNumber(value)) {
            throw context.bad(1, "Invalid task number: " + value);
        }
        return Integer.parseInt(value);
    }

    private static boolean isPending(CommandContext context, String step) {
        try {
            int number = JobIds.resolve(context, step.indexOf('.') < 0 ? step : step.substring(0, step.indexOf('.')));
            return number > 0
                    && AllocationClient.isPending(
                            context.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", (long)
                                            number)));
        } catch (SlurmException e) {
            return false;
        }
    }

    private static int attach(CommandContext context, Options options, String id) throws SlurmException {
        List<Json.Obj> steps = StepRows.load(context, List.of(id));
        if (steps.isEmpty()) {
            SlurmErrno errno = isPending(context, id) ? SlurmErrno.JOB_PENDING : SlurmErrno.INVALID_JOB_ID;
            context.error("Could not get job step info: " + errno.sentence());
            return context.exitError(1);
        }
        List<String> names = new ArrayList<>();
        steps.forEach(s -> names.addAll(nodes(s)));
        int tasks = Math.max(1, steps.stream().mapToInt(s -> s.integer("tasks")).sum());
        if (options.layout) {
            context.out().println("Job step layout:");
            context.out()
                    .println("\t" + tasks + " tasks, " + names.size() + " nodes ("
                            + HostList.of(names).compressed() + ")\n");
            List<String> ranks =
                    steps.stream().flatMap(s -> s.texts("nodeTasks").stream()).toList();
            for (int i = 0; i < Math.min(names.size(), ranks.size()); i++) {
                context.out().println("\tNode " + i + " (" + names.get(i) + "), " + onNode(ranks.get(i)));
            }
            return 0;
        }
        StepRun run = new StepRun(
                context,
                new StepRun.Settings(
                        false, 0, 0, options.quiet, options.verbose, true, true, false, LaunchTree.WIDTH_MAX),
                id,
                new TaskOutput(context.out(), options.label, false, tasks),
                new TaskOutput(context.err(), options.label, false, tasks));
        run.onlyTasks(options.outputTask, options.errorTask);
        for (Json.Obj step : steps) {
            Json.Obj attach = new Json.Obj();
            attach.put("type", "IoAttach");
            attach.put("jobId", step.number("jobId"));
            attach.put("stepId", (long) StepId.parse(step.text("stepId")).orElse(-1));
            attach.put("observer", Boolean.TRUE);
            run.connect(places(context, nodes(step)), attach, java.util.Map.of());
        }
        context.host().onSignal("INT", run::abandon);
        context.host().onSignal("TERM", run::abandon);
        context.host().startBackground("stdin", () -> input(context, run.nodes(), options.inputTask));
        return run.await();
    }

    /** {@code 2 task(s): 0 1 }; a batch script is one. */
    private static String onNode(String ranks) {
        IndexSet tasks = ranks.isEmpty() ? IndexSet.of(0) : IndexSet.parse(ranks);
        StringBuilder out = new StringBuilder().append(tasks.count()).append(" task(s): ");
        for (int t = tasks.first(); t >= 0; t = tasks.next(t + 1)) {
            out.append(t).append(' ');
        }
        return out.toString();
    }

    private static List<String> nodes(Json.Obj step) {
        return switch (HostList.parse(step.text("nodes"))) {
            case HostList.Parsed.Ok ok -> ok.list().names();
            case HostList.Parsed.Invalid invalid -> List.of();
        };
    }

    /** Adds what is typed here to the tasks' input, and ends that at the end of this input. */
    private static void input(CommandContext context, List<StepNode> nodes, int task) {
        byte[] buffer = new byte[INPUT_BYTES];
        if (context.host().isTty(0)) {
            // reading a terminal from its background fails then instead of stopping sattach
            context.host().ignoreSignal("TTIN");
        }
        boolean open = true;
        while (open && nodes.stream().anyMatch(n -> !n.isComplete())) {
            int n = 0;
            try {
                n = context.in().read(buffer);
            } catch (IOException e) {
                if (!context.host().inBackground() || !context.host().pause(PAUSE_MS)) {
                    n = -1;
                }
            }
            open = n >= 0;
            if (n != 0) {
                IoFrame frame = open
                        ? new IoFrame('J', task, 0, 0, java.util.Arrays.copyOf(buffer, n))
                        : IoFrame.of('j', task, 0, 0);
                nodes.forEach(node -> send(context, node, frame));
            }
        }
    }

    /** Waits while the node is being connected to. */
    private static void send(CommandContext context, StepNode node, IoFrame frame) {
        while (!node.isComplete() && !node.send(frame)) {
            if (!context.host().pause(PAUSE_MS)) {
                return;
            }
        }
    }

    /** The addresses of the step's nodes; which task runs where, the streams tell. */
    private static List<Json.Obj> places(CommandContext context, List<String> names) throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("nodes", new ArrayList<Object>(names));
        query.put("fields", List.of("name", "address", "port"));
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj node :
                context.host().controller().call("QueryNodes", query).objects("nodes")) {
            if (names.contains(node.text("name"))) {
                out.add(new Json.Obj()
                        .put("node", node.text("name"))
                        .put("address", node.text("address"))
                        .put("port", node.number("port"))
                        .put("taskIds", new ArrayList<Object>()));
            }
        }
        return out;
    }
}
