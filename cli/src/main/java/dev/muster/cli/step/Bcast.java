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
    private static String defaultTarget(CommandContext context, String target, String workDir, int jobId, String step) {
        String configured = context.host().settings().bcastDirectory;
        String directory;
        if (target.isEmpty()) {
            if (configured.isEmpty()) {
                directory = workDir;
            } else {
                directory = configured;
            }
        } else {
            directory = Texts.absolute(target, workDir);
        }

        return directory + (directory.endsWith("/") ? "" : "/") + "slurm_bcast_" + jobId + "." + step;
    }

    /** The command line with the copy in the program's place; empty if it could not be copied, which has been told. */
    static Optional<List<String>> sent(CommandContext context, JobOptions options, List<String> program, int jobId)
            throws SlurmException, UsageException {
        return sent(context, options, program, jobId, List.of("--jobid=" + jobId));
    }

    private static boolean keepsOwnName(String target) {
        return target.isEmpty() || target.endsWith("/");
    }

    private static List<String> sbcastOptions(JobOptions options, boolean libraries) throws UsageException {
        List<String> out =
                new ArrayList<>(List.of("--force", "--preserve", "--send-libs=" + (libraries ? "yes" : "no")));
        if (options.has(JobOption.BCAST_EXCLUDE)) {
            out.add("--exclude=" + options.text(JobOption.BCAST_EXCLUDE));
        }
        if (options.has(JobOption.COMPRESS)
                && List.of("", "lz4").contains(Texts.lower(options.text(JobOption.COMPRESS)))) {
            out.add("--compress");
        }
        return out;
    }

    /** Returns a default target that no other step of the job uses. */
    private static String newTarget(CommandContext context, String requested, String workDir, int jobId) {
        String request = "new" + context.host().requestId();
        return defaultTarget(context, requested, workDir, jobId, request);
    }

    /** Names the step after its program, not after the copy, unless the user named it. */
    private static void nameAfter(String program, JobOptions options) throws UsageException {
        if (!options.typed(JobOption.JOB_NAME) && (options.has(JobOption.JOBID) || !options.has(JobOption.JOB_NAME))) {
            options.set(JobOption.JOB_NAME, Texts.baseName(program), JobOptions.Origin.COMMAND_LINE);
        }
    }

    /** @param where the nodes that it goes to, as options of sbcast */
    static Optional<List<String>> sent(
            CommandContext context, JobOptions options, List<String> program, int jobId, List<String> where)
            throws SlurmException, UsageException {
        if (!options.has(JobOption.BCAST) || program.isEmpty()) {
            return Optional.of(program);
        }
        if (options.has(JobOption.MULTI_PROG)) {
            throw context.bad(
                    options.exitError(1),
                    "--bcast and --multi-prog together are not supported by this version of Muster");
        }
        String workDir = new JobRequest(options).workDir();
        Optional<String> source = ProgramFile.find(context, workDir, program.getFirst());
        if (source.isEmpty()) {
            throw context.bad(
                    options.exitError(1), "Can't open `" + program.getFirst() + "`: No such file or directory");
        }
        String requested = options.text(JobOption.BCAST);
        boolean unnamed = keepsOwnName(requested);
        String target = unnamed ? newTarget(context, requested, workDir, jobId) : Texts.absolute(requested, workDir);
        Map<String, String> env = new HashMap<>(context.env());
        env.keySet().removeIf(k -> k.equals("SLURM_BCAST") || k.startsWith("SBCAST_"));
        boolean libraries = options.has(JobOption.SEND_LIBS)
                ? options.text(JobOption.SEND_LIBS).equals("yes")
                : context.host().settings().bcastSendLibs;
        List<String> args = new ArrayList<>(where);
        args.addAll(sbcastOptions(options, libraries));
        args.addAll(List.of(source.get(), target));
        int rc = new Sbcast(unnamed)
                .run(new CommandContext(
                        "sbcast",
                        context.program(),
                        args,
                        env,
                        context.host(),
                        context.out(),
                        context.err(),
                        context.in()));
        if (rc != 0) {
            context.error("Failed to broadcast '" + source.get() + "'. Exiting.");
            return Optional.empty();
        }
        if (libraries) {
            String others = context.env("LD_LIBRARY_PATH");
            options.stepEnvironment()
                    .put("LD_LIBRARY_PATH", Sbcast.libraries(target) + (others.isEmpty() ? "" : ":" + others));
        }
        if (unnamed) {
            nameAfter(program.getFirst(), options);
        }
        List<String> copy = new ArrayList<>();
        if (unnamed) {
            String fixedTarget = defaultTarget(context, requested, workDir, jobId, "");
            copy.addAll(List.of("sh", "-c", LAUNCHER, "srun", fixedTarget));
        }
        copy.add(target);
        copy.addAll(program.subList(1, program.size()));
        return Optional.of(copy);
    }
}
