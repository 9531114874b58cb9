package dev.muster.rest.http;

/** Why slurmrestd does not start: said as a fatal error. */
public final class StartupException extends Exception {
    private static final long serialVersionUID = 1L;

    public StartupException(String sentence) {
        super(sentence, null, false, false);
    }
}
