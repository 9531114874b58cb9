package dev.muster.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** JSON from anybody: it is refused, or read as a value that is read the same once it is printed. */
class JsonFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "{\"a\":[1,-2.5e3,true,null,\"\\u00e9\\n\\ud83d\\ude00\"],\"b\":{}}",
                        "[[[[[[[[]]]]]]]]",
                        "18446744073709551616",
                        "\"\\ud800\"",
                        " { \"x\" : 1E400 } ")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        Object value;
        try {
            value = Json.parse(data);
        } catch (Json.MalformedException e) {
            assertThat(e.getMessage()).isNotBlank();
            return;
        }
        byte[] printed = Json.print(value);
        assertThat(Json.print(Json.parse(printed))).isEqualTo(printed);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
