package dev.muster.cli.wrap;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.OptionHelp;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs sgather, which copies a file from each node of the job to this host as {@code DEST.node}: the tasks of one step
 * write it to their output, packed by tar.
 */
public final class Sgather implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "compress:C:n",
            "fanout:F:r",
            "force:f:n",
            "help:h:n",
            "jobid:j:r",
            "keep:k:n",
            "preserve:p:n",
            "recursive:r:n",
            "timeout:t:r",
            "usage::n",
            "verbose:v:n",
            "version:V:n");
    private static final String OPERANDS = "SOURCE DEST";
    /** The error of a missing file; none with --force. */
    private static final String MISSING = ": No such file or directory";
    /**
     * Arguments: source, r if it may be a directory, seconds, and one for tar. What cannot be read leaves no output and
     * a line of error.
     */
    private static final String READER = "[ -e \"$1\" ] || "
            + "{ echo \"sgather: error: $SLURMD_NODENAME: $1" + MISSING + "\" >&2; exit 0; }; "
            + "[ ! -d \"$1\" ] || [ -n \"$2\" ] || { echo \"sgather: error: $SLURMD_NODENAME: $1: is a directory\" "
            + ">&2; exit 0; }; "
            + "exec timeout \"$3\" tar -cf - $4 -C \"$(dirname \"$1\")\" -- \"$(basename \"$1\")\"";

    private static final long UNPACK_SECONDS = 600;
    private static final long WORDS_BYTES_MAX = 1 << 16;

    private final CommandRunner runner;

    /** @param runner runs srun */
    public Sgather(CommandRunner runner) {
        this.runner = runner;
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(OPTIONS, context.args(), false);
        if (!parsed.error().isEmpty()) {
            throw new UsageException(
                    1,
                    List.of(context.program() + ": " + parsed.error(), "Try \"sgather --help\" for more information"));
        }
        List<String> set = new ArrayList<>();
        String job = context.env("SLURM_JOB_ID");
        long seconds = 0;
        String fanout = "";
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "help" -> {
                    OptionHelp.help(context, OPTIONS, OPERANDS);
                    return 0;
                }
                case "usage" -> {
                    context.out().println("Usage: sgather [-CFfhjkprtvV] " + OPERANDS);
                    return 0;
                }
                case "version" -> {
                    context.out().println("sgather " + Release.VERSION);
                    return 0;
                }
                case "jobid" -> job = hit.value();
                case "fanout" -> fanout = "--treewidth=" + number(context, hit);
                case "timeout" -> seconds = number(context, hit);
                default -> set.add(hit.opt().name());
            }
        }
        if (parsed.operands().size() != 2) {
            throw new UsageException(
                    1,
                    List.of(
                            "Need two file names, have " + parsed.operands().size() + " names",
                            "Try \"sgather --help\" for more information"));
        }
        if (!job.matches("\\d{1,9}")) {
            throw context.bad(
                    1, "Need a job id to run this command.  Run from within a Slurm job or use the --jobid option.");
        }
        return gather(context, job, parsed.operands(), set, seconds, fanout);
    }

    private static long number(CommandContext context, GetOpt.Hit hit) throws UsageException {
        if (!hit.value().matches("\\d{1,6}")) {
            throw context.bad(1, "--" + hit.opt().name() + ": a number is needed, not " + hit.value());
        }
        return Long.parseLong(hit.value());
    }

    private int gather(
            CommandContext context, String job, List<String> names, List<String> set, long seconds, String fanout)
            throws SlurmException, UsageException {
        context.host().needsOwnProcess();
        Json.Obj allocation =
                context.host().controller().call("AwaitAllocation", new Json.Obj().put("jobId", Long.parseLong(job)));
        List<String> nodes = Wrapper.names(allocation.text("nodes"));
        String target = names.getLast();
        Path dest = Path.of(target.startsWith("/") ? target : context.host().workDir() + "/" + target);
        for (String node : nodes) {
            if (Files.exists(Path.of(dest + "." + node)) && !set.contains("force")) {
                throw context.bad(1, dest + "." + node + ": File exists");
            }
        }
        if (set.contains("verbose")) {
            context.info("gathering " + names.getFirst() + " from " + allocation.text("nodes") + " of job " + job);
        }
        Path spool;
        try {
            spool = Files.createTempDirectory(dest.toAbsolutePath().getParent(), ".sgather");
        } catch (IOException e) {
            throw context.bad(1, "Can't write beside `" + target + "`: " + ErrorSentence.reason(e));
        }
        try {
            List<String> args = new ArrayList<>();
            if (!fanout.isEmpty()) {
                args.add(fanout);
            }
            // one step reads on all nodes; every task's output is a file of its own
            args.addAll(step(job, nodes.size()));
            args.addAll(List.of(
                    "-o",
                    spool.toString().replace("%", "%%") + "/%N",
                    "-e",
                    spool.toString().replace("%", "%%") + "/%N.err",
                    "sh",
                    "-c",
                    READER,
                    "sgather",
                    names.getFirst(),
                    set.contains("recursive") ? "r" : "",
                    Long.toString(seconds),
                    set.contains("compress") ? "-z" : "--owner=0"));
            int rc = srun(context, args);
            for (String node : nodes) {
                rc = Math.max(rc, unpack(context, spool, node, dest, set));
            }
            return rc;
        } catch (IOException e) {
            throw context.bad(1, "Can't write `" + target + "`: " + ErrorSentence.reason(e));
        } finally {
            remove(spool);
        }
    }

    private static List<String> step(String job, int nodes) {
        return List.of(
                "--jobid=" + job,
                "--overlap",
                "-Q",
                "-N" + nodes,
                "-n" + nodes,
                "--ntasks-per-node=1",
                "-J",
                "sgather",
                "--input=none");
    }

    private int srun(CommandContext context, List<String> args) {
        return runner.run(new CommandContext(
                "srun", "srun", args, context.env(), context.host(), context.out(), context.err(), context.in()));
    }

    private static int unpack(CommandContext context, Path spool, String node, Path dest, List<String> set)
            throws IOException {
        Path archive = spool.resolve(node);
        Path errors = spool.resolve(node + ".err");
        String words = Files.exists(errors) && Files.size(errors) <= WORDS_BYTES_MAX
                ? Files.readString(errors, StandardCharsets.ISO_8859_1).strip()
                : "";
        if (!words.isEmpty()) {
            context.err().println(words);
        }
        if (words.endsWith(MISSING) && set.contains("force")) {
            return 0;
        }
        if (!Files.exists(archive) || Files.size(archive) == 0) {
            if (words.isEmpty()) {
                context.error(node + ": nothing came");
            }
            return 1;
        }
        Path into = Files.createDirectory(spool.resolve(node + ".d"));
        List<String> tar =
                new ArrayList<>(List.of("tar", "-xf", archive.toString(), "-C", into.toString(), "--no-same-owner"));
        tar.addAll(set.contains("preserve") ? List.of("-p") : List.of("-m", "--no-same-permissions"));
        try {
            Process unpacks = new ProcessBuilder(tar)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!unpacks.waitFor(UNPACK_SECONDS, TimeUnit.SECONDS) || unpacks.exitValue() != 0) {
                unpacks.destroyForcibly();
                context.error(node + ": what came is not whole");
                return 1;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
        Optional<Path> one;
        try (Stream<Path> found = Files.list(into)) {
            one = found.findFirst();
        }
        Path to = Path.of(dest + "." + node);
        if (one.isEmpty()) {
            context.error(node + ": nothing came");
            return 1;
        }
        if (Files.isDirectory(to)) {
            remove(to);
        }
        Files.move(one.get(), to, StandardCopyOption.REPLACE_EXISTING);
        return 0;
    }

    private static void remove(Path path) {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path one : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(one);
            }
        } catch (IOException e) {
            // a file that is left behind is recognizable by its name
        }
    }
}
