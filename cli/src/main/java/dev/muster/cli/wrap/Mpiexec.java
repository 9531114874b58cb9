package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.UsageException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs {@code mpiexec.slurm}: srun with mpiexec's options. */
public final class Mpiexec extends Wrapper {
    private static final int PLAN_BYTES_MAX = 1 << 20;
    private static final Pattern LINE = Pattern.compile("-n\\s+(\\d{1,6})\\s*:?\\s+(.+)");

    public Mpiexec(CommandRunner runner) {
        super(
                runner,
                "program [args...]",
                "allstdin::n",
                "config::r",
                "host::r",
                "n::r",
                "nostdin::n",
                "nostdout::n",
                "pernode::n",
                "verbose::n");
    }

    @Override
    boolean startsProgram() {
        return true;
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws UsageException {
        if (arguments.operands().isEmpty() == !arguments.has("config")) {
            throw misused(context, "Either a program or -config is needed");
        }
        List<String> args = new ArrayList<>();
        if (arguments.has("nostdout")) {
            args.addAll(List.of("-o", "job.o%j", "-e", "job.e%j"));
        }
        if (arguments.has("nostdin")) {
            args.add("-inone");
        } else if (!arguments.has("allstdin")) {
            args.add("-i0");
        }
        if (arguments.has("pernode")) {
            args.add("--ntasks-per-node=1");
        }
        if (arguments.has("host")) {
            args.add("-w" + arguments.value("host"));
        }
        if (arguments.has("verbose")) {
            args.add("-v");
        }
        if (!arguments.has("config")) {
            if (arguments.has("n")) {
                args.add("-n" + arguments.value("n"));
            }
            args.addAll(arguments.operands());
            return delegate(context, "srun", args);
        }
        return planned(context, arguments.value("config"), args);
    }

    /** Lines {@code -n 2 : program args} become srun's plan of ranks. */
    private int planned(CommandContext context, String file, List<String> args) throws UsageException {
        StringBuilder plan = new StringBuilder();
        int rank = 0;
        try {
            byte[] text;
            if (file.equals("-")) {
                text = context.in().readNBytes(PLAN_BYTES_MAX);
            } else {
                text = context.host()
                        .readFile(file.startsWith("/") ? file : context.host().workDir() + "/" + file, PLAN_BYTES_MAX);
            }

            for (String line : new String(text, StandardCharsets.UTF_8)
                    .lines()
                    .map(String::strip)
                    .toList()) {
                if (line.isEmpty() || line.startsWith("#")) {
                    continue;
                }
                Matcher matcher = LINE.matcher(line);
                if (!matcher.matches() || Integer.parseInt(matcher.group(1)) == 0) {
                    throw refused(context, file + ": a line is to be -n NUMBER : program [args], not " + line);
                }
                int count = Integer.parseInt(matcher.group(1));
                plan.append(rank)
                        .append('-')
                        .append(rank + count - 1)
                        .append(' ')
                        .append(matcher.group(2))
                        .append('\n');
                rank += count;
            }
            Path made = Files.createTempFile("mpiexec", ".plan");
            try {
                Files.writeString(made, plan);
                args.addAll(List.of("-n" + rank, "--multi-prog", made.toString()));
                return delegate(context, "srun", args);
            } finally {
                Files.deleteIfExists(made);
            }
        } catch (IOException e) {
            throw refused(context, "cannot read " + file);
        }
    }
}
