package dev.muster.cli.command;

/** Runs a command by its name. Commands that need another command are given it. */
public interface CommandRunner {
    /** Returns the exit code. */
    int run(CommandContext context);
}
