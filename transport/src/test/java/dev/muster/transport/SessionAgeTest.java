package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SessionAgeTest {
    @ParameterizedTest
    @CsvSource({"0, false", "29, false", "31, true", "10800, true", "-1, true", "-10800, true"})
    void sessionIsRenewedAfterHalfItsLifeOrAClockStepBack(long laterS, boolean old) {
        assertThat(Session.isOld(1_000_000_000L, 1_000_000_000L + laterS * 1000))
                .isEqualTo(old);
    }

    /** Refusals for a wrong time are logged once a minute. */
    @Test
    void clocksThatAreNotInStepAreNamed() {
        byte[] key = new byte[32];
        AtomicLong now = new AtomicLong(2_000_000_000_000L);
        List<String> told = new ArrayList<>();
        Verifier verifier = new Verifier(key, "c", Optional.empty(), now::get).telling(told::add);
        Session session =
                Session.issue(key, "c", new Caller(5, 5), Optional.empty(), now.get() + 10_800_000, new byte[16]);
        byte[] body = {};
        Verifier.Outcome outcome = verifier.verify(
                session.sign("POST", "/muster/v1/Ping", body, now.get(), "nonce"), "POST", "/muster/v1/Ping", body);
        assertThat(outcome).isInstanceOf(Verifier.Denied.class);
        verifier.verify(
                session.sign("POST", "/muster/v1/Ping", body, now.get() + 10_800_000, "nonce"),
                "POST",
                "/muster/v1/Ping",
                body);
        assertThat(told)
                .containsExactly("a credential was refused, its time is 10800 seconds ahead of this host's: are the "
                        + "clocks in step?");
    }
}
