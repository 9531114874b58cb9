package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the executable file that a program's name means on the host of srun or salloc. */
public final class ProgramFile {
    private ProgramFile() {}

    /**
     * A name that begins with a dot stands in the directory; any other is looked for along PATH, and then in the
     * directory.
     *
     * @param directory absolute
     * @return the path as put together, with the name's dots; empty if there is no executable file
     */
    public static Optional<String> find(CommandContext context, String directory, String name) {
        List<String> candidates = new ArrayList<>();
        if (!name.startsWith("/") && !name.startsWith(".")) {
            Texts.split(context.env("PATH"), ':').stream()
                    .filter(d -> !d.isEmpty())
                    .forEach(d -> candidates.add(d + "/" + name));
        }
        candidates.add(Texts.absolute(name, directory));
        return candidates.stream()
                .filter(f -> isExecutable(Path.of(directory).resolve(f)))
                .findFirst();
    }

    private static boolean isExecutable(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }

    /**
     * Puts the program's file in its place where it must be here as well: LaunchParameters=test_exec, SLURM_TEST_EXEC
     * and {@code --bcast}.
     *
     * @throws UsageException if there is no such file
     */
    public static List<String> tested(JobOptions options, List<String> program) throws UsageException {
        CommandContext context = options.context();
        boolean isCopied = options.has(JobOption.BCAST)
                || context.env().containsKey("SLURM_TEST_EXEC")
                || context.host().settings().launchParameters.contains("test_exec");
        if (program.isEmpty() || options.has(JobOption.MULTI_PROG) || !isCopied) {
            return program;
        }
        Optional<String> file = find(context, new JobRequest(options).workDir(), program.getFirst());
        if (file.isEmpty()) {
            throw new UsageException(
                    CommandContext.FATAL_EXIT, List.of("srun: fatal: Can not execute " + program.getFirst()));
        }
        List<String> out = new ArrayList<>(program);
        out.set(0, file.get());
        return out;
    }
}
