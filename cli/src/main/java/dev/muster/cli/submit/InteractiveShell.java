package dev.muster.cli.submit;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads commands by line until the end of the input or a word that ends it. {@code !!} repeats the last one. */
public final class InteractiveShell {
    /** Runs a line. */
    public interface Line {
        /** Returns the exit code if no other command fails after it. */
        int run(List<String> words) throws SlurmException, UsageException;
    }

    /** Words that end the shell. */
    public interface Ends {
        boolean with(String firstWord);
    }

    private InteractiveShell() {}

    /**
     * Reads and runs.
     *
     * @param sticky whether the code of a failure stays when later commands succeed; otherwise that of the last command
     *     counts
     * @return the exit code of the program
     */
    public static int run(CommandContext context, boolean sticky, Ends ends, Line line) {
        String last = "";
        int rc = 0;
        while (true) {
            context.out().print(context.name() + ": ");
            context.out().flush();
            String read = next(context.in());
            if (read == null) {
                context.out().println("");
                return rc;
            }
            String command = read.strip().equals("!!") ? last : read.strip();
            if (command.isEmpty() || command.startsWith("#")) {
                continue;
            }
            last = command;
            List<String> words = Texts.words(command);
            if (ends.with(Texts.lower(words.getFirst()))) {
                return rc;
            }
            try {
                int now = line.run(words);
                rc = sticky && now == 0 ? rc : now;
            } catch (UsageException e) {
                e.lines().forEach(context.err()::println);
                rc = e.exitCode();
            } catch (SlurmException e) {
                context.error(e.getMessage());
                rc = 1;
            }
        }
    }

    /** No byte beyond the line: what follows may answer what the line asks. */
    private static @Nullable String next(InputStream in) {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try {
            int b = in.read();
            if (b < 0) {
                return null;
            }
            for (; b >= 0 && b != '\n'; b = in.read()) {
                line.write(b);
            }
            return line.toString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            return null;
        }
    }
}
