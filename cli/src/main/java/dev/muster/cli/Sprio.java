package dev.muster.cli;

import dev.muster.model.Json;
import java.util.List;

/**
 * The factors behind jobs' priorities. With priority/basic, where a priority is a place in the queue and nothing else, there are
 * none to show, and it says so in Slurm's words.
 */
final class Sprio implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table("federation::n", "noheader:h:n", "jobs:j:o", "local::n", "long:l:n",
            "cluster:M:r", "clusters:M:r", "norm:n:n", "format:o:r", "sort:S:r", "sibling::n", "partition:p:r", "user:u:r", "users:u:r",
            "verbose:v:n", "version:V:n", "weights:w:n", "help::n", "usage::n");

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = Standard.parse(c, OPTIONS);
        for (GetOpt.Hit h : p.hits()) {
            if (Standard.told(c, OPTIONS, "", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "cluster", "clusters" -> Clusters.checked(c, h.value());
                default -> { }
            }
        }
        Json.Obj config = c.host().controller().call("QueryConfig", new Json.Obj());
        String type = config.obj("values").text("PriorityType");
        c.err().println("You are not running a supported priority plugin");
        c.err().println("(" + (type.isEmpty() ? "priority/basic" : type) + ").");
        c.err().println("Only 'priority/multifactor' is supported.");
        return 1;
    }
}
