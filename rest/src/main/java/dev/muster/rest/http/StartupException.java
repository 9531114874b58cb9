package dev.muster.rest.http;

import org.jspecify.annotations.Nullable;

/** Why slurmrestd does not start: said as a fatal error. */
public final class StartupException extends Exception {
    private static final long serialVersionUID = 1L;

    public StartupException(@Nullable String sentence) {
        super(sentence, null, false, false);
    }
}
