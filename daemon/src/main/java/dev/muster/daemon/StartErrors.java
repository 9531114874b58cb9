package dev.muster.daemon;

import java.io.IOException;
import java.net.BindException;

/** Tells administrators why a daemon cannot open its port: with the key that names it. */
public final class StartErrors {
    /** The system's words for a port that cannot be had, where the class of the exception is another's. */
    private static final String UNBOUND = "Address already in use|Cannot assign requested address|Permission denied";

    private StartErrors() {}

    /** Opens a port. */
    public interface Opening<T> {
        T open() throws IOException;
    }

    /**
     * @throws IOException with the key that names the port, where another process has it or the address is none of this
     *     host's
     */
    public static <T> T listening(String key, int port, Opening<T> opening) throws IOException {
        try {
            return opening.open();
        } catch (IOException | RuntimeException e) {
            for (Throwable at = e; at != null; at = at.getCause()) {
                if (at instanceof BindException
                        || String.valueOf(at.getMessage()).matches(UNBOUND)) {
                    throw new IOException(
                            key + "=" + port + ": cannot listen on port " + port + ": " + at.getMessage(), e);
                }
            }
            throw e;
        }
    }
}
