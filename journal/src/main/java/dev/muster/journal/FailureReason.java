package dev.muster.journal;

import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Tells administrators why a read or write of the journal failed: the file where it is known, and the sentence of the
 * operating system.
 */
final class FailureReason {
    private FailureReason() {}

    /** Contains no name of a Java class, whichever the error is. */
    static String of(Throwable error) {
        return switch (error) {
            case NoSuchFileException e -> e.getFile() + ": No such file or directory";
            case AccessDeniedException e -> e.getFile() + ": Permission denied";
            case FileAlreadyExistsException e -> e.getFile() + ": File exists";
            case DirectoryNotEmptyException e -> e.getFile() + ": Directory not empty";
            case NotDirectoryException e -> e.getFile() + ": Not a directory";
            case FileSystemException e ->
                e.getFile() + ": " + (e.getReason() == null ? "Input/output error" : e.getReason());
            case ReadOnlyFileSystemException e -> "Read-only file system";
            default -> {
                String message = error.getMessage();
                Throwable cause = error.getCause();
                if (message != null && isOwn(message, cause)) {
                    yield message;
                }
                if (cause != null) {
                    yield of(cause);
                }
                yield words(error.getClass());
            }
        };
    }

    /** An error without a message of its own has none, or its cause's with the name of a class. */
    private static boolean isOwn(String message, @Nullable Throwable cause) {
        return !message.isBlank() && (cause == null || !message.equals(cause.toString()));
    }

    /** {@code ClosedByInterruptException} is "closed by interrupt". */
    private static String words(Class<?> type) {
        return type.getSimpleName()
                .replaceFirst("(Exception|Error)$", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toLowerCase(Locale.ROOT);
    }
}
