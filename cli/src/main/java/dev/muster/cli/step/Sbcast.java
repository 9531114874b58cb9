package dev.muster.cli.step;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Libraries;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.submit.AllocationClient;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.model.format.Digits;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs sbcast, which copies a file to all nodes of the allocation by a step with one task on each node that writes its
 * standard input.
 */
public final class Sbcast implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "compress:C:o",
            "exclude::r",
            "fanout:F:r",
            "force:f:n",
            "help::n",
            "jobid:j:r",
            "no-allocation:Z:n",
            "nodelist:w:r",
            "preserve:p:n",
            "send-libs::o",
            "size:s:r",
            "timeout:t:r",
            "treewidth::r",
            "usage::n",
            "verbose:v:n",
            "version:V:n");
    /**
     * Writes beside the target and renames, so that no process sees half of the file. Arguments: target, mode, force,
     * times, whether its directory is to be made, bytes of a block, seconds it may take (0 without end), and z where
     * the input is packed.
     */
    private static final String WRITER = "t=$1.sbcast.$$; [ -z \"$6\" ] || mkdir -p -m 700 \"${1%/*}\"; "
            + "no() { w=${1##*: }; case $w in 'File exists') n=17;; 'Permission denied') n=13;; 'No space left on "
            + "device') n=28;; "
            + "'Read-only file system') n=30;; 'Directory nonexistent'|'No such file or directory') n=2; w='No such "
            + "file or directory';; "
            + "*) n=1;; esac; echo \"sbcast: error: REQUEST_FILE_BCAST($SLURMD_NODENAME): $w\" >&2; exit $n; }; "
            + "[ ! -e \"$1\" ] || [ -n \"$3\" ] || no 'File exists'; e=$( { : > \"$t\"; } 2>&1 ) || no \"$e\"; "
            + "e=$( { if [ -n \"$9\" ]; then timeout \"$8\" gzip -dc; else timeout \"$8\" dd bs=\"$7\" "
            + "iflag=fullblock status=none; fi "
            + "> \"$t\" && chmod \"$2\" \"$t\" "
            + "&& if [ -n \"$4\" ]; then touch -a -d \"@$4\" \"$t\" && touch -m -d \"@$5\" \"$t\"; fi "
            + "&& mv -f \"$t\" \"$1\"; } 2>&1 ) || { rm -f \"$t\"; no \"${e:-Socket timed out on send/recv "
            + "operation}\"; }";

    private static final long BLOCK_MAX = 8L << 20;
    private static final String RULE = "-----------------------------";

    /** Each node's own file: the name and the node's. */
    private static final String OF_NODE = "t=${1}_$SLURMD_NODENAME; shift; set -- \"$t\" \"$@\"; ";

    private final boolean perNode;

    public Sbcast() {
        this(false);
    }

    /** @param perNode whether the target's name is without the {@code _NODE} at its end */
    public Sbcast(boolean perNode) {
        this.perNode = perNode;
    }

    private static final class Wanted {
        boolean perNode;
        String job = "";
        boolean jobGiven;
        /** Nodes of the job that get the file; "" for all. */
        String nodes = "";
        /** To nodes that are named, without a job: for administrators. */
        boolean unallocated;

        boolean force;
        boolean preserve;
        boolean sendLibs;
        boolean packs;
        /** Nodes that are written to by one sender; 0 as TreeWidth has it. */
        int fanout;

        long blockBytes = BLOCK_MAX;
        /** How long one block may take; 0 without end. */
        int timeoutSeconds;

        int verbose;
        List<String> excluded = List.of();
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        Wanted w = defaults(c);
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "SOURCE DEST", h)) {
                return 0;
            }
            option(c, w, h.opt().name(), h.value());
        }
        if (p.operands().size() != 2) {
            throw new UsageException(
                    1,
                    List.of(
                            "Need two file names, have " + p.operands().size() + " names",
                            "Try \"sbcast --help\" for more information"));
        }
        String source = p.operands().getFirst();
        String target = p.operands().getLast();
        return w.unallocated ? toNodes(c, w, source, target) : toJobs(c, w, source, target);
    }

    /** The options that slurm.conf and the environment set. */
    private Wanted defaults(CommandContext c) throws SlurmException, UsageException {
        Wanted w = new Wanted();
        w.perNode = perNode;
        w.sendLibs = c.host().settings().bcastSendLibs;
        w.excluded = c.host().settings().bcastExclude;
        for (GetOpt.Opt o : OPTIONS) {
            String set = c.env("SBCAST_" + Texts.upper(o.name()).replace('-', '_'));
            if (!set.isEmpty()) {
                option(c, w, o.name(), set);
            }
        }
        return w;
    }

    /** {@code --no-allocation} copies to named nodes instead of a job's. */
    private static int toNodes(CommandContext c, Wanted w, String source, String target)
            throws SlurmException, UsageException {
        if (w.nodes.isEmpty()) {
            throw c.bad(1, "--no-allocation needs the nodes: --nodelist");
        }
        if (!w.job.isEmpty()) {
            throw c.bad(1, "--no-allocation and --jobid are mutually exclusive");
        }
        if (w.verbose > 0) {
            settings(c, w, source, target);
        }
        return withLibraries(c, "", source, target, w);
    }

    private static int toJobs(CommandContext c, Wanted w, String source, String target)
            throws SlurmException, UsageException {
        String id = w.jobGiven ? w.job : c.env("SLURM_JOB_ID");
        if (id.isEmpty() && !w.jobGiven) {
            throw c.bad(
                    1, "Need a job id to run this command.  Run from within a Slurm job or use the --jobid option.");
        }
        JobIds.check(c, id, 1);
        if (w.verbose > 0) {
            settings(c, w, source, target);
        }
        int rc = 0;
        for (int job : jobs(c, id)) {
            rc = Math.max(rc, withLibraries(c, Integer.toString(job), source, target, w));
        }
        return rc;
    }

    /** The job itself; every component of a heterogeneous one that is named as a whole. */
    private static List<Integer> jobs(CommandContext c, String id) throws SlurmException, UsageException {
        int number = JobIds.resolve(c, id.indexOf('.') < 0 ? id : id.substring(0, id.indexOf('.')));
        List<Integer> members = id.indexOf('+') >= 0 ? List.of() : SrunHet.members(lookup(c, id, number));
        return members.isEmpty() || members.getFirst() != number ? List.of(number) : members;
    }

    private static void option(CommandContext c, Wanted w, String name, String value) throws UsageException {
        switch (name) {
            case "force" -> w.force = true;
            case "jobid" -> {
                w.job = value;
                w.jobGiven = true;
            }
            case "nodelist" -> w.nodes = value;
            case "no-allocation" -> w.unallocated = true;
            case "preserve" -> w.preserve = true;
            case "compress" -> {
                w.packs = List.of("", "lz4").contains(Texts.lower(value));
                if (!w.packs && !Texts.lower(value).equals("none")) {
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
            case "fanout", "treewidth" -> w.fanout = Math.clamp(Digits.parseNumber(value), 0, LaunchTree.WIDTH_MAX);
            case "size" -> {
                long bytes = bytes(value);
                if (bytes < 0) {
                    c.err().println("size specification is invalid, ignored");
                } else if (bytes > 0) {
                    w.blockBytes = Math.min(bytes, BLOCK_MAX);
                }
            }
            case "timeout" -> w.timeoutSeconds = Math.clamp(Digits.parseNumber(value), 0, Integer.MAX_VALUE);
            case "verbose" -> w.verbose += 1;
            default -> throw new IllegalStateException(name);
        }
    }

    /** Bytes, or with k or m; -1 if it is none of these. */
    static long bytes(String text) {
        String lower = Texts.lower(text);
        int unit;
        if (lower.endsWith("k")) {
            unit = 10;
        } else if (lower.endsWith("m")) {
            unit = 20;
        } else {
            unit = 0;
        }

        long number = Digits.parseNumber(unit == 0 ? lower : lower.substring(0, lower.length() - 1));
        return number < 0 || number > Long.MAX_VALUE >> 20 ? -1 : number << unit;
    }

    /** Directories of libraries that every node has; NONE for none. */
    static List<String> excluded(CommandContext c, String value) throws UsageException {
        List<String> out = value.equalsIgnoreCase("none") ? List.of() : Texts.split(value, ',');
        for (String path : out) {
            if (!path.startsWith("/")) {
                throw c.bad(1, "Invalid exclude path '" + path + "': it must be absolute");
            }
        }
        return out;
    }

    /** Returns the directory of a program's libraries, beside it. */
    static String libraries(String target) {
        return target + "_libs";
    }

    private static int withLibraries(CommandContext c, String job, String source, String target, Wanted w)
            throws SlurmException, UsageException {
        int rc = copy(c, job, source, target, w, false);
        if (rc != 0 || !w.sendLibs) {
            return rc;
        }
        c.host().needsOwnProcess(); // ldd is run as the caller
        List<java.nio.file.Path> found;
        try {
            found = Libraries.of(
                    java.nio.file.Path.of(Texts.absolute(source, c.host().workDir())), w.excluded);
        } catch (java.io.IOException e) {
            throw c.bad(1, "Can't find the shared objects of `" + source + "`: " + ErrorSentence.of(e));
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

    private static Map<String, Object> attributes(String path) throws java.io.IOException {
        return java.nio.file.Files.readAttributes(
                java.nio.file.Path.of(path), "unix:mode,uid,gid,size,lastAccessTime,lastModifiedTime,ctime");
    }

    /** Returns one of the attributes that {@link #attributes} reads. */
    private static Object attribute(Map<String, Object> all, String name) {
        return requireNonNull(all.get(name), name);
    }

    private static void settings(CommandContext c, Wanted w, String source, String target) {
        say(
                c,
                RULE,
                "block_size = " + w.blockBytes,
                "compress   = " + (w.packs ? 1 : 0),
                "exclude    = " + (w.excluded.isEmpty() ? "NONE" : String.join(",", w.excluded)),
                "force      = " + w.force,
                "fanout     = " + w.fanout,
                "preserve   = " + w.preserve,
                "send_libs  = " + w.sendLibs,
                "timeout    = " + w.timeoutSeconds,
                "verbose    = " + w.verbose,
                "source     = " + source,
                "dest       = " + target,
                RULE);
    }

    private static void file(CommandContext c, Map<String, Object> all, String job, String nodes) {
        say(
                c,
                "modes    = " + Integer.toOctalString((Integer) attribute(all, "mode")),
                "uid      = " + all.get("uid"),
                "gid      = " + all.get("gid"),
                "atime    = " + date(c, attribute(all, "lastAccessTime")),
                "mtime    = " + date(c, attribute(all, "lastModifiedTime")),
                "ctime    = " + date(c, attribute(all, "ctime")),
                "size     = " + all.get("size"),
                "jobid      = " + job,
                "node_list  = " + nodes);
    }

    private static void say(CommandContext c, String... lines) {
        for (String line : lines) {
            c.info(line);
        }
    }

    private static String date(CommandContext c, Object time) {
        return java.time.format.DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", java.util.Locale.ROOT)
                .format(((java.nio.file.attribute.FileTime) time)
                        .toInstant()
                        .atZone(c.host().zone()));
    }

    private static String seconds(Object time) {
        java.time.Instant at = ((java.nio.file.attribute.FileTime) time).toInstant();
        String nanos = Integer.toString(1_000_000_000 + at.getNano()).substring(1);
        return at.getEpochSecond() + "." + nanos;
    }

    private static Json.Obj lookup(CommandContext c, String typed, int job) throws UsageException {
        try {
            Json.Obj allocation =
                    c.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", (long) Math.max(0, job)));
            AllocationClient.mustRun(allocation);
            return allocation;
        } catch (SlurmException e) {
            boolean stranger = e.errno() == SlurmErrno.ACCESS_DENIED.number();
            if (e.errno() == SlurmErrno.INVALID_JOB_ID.number() && Digits.parseNumber(typed) > 0) {
                throw c.bad(1, "Failed to load JobId=" + typed + ": '" + e.getMessage() + "'");
            }
            throw c.bad(
                    255, "Slurm job " + typed + " lookup error: " + (stranger ? "Invalid user id" : e.getMessage()));
        }
    }

    /** The nodes that are named, which are of the job's; none for all of them. */
    private static List<String> chosen(CommandContext c, String named, String ofJob) throws UsageException {
        if (named.isEmpty()) {
            return List.of();
        }
        if (HostList.parse(named) instanceof HostList.Parsed.Ok some
                && HostList.parse(ofJob) instanceof HostList.Parsed.Ok all
                && !some.list().names().isEmpty()
                && all.list().names().containsAll(some.list().names())) {
            return List.copyOf(new java.util.LinkedHashSet<>(some.list().names()));
        }
        throw c.bad(1, "--nodelist=" + named + " is not a part of the job's nodes " + ofJob);
    }

    private static int copy(CommandContext c, String job, String source, String target, Wanted w, boolean makeDirectory)
            throws SlurmException, UsageException {
        c.host().needsOwnProcess(); // only there can the file be asked for more than its content
        Map<String, Object> attributes;
        String path = Texts.absolute(source, c.host().workDir());
        try {
            c.host().readFile(path, 1);
            attributes = attributes(path);
        } catch (java.io.IOException e) {
            throw c.bad(255, "Can't open `" + source + "`: No such file or directory");
        }
        // without an allocation the nodes that are named are all there is
        Json.Obj allocation =
                w.unallocated ? new Json.Obj().put("nodes", w.nodes) : lookup(c, job, Integer.parseInt(job));
        List<String> chosen = chosen(c, w.nodes, allocation.text("nodes"));
        int nodes = chosen.isEmpty() ? Math.max(1, allocation.integer("nodeCount")) : chosen.size();
        if (w.verbose > 0) {
            file(c, attributes, job, allocation.text("nodes"));
        }
        Optional<java.nio.file.Path> packed = w.packs ? Optional.of(packed(c, path)) : Optional.empty();
        try {
            return write(
                    c,
                    job,
                    packed.map(java.nio.file.Path::toString).orElse(path),
                    target,
                    w,
                    makeDirectory,
                    attributes,
                    chosen,
                    nodes);
        } finally {
            packed.ifPresent(f -> f.toFile().delete());
        }
    }

    /** Compresses the file. The relays of slurmd pass it on as it is, and each node unpacks it. */
    private static java.nio.file.Path packed(CommandContext c, String path) throws UsageException {
        try {
            java.nio.file.Path out = java.nio.file.Files.createTempFile("sbcast", ".gz");
            try (var to = new java.util.zip.GZIPOutputStream(java.nio.file.Files.newOutputStream(out), 1 << 16) {
                {
                    def.setLevel(java.util.zip.Deflater.BEST_SPEED);
                }
            }) {
                java.nio.file.Files.copy(java.nio.file.Path.of(path), to);
            } catch (java.io.IOException e) {
                out.toFile().delete();
                throw e;
            }
            return out;
        } catch (java.io.IOException e) {
            throw c.bad(255, "Can't pack `" + path + "`: " + ErrorSentence.of(e));
        }
    }

    private static int write(
            CommandContext c,
            String job,
            String path,
            String target,
            Wanted w,
            boolean makeDirectory,
            Map<String, Object> attributes,
            List<String> chosen,
            int nodes)
            throws SlurmException, UsageException {
        String directory = c.host().settings().bcastDirectory;
        long size = ((Number) attribute(attributes, "size")).longValue();
        long block = Math.clamp(size, 1, w.blockBytes);
        List<String> args = new ArrayList<>(List.of(
                w.unallocated ? "--no-allocate" : "--jobid=" + job,
                "--overlap",
                "-Q",
                "-N" + nodes,
                "-n" + nodes,
                "--ntasks-per-node=1",
                "-J",
                "sbcast",
                "--input=" + path.replace("%", "%%"),
                "sh",
                "-c",
                (w.perNode && !makeDirectory ? OF_NODE : "") + WRITER,
                "sbcast",
                target.startsWith("/") || directory.isEmpty() ? target : directory + "/" + target,
                Integer.toOctalString((Integer) attribute(attributes, "mode") & 07777),
                w.force ? "f" : "",
                w.preserve ? seconds(attribute(attributes, "lastAccessTime")) : "",
                w.preserve ? seconds(attribute(attributes, "lastModifiedTime")) : "",
                makeDirectory ? "d" : "",
                Long.toString(block),
                Long.toString(w.timeoutSeconds * Math.ceilDiv(size, block)),
                w.packs ? "z" : ""));
        if (!chosen.isEmpty()) {
            args.addFirst("--nodelist=" + String.join(",", chosen));
        }
        if (w.fanout > 0) {
            args.addFirst("--treewidth=" + w.fanout);
        }
        return new Srun(w.unallocated ? Map.of() : addresses(c))
                .run(new CommandContext("srun", c.program(), args, c.env(), c.host(), c.out(), c.err(), c.in()));
    }

    /** BcastAddr of the nodes that have one. */
    private static Map<String, String> addresses(CommandContext c) throws SlurmException {
        Map<String, String> out = new java.util.TreeMap<>();
        Json.Obj q = new Json.Obj().put("all", Boolean.TRUE).put("fields", List.of("name", "bcastAddress"));
        for (Json.Obj n : c.host().controller().call("QueryNodes", q).objects("nodes")) {
            if (!n.text("bcastAddress").isEmpty()) {
                out.put(n.text("name"), n.text("bcastAddress"));
            }
        }
        return out;
    }
}
