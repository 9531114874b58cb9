package dev.muster.model.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathPatternTest {
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "o.%j, o.7",
                "o.%3j, o.007",
                "o.%99j, o.0000000007",
                "%5x, name",
                "100%%, 100%",
                "o.%q, o.%q",
                "o%, o%",
                "o.%3, o.%3",
                "\\o.%j, o.%j",
            })
    void pathPatternCodesAreExpanded(String pattern, String expected) {
        assertThat(PathPattern.expand(Bytes.of(pattern), c -> switch (c) {
                            case 'j' -> "7";
                            case 'x' -> "name";
                            case '%' -> "%";
                            default -> null;
                        })
                        .text())
                .isEqualTo(expected);
    }
}
