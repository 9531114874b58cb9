package dev.muster.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code srun --bcast=PATH}: the program goes to every node of the job first, and is run from there. */
final class Bcast {
    private Bcast() {}

    /** A name of the file's own: which node and step it is for is not known when the program's name must be. */
    static String checked(JobOptions options, String value) throws UsageException {
        if (value.isEmpty() || value.endsWith("/")) {
            throw options.context().bad(options.exitError(1), "--bcast without a file's name is not supported by this version of Muster");
        }
        return value;
    }

    /** The command line with the copy in the program's place; empty if it could not be copied, which has been told. */
    static Optional<List<String>> sent(CommandContext c, JobOptions o, List<String> program, int jobId) throws SlurmException, UsageException {
        if (!o.has(JobOption.BCAST) || program.isEmpty()) {
            return Optional.of(program);
        }
        if (o.has(JobOption.MULTI_PROG)) {
            throw c.bad(o.exitError(1), "--bcast and --multi-prog together are not supported by this version of Muster");
        }
        String workDir = new JobRequest(o).workDir();
        Optional<Path> source = found(c, workDir, program.getFirst());
        if (source.isEmpty()) {
            throw c.bad(o.exitError(1), "Can't open `" + program.getFirst() + "`: No such file or directory");
        }
        String target = Texts.absolute(o.text(JobOption.BCAST), workDir);
        Map<String, String> env = new HashMap<>(c.env());
        env.keySet().removeIf(k -> k.equals("SLURM_BCAST") || k.startsWith("SBCAST_"));
        boolean libraries = o.has(JobOption.SEND_LIBS) ? o.text(JobOption.SEND_LIBS).equals("yes") : c.host().settings().bcastSendLibs;
        List<String> args = new ArrayList<>(List.of("--force", "--preserve", "--jobid=" + jobId, "--send-libs=" + (libraries ? "yes" : "no")));
        if (o.has(JobOption.BCAST_EXCLUDE)) {
            args.add("--exclude=" + o.text(JobOption.BCAST_EXCLUDE));
        }
        if (o.has(JobOption.COMPRESS) && List.of("", "lz4").contains(Texts.lower(o.text(JobOption.COMPRESS)))) {
            args.add("--compress");
        }
        args.addAll(List.of(source.get().toString(), target));
        int rc = new Sbcast().run(new CommandContext("sbcast", c.program(), args, env, c.host(), c.out(), c.err(), c.in()));
        if (rc != 0) {
            c.error("Failed to broadcast '" + source.get() + "'. Exiting.");
            return Optional.empty();
        }
        if (libraries) {
            String others = c.env("LD_LIBRARY_PATH");
            o.stepEnvironment().put("LD_LIBRARY_PATH", Sbcast.libraries(target) + (others.isEmpty() ? "" : ":" + others));
        }
        List<String> copy = new ArrayList<>(program);
        copy.set(0, target);
        return Optional.of(copy);
    }

    private static Optional<Path> found(CommandContext c, String workDir, String name) {
        List<String> places = name.indexOf('/') >= 0 ? List.of("") : Texts.split(c.env("PATH"), ':');
        return places.stream().map(p -> Path.of(workDir).resolve(p).resolve(name)).filter(p -> Files.isRegularFile(p) && Files.isExecutable(p))
                .findFirst();
    }
}
