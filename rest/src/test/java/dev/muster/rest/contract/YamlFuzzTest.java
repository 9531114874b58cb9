package dev.muster.rest.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bodies in YAML of requests to slurmrestd: each is refused, or read as a value that JSON can say. */
class YamlFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "a: 1\nb:\n  - x\n  - {c: [1, 2.5, ~]}\n",
                        "--- |\n  text\n  more\n",
                        "\"a\\u00e9\": &x 1\n",
                        "? complex\n: key\n",
                        "k: >-\n  folded\n\n  line\n")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        Object value;
        try {
            value = Yaml.parse(data);
        } catch (Yaml.Unreadable e) {
            assertThat(e.getMessage()).isNotBlank();
            return;
        }
        Json.print(value);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
