package dev.muster.model.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextCheckTest {
    private static boolean hasControls(String json) {
        return TextCheck.hasControls(json.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\\u0000b",
                "a\\u001bb",
                "a\\u001Bb",
                "\\u007f",
                "\\u009b",
                "a\\bb",
                "a\\fb",
                "a\u0000b",
                "a\u001b[2Jb",
                "a\u007fb",
                "a\u009bb",
                "\\\\\\u0001",
                "a\\u0008"
            })
    void controlCharactersAreFound(String text) {
        assertThat(hasControls("{\"name\":\"" + text + "\"}")).isTrue();
        assertThat(hasControls("{\"" + text + "\":1}"))
                .as("names of fields are texts too")
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "plain",
                "a\\nb",
                "a\\tb",
                "a\\r\\nb",
                "\\u000a",
                "\\u0009",
                "\\u000d",
                "\\\\u0000",
                "\\\\b",
                "\\\"",
                "gr\u00fc\u00dfe",
                "\\u00e4",
                "\u65e5\u672c",
                "\\u0020",
                "\\u",
                "\\u00"
            })
    void textWithoutControlCharactersPasses(String text) {
        assertThat(hasControls("{ \"name\":\t\"" + text + "\" }\r\n")).isFalse();
    }

    @Test
    void nulInABinaryValueIsFound() {
        assertThat(TextCheck.hasNul(List.of(Bytes.of("a"), Bytes.of(new byte[] {'a', 0, 'b'}))))
                .isTrue();
        assertThat(TextCheck.hasNul(List.of(Bytes.EMPTY, Bytes.of("a\nb\u001b"))))
                .isFalse();
    }
}
