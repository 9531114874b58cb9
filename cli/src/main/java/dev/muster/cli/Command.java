package dev.muster.cli;

/** A user command: arguments, environment and streams in, exit code out. */
public interface Command {
    int run(CommandContext context) throws SlurmException, UsageException;
}
