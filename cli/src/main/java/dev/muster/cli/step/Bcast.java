package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.request.ProgramFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs {@code srun --bcast=PATH}: copies the program to every node of the job and runs it from there. The default path
 * is {@code slurm_bcast_JOB.STEP_NODE}. Each node completes that name: the step's number is known later, and nodes may
 * share the directory.
 */
final class Bcast {
    private Bcast() {}

    private static final String LAUNCHER = "f=$1${SLURM_STEP_ID}_$SLURMD_NODENAME; t=$2_$SLURMD_NODENAME; shift 2; "
            + "mv -n \"$t\" \"$f\" 2>/dev/null; exec \"$f\" \"$@\"";

    /**
     * Where the program goes.
     *
     * @param step "" for a name that is still without it
     */
    private static String defaultTarget(CommandContext c, String asked, String workDir, int jobId, String step) {
        String configured = c.host().settings().bcastDirectory;
        String directory;
        if (asked.isEmpty()) {
            if (configured.isEmpty()) {
                directory = workDir;
            } else {
                directory = configured;
            }
        } else {
            directory = Texts.absolute(asked, workDir);
        }

        return directory + (directory.endsWith("/") ? "" : "/") + "slurm_bcast_" + jobId + "." + step;
    }

    /** The command line with the copy in the program's place; empty if it could not be copied, which has been told. */
    static Optional<List<String>> sent(CommandContext c, JobOptions o, List<String> program, int jobId)
            throws SlurmException, UsageException {
        return sent(c, o, program, jobId, List.of("--jobid=" + jobId));
    }

    private static boolean keepsOwnName(String asked) {
        return asked.isEmpty() || asked.endsWith("/");
    }

    private static List<String> sbcastOptions(JobOptions o, boolean libraries) throws UsageException {
        List<String> out =
                new ArrayList<>(List.of("--force", "--preserve", "--send-libs=" + (libraries ? "yes" : "no")));
        if (o.has(JobOption.BCAST_EXCLUDE)) {
            out.add("--exclude=" + o.text(JobOption.BCAST_EXCLUDE));
        }
        if (o.has(JobOption.COMPRESS) && List.of("", "lz4").contains(Texts.lower(o.text(JobOption.COMPRESS)))) {
            out.add("--compress");
        }
        return out;
    }

    /** Names the step after its program, not after the copy, unless the user named it. */
    private static void nameAfter(String program, JobOptions o) throws UsageException {
        if (!o.typed(JobOption.JOB_NAME) && (o.has(JobOption.JOBID) || !o.has(JobOption.JOB_NAME))) {
            o.set(JobOption.JOB_NAME, Texts.baseName(program), JobOptions.Origin.COMMAND_LINE);
        }
    }

    /** @param where the nodes that it goes to, as options of sbcast */
    static Optional<List<String>> sent(
            CommandContext c, JobOptions o, List<String> program, int jobId, List<String> where)
            throws SlurmException, UsageException {
        if (!o.has(JobOption.BCAST) || program.isEmpty()) {
            return Optional.of(program);
        }
        if (o.has(JobOption.MULTI_PROG)) {
            throw c.bad(
                    o.exitError(1), "--bcast and --multi-prog together are not supported by this version of Muster");
        }
        String workDir = new JobRequest(o).workDir();
        Optional<String> source = ProgramFile.find(c, workDir, program.getFirst());
        if (source.isEmpty()) {
            throw c.bad(o.exitError(1), "Can't open `" + program.getFirst() + "`: No such file or directory");
        }
        String asked = o.text(JobOption.BCAST);
        boolean unnamed = keepsOwnName(asked);
        String target = unnamed
                ? defaultTarget(c, asked, workDir, jobId, "new" + c.host().requestId())
                : Texts.absolute(asked, workDir);
        Map<String, String> env = new HashMap<>(c.env());
        env.keySet().removeIf(k -> k.equals("SLURM_BCAST") || k.startsWith("SBCAST_"));
        boolean libraries = o.has(JobOption.SEND_LIBS)
                ? o.text(JobOption.SEND_LIBS).equals("yes")
                : c.host().settings().bcastSendLibs;
        List<String> args = new ArrayList<>(where);
        args.addAll(sbcastOptions(o, libraries));
        args.addAll(List.of(source.get(), target));
        int rc = new Sbcast(unnamed)
                .run(new CommandContext("sbcast", c.program(), args, env, c.host(), c.out(), c.err(), c.in()));
        if (rc != 0) {
            c.error("Failed to broadcast '" + source.get() + "'. Exiting.");
            return Optional.empty();
        }
        if (libraries) {
            String others = c.env("LD_LIBRARY_PATH");
            o.stepEnvironment()
                    .put("LD_LIBRARY_PATH", Sbcast.libraries(target) + (others.isEmpty() ? "" : ":" + others));
        }
        if (unnamed) {
            nameAfter(program.getFirst(), o);
        }
        List<String> copy = new ArrayList<>(
                unnamed
                        ? List.of("sh", "-c", LAUNCHER, "srun", defaultTarget(c, asked, workDir, jobId, ""), target)
                        : List.of(target));
        copy.addAll(program.subList(1, program.size()));
        return Optional.of(copy);
    }
}
