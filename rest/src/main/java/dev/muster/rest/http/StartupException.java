package dev.muster.rest.http;

import org.jspecify.annotations.Nullable;

/** The reason why slurmrestd does not start, reported as a fatal error. */
public final class StartupException extends Exception {
    private static final long serialVersionUID = 1L;

    public StartupException(@Nullable String sentence) {
        super(sentence, null, false, false);
    }
}
