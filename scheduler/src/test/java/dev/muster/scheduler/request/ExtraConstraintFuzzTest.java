package dev.muster.scheduler.request;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** --extra of jobs: what is valid can be matched against what a node says. */
class ExtraConstraintFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of("(a=1&b>2)|c<=3.5", "a!=x,b=y", "((a=1)", "&")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        if (ExtraConstraint.isValid(text)) {
            ExtraConstraint.match(text, "{\"a\":1,\"b\":\"x\"}");
            ExtraConstraint.match(text, "");
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
