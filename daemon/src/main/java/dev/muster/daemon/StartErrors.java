package dev.muster.daemon;

import java.io.IOException;
import java.net.BindException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * Sentences for what keeps a daemon from starting: the system's words, without the path that a file's exception
 * repeats.
 */
public final class StartErrors {
    /** The system's words for a port that cannot be had, where the class of the exception is another's. */
    private static final String UNBOUND = "Address already in use|Cannot assign requested address|Permission denied";

    private StartErrors() {}

    /** The system's words for a failed file operation. */
    public static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException n -> "No such file or directory";
            case AccessDeniedException a -> "Permission denied";
            case NotDirectoryException n -> "Not a directory";
            case FileAlreadyExistsException f -> "File exists";
            case FileSystemException f when f.getReason() != null -> f.getReason();
            default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        };
    }

    /** The sentence for a daemon that cannot start. */
    public static String sentence(Throwable e) {
        if (e instanceof FileSystemException f) {
            return f.getFile() + ": " + reason(f);
        }
        if (e.getMessage() == null) {
            return e.toString();
        }
        return e.getMessage();
    }

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
