package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.UsageException;
import java.util.List;
import java.util.Optional;

/** Runs {@code seff}, which reports from accounting how much of its resources a job used. */
public final class Seff extends Wrapper {
    public Seff(CommandRunner runner) {
        super(runner, "job_id", "d::n", "h::n", "v::n");
    }

    @Override
    int go(CommandContext c, ParsedArguments g) throws UsageException {
        if (g.has("h") || g.operands().size() != 1) {
            c.out()
                    .println("Usage: seff [Options] <Jobid>\n       Options:\n       -h    show this help\n   "
                            + "    -v    tell the version\n"
                            + "       -d    show the accounting records as well");
            return g.has("h") ? 0 : 1;
        }
        if (g.has("v")) {
            c.out().println(dev.muster.model.Release.LINE);
            return 0;
        }
        List<String[]> rows = Efficiency.records(this, c, g.operands().getFirst());
        if (g.has("d")) {
            c.out().println("Slurm data: " + Efficiency.FIELDS.replace(',', ' '));
            rows.forEach(r -> c.out().println("Slurm data: " + String.join(" ", r)));
            c.out().println("");
        }
        Optional<Efficiency> job = Efficiency.of(rows);
        if (job.isEmpty()) {
            c.err().println("Job not found.");
            return 2;
        }
        report(c, job.get());
        return 0;
    }

    private static void report(CommandContext c, Efficiency e) {
        c.out().println("Job ID: " + e.id());
        if (e.shownId().indexOf('_') >= 0) {
            c.out().println("Array Job ID: " + e.shownId());
        }
        c.out().println("Cluster: " + e.cluster() + "\nUser/Group: " + e.user() + "/" + e.group());
        if (e.state().equals("PENDING")) {
            c.out().println("State: " + e.state() + "\nEfficiency not available for jobs in the PENDING state.");
            return;
        }
        boolean running = e.state().equals("RUNNING");
        c.out()
                .println("State: " + e.state()
                        + (running ? "" : " (exit code " + e.exit().replaceFirst(":.*", "") + ")"));
        if (e.cores() == 1) {
            c.out().println("Cores: 1");
        } else {
            long perNode = e.nodes() == 1 ? e.cores() : e.cores() / e.nodes();
            c.out().println("Nodes: " + e.nodes() + "\nCores per node: " + perNode);
        }
        c.out().println("CPU Utilized: " + Efficiency.clock(Math.round(e.cpu())));
        c.out()
                .println("CPU Efficiency: " + Efficiency.percent(e.cpu(), (double) e.core()) + " of "
                        + Efficiency.clock(e.core()) + " core-walltime");
        c.out().println("Job Wall-clock time: " + Efficiency.clock(e.wall()));
        c.out()
                .println("Memory Utilized: " + Efficiency.amount(e.memory())
                        + (e.estimated() ? " (estimated maximum)" : ""));
        c.out()
                .println("Memory Efficiency: " + Efficiency.percent(e.memory(), e.given()) + " of "
                        + Efficiency.amount(e.given()) + " (" + Efficiency.amount(e.given() / e.nodes()) + "/node)");
        if (running) {
            c.out().println("WARNING: Efficiency statistics may be misleading for RUNNING jobs.");
        }
    }
}
