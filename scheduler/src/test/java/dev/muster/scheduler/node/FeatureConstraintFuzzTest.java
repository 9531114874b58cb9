package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Constraints of jobs: each has an objection, or choices that can be matched. */
class FeatureConstraintFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of("[rack1|rack2|rack3]*2", "a&b|c", "(a|b)&c*3", "a*4&[b*2|c]", "!x", "(((", "a*99999999999")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        if (text.length() < 2000 && FeatureConstraint.objection(text).isEmpty()) {
            FeatureConstraint.names(text);
            if (!text.isEmpty()) {
                assertThat(FeatureConstraint.choices(text)).isNotEmpty();
            }
            FeatureConstraint.match(text, List.of("a", "b"));
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
