package dev.muster.model.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.UnresolvedAddressException;
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
}
