package dev.muster.cli.command;

import java.util.List;

/** Ends a command whose arguments are wrong: lines for standard error, and the exit code. */
public final class UsageException extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient List<String> lines;
    private final int exitCode;

    /** @param lines complete lines, without the newline */
    public UsageException(int exitCode, List<String> lines) {
        super(lines.isEmpty() ? "" : lines.getLast(), null, false, false);
        this.lines = lines;
        this.exitCode = exitCode;
    }

    public List<String> lines() {
        return lines;
    }

    public int exitCode() {
        return exitCode;
    }
}
