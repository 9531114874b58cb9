package dev.muster.cli.command;

import java.util.List;

/** A user command: arguments, environment and streams in, exit code out. */
public interface Command {
    int run(CommandContext context) throws SlurmException, UsageException;

    /** The options that it knows, in the order of its help. */
    List<GetOpt.Opt> options();
}
