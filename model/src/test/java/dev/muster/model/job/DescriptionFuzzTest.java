package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Descriptions of jobs as commands send them: they are refused, or stay the same on their way through text. */
class DescriptionFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "{\"name\":\"a\",\"partition\":\"main\",\"script\":\"IyEvYmluL3No\"}",
                        "{\"resources\":{\"nodes\":{\"min\":1,\"max\":2},\"gres\":\"gpu:2\"}}",
                        "{\"timing\":{\"limitMinutes\":60},\"extras\":{\"comment\":\"x\"},\"arguments\":[\"a\"]}",
                        "{\"nobody\":[{}]}")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        JobDesc job;
        try {
            job = Codec.decodeKnown(data, JobDesc.class);
        } catch (Json.MalformedException e) {
            return;
        }
        byte[] once = Codec.encode(job);
        assertThat(Codec.encode(Codec.decode(once, JobDesc.class))).isEqualTo(once);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
