package dev.muster.model.format;

import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.Locale;
import java.util.Optional;

/**
 * The sentence of an error for logs and users: the operating system's words for a failed file operation, never "null",
 * a bare path or the name of a Java class.
 */
public final class ErrorSentence {
    private static final int CAUSES_MAX = 20;

    private ErrorSentence() {}

    /**
     * Returns the message of the error, or of the first of its causes that has one, or the words of its class. For a
     * failed file operation it is the file and the system's words: {@code /etc/x: Permission denied}.
     */
    public static String of(Throwable error) {
        Throwable source = source(error);
        if (source instanceof FileSystemException e && e.getFile() != null) {
            return e.getFile() + ": " + reason(e);
        }
        return reason(source);
    }

    /** Returns the reason alone, for a sentence that names the file itself. */
    public static String reason(Throwable error) {
        Throwable source = source(error);
        return switch (source) {
            case NoSuchFileException e -> "No such file or directory";
            case AccessDeniedException e -> "Permission denied";
            case FileAlreadyExistsException e -> "File exists";
            case DirectoryNotEmptyException e -> "Directory not empty";
            case NotDirectoryException e -> "Not a directory";
            case NotLinkException e -> "Invalid argument";
            case FileSystemLoopException e -> "Too many levels of symbolic links";
            case ReadOnlyFileSystemException e -> "Read-only file system";
            case FileSystemException e -> e.getReason() == null ? "Input/output error" : e.getReason();
            default -> ownMessage(source).orElseGet(() -> words(source.getClass()));
        };
    }

    /** Returns the error or the first of its causes that says something of its own; the last cause where none does. */
    private static Throwable source(Throwable error) {
        Throwable at = error;
        for (int i = 0; i < CAUSES_MAX; i++) {
            Throwable cause = at.getCause();
            if (cause == null
                    || at instanceof FileSystemException
                    || ownMessage(at).isPresent()) {
                break;
            }
            at = cause;
        }
        return at;
    }

    /** An error without a message of its own has none, or its cause's with the name of a class. */
    private static Optional<String> ownMessage(Throwable error) {
        Throwable cause = error.getCause();
        String ofCause = cause == null ? "" : cause.toString();
        return Optional.ofNullable(error.getMessage()).filter(m -> !m.isBlank() && !m.equals(ofCause));
    }

    /** {@code ClosedByInterruptException} is "closed by interrupt". */
    private static String words(Class<?> type) {
        return type.getSimpleName()
                .replaceFirst("(Exception|Error)$", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toLowerCase(Locale.ROOT);
    }
}
