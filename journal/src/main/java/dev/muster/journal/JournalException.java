package dev.muster.journal;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The journal refuses to open or has ended. The sentence names the file, and the offset where there is one. */
public final class JournalException extends RuntimeException {

    public JournalException(String sentence) {
        super(sentence);
    }

    public JournalException(@Nullable String sentence, Throwable cause) {
        super(sentence, cause);
    }

    static JournalException damaged(Path file, long offset, String finding) {
        return new JournalException("journal damaged: " + file + " at offset " + offset + ": " + finding);
    }
}
