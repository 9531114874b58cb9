package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs {@code sjstat}, which lists the resources of each partition, and the jobs. */
public final class Sjstat extends Wrapper {
    private static final String RULE = "-".repeat(61);
    private static final int COLUMNS = 8;

    public Sjstat(CommandRunner runner) {
        super(runner, "", "c::n", "r::n", "v::n");
    }

    /** A partition's nodes of one size. */
    private static final class Pool {
        long total;
        long usable;
        long free;
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws SlurmException, UsageException {
        if (!arguments.operands().isEmpty()) {
            throw misused(context, "no arguments are taken");
        }
        if (!arguments.has("r")) {
            int rc = pools(context);
            if (rc != 0) {
                return rc;
            }
        }
        return jobs(context, arguments);
    }

    private int pools(CommandContext context) {
        Map<List<String>, Pool> pools = new LinkedHashMap<>();
        Ran ran = capture(context, "sinfo", List.of("-h", "-o", "%P|%m|%c|%D|%t|%f"));
        for (String line : ran.lines()) {
            String[] columns = line.split("\\|", 6);
            if (columns.length != 6) {
                continue;
            }
            Pool pool = pools.computeIfAbsent(
                    List.of(columns[0], columns[1], columns[2], columns[5].equals("(null)") ? "" : columns[5]),
                    k -> new Pool());
            long nodes = Long.parseLong(columns[3]);
            pool.total += nodes;
            boolean usable = columns[4].matches("(idle|alloc|mix|comp|plnd|resv)[-+]?");
            pool.usable += usable ? nodes : 0;
            pool.free += columns[4].equals("idle") ? nodes : 0;
        }
        context.out()
                .println("\nScheduling pool data:\n" + RULE
                        + "\nPool        Memory  Cpus  Total Usable   Free  Other Traits  \n" + RULE);
        pools.forEach((k, p) -> context.out()
                .println(left(k.get(0), Math.max(9, k.get(0).length())) + right(k.get(1) + "Mb", 9) + right(k.get(2), 6)
                        + right(Long.toString(p.total), 7) + right(Long.toString(p.usable), 7)
                        + right(Long.toString(p.free), 7) + "  " + k.get(3)));
        return ran.rc();
    }

    private int jobs(CommandContext context, ParsedArguments arguments) {
        List<String> args = new ArrayList<>(List.of("-h", "-a", "-o", "%i|%u|%D|%P|%T|%M|%B|%R"));
        if (arguments.has("c")) {
            args.add("-tPD,R,S,CG");
        } else {
            args.add("-tPD,R,S");
        }
        Ran ran = capture(context, "squeue", args);
        String rule = "-".repeat(arguments.has("v") ? 102 : 67);
        context.out()
                .println("\nRunning job data:\n" + rule
                        + "\nJobID    User      Nodes Pool      Status        Used  Master/Other\n" + rule);
        for (String line : ran.lines()) {
            String[] columns = line.split("\\|", COLUMNS);
            if (columns.length == COLUMNS) {
                boolean started = !columns[4].equals("PENDING");
                context.out()
                        .println(left(columns[0], Math.max(8, columns[0].length())) + " " + left(columns[1], 9)
                                + right(columns[2], 6) + " "
                                + left(columns[3], 9) + " " + left(columns[4], 11) + right(columns[5], 7) + "  "
                                + (arguments.has("v") || !started ? columns[7] : columns[6]));
            }
        }
        context.out().println("");
        return ran.rc();
    }
}
