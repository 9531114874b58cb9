package dev.muster.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.rest.http.StartupException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** slurmrestd's command line. */
class OptionsTest {
    /** Data parser flags: flags without effect are logged, flags that would change an answer are refused. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            v0.0.42+prefer_refs               | data_parser/v0.0.42 ignoring default flag FLAG_PREFER_REFS
            data_parser/v0.0.45+fast          | data_parser/v0.0.45 flag fast: requests are checked in full all the same
            v0.0.45+foo                       | warning: data_parser/v0.0.45 ignoring unknown flag foo
            v0.0.45                           | ''
            """)
    void dataParserFlagsWithoutEffectAreLogged(String asked, String note) throws StartupException {
        assertThat(String.join(
                        "|",
                        SlurmrestdOptions.read(List.of("-d", asked, "127.0.0.1:0"), Map.of())
                                .notes()))
                .isEqualTo(note);
    }

    @Test
    void flagsThatWouldChangeAnswersAreRefused() {
        for (String flag : List.of("minimize_refs", "inline_enums", "complex")) {
            assertThatThrownBy(() -> SlurmrestdOptions.read(List.of("-d", "v0.0.45+" + flag, "127.0.0.1:0"), Map.of()))
                    .isInstanceOf(StartupException.class)
                    .hasMessageContaining(flag);
        }
        assertThatThrownBy(() -> SlurmrestdOptions.read(List.of("-d", "v0.0.1", "127.0.0.1:0"), Map.of()))
                .isInstanceOf(StartupException.class);
    }
}
