package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.model.SlurmErrno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A caller leaves a daemon in standby, or one that does not answer any more, as one that it cannot reach. */
class StandbyTest {
    private static final byte[] KEY = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);
    private final AtomicLong nonces = new AtomicLong();
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answers = new CountDownLatch(1);
    private final Server server = Server.start(
            "127.0.0.1",
            0,
            new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis),
            (caller, message, body) -> switch (message) {
                case "Late" -> late();
                default ->
                    Server.Reply.error(
                            Client.STANDBY, SlurmErrno.IN_STANDBY_MODE, SlurmErrno.IN_STANDBY_MODE.sentence());
            },
            Map.of(),
            path -> Optional.of(new Server.Page(Client.STANDBY, "text/plain", new byte[0])));

    private Server.Reply late() {
        asked.countDown();
        try {
            answers.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return new Server.Reply(200, new byte[0]);
    }

    private Client client() {
        Session session = Session.issue(KEY, "c", new Caller(1, 1), System.currentTimeMillis(), new byte[16]);
        return new Client("127.0.0.1", server.port(), () -> session, () -> "n" + nonces.incrementAndGet());
    }

    @AfterEach
    void stop() {
        answers.countDown();
        server.close();
    }

    @Test
    void aRequestToADaemonInStandbyCountsAsNotDone() {
        try (Client client = client()) {
            assertThatThrownBy(() -> client.post("/muster/v1/Submit", new byte[0], 5000))
                    .isInstanceOf(Client.StandbyException.class)
                    .hasMessage("127.0.0.1 is in standby mode");
        }
    }

    @Test
    void aStreamToADaemonInStandbyIsNotOpened() {
        try (Client client = client()) {
            assertThatThrownBy(() -> client.stream(Server.streamPath("node"), "muster-node"))
                    .isInstanceOf(Client.StandbyException.class);
        }
    }

    @Test
    void aWaitForAnAnswerEndsOnceAnotherDaemonServes() throws Exception {
        try (Client client = client()) {
            CompletableFuture<Client.Response> waiting = CompletableFuture.supplyAsync(() -> {
                try {
                    return client.post("/muster/v1/Late", new byte[0], 60_000);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            asked.await();
            client.supersede();
            assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasRootCauseInstanceOf(IOException.class)
                    .satisfies(e -> assertThat(e.getCause().getCause()).isInstanceOf(Client.ConnectException.class));
            assertThat(client.isAborted()).isFalse();
        }
    }
}
