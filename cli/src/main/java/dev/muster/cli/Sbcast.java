package dev.muster.cli;

import java.util.ArrayList;
import java.util.List;

/** Copies a file to all nodes of the allocation: a step with one task a node that writes its standard input. */
final class Sbcast implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table("compress:C:o", "exclude::r", "fanout:F:r",
            "force:f:n", "help::n",
            "jobid:j:r", "preserve:p:n", "send-libs::o", "size:s:r", "timeout:t:r", "treewidth::r", "usage::n",
                    "verbose:v:n",
            "version:V:n");
    /** Written beside the target and renamed, so that nobody sees half of it. Arguments: target, mode, force. */
    private static final String WRITER = "t=$1.sbcast.$$; if [ -e \"$1\" ] && [ -z \"$3\" ]; then echo \"$1: File exists\" >&2; exit 1; fi; "
            + "cat > \"$t\" && chmod \"$2\" \"$t\" && mv -f \"$t\" \"$1\" || { rm -f \"$t\"; exit 1; }";

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = Standard.parse(c, OPTIONS);
        String job = "";
        boolean force = false;
        for (GetOpt.Hit h : p.hits()) {
            if (Standard.told(c, OPTIONS, "SOURCE DEST", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "force" -> force = true;
                case "jobid" -> job = h.value();
                // how the transfer is cut and spread is this system's own business
                case "fanout", "size", "timeout", "treewidth", "verbose" -> { }
                default -> throw c.bad(1, "--" + h.opt().name() + " is not supported by this cluster");
            }
        }
        if (p.operands().size() != 2) {
            throw new UsageException(1, List.of("Need two file names, have " + p.operands().size() + " names",
                    "Try \"sbcast --help\" for more information"));
        }
        String id = job.isEmpty() ? c.env("SLURM_JOB_ID") : job;
        if (!JobIds.isJob(id)) {
            throw c.bad(1, job.isEmpty() ? "Need a job id to run this command.  Run from within a Slurm job or use the --jobid option."
                    : "Invalid job id: " + job);
        }
        int rc = 0;
        for (int one : jobs(c, id)) {
            rc = Math.max(rc, copy(c, Integer.toString(one), p.operands().getFirst(), p.operands().getLast(), force));
        }
        return rc;
    }

    /** The job itself; every component of a heterogeneous one that is named as a whole. */
    private static List<Integer> jobs(CommandContext c, String id) throws SlurmException {
        int number = JobIds.resolve(c, id);
        List<Integer> members = id.indexOf('+') >= 0 ? List.of() : SrunHet.members(c.host().controller().call("AwaitAllocation",
                new dev.muster.model.Json.Obj().put("jobId", (long) Math.max(0, number))));
        return members.isEmpty() || members.getFirst() != number ? List.of(number) : members;
    }

    private static int copy(CommandContext c, String job, String source, String target, boolean force)
            throws SlurmException, UsageException {
        String path = Texts.absolute(source, c.host().workDir());
        try {
            c.host().readFile(path, 1);
        } catch (java.io.IOException e) {
            throw c.bad(1, "Can't open `" + source + "`: No such file or directory");
        }
        dev.muster.model.Json.Obj q = new dev.muster.model.Json.Obj().put("jobId", Math.max(0,
                OptionCheck.parseNumber(job)));
        int nodes = Math.max(1, c.host().controller().call("AwaitAllocation", q).integer("nodeCount"));
        List<String> args = new ArrayList<>(List.of("--jobid=" + job, "--overlap", "-Q", "-N" + nodes, "-n" + nodes,
                "--ntasks-per-node=1", "-J", "sbcast", "--input=" + path.replace("%", "%%"), "sh", "-c", WRITER,
                        "sbcast", target,
                "0700", force ? "f" : ""));
        return new Srun().run(new CommandContext("srun", c.program(), args, c.env(), c.host(), c.out(), c.err(),
                c.in()));
    }
}
