package dev.muster.node.meter;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables of nvidia-smi, of any version and cut off: each is a table or an empty one. */
class GpuUseFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "# gpu pid type sm mem enc dec fb command\n0 1 C 75 20 - - 512 python\n",
                        "# pid\n",
                        "1 2 3\n# gpu pid sm\n0 99999999999 5\n")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        GpuUse use = GpuUse.parse(new String(data, StandardCharsets.UTF_8));
        assertThat(use.percent().values()).allMatch(v -> v >= 0);
        assertThat(use.kb().values()).allMatch(v -> v >= 0);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
