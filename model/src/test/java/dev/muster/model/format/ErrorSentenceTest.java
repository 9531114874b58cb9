package dev.muster.model.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class ErrorSentenceTest {
    @Test
    void sentenceIsNeverNull() {
        assertThat(ErrorSentence.of(new IOException("disk full"))).isEqualTo("disk full");
        assertThat(ErrorSentence.of(new ClosedByInterruptException())).isEqualTo("closed by interrupt");
        assertThat(ErrorSentence.of(new IOException(new UnresolvedAddressException())))
                .isEqualTo("unresolved address");
        assertThat(ErrorSentence.of(new UncheckedIOException(new IOException("no route"))))
                .isEqualTo("no route");
        assertThat(ErrorSentence.of(new IOException(" ", new IllegalStateException())))
                .isEqualTo("illegal state");
    }

    @Test
    void failedFileOperationIsToldInTheSystemsWords() {
        IOException missing = new NoSuchFileException("/etc/x");
        assertThat(ErrorSentence.of(missing)).isEqualTo("/etc/x: No such file or directory");
        assertThat(ErrorSentence.reason(missing)).isEqualTo("No such file or directory");
        assertThat(ErrorSentence.of(new UncheckedIOException(missing))).isEqualTo("/etc/x: No such file or directory");
        assertThat(ErrorSentence.reason(new FileSystemException("/etc/x", null, "Disk quota exceeded")))
                .isEqualTo("Disk quota exceeded");
        assertThat(ErrorSentence.of(new FileSystemException("/etc/x"))).isEqualTo("/etc/x: Input/output error");
        assertThat(ErrorSentence.of(new FileSystemException(null, null, "Read-only file system")))
                .isEqualTo("Read-only file system");
    }
}
