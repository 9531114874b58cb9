package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** That a session was good once does not make it good now. */
class KnownSessionTest {
    private static final byte[] KEY = "a key that is long enough".getBytes(StandardCharsets.UTF_8);
    private static final byte[] OTHER = "another key of some length".getBytes(StandardCharsets.UTF_8);

    private final AtomicLong now = new AtomicLong(1_000_000);
    private final AtomicReference<KeySet> keys = new AtomicReference<>(KeySet.of(KEY));
    private final Verifier verifier = new Verifier(keys::get, "c", Optional.empty(), now::get);
    private final Session session = Session.issue(KEY, "c", new Caller(7, 8), 1_000_000, new byte[16]);
    private int nonce;

    private boolean asked(Session of, String path) {
        String header = of.sign("POST", path, new byte[0], now.get(), "n" + nonce++);
        return verifier.verify(header, "POST", path, new byte[0]) instanceof Verifier.Verified v
                && v.caller().uid() == 7;
    }

    @Test
    void knownSessionStillProvesEachRequest() {
        assertThat(asked(session, "/x")).isTrue();
        assertThat(asked(session, "/x")).isTrue();
        assertThat(asked(new Session(session.token(), OTHER), "/x")).isFalse();
    }

    @Test
    void knownSessionEndsWithItsLifetime() {
        assertThat(asked(session, "/x")).isTrue();
        now.addAndGet(Session.LIFETIME_S * 1000L + Verifier.SKEW_MS);
        assertThat(asked(session, "/x")).isTrue();
        now.addAndGet(1);
        assertThat(asked(session, "/x")).isFalse();
    }

    @Test
    void knownSessionEndsWithItsKey() {
        assertThat(asked(session, "/x")).isTrue();
        keys.set(KeySet.of(OTHER));
        assertThat(asked(session, "/x")).isFalse();
        keys.set(KeySet.of(KEY));
        assertThat(asked(session, "/x")).isTrue();
    }

    @Test
    void sessionWithoutClusterReadsOnlyTheConfiguration() {
        Session nowhere = Session.issue(KEY, "", new Caller(7, 8), 1_000_000, new byte[16]);
        assertThat(asked(nowhere, Verifier.CONFIG_PATH)).isTrue();
        assertThat(asked(nowhere, "/x")).isFalse();
    }
}
