package dev.muster.cli;

import dev.muster.model.Json;
import dev.muster.model.SlurmErrno;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Copies a file to all nodes of the allocation: a step with one task a node that writes its standard input. */
final class Sbcast implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table("compress:C:o", "exclude::r", "fanout:F:r",
            "force:f:n", "help::n",
            "jobid:j:r", "preserve:p:n", "send-libs::o", "size:s:r", "timeout:t:r", "treewidth::r", "usage::n",
                    "verbose:v:n",
            "version:V:n");
    /**
     * Written beside the target and renamed, so that nobody sees half of it. Arguments: target, mode, force, times, and whether its
     * directory is to be made.
     */
    private static final String WRITER = "t=$1.sbcast.$$; [ -z \"$6\" ] || mkdir -p -m 700 \"${1%/*}\"; "
            + "no() { echo \"sbcast: error: REQUEST_FILE_BCAST($SLURMD_NODENAME): ${1##*: }\" >&2; exit 1; }; "
            + "[ ! -e \"$1\" ] || [ -n \"$3\" ] || no 'File exists'; e=$( { : > \"$t\"; } 2>&1 ) || no \"$e\"; "
            + "e=$( { cat > \"$t\" && chmod \"$2\" \"$t\" && if [ -n \"$4\" ]; then touch -a -d \"@$4\" \"$t\" && touch -m -d \"@$5\" \"$t\"; fi "
            + "&& mv -f \"$t\" \"$1\"; } 2>&1 ) || { rm -f \"$t\"; no \"$e\"; }";

    private static final class Wanted {
        String job = "";
        boolean force;
        boolean preserve;
        boolean sendLibs;
        List<String> excluded = List.of();
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = Standard.parse(c, OPTIONS);
        Wanted w = new Wanted();
        w.sendLibs = c.host().settings().bcastSendLibs;
        w.excluded = c.host().settings().bcastExclude;
        for (GetOpt.Opt o : OPTIONS) {
            String set = c.env("SBCAST_" + Texts.upper(o.name()).replace('-', '_'));
            if (!set.isEmpty()) {
                option(c, w, o.name(), set);
            }
        }
        for (GetOpt.Hit h : p.hits()) {
            if (Standard.told(c, OPTIONS, "SOURCE DEST", h)) {
                return 0;
            }
            option(c, w, h.opt().name(), h.value());
        }
        if (p.operands().size() != 2) {
            throw new UsageException(1, List.of("Need two file names, have " + p.operands().size() + " names",
                    "Try \"sbcast --help\" for more information"));
        }
        String id = w.job.isEmpty() ? c.env("SLURM_JOB_ID") : w.job;
        if (!JobIds.isJob(id)) {
            throw c.bad(1, w.job.isEmpty() ? "Need a job id to run this command.  Run from within a Slurm job or use the --jobid option."
                    : "Invalid job id: " + w.job);
        }
        int rc = 0;
        for (int one : jobs(c, id)) {
            rc = Math.max(rc, withLibraries(c, Integer.toString(one), p.operands().getFirst(), p.operands().getLast(), w));
        }
        return rc;
    }

    /** The job itself; every component of a heterogeneous one that is named as a whole. */
    private static List<Integer> jobs(CommandContext c, String id) throws SlurmException, UsageException {
        int number = JobIds.resolve(c, id);
        List<Integer> members = id.indexOf('+') >= 0 ? List.of() : SrunHet.members(lookup(c, id, number));
        return members.isEmpty() || members.getFirst() != number ? List.of(number) : members;
    }

    private static void option(CommandContext c, Wanted w, String name, String value) throws UsageException {
        switch (name) {
            case "force" -> w.force = true;
            case "jobid" -> w.job = value;
            case "preserve" -> w.preserve = true;
            case "compress" -> {
                if (!List.of("", "lz4", "none").contains(Texts.lower(value))) {
                    c.error("Compression type '" + value + "' unknown, disabling compression support.");
                }
            }
            case "send-libs" -> {
                if (!List.of("", "yes", "no").contains(Texts.lower(value))) {
                    throw c.bad(1, "--send-libs: yes or no, not " + value);
                }
                w.sendLibs = !Texts.lower(value).equals("no");
            }
            case "exclude" -> w.excluded = excluded(c, value);
            // how the transfer is cut and spread is this system's own business
            case "fanout", "size", "timeout", "treewidth", "verbose" -> { }
            default -> throw new IllegalStateException(name);
        }
    }

    /** Directories whose libraries are on every node anyway; NONE for none. */
    static List<String> excluded(CommandContext c, String value) throws UsageException {
        List<String> out = value.equalsIgnoreCase("none") ? List.of() : Texts.split(value, ',');
        for (String path : out) {
            if (!path.startsWith("/")) {
                throw c.bad(1, "Invalid exclude path '" + path + "': it must be absolute");
            }
        }
        return out;
    }

    /** Where a program's libraries go: beside it. */
    static String libraries(String target) {
        return target + "_libs";
    }

    private static int withLibraries(CommandContext c, String job, String source, String target, Wanted w) throws SlurmException, UsageException {
        int rc = copy(c, job, source, target, w, false);
        if (rc != 0 || !w.sendLibs) {
            return rc;
        }
        c.host().needsOwnProcess();     // ldd is run as the caller
        List<java.nio.file.Path> found;
        try {
            found = Libraries.of(java.nio.file.Path.of(Texts.absolute(source, c.host().workDir())), w.excluded);
        } catch (java.io.IOException e) {
            throw c.bad(1, "Can't find the shared objects of `" + source + "`: " + e.getMessage());
        }
        for (java.nio.file.Path library : found) {
            String to = libraries(target) + "/" + library.getFileName();
            if (copy(c, job, library.toString(), to, w, true) != 0) {
                c.error("Broadcast of '" + library + "' failed");
                return 1;
            }
        }
        return 0;
    }

    /** Mode, time of access and time of modification. */
    private static List<String> attributes(String path) throws java.io.IOException {
        Map<String, Object> all = java.nio.file.Files.readAttributes(java.nio.file.Path.of(path), "unix:mode,lastAccessTime,lastModifiedTime");
        return List.of(Integer.toOctalString((Integer) all.get("mode") & 07777), seconds(all.get("lastAccessTime")),
                seconds(all.get("lastModifiedTime")));
    }

    private static String seconds(Object time) {
        java.time.Instant at = ((java.nio.file.attribute.FileTime) time).toInstant();
        String nanos = Integer.toString(1_000_000_000 + at.getNano()).substring(1);
        return at.getEpochSecond() + "." + nanos;
    }

    private static Json.Obj lookup(CommandContext c, String typed, int job) throws UsageException {
        try {
            return c.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", (long) Math.max(0, job)));
        } catch (SlurmException e) {
            boolean stranger = e.errno() == SlurmErrno.ACCESS_DENIED.number();
            throw c.bad(255, "Slurm job " + typed + " lookup error: " + (stranger ? "Invalid user id" : e.getMessage()));
        }
    }

    private static int copy(CommandContext c, String job, String source, String target, Wanted w, boolean makeDirectory)
            throws SlurmException, UsageException {
        if (w.preserve) {
            c.host().needsOwnProcess();     // only there can the file be asked for more than its content
        }
        List<String> attributes;
        String path = Texts.absolute(source, c.host().workDir());
        try {
            c.host().readFile(path, 1);
            attributes = w.preserve ? attributes(path) : List.of("0700", "", "");
        } catch (java.io.IOException e) {
            throw c.bad(255, "Can't open `" + source + "`: No such file or directory");
        }
        String directory = c.host().settings().bcastDirectory;
        int nodes = Math.max(1, lookup(c, job, Integer.parseInt(job)).integer("nodeCount"));
        List<String> args = new ArrayList<>(List.of("--jobid=" + job, "--overlap", "-Q", "-N" + nodes, "-n" + nodes,
                "--ntasks-per-node=1", "-J", "sbcast", "--input=" + path.replace("%", "%%"), "sh", "-c", WRITER,
                        "sbcast", target.startsWith("/") || directory.isEmpty() ? target : directory + "/" + target,
                attributes.get(0), w.force ? "f" : "", attributes.get(1), attributes.get(2),
                makeDirectory ? "d" : ""));
        return new Srun().run(new CommandContext("srun", c.program(), args, c.env(), c.host(), c.out(), c.err(),
                c.in()));
    }
}
