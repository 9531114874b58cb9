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

    private static final class Wanted {
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
    public int run(CommandContext c) throws SlurmException, UsageException {
        try {
            return attach(c);
        } catch (UsageException e) {
            throw e.exitCode() == 1 ? new UsageException(c.exitError(1), e.lines()) : e;
        }
    }

    private int attach(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = new Wanted();
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "<jobid.stepid>", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "label" -> w.label = true;
                case "layout" -> w.layout = true;
                case "quiet" -> w.quiet = true;
                case "verbose" -> w.verbose++;
                case "output-filter" -> w.outputTask = filter(c, h.value());
                case "input-filter" -> w.inputTask = filter(c, h.value());
                case "error-filter" -> w.errorTask = filter(c, h.value());
                default -> throw c.bad(1, "--" + h.opt().name() + " is not supported by this cluster");
            }
        }
        if (p.operands().size() != 1) {
            c.out().println("Usage: sattach [options] <jobid.stepid>");
            throw c.bad(1, "too many parameters");
        }
        String id = p.operands().getFirst();
        JobIds.check(c, id, 1);
        if (id.indexOf('.') < 0) {
            c.out().println("Usage: sattach [options] <jobid.stepid>");
            throw c.bad(1, "Failed to parse stepid from command line options");
        }
        if (w.verbose > 0) {
            c.info("defined options");
            c.info("-------------------- --------------------");
            c.info("verbose             : " + w.verbose);
            c.info("-------------------- --------------------");
            c.info("end of defined options");
        }
        int dot = id.indexOf('.');
        String step = id.substring(dot + 1);
        if (step.equals("batch") || step.equals("extern")) {
            throw c.bad(1, "Cannot be used with extern or batch steps");
        }
        return attach(c, w, JobIds.resolve(c, id.substring(0, dot)) + id.substring(dot));
    }

    private static int filter(CommandContext c, String v) throws UsageException {
        if (v.equals("all")) {
            return IoFrame.ALL_TASKS;
        }
        if (!Texts.isNumber(v)) {
            throw c.bad(1, "Invalid task number: " + v);
        }
        return Integer.parseInt(v);
    }

    private static boolean isPending(CommandContext c, String step) {
        try {
            int number = JobIds.resolve(c, step.indexOf('.') < 0 ? step : step.substring(0, step.indexOf('.')));
            return number > 0
                    && AllocationClient.isPending(
                            c.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", (long) number)));
        } catch (SlurmException e) {
            return false;
        }
    }

    private static int attach(CommandContext c, Wanted w, String id) throws SlurmException {
        List<Json.Obj> steps = StepRows.load(c, List.of(id));
        if (steps.isEmpty()) {
            SlurmErrno why = isPending(c, id) ? SlurmErrno.JOB_PENDING : SlurmErrno.INVALID_JOB_ID;
            c.error("Could not get job step info: " + why.sentence());
            return c.exitError(1);
        }
        List<String> names = new ArrayList<>();
        steps.forEach(s -> names.addAll(nodes(s)));
        int tasks = Math.max(1, steps.stream().mapToInt(s -> s.integer("tasks")).sum());
        if (w.layout) {
            c.out().println("Job step layout:");
            c.out()
                    .println("\t" + tasks + " tasks, " + names.size() + " nodes ("
                            + HostList.of(names).compressed() + ")\n");
            List<String> ranks =
                    steps.stream().flatMap(s -> s.texts("nodeTasks").stream()).toList();
            for (int i = 0; i < Math.min(names.size(), ranks.size()); i++) {
                c.out().println("\tNode " + i + " (" + names.get(i) + "), " + onNode(ranks.get(i)));
            }
            return 0;
        }
        StepRun run = new StepRun(
                c,
                new StepRun.Settings(false, 0, 0, w.quiet, w.verbose, true, true, false, LaunchTree.WIDTH_MAX),
                id,
                new TaskOutput(c.out(), w.label, false, tasks),
                new TaskOutput(c.err(), w.label, false, tasks));
        run.onlyTasks(w.outputTask, w.errorTask);
        for (Json.Obj step : steps) {
            Json.Obj attach = new Json.Obj();
            attach.put("type", "IoAttach");
            attach.put("jobId", step.number("jobId"));
            attach.put("stepId", (long) StepId.parse(step.text("stepId")).orElse(-1));
            attach.put("observer", Boolean.TRUE);
            run.connect(places(c, nodes(step)), attach, java.util.Map.of());
        }
        c.host().onSignal("INT", run::abandon);
        c.host().onSignal("TERM", run::abandon);
        c.host().startBackground("stdin", () -> input(c, run.nodes(), w.inputTask));
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
            case HostList.Parsed.Invalid bad -> List.of();
        };
    }

    /** Adds what is typed here to the tasks' input, and ends that at the end of this input. */
    private static void input(CommandContext c, List<StepNode> nodes, int task) {
        byte[] buffer = new byte[INPUT_BYTES];
        if (c.host().isTty(0)) {
            // reading a terminal from its background fails then instead of stopping sattach
            c.host().ignoreSignal("TTIN");
        }
        boolean open = true;
        while (open && nodes.stream().anyMatch(n -> !n.isComplete())) {
            int n = 0;
            try {
                n = c.in().read(buffer);
            } catch (IOException e) {
                if (!c.host().inBackground() || !c.host().pause(PAUSE_MS)) {
                    n = -1;
                }
            }
            open = n >= 0;
            if (n != 0) {
                IoFrame frame = open
                        ? new IoFrame('J', task, 0, 0, java.util.Arrays.copyOf(buffer, n))
                        : IoFrame.of('j', task, 0, 0);
                nodes.forEach(node -> send(c, node, frame));
            }
        }
    }

    /** Waits while the node is being connected to. */
    private static void send(CommandContext c, StepNode node, IoFrame frame) {
        while (!node.isComplete() && !node.send(frame)) {
            if (!c.host().pause(PAUSE_MS)) {
                return;
            }
        }
    }

    /** The addresses of the step's nodes; which task runs where, the streams tell. */
    private static List<Json.Obj> places(CommandContext c, List<String> names) throws SlurmException {
        Json.Obj q = new Json.Obj();
        q.put("nodes", new ArrayList<Object>(names));
        q.put("fields", List.of("name", "address", "port"));
        List<Json.Obj> out = new ArrayList<>();
        for (Json.Obj n : c.host().controller().call("QueryNodes", q).objects("nodes")) {
            if (names.contains(n.text("name"))) {
                out.add(new Json.Obj()
                        .put("node", n.text("name"))
                        .put("address", n.text("address"))
                        .put("port", n.number("port"))
                        .put("taskIds", new ArrayList<Object>()));
            }
        }
        return out;
    }
}
