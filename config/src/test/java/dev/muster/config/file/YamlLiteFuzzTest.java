package dev.muster.config.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** topology.yaml and its like: what is no such file is a mistake with its line. */
class YamlLiteFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "---\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s1\n"
                                + "        children: s[2-3]\n",
                        "a: {b: 1, c: [1, 2]}\nd: \"x#y\" # z\n",
                        "- - - a\n- {",
                        "a:\n b\n  c: \'d\'\n")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        List<String> lines = new String(data, StandardCharsets.UTF_8).lines().toList();
        try {
            YamlLite.parse(lines);
        } catch (YamlLite.Unreadable e) {
            assertThat(e.line).isBetween(0, lines.size() + 1);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
