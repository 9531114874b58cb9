package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.PageLink;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Runs {@code muster}. {@code report JOB…} compares requested and used resources; {@code why JOB…} explains why jobs
 * wait; {@code plan} shows which jobs get which nodes when; {@code watch [JOB…]} and {@code top} follow events;
 * {@code page} prints the page's address.
 */
public final class MusterCommand extends Wrapper {
    /** Exit code where a job is not known. */
    private static final int NOT_FOUND = 1;

    private static final int FIRST = 8;
    private static final String LIST = """
        Usage: muster COMMAND
          report JOB...   what jobs requested and used
          why JOB...      why jobs wait, and when they are planned to start
          plan            which jobs have which nodes when
          watch [JOB...]  changes of jobs and nodes, as they happen
          top             nodes and jobs on the terminal
          page [ADDRESS]  a link to the cluster's page
        "man muster" says more.\
        """;
    private static final int WIDTH = 14;

    public MusterCommand(CommandRunner runner) {
        super(
                runner,
                "report job_id... | why job_id... | plan | watch [job_id...] | top | page [address]",
                "hours::r",
                "json::n",
                "partition::r");
    }

    @Override
    String versionLine() {
        return "muster " + Release.OWN + ", in place of " + Release.LINE;
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws UsageException, SlurmException {
        if (arguments.operands().isEmpty()) {
            throw new UsageException(MISTAKE, List.of(LIST));
        }
        String subcommand = arguments.operands().getFirst();
        List<String> operands =
                arguments.operands().subList(1, arguments.operands().size());
        for (String option : List.of("hours", "partition", "json")) {
            if (arguments.has(option)
                    && !subcommand.equals("plan")
                    && !(subcommand.equals("why") && option.equals("json"))) {
                throw misused(context, "muster: error: " + subcommand + " has no option -" + option);
            }
        }
        return switch (subcommand) {
            case "why" -> {
                if (operands.isEmpty()) {
                    throw misused(context, "muster: error: a job has to be named");
                }
                yield new PlanCommand(context).why(operands, arguments.has("json"));
            }
            case "plan" -> {
                if (!operands.isEmpty()) {
                    throw misused(context, "muster: error: plan takes no operands");
                }
                yield new PlanCommand(context)
                        .plan(arguments.value("hours"), arguments.value("partition"), arguments.has("json"));
            }
            case "report" -> reports(context, arguments);
            case "watch" -> watcher(context).watch(operands);
            case "top" -> {
                if (!operands.isEmpty()) {
                    throw misused(context, "muster: error: top takes no operands");
                }
                yield watcher(context).top();
            }
            case "page" -> {
                if (operands.size() > 1) {
                    throw misused(context, "muster: error: page takes one address");
                }
                yield PageLink.print(context, operands.isEmpty() ? "" : operands.getFirst());
            }
            default ->
                throw misused(
                        context,
                        "muster: error: " + arguments.operands().getFirst()
                                + " is not one of its commands; there are: report, why, plan, watch, top, page");
        };
    }

    /** Makes a watcher in the caller's own process: it may run for days. */
    private static WatchCommand watcher(CommandContext context) {
        context.host().needsOwnProcess();
        return new WatchCommand(context);
    }

    private int reports(CommandContext context, ParsedArguments arguments) throws UsageException {
        if (arguments.operands().size() < 2) {
            throw misused(context, "muster: error: a job has to be named");
        }
        int rc = 0;
        boolean first = true;
        for (String id : arguments.operands().subList(1, arguments.operands().size())) {
            List<List<String[]>> jobs = byJob(Efficiency.records(this, context, id));
            for (List<String[]> job : jobs) {
                context.out().print(first ? "" : "\n");
                first = false;
                report(context, Efficiency.of(job).orElseThrow());
            }
            if (jobs.isEmpty()) {
                context.err().println("muster: error: " + id + ": no such job in accounting");
                rc = NOT_FOUND;
            }
        }
        return rc;
    }

    /** Tasks of an array and components come as jobs of their own. */
    private static List<List<String[]>> byJob(List<String[]> records) {
        List<List<String[]>> out = new ArrayList<>();
        String last = "";
        for (String[] r : records) {
            String raw = r[0].replaceFirst("\\..*", "");
            if (!raw.equals(last)) {
                out.add(new ArrayList<>());
            }
            last = raw;
            out.getLast().add(r);
        }
        return out;
    }

    private static void report(CommandContext context, Efficiency efficiency) {
        context.out()
                .println("Job " + efficiency.shownId() + " of " + efficiency.user() + " on " + efficiency.cluster()
                        + ": " + efficiency.state()
                        + (List.of("PENDING", "RUNNING").contains(efficiency.state())
                                ? ""
                                : ", exit code " + efficiency.exit()));
        if (efficiency.state().equals("PENDING")) {
            context.out().println("It has not run yet.");
            return;
        }
        if (efficiency.cores() == 0) {
            context.out().println("It never ran.");
            return;
        }
        line(context, "", "requested", "used", "");
        line(
                context,
                "CPU",
                Efficiency.clock(efficiency.core()),
                Efficiency.clock(Math.round(efficiency.cpu())),
                Efficiency.percent(efficiency.cpu(), (double) efficiency.core()));
        line(
                context,
                "Memory",
                Efficiency.amount(efficiency.given()),
                (efficiency.estimated() ? "~" : "") + Efficiency.amount(efficiency.memory()),
                efficiency.given() > 0 ? Efficiency.percent(efficiency.memory(), efficiency.given()) : "");
        if (efficiency.gpus() > 0) {
            line(
                    context,
                    "GPU",
                    Efficiency.clock(efficiency.gpuTime()),
                    efficiency.gpuUsed() < 0 ? "not measured" : Efficiency.clock(Math.round(efficiency.gpuUsed())),
                    efficiency.gpuUsed() < 0
                            ? ""
                            : Efficiency.percent(efficiency.gpuUsed(), (double) efficiency.gpuTime()));
        }
        line(
                context,
                "Time",
                efficiency.limit() < 0 ? "unlimited" : Efficiency.clock(efficiency.limit()),
                Efficiency.clock(efficiency.wall()),
                efficiency.limit() > 0
                        ? Efficiency.percent((double) efficiency.wall(), (double) efficiency.limit())
                        : "");
        context.out().println(sentence(efficiency));
    }

    private static void line(CommandContext context, String resource, String requested, String used, String part) {
        context.out()
                .println((left(resource, FIRST) + right(requested, WIDTH) + right(used, WIDTH) + right(part, WIDTH - 2))
                        .stripTrailing());
    }

    private static String sentence(Efficiency efficiency) {
        Optional<String> gpus;
        if (efficiency.gpus() == 0) {
            gpus = Optional.empty();
        } else {
            gpus = Optional.of(efficiency.gpus() + (efficiency.gpus() == 1 ? " GPU" : " GPUs"));
        }

        return "It had " + efficiency.cores() + (efficiency.cores() == 1 ? " CPU" : " CPUs")
                + gpus.map(g -> " and " + g).orElse("") + " on " + efficiency.nodes()
                + (efficiency.nodes() == 1 ? " node" : " nodes")
                + (efficiency.state().equals("RUNNING") ? ", and runs on." : ".");
    }
}
