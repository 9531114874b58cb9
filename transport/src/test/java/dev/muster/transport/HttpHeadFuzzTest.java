package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Heads of requests from callers without a credential: a head is refused, or safe to act on. */
class HttpHeadFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "POST /muster/v1/Submit HTTP/1.1\r\nContent-Length: 12\r\nAuthorization: Muster a;1;b;c;d",
                        "GET / HTTP/1.0\r\nConnection: close\r\nX: \ty",
                        "PUT /a?b=c HTTP/1.1\r\nTransfer-Encoding: chunked",
                        "GET /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        HttpHead head;
        try {
            head = HttpHead.parse(data, data.length);
        } catch (HttpHead.Malformed e) {
            assertThat(e.status()).isBetween(400, 499);
            return;
        }
        assertThat(head.contentLength()).isNotNegative();
        assertThat(head.method()).matches("[!-~]+");
        assertThat(head.path()).startsWith("/").doesNotContain(" ", "\r\n");
        head.headers().forEach((name, value) -> {
            assertThat(name).matches("[!-~]+").doesNotContain(":").isEqualTo(name.toLowerCase(Locale.ROOT));
            assertThat(value).doesNotContain("\r", "\n", "\0");
        });
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
