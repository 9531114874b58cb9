package dev.muster.cli.command;

import dev.muster.model.format.Times;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

/**
 * One invocation of a command.
 *
 * @param name {@code squeue}
 * @param program as typed, for messages of the option parser
 * @param args after the name; see {@link RawText}
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

    /**
     * A moment as the user wants to see it (SLURM_TIME_FORMAT).
     *
     * @param seconds since 1970
     */
    public String time(long seconds) {
        return Times.print(seconds, host.zone(), env("SLURM_TIME_FORMAT"), host.nowMs() / 1000);
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

    /** Exit code of a failed command, set by SLURM_EXIT_ERROR; an option with a wrong value has its own exit code. */
    public int exitError(int otherwise) {
        String value = env("SLURM_EXIT_ERROR");
        try {
            return value.isEmpty() || Integer.parseInt(value) == 0 ? otherwise : Integer.parseInt(value);
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /** Exit code of a command that ends with a "fatal:" line; SLURM_EXIT_ERROR does not change it. */
    public static final int FATAL_EXIT = 1;

    /** Reports a mistake in the arguments: "error:" line and exit code. */
    public UsageException bad(int exitCode, String sentence) {
        return new UsageException(exitCode, List.of(name + ": error: " + sentence));
    }
}
