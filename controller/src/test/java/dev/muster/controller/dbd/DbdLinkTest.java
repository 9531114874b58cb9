package dev.muster.controller.dbd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.accounting.db.AccountingException;
import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.transport.Caller;
import dev.muster.transport.Server;
import dev.muster.transport.Session;
import dev.muster.transport.Verifier;
import dev.muster.transport.tls.Tls;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests a list of hosts: where one host of slurmdbd cannot be reached, the same request goes to the next host at once,
 * and its caller sees no error.
 */
class DbdLinkTest {
    private static final byte[] KEY = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);
    private static final String NOBODY = "255.255.255.255";

    private static final class NoHome implements DbdLink.Home {
        @Override
        public Register introduction() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void apply(Policy policy) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean settle(long ms) {
            return true;
        }

        @Override
        public Batch everything() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void log(String sentence) {
            throw new UnsupportedOperationException(sentence);
        }

        @Override
        public void changed(DbdLink.Part part, boolean up) {
            changes.add(part + (up ? " up" : " down"));
        }
    }

    private static final List<String> changes = new java.util.concurrent.CopyOnWriteArrayList<>();

    private static DbdLink link(List<String> hosts, int port) {
        AtomicLong nonces = new AtomicLong();
        Session session = Session.issue(KEY, "c", new Caller(0, 0), System.currentTimeMillis(), new byte[16]);
        return new DbdLink(hosts, port, Tls.NONE, () -> session, () -> "n" + nonces.incrementAndGet(), new NoHome());
    }

    private static Server server() {
        return Server.start(
                "127.0.0.1",
                0,
                new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis)
                        .as(dev.muster.transport.Audience.SLURMDBD),
                (caller, message, body) -> new Server.Reply(200, message.getBytes(StandardCharsets.UTF_8)),
                Map.of(),
                path -> Optional.empty());
    }

    @Test
    void nextSlurmdbdHostIsAskedAtOnce() {
        try (Server server = server()) {
            for (List<String> hosts : List.of(List.of(NOBODY, "127.0.0.1"), List.of("127.0.0.1", NOBODY))) {
                try (DbdLink link = link(hosts, server.port())) {
                    for (int i = 0; i < 3; i++) {
                        assertThat(new String(link.ask("Question", new byte[0]), StandardCharsets.UTF_8))
                                .isEqualTo("Question");
                    }
                }
            }
        }
    }

    private static Server answering(String address, int port, Server.MessageHandler handler) {
        return Server.start(
                address,
                port,
                new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis)
                        .as(dev.muster.transport.Audience.SLURMDBD),
                handler,
                Map.of(),
                path -> Optional.empty());
    }

    private static Server.Reply reply(int status, String text) {
        return new Server.Reply(status, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Columns: what the first host answers, what the second one answers, what the caller gets. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            200, 421, 200 first
            421, 200, 200 second
            503, 200, 200 second
            503, 421, 503
            421, 503, 503
            503, 503, 503
            400, 200, 400
            """)
    void hostThatServesIsFound(int first, int second, String outcome) {
        changes.clear();
        try (Server one = answering("127.0.0.1", 0, (caller, message, body) -> reply(first, "first"));
                Server two = answering("127.0.0.2", one.port(), (caller, message, body) -> reply(second, "second"));
                DbdLink link = link(List.of("127.0.0.1", "127.0.0.2"), one.port())) {
            assertThat(two.port()).isEqualTo(one.port());
            for (int i = 0; i < 3; i++) {
                if (outcome.startsWith("200")) {
                    assertThat("200 " + new String(link.ask("QueryAccounting", new byte[0]), StandardCharsets.UTF_8))
                            .isEqualTo(outcome);
                } else {
                    assertThatThrownBy(() -> link.ask("QueryAccounting", new byte[0]))
                            .hasMessageEndingWith("status " + outcome);
                }
            }
            assertThat(changes).isEqualTo(outcome.equals("503") ? List.of("DATABASE down") : List.of());
        }
    }

    /** A slurmdbd that has been stopped closes no connection: the wait ends once the other one serves. */
    @Test
    void requestLeavesHostThatStandsStill() {
        CountDownLatch end = new CountDownLatch(1);
        boolean[] serves = {false};
        try (Server one = answering("127.0.0.1", 0, (caller, message, body) -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return reply(200, "first");
                });
                Server two = answering("127.0.0.2", one.port(), (caller, message, body) -> {
                    if (!message.equals("Ping")) {
                        return reply(200, "second");
                    }
                    boolean before = serves[0];
                    serves[0] = true;
                    return reply(200, "{\"standby\":" + !before + "}");
                });
                DbdLink link = link(List.of("127.0.0.1", "127.0.0.2"), one.port())) {
            assertThat(two.port()).isEqualTo(one.port());
            assertThat(new String(link.ask("Question", new byte[0]), StandardCharsets.UTF_8))
                    .isEqualTo("second");
            assertThat(serves[0]).isTrue();
            end.countDown();
        }
    }

    /** Triggers are told each change once, and nothing of what is well at first. */
    @Test
    void databaseAndSlurmdbdChangesAreReportedOnce() {
        changes.clear();
        int[] status = {200};
        Server server = Server.start(
                "127.0.0.1",
                0,
                new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis)
                        .as(dev.muster.transport.Audience.SLURMDBD),
                (caller, message, body) -> new Server.Reply(status[0], "{}".getBytes(StandardCharsets.UTF_8)),
                Map.of(),
                path -> Optional.empty());
        try (DbdLink link = link(List.of("127.0.0.1"), server.port())) {
            for (int s : new int[] {200, 503, 503, 200, 200}) {
                status[0] = s;
                asked(link);
            }
            assertThat(changes).containsExactly("DATABASE down", "DATABASE up");
            server.close();
            asked(link);
            asked(link);
            assertThat(changes).containsExactly("DATABASE down", "DATABASE up", "SLURMDBD down");
        }
    }

    private static void asked(DbdLink link) {
        try {
            link.ask("QueryAccounting", new byte[0]);
        } catch (AccountingException e) {
            // what is told of it is looked at
        }
    }

    @Test
    void unreachableSlurmdbdIsNamedInTheError() {
        try (DbdLink link = link(List.of(NOBODY, NOBODY), 1)) {
            assertThatThrownBy(() -> link.ask("Question", new byte[0]))
                    .isInstanceOf(AccountingException.class)
                    .hasMessageContaining(NOBODY);
        }
    }
}
