package dev.muster.rest.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReadBoundsTest {
    private static final Map<String, String> TOKEN = Map.of("x-slurm-user-token", "a.b.c");
    private final ReadBounds bounds = new ReadBounds(10 << 20);
    private final AtomicInteger closed = new AtomicInteger();

    private ReadBounds.Reading connection(Map<String, String> headers) {
        ReadBounds.Reading r = bounds.of(closed::incrementAndGet, false);
        r.requestBegan();
        r.head(headers);
        return r;
    }

    @Test
    void aLongBodyNeedsACredential() throws Exception {
        assertThatThrownBy(() -> connection(Map.of()).body(2 << 20)).isInstanceOf(Http.Malformed.class);
        connection(Map.of()).body(1 << 20);
        connection(TOKEN).body(2 << 20);
        bounds.of(closed::incrementAndGet, true).head(Map.of());
        assertThat(bounds.bytes()).isEqualTo(3 << 20);
    }

    @Test
    void bodiesShareTheMemoryBound() throws Exception {
        ReadBounds.Reading first = connection(TOKEN);
        first.body(8 << 20);
        assertThatThrownBy(() -> connection(TOKEN).body(3 << 20))
                .isInstanceOfSatisfying(
                        Http.Malformed.class, m -> assertThat(m.status()).isEqualTo(503));
        first.body(9 << 20);
        first.answered();
        connection(TOKEN).body(3 << 20);
        first.end();
        assertThat(bounds.bytes()).isEqualTo(3 << 20);
    }

    @Test
    void connectionIsClosedAfterThePhasesDeadline() throws Exception {
        long now = System.nanoTime();
        ReadBounds.Reading r = connection(TOKEN);
        bounds.look(now + 5_000_000_000L);
        assertThat(closed).hasValue(0);
        bounds.look(now + 20_000_000_000L);
        assertThat(closed).hasValue(1);
        r.body(1000);
        bounds.look(now + 20_000_000_000L);
        assertThat(closed).hasValue(1);
        r.read();
        bounds.look(now + 3_600_000_000_000L);
        assertThat(closed).as("an answer may take its time").hasValue(1);
    }
}
