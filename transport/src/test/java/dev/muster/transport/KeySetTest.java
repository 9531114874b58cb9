package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class KeySetTest {
    private static final long NOW_MS = 50_000;

    private static String key(String kid, String more) {
        String k = Base64.getUrlEncoder()
                .encodeToString(("the secret of the cluster " + kid).getBytes(StandardCharsets.UTF_8));
        return "{\"kty\":\"oct\",\"alg\":\"HS256\",\"kid\":\"" + kid + "\",\"k\":\"" + k + "\"" + more + "}";
    }

    private static KeySet set(String... keys) {
        return KeySet.parse(("{\"keys\":[" + String.join(",", keys) + "]}").getBytes(StandardCharsets.UTF_8));
    }

    private static String main(KeySet keys) {
        return keys.main(NOW_MS)
                .map(k -> new String(k, StandardCharsets.UTF_8).replaceAll(".* ", ""))
                .orElse("");
    }

    @Test
    void defaultOrFirstValidKeyMakesCredentials() {
        assertThat(main(set(key("a", ""), key("b", "")))).isEqualTo("a");
        assertThat(main(set(key("a", ""), key("b", ",\"use\":\"default\"")))).isEqualTo("b");
        assertThat(main(set(key("a", ""), key("b", ",\"use\":\"default\",\"exp\":50"))))
                .as("it has come to its end")
                .isEqualTo("a");
        assertThat(main(set(key("a", ",\"exp\":49"), key("b", ",\"exp\":51")))).isEqualTo("b");
        assertThat(main(set(key("a", ",\"exp\":49")))).isEmpty();
        assertThat(main(KeySet.NONE)).isEmpty();
    }

    /**
     * The order of a key exchange: the new key is known, then used, then the old one goes. At each step a daemon with
     * the file from the step before is accepted.
     */
    @Test
    void keyExchangeKeepsDaemonsAuthenticated() {
        KeySet[] steps = {
            set(key("a", "")),
            set(key("a", ",\"use\":\"default\""), key("b", "")),
            set(key("a", ""), key("b", ",\"use\":\"default\"")),
            set(key("b", ""))
        };
        AtomicReference<KeySet> known = new AtomicReference<>();
        for (int client = 0; client < steps.length; client++) {
            for (int daemon = 0; daemon < steps.length; daemon++) {
                known.set(steps[daemon]);
                Verifier verifier = new Verifier(known::get, "c", Optional.empty(), () -> NOW_MS);
                Session s = Session.issue(
                        steps[client].main(NOW_MS).orElseThrow(), "c", new Caller(7, 8), NOW_MS, new byte[16]);
                boolean taken =
                        verifier.verify(s.sign("POST", "/p", new byte[0], NOW_MS, "n"), "POST", "/p", new byte[0])
                                instanceof Verifier.Verified;
                assertThat(taken)
                        .as(client + " " + daemon)
                        .isEqualTo(Math.abs(client - daemon) <= 1
                                || client == 1 && daemon == 2
                                || client == 0 && daemon == 2
                                || client == 3 && daemon == 1);
            }
        }
    }

    @Test
    void malformedKeySetIsRefused() {
        String[][] table = {
            {"", "no JSON"},
            {"{}", "no keys"},
            {"{\"keys\":[" + key("a", "").replace("oct", "RSA") + "]}", "kty oct"},
            {"{\"keys\":[" + key("", "") + "]}", "no kid"},
            {"{\"keys\":[{\"kty\":\"oct\",\"alg\":\"HS256\",\"kid\":\"a\",\"k\":\"AAAA\"}]}", "too short"}
        };
        for (String[] row : table) {
            assertThatThrownBy(() -> KeySet.parse(row[0].getBytes(StandardCharsets.UTF_8)))
                    .as(row[0])
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(row[1]);
        }
    }
}
