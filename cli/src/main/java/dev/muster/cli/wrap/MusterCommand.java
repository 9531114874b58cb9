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
            "man muster" says more.""";
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
    int go(CommandContext c, ParsedArguments g) throws UsageException, SlurmException {
        if (g.operands().isEmpty()) {
            throw new UsageException(MISTAKE, List.of(LIST));
        }
        String what = g.operands().getFirst();
        List<String> rest = g.operands().subList(1, g.operands().size());
        for (String option : List.of("hours", "partition", "json")) {
            if (g.has(option) && !what.equals("plan") && !(what.equals("why") && option.equals("json"))) {
                throw misused(c, "muster: error: " + what + " has no option -" + option);
            }
        }
        return switch (what) {
            case "why" -> {
                if (rest.isEmpty()) {
                    throw misused(c, "muster: error: a job has to be named");
                }
                yield new PlanCommand(c).why(rest, g.has("json"));
            }
            case "plan" -> {
                if (!rest.isEmpty()) {
                    throw misused(c, "muster: error: plan takes no operands");
                }
                yield new PlanCommand(c).plan(g.value("hours"), g.value("partition"), g.has("json"));
            }
            case "report" -> reports(c, g);
            case "watch" -> watcher(c).watch(rest);
            case "top" -> {
                if (!rest.isEmpty()) {
                    throw misused(c, "muster: error: top takes no operands");
                }
                yield watcher(c).top();
            }
            case "page" -> {
                if (rest.size() > 1) {
                    throw misused(c, "muster: error: page takes one address");
                }
                yield PageLink.print(c, rest.isEmpty() ? "" : rest.getFirst());
            }
            default ->
                throw misused(
                        c,
                        "muster: error: " + g.operands().getFirst()
                                + " is not one of its commands; there are: report, why, plan, watch, top, page");
        };
    }

    /** Makes a watcher in the caller's own process: it may run for days. */
    private static WatchCommand watcher(CommandContext c) {
        c.host().needsOwnProcess();
        return new WatchCommand(c);
    }

    private int reports(CommandContext c, ParsedArguments g) throws UsageException {
        if (g.operands().size() < 2) {
            throw misused(c, "muster: error: a job has to be named");
        }
        int rc = 0;
        boolean first = true;
        for (String id : g.operands().subList(1, g.operands().size())) {
            List<List<String[]>> jobs = byJob(Efficiency.records(this, c, id));
            for (List<String[]> job : jobs) {
                c.out().print(first ? "" : "\n");
                first = false;
                report(c, Efficiency.of(job).orElseThrow());
            }
            if (jobs.isEmpty()) {
                c.err().println("muster: error: " + id + ": no such job in accounting");
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

    private static void report(CommandContext c, Efficiency e) {
        c.out()
                .println("Job " + e.shownId() + " of " + e.user() + " on " + e.cluster() + ": " + e.state()
                        + (List.of("PENDING", "RUNNING").contains(e.state()) ? "" : ", exit code " + e.exit()));
        if (e.state().equals("PENDING")) {
            c.out().println("It has not run yet.");
            return;
        }
        if (e.cores() == 0) {
            c.out().println("It never ran.");
            return;
        }
        line(c, "", "requested", "used", "");
        line(
                c,
                "CPU",
                Efficiency.clock(e.core()),
                Efficiency.clock(Math.round(e.cpu())),
                Efficiency.percent(e.cpu(), (double) e.core()));
        line(
                c,
                "Memory",
                Efficiency.amount(e.given()),
                (e.estimated() ? "~" : "") + Efficiency.amount(e.memory()),
                e.given() > 0 ? Efficiency.percent(e.memory(), e.given()) : "");
        if (e.gpus() > 0) {
            line(
                    c,
                    "GPU",
                    Efficiency.clock(e.gpuTime()),
                    e.gpuUsed() < 0 ? "not measured" : Efficiency.clock(Math.round(e.gpuUsed())),
                    e.gpuUsed() < 0 ? "" : Efficiency.percent(e.gpuUsed(), (double) e.gpuTime()));
        }
        line(
                c,
                "Time",
                e.limit() < 0 ? "unlimited" : Efficiency.clock(e.limit()),
                Efficiency.clock(e.wall()),
                e.limit() > 0 ? Efficiency.percent((double) e.wall(), (double) e.limit()) : "");
        c.out().println(sentence(e));
    }

    private static void line(CommandContext c, String what, String requested, String used, String part) {
        c.out()
                .println((left(what, FIRST) + right(requested, WIDTH) + right(used, WIDTH) + right(part, WIDTH - 2))
                        .stripTrailing());
    }

    private static String sentence(Efficiency e) {
        Optional<String> gpus;
        if (e.gpus() == 0) {
            gpus = Optional.empty();
        } else {
            gpus = Optional.of(e.gpus() + (e.gpus() == 1 ? " GPU" : " GPUs"));
        }

        return "It had " + e.cores() + (e.cores() == 1 ? " CPU" : " CPUs")
                + gpus.map(g -> " and " + g).orElse("") + " on " + e.nodes() + (e.nodes() == 1 ? " node" : " nodes")
                + (e.state().equals("RUNNING") ? ", and runs on." : ".");
    }
}
