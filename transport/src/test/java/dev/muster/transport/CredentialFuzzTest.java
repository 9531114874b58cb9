package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Credentials from anybody: without the key none is believed, and none is an error of the program. */
class CredentialFuzzTest {
    private static final byte[] KEY = "a key that the fuzzer cannot have".getBytes(StandardCharsets.US_ASCII);
    private static final long NOW_S = 1000;

    static List<byte[]> seeds() {
        return Stream.of(
                        "\0Muster key.AAAA;1000;nonce;"
                                + "0000000000000000000000000000000000000000000000000000000000000000;00ff",
                        "\0Muster munge.AAAA;1000;n;"
                                + "0000000000000000000000000000000000000000000000000000000000000000;00",
                        "\0Muster jwt.eyJhbGciOiJIUzI1NiJ9.e30.AA;1000;n;"
                                + "0000000000000000000000000000000000000000000000000000000000000000;00",
                        "\1eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjk5OTk5OSwic3VuIjoicm9vdCJ9.AAAA",
                        "\2{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\",\"alg\":\"RS256\",\"n\":\"AQAB\",\"e\":\"AQAB\"},"
                                + "{\"kty\":\"EC\",\"kid\":\"b\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}",
                        "\3UID: root (0)\nGID: root )(0\n\n00112233445566778899aabbccddeeff",
                        "\3UID: root (0)\nGID: root (0)\n\n00112233445566778899aabbccddeeff")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length == 0) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(data, 1, data.length);
        String text = new String(rest, StandardCharsets.ISO_8859_1);
        switch (data[0] & 3) {
            case 0 ->
                assertThat(new Verifier(KEY, "c", Optional.empty(), () -> NOW_S * 1000).head(text, "POST", "/x"))
                        .isInstanceOf(Verifier.Unproved.class);
            case 1 -> assertThat(Jwt.check(KEY, "sun", text, NOW_S)).isEmpty();
            case 2 -> {
                try {
                    assertThat(Jwt.check(Jwks.parse(rest), "sun", text, NOW_S)).isEmpty();
                } catch (IllegalArgumentException e) {
                    assertThat(e.getMessage()).isNotBlank();
                }
            }
            default ->
                Munge.parse(rest).ifPresent(d -> assertThat(d.payload().length).isGreaterThanOrEqualTo(16));
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
