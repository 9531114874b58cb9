package dev.muster.cli.command;

/** Reports a request that the controller refused or that did not reach it: Slurm's error number and sentence. */
public final class SlurmException extends Exception {
    private static final long serialVersionUID = 1L;
    private final int errno;

    public SlurmException(int errno, String sentence) {
        super(sentence, null, false, false);
        this.errno = errno;
    }

    public int errno() {
        return errno;
    }
}
