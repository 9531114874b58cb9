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

    private static final class Options {
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
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        Options options = defaults(context);
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "SOURCE DEST", hit)) {
                return 0;
            }
            option(context, options, hit.opt().name(), hit.value());
        }
        if (parsed.operands().size() != 2) {
            throw new UsageException(
                    1,
                    List.of(
                            "Need two file names, have " + parsed.operands().size() + " names",
                            "Try \"sbcast --help\" for more information"));
        }
        String source = parsed.operands().getFirst();
        String target = parsed.operands().getLast();
        return options.unallocated
                ? toNodes(context, options, source, target)
                : toJobs(context, options, source, target);
    }

    /** The options that slurm.conf and the environment set. */
    private Options defaults(CommandContext context) throws SlurmException, UsageException {
        Options options = new Options();
        options.perNode = perNode;
        options.sendLibs = context.host().settings().bcastSendLibs;
        options.excluded = context.host().settings().bcastExclude;
        for (GetOpt.Opt option : OPTIONS) {
            String set = context.env("SBCAST_" + Texts.upper(option.name()).replace('-', '_'));
            if (!set.isEmpty()) {
                option(context, options, option.name(), set);
            }
        }
        return options;
    }

    /** {@code --no-allocation} copies to named nodes instead of a job's. */
    private static int toNodes(CommandContext context, Options options, String source, String target)
            throws SlurmException, UsageException {
        if (options.nodes.isEmpty()) {
            throw context.bad(1, "--no-allocation needs the nodes: --nodelist");
        }
        if (!options.job.isEmpty()) {
            throw context.bad(1, "--no-allocation and --jobid are mutually exclusive");
        }
        if (options.verbose > 0) {
            settings(context, options, source, target);
        }
        return withLibraries(context, "", source, target, options);
    }

    private static int toJobs(CommandContext context, Options options, String source, String target)
            throws SlurmException, UsageException {
        String id = options.jobGiven ? options.job : context.env("SLURM_JOB_ID");
        if (id.isEmpty() && !options.jobGiven) {
            throw context.bad(
                    1, "Need a job id to run this command.  Run from within a Slurm job or use the --jobid option.");
        }
        JobIds.check(context, id, 1);
        if (options.verbose > 0) {
            settings(context, options, source, target);
        }
        int rc = 0;
        for (int job : jobs(context, id)) {
            rc = Math.max(rc, withLibraries(context, Integer.toString(job), source, target, options));
        }
        return rc;
    }

    /** The job itself; every component of a heterogeneous one that is named as a whole. */
    private static List<Integer> jobs(CommandContext context, String id) throws SlurmException, UsageException {
        int number = JobIds.resolve(context, id.indexOf('.') < 0 ? id : id.substring(0, id.indexOf('.')));
        List<Integer> members = id.indexOf('+') >= 0 ? List.of() : SrunHet.members(lookup(context, id, number));
        return members.isEmpty() || members.getFirst() != number ? List.of(number) : members;
    }

    private static void option(CommandContext context, Options options, String name, String value)
            throws UsageException {
        switch (name) {
            case "force" -> options.force = true;
            case "jobid" -> {
                options.job = value;
                options.jobGiven = true;
            }
            case "nodelist" -> options.nodes = value;
            case "no-allocation" -> options.unallocated = true;
            case "preserve" -> options.preserve = true;
            case "compress" -> {
                options.packs = List.of("", "lz4").contains(Texts.lower(value));
                if (!options.packs && !Texts.lower(value).equals("none")) {
                    context.error("Compression type '" + value + "' unknown, disabling compression support.");
                }
            }
            case "send-libs" -> {
                if (!List.of("", "yes", "no").contains(Texts.lower(value))) {
                    throw context.bad(1, "--send-libs: yes or no, not " + value);
                }
                options.sendLibs = !Texts.lower(value).equals("no");
            }
            case "exclude" -> options.excluded = excluded(context, value);
            case "fanout", "treewidth" ->
                options.fanout = Math.clamp(Digits.parseNumber(value), 0, LaunchTree.WIDTH_MAX);
            case "size" -> {
                long bytes = bytes(value);
                if (bytes < 0) {
                    context.err().println("size specification is invalid, ignored");
                } else if (bytes > 0) {
                    options.blockBytes = Math.min(bytes, BLOCK_MAX);
                }
            }
            case "timeout" -> options.timeoutSeconds = Math.clamp(Digits.parseNumber(value), 0, Integer.MAX_VALUE);
            case "verbose" -> options.verbose += 1;
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
    static List<String> excluded(CommandContext context, String value) throws UsageException {
        List<String> out = value.equalsIgnoreCase("none") ? List.of() : Texts.split(value, ',');
        for (String path : out) {
            if (!path.startsWith("/")) {
                throw context.bad(1, "Invalid exclude path '" + path + "': it must be absolute");
            }
        }
        return out;
    }

    /** Returns the directory of a program's libraries, beside it. */
    static String libraries(String target) {
        return target + "_libs";
    }

    private static int withLibraries(CommandContext context, String job, String source, String target, Options options)
            throws SlurmException, UsageException {
        int rc = copy(context, job, source, target, options, false);
        if (rc != 0 || !options.sendLibs) {
            return rc;
        }
        context.host().needsOwnProcess(); // ldd is run as the caller
        List<java.nio.file.Path> found;
        try {
            found = Libraries.of(
                    java.nio.file.Path.of(Texts.absolute(source, context.host().workDir())), options.excluded);
        } catch (java.io.IOException e) {
            throw context.bad(1, "Can't find the shared objects of `" + source + "`: " + ErrorSentence.of(e));
        }
        for (java.nio.file.Path library : found) {
            String to = libraries(target) + "/" + library.getFileName();
            if (copy(context, job, library.toString(), to, options, true) != 0) {
                context.error("Broadcast of '" + library + "' failed");
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

    private static void settings(CommandContext context, Options options, String source, String target) {
        say(
                context,
                RULE,
                "block_size = " + options.blockBytes,
                "compress   = " + (options.packs ? 1 : 0),
                "exclude    = " + (options.excluded.isEmpty() ? "NONE" : String.join(",", options.excluded)),
                "force      = " + options.force,
                "fanout     = " + options.fanout,
                "preserve   = " + options.preserve,
                "send_libs  = " + options.sendLibs,
                "timeout    = " + options.timeoutSeconds,
                "verbose    = " + options.verbose,
                "source     = " + source,
                "dest       = " + target,
                RULE);
    }

    private static void file(CommandContext context, Map<String, Object> all, String job, String nodes) {
        say(
                context,
                "modes    = " + Integer.toOctalString((Integer) attribute(all, "mode")),
                "uid      = " + all.get("uid"),
                "gid      = " + all.get("gid"),
                "atime    = " + date(context, attribute(all, "lastAccessTime")),
                "mtime    = " + date(context, attribute(all, "lastModifiedTime")),
                "ctime    = " + date(context, attribute(all, "ctime")),
                "size     = " + all.get("size"),
                "jobid      = " + job,
                "node_list  = " + nodes);
    }

    private static void say(CommandContext context, String... lines) {
        for (String line : lines) {
            context.info(line);
        }
    }

    private static String date(CommandContext context, Object time) {
        return java.time.format.DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", java.util.Locale.ROOT)
                .format(((java.nio.file.attribute.FileTime) time)
                        .toInstant()
                        .atZone(context.host().zone()));
    }

    private static String seconds(Object time) {
        java.time.Instant at = ((java.nio.file.attribute.FileTime) time).toInstant();
        String nanos = Integer.toString(1_000_000_000 + at.getNano()).substring(1);
        return at.getEpochSecond() + "." + nanos;
    }

    private static Json.Obj lookup(CommandContext context, String typed, int job) throws UsageException {
        try {
            Json.Obj allocation = context.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", (long)
                            Math.max(0, job)));
            AllocationClient.mustRun(allocation);
            return allocation;
        } catch (SlurmException e) {
            boolean stranger = e.errno() == SlurmErrno.ACCESS_DENIED.number();
            if (e.errno() == SlurmErrno.INVALID_JOB_ID.number() && Digits.parseNumber(typed) > 0) {
                throw context.bad(1, "Failed to load JobId=" + typed + ": '" + e.getMessage() + "'");
            }
            throw context.bad(
                    255, "Slurm job " + typed + " lookup error: " + (stranger ? "Invalid user id" : e.getMessage()));
        }
    }

    /** The nodes that are named, which are of the job's; none for all of them. */
    private static List<String> chosen(CommandContext context, String named, String ofJob) throws UsageException {
        if (named.isEmpty()) {
            return List.of();
        }
        if (HostList.parse(named) instanceof HostList.Parsed.Ok some
                && HostList.parse(ofJob) instanceof HostList.Parsed.Ok all
                && !some.list().names().isEmpty()
                && all.list().names().containsAll(some.list().names())) {
            return List.copyOf(new java.util.LinkedHashSet<>(some.list().names()));
        }
        throw context.bad(1, "--nodelist=" + named + " is not a part of the job's nodes " + ofJob);
    }

    private static int copy(
            CommandContext context, String job, String source, String target, Options options, boolean makeDirectory)
            throws SlurmException, UsageException {
        context.host().needsOwnProcess(); // only there can the file be asked for more than its content
        Map<String, Object> attributes;
        String path = Texts.absolute(source, context.host().workDir());
        try {
            context.host().readFile(path, 1);
            attributes = attributes(path);
        } catch (java.io.IOException e) {
            throw context.bad(255, "Can't open `" + source + "`: No such file or directory");
        }
        // without an allocation the nodes that are named are all there is
        Json.Obj allocation = options.unallocated
                ? new Json.Obj().put("nodes", options.nodes)
                : lookup(context, job, Integer.parseInt(job));
        List<String> chosen = chosen(context, options.nodes, allocation.text("nodes"));
        int nodes = chosen.isEmpty() ? Math.max(1, allocation.integer("nodeCount")) : chosen.size();
        if (options.verbose > 0) {
            file(context, attributes, job, allocation.text("nodes"));
        }
        Optional<java.nio.file.Path> packed = options.packs ? Optional.of(packed(context, path)) : Optional.empty();
        try {
            return write(
                    context,
                    job,
                    packed.map(java.nio.file.Path::toString).orElse(path),
                    target,
                    options,
                    makeDirectory,
                    attributes,
                    chosen,
                    nodes);
        } finally {
            packed.ifPresent(f -> f.toFile().delete());
        }
    }

    /** Compresses the file. The relays of slurmd pass it on as it is, and each node unpacks it. */
    private static java.nio.file.Path packed(CommandContext context, String path) throws UsageException {
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
            throw context.bad(255, "Can't pack `" + path + "`: " + ErrorSentence.reason(e));
        }
    }

    private static int write(
            CommandContext context,
            String job,
            String path,
            String target,
            Options options,
            boolean makeDirectory,
            Map<String, Object> attributes,
            List<String> chosen,
            int nodes)
            throws SlurmException, UsageException {
        String directory = context.host().settings().bcastDirectory;
        long size = ((Number) attribute(attributes, "size")).longValue();
        long block = Math.clamp(size, 1, options.blockBytes);
        List<String> args = new ArrayList<>(List.of(
                options.unallocated ? "--no-allocate" : "--jobid=" + job,
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
                (options.perNode && !makeDirectory ? OF_NODE : "") + WRITER,
                "sbcast",
                target.startsWith("/") || directory.isEmpty() ? target : directory + "/" + target,
                Integer.toOctalString((Integer) attribute(attributes, "mode") & 07777),
                options.force ? "f" : "",
                options.preserve ? seconds(attribute(attributes, "lastAccessTime")) : "",
                options.preserve ? seconds(attribute(attributes, "lastModifiedTime")) : "",
                makeDirectory ? "d" : "",
                Long.toString(block),
                Long.toString(options.timeoutSeconds * Math.ceilDiv(size, block)),
                options.packs ? "z" : ""));
        if (!chosen.isEmpty()) {
            args.addFirst("--nodelist=" + String.join(",", chosen));
        }
        if (options.fanout > 0) {
            args.addFirst("--treewidth=" + options.fanout);
        }
        return new Srun(options.unallocated ? Map.of() : addresses(context))
                .run(new CommandContext(
                        "srun",
                        context.program(),
                        args,
                        context.env(),
                        context.host(),
                        context.out(),
                        context.err(),
                        context.in()));
    }

    /** BcastAddr of the nodes that have one. */
    private static Map<String, String> addresses(CommandContext context) throws SlurmException {
        Map<String, String> out = new java.util.TreeMap<>();
        Json.Obj query = new Json.Obj().put("all", Boolean.TRUE).put("fields", List.of("name", "bcastAddress"));
        for (Json.Obj node :
                context.host().controller().call("QueryNodes", query).objects("nodes")) {
            if (!node.text("bcastAddress").isEmpty()) {
                out.put(node.text("name"), node.text("bcastAddress"));
            }
        }
        return out;
    }
}
