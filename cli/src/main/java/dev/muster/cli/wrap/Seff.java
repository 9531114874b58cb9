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
    int go(CommandContext context, ParsedArguments arguments) throws UsageException {
        if (arguments.has("h") || arguments.operands().size() != 1) {
            context.out()
                    .println("Usage: seff [Options] <Jobid>\n       Options:\n       -h    show this help\n   "
                            + "    -v    tell the version\n"
                            + "       -d    show the accounting records as well");
            return arguments.has("h") ? 0 : 1;
        }
        if (arguments.has("v")) {
            context.out().println(dev.muster.model.Release.LINE);
            return 0;
        }
        List<String[]> rows =
                Efficiency.records(this, context, arguments.operands().getFirst());
        if (arguments.has("d")) {
            context.out().println("Slurm data: " + Efficiency.FIELDS.replace(',', ' '));
            rows.forEach(r -> context.out().println("Slurm data: " + String.join(" ", r)));
            context.out().println("");
        }
        Optional<Efficiency> job = Efficiency.of(rows);
        if (job.isEmpty()) {
            context.err().println("Job not found.");
            return 2;
        }
        report(context, job.get());
        return 0;
    }

    private static void report(CommandContext context, Efficiency efficiency) {
        context.out().println("Job ID: " + efficiency.id());
        if (efficiency.shownId().indexOf('_') >= 0) {
            context.out().println("Array Job ID: " + efficiency.shownId());
        }
        context.out()
                .println("Cluster: " + efficiency.cluster() + "\nUser/Group: " + efficiency.user() + "/"
                        + efficiency.group());
        if (efficiency.state().equals("PENDING")) {
            context.out()
                    .println("State: " + efficiency.state()
                            + "\nEfficiency not available for jobs in the PENDING state.");
            return;
        }
        boolean running = efficiency.state().equals("RUNNING");
        context.out()
                .println("State: " + efficiency.state()
                        + (running ? "" : " (exit code " + efficiency.exit().replaceFirst(":.*", "") + ")"));
        if (efficiency.cores() == 1) {
            context.out().println("Cores: 1");
        } else {
            long perNode = efficiency.nodes() == 1 ? efficiency.cores() : efficiency.cores() / efficiency.nodes();
            context.out().println("Nodes: " + efficiency.nodes() + "\nCores per node: " + perNode);
        }
        context.out().println("CPU Utilized: " + Efficiency.clock(Math.round(efficiency.cpu())));
        context.out()
                .println("CPU Efficiency: " + Efficiency.percent(efficiency.cpu(), (double) efficiency.core()) + " of "
                        + Efficiency.clock(efficiency.core()) + " core-walltime");
        context.out().println("Job Wall-clock time: " + Efficiency.clock(efficiency.wall()));
        context.out()
                .println("Memory Utilized: " + Efficiency.amount(efficiency.memory())
                        + (efficiency.estimated() ? " (estimated maximum)" : ""));
        context.out()
                .println("Memory Efficiency: " + Efficiency.percent(efficiency.memory(), efficiency.given()) + " of "
                        + Efficiency.amount(efficiency.given()) + " ("
                        + Efficiency.amount(efficiency.given() / efficiency.nodes()) + "/node)");
        if (running) {
            context.out().println("WARNING: Efficiency statistics may be misleading for RUNNING jobs.");
        }
    }
}
