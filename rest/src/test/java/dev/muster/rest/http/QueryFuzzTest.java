package dev.muster.rest.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Query strings: each is refused, or each of its names has a value. */
class QueryFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of("a=b&c=%20d&e", "%", "a=%zz&a=1", "a=%ff%fe")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        Request.query(new String(data, StandardCharsets.ISO_8859_1))
                .ifPresent(q -> assertThat(q).doesNotContainValue(null));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
