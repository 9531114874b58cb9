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
    int go(CommandContext c, ParsedArguments g) throws UsageException {
        if (g.operands().isEmpty() == !g.has("config")) {
            throw misused(c, "Either a program or -config is needed");
        }
        List<String> args = new ArrayList<>();
        if (g.has("nostdout")) {
            args.addAll(List.of("-o", "job.o%j", "-e", "job.e%j"));
        }
        if (g.has("nostdin")) {
            args.add("-inone");
        } else if (!g.has("allstdin")) {
            args.add("-i0");
        }
        if (g.has("pernode")) {
            args.add("--ntasks-per-node=1");
        }
        if (g.has("host")) {
            args.add("-w" + g.value("host"));
        }
        if (g.has("verbose")) {
            args.add("-v");
        }
        if (!g.has("config")) {
            if (g.has("n")) {
                args.add("-n" + g.value("n"));
            }
            args.addAll(g.operands());
            return delegate(c, "srun", args);
        }
        return planned(c, g.value("config"), args);
    }

    /** Lines {@code -n 2 : program args} become srun's plan of ranks. */
    private int planned(CommandContext c, String file, List<String> args) throws UsageException {
        StringBuilder plan = new StringBuilder();
        int rank = 0;
        try {
            byte[] text;
            if (file.equals("-")) {
                text = c.in().readNBytes(PLAN_BYTES_MAX);
            } else {
                text = c.host().readFile(file.startsWith("/") ? file : c.host().workDir() + "/" + file, PLAN_BYTES_MAX);
            }

            for (String line : new String(text, StandardCharsets.UTF_8)
                    .lines()
                    .map(String::strip)
                    .toList()) {
                if (line.isEmpty() || line.startsWith("#")) {
                    continue;
                }
                Matcher m = LINE.matcher(line);
                if (!m.matches() || Integer.parseInt(m.group(1)) == 0) {
                    throw refused(c, file + ": a line is to be -n NUMBER : program [args], not " + line);
                }
                int count = Integer.parseInt(m.group(1));
                plan.append(rank)
                        .append('-')
                        .append(rank + count - 1)
                        .append(' ')
                        .append(m.group(2))
                        .append('\n');
                rank += count;
            }
            Path made = Files.createTempFile("mpiexec", ".plan");
            try {
                Files.writeString(made, plan);
                args.addAll(List.of("-n" + rank, "--multi-prog", made.toString()));
                return delegate(c, "srun", args);
            } finally {
                Files.deleteIfExists(made);
            }
        } catch (IOException e) {
            throw refused(c, "cannot read " + file);
        }
    }
}
