package dev.muster.node;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Sentences for what went wrong below. */
final class Reasons {
    private Reasons() {}

    static String of(IOException e) {
        return switch (e) {
            case NoSuchFileException n -> "No such file or directory";
            case AccessDeniedException a -> "Permission denied";
            case FileSystemException f when f.getReason() != null -> f.getReason();
            default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        };
    }
}
