package dev.muster.cli.command;

import static java.util.Objects.requireNonNull;

/** Reports a request that the controller refused or that did not reach it: Slurm's error number and sentence. */
public final class SlurmException extends Exception {
    private static final long serialVersionUID = 1L;
    private final int errno;

    public SlurmException(int errno, String sentence) {
        super(sentence, null, false, false);
        this.errno = errno;
    }

    /** Returns the sentence; this exception always has one. */
    @Override
    public String getMessage() {
        return requireNonNull(super.getMessage(), "the constructor is given one");
    }

    public int errno() {
        return errno;
    }
}
