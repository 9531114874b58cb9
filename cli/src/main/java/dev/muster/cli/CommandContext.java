package dev.muster.cli;

import java.io.InputStream;
import java.util.List;
import java.util.Map;

/**
 * One invocation of a command.
 *
 * @param name    {@code squeue}
 * @param program as typed, for messages of the option parser
 * @param args    after the name; see {@link RawText}
 */
public record CommandContext(
        String name,
        String program,
        List<String> args,
        Map<String, String> env,
        Host host,
        Output out,
        Output err,
        InputStream in) {

    public String env(String variable) {
        return env.getOrDefault(variable, "");
    }

    /** {@code squeue: error: sentence}. */
    public void error(String sentence) {
        out.flush();
        err.println(name + ": error: " + sentence);
    }

    /** {@code squeue: sentence}. */
    public void info(String sentence) {
        out.flush();
        err.println(name + ": " + sentence);
    }

    /** A mistake in the arguments: "error:" line and exit code (SLURM_EXIT_ERROR overrides it). */
    public UsageException bad(int exitCode, String sentence) {
        return new UsageException(exitCode, List.of(name + ": error: " + sentence));
    }
}
