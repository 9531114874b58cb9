package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** The plain code and the JDK's give the same, at every length that pads differently. */
class HashTest {
    private final Random random = new Random(7);

    private byte[] bytes(int length) {
        byte[] out = new byte[length];
        random.nextBytes(out);
        return out;
    }

    @Test
    void sha256MatchesItsStandardVector() {
        assertThat(Hash.hex(Sha256.of("abc".getBytes(StandardCharsets.US_ASCII))))
                .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    @Test
    void sha256MatchesTheJdkForEveryLength() throws Exception {
        for (int length = 0; length <= Hash.SHORT_BYTES + 70; length++) {
            byte[] content = bytes(length);
            byte[] wanted = MessageDigest.getInstance("SHA-256").digest(content);
            assertThat(Sha256.of(content)).as(length + " bytes, in plain code").isEqualTo(wanted);
            assertThat(Hash.sha256(content)).as(length + " bytes").isEqualTo(wanted);
        }
    }

    @Test
    void hmacMatchesTheJdk() throws Exception {
        for (int keyLength : new int[] {1, 16, 32, 63, 64, 65, 200, 4096}) {
            for (int length : new int[] {0, 1, 55, 56, 64, 500, 5000}) {
                byte[] key = bytes(keyLength);
                byte[] message = bytes(length);
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(key, "HmacSHA256"));
                assertThat(Hash.hmac(key, message))
                        .as(keyLength + " and " + length)
                        .isEqualTo(mac.doFinal(message));
            }
        }
    }
}
