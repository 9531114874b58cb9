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
    int go(CommandContext c, ParsedArguments g) throws SlurmException, UsageException {
        if (!g.operands().isEmpty()) {
            throw misused(c, "no arguments are taken");
        }
        if (!g.has("r")) {
            int rc = pools(c);
            if (rc != 0) {
                return rc;
            }
        }
        return jobs(c, g);
    }

    private int pools(CommandContext c) {
        Map<List<String>, Pool> pools = new LinkedHashMap<>();
        Ran ran = capture(c, "sinfo", List.of("-h", "-o", "%P|%m|%c|%D|%t|%f"));
        for (String line : ran.lines()) {
            String[] f = line.split("\\|", 6);
            if (f.length != 6) {
                continue;
            }
            Pool pool = pools.computeIfAbsent(
                    List.of(f[0], f[1], f[2], f[5].equals("(null)") ? "" : f[5]), k -> new Pool());
            long nodes = Long.parseLong(f[3]);
            pool.total += nodes;
            boolean usable = f[4].matches("(idle|alloc|mix|comp|plnd|resv)[-+]?");
            pool.usable += usable ? nodes : 0;
            pool.free += f[4].equals("idle") ? nodes : 0;
        }
        c.out()
                .println("\nScheduling pool data:\n" + RULE
                        + "\nPool        Memory  Cpus  Total Usable   Free  Other Traits  \n" + RULE);
        pools.forEach((k, p) -> c.out()
                .println(left(k.get(0), Math.max(9, k.get(0).length())) + right(k.get(1) + "Mb", 9) + right(k.get(2), 6)
                        + right(Long.toString(p.total), 7) + right(Long.toString(p.usable), 7)
                        + right(Long.toString(p.free), 7) + "  " + k.get(3)));
        return ran.rc();
    }

    private int jobs(CommandContext c, ParsedArguments g) {
        List<String> args = new ArrayList<>(List.of("-h", "-a", "-o", "%i|%u|%D|%P|%T|%M|%B|%R"));
        if (g.has("c")) {
            args.add("-tPD,R,S,CG");
        } else {
            args.add("-tPD,R,S");
        }
        Ran ran = capture(c, "squeue", args);
        String rule = "-".repeat(g.has("v") ? 102 : 67);
        c.out()
                .println("\nRunning job data:\n" + rule
                        + "\nJobID    User      Nodes Pool      Status        Used  Master/Other\n" + rule);
        for (String line : ran.lines()) {
            String[] f = line.split("\\|", COLUMNS);
            if (f.length == COLUMNS) {
                boolean started = !f[4].equals("PENDING");
                c.out()
                        .println(left(f[0], Math.max(8, f[0].length())) + " " + left(f[1], 9) + right(f[2], 6) + " "
                                + left(f[3], 9) + " " + left(f[4], 11) + right(f[5], 7) + "  "
                                + (g.has("v") || !started ? f[7] : f[6]));
            }
        }
        c.out().println("");
        return ran.rc();
    }
}
