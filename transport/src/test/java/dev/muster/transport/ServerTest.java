package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServerTest {
    private static final byte[] KEY = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicLong counter = new AtomicLong();
    private final Server server = Server.start(
            "127.0.0.1",
            0,
            new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis),
            (caller, message, body) -> message.equals("Lines")
                    ? lines(new String(body, StandardCharsets.UTF_8))
                    : new Server.Reply(
                            200,
                            (caller.uid() + " " + message + " " + new String(body, StandardCharsets.UTF_8))
                                    .getBytes(StandardCharsets.UTF_8)),
            Map.of("echo", (caller, frames) -> {
                try {
                    while (true) {
                        frames.send(frames.receive());
                    }
                } catch (IOException e) {
                    // the client hung up: the stream is over
                }
            }),
            path -> path.equals("/livez")
                    ? Optional.of(new Server.Page(200, "text/plain", "ok".getBytes(StandardCharsets.UTF_8)))
                    : Optional.empty());

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void anAnswerThatTheCallerDoesNotAwaitIsTold() throws Exception {
        CountDownLatch asks = new CountDownLatch(1);
        CountDownLatch may = new CountDownLatch(1);
        AtomicInteger undelivered = new AtomicInteger();
        CountDownLatch told = new CountDownLatch(1);
        Verifier verifier = new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis);
        try (Server own = Server.start(
                "127.0.0.1",
                0,
                verifier,
                (caller, message, body) -> {
                    if (message.equals("Wait")) {
                        asks.countDown();
                        awaited(may);
                    }
                    return new Server.Reply(200, body).whenUndelivered(() -> {
                        undelivered.incrementAndGet();
                        told.countDown();
                    });
                },
                Map.of(),
                path -> Optional.empty())) {
            Session session = Session.issue(KEY, "c", new Caller(1234, 5), System.currentTimeMillis(), new byte[16]);
            try (Client stays =
                    new Client("127.0.0.1", own.port(), () -> session, () -> "s" + counter.incrementAndGet())) {
                assertThat(text(stays.post("/muster/v1/Now", "x".getBytes(StandardCharsets.UTF_8), 5000)))
                        .isEqualTo("200 x");
                assertThat(text(stays.post("/muster/v1/Now", "y".getBytes(StandardCharsets.UTF_8), 5000)))
                        .isEqualTo("200 y");
            }
            Client goes = new Client("127.0.0.1", own.port(), () -> session, () -> "g" + counter.incrementAndGet());
            Thread waiting = Thread.startVirtualThread(() -> {
                try {
                    goes.post("/muster/v1/Wait", new byte[1], 60_000);
                } catch (IOException e) {
                    // closed while it waited
                }
            });
            asks.await();
            assertThat(undelivered).hasValue(0);
            goes.close();
            waiting.join();
            may.countDown();
            assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(undelivered).hasValue(1);
        }
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Client client(byte[] key, String cluster) {
        Session session = Session.issue(key, cluster, new Caller(1234, 5), System.currentTimeMillis(), new byte[16]);
        return new Client("127.0.0.1", server.port(), () -> session, () -> "n" + counter.incrementAndGet());
    }

    @Test
    void takenPortIsAnError() {
        Verifier verifier = new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis);
        assertThatThrownBy(() -> Server.start(
                        "127.0.0.1",
                        server.port(),
                        verifier,
                        (caller, message, body) -> new Server.Reply(200, body),
                        Map.of(),
                        path -> Optional.empty()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("in use");
    }

    private static String text(Client.Response response) {
        return response.status() + " " + new String(response.body(), StandardCharsets.UTF_8);
    }

    @Test
    void messagesCarryTheirCaller() throws IOException {
        try (Client client = client(KEY, "c")) {
            assertThat(text(client.post("/muster/v1/Ping", "x".getBytes(StandardCharsets.UTF_8), 5000)))
                    .isEqualTo("200 1234 Ping x");
            byte[] large = new byte[3 << 20];
            java.util.Arrays.fill(large, (byte) 'a');
            assertThat(client.post("/muster/v1/Ping", large, 5000).body()).hasSize(large.length + 10);
        }
    }

    /** A reply of a first line and lines of these lengths; where the list says "fails", the producer fails. */
    private Server.Reply lines(String lengths) {
        asked.incrementAndGet();
        return new Server.Reply(200, "first\n".getBytes(StandardCharsets.UTF_8), Optional.of(out -> {
            for (String length : lengths.split(" ")) {
                if (length.equals("fails")) {
                    throw new IllegalStateException("as it was told to");
                }
                out.write(("x".repeat(Integer.parseInt(length)) + "\n").getBytes(StandardCharsets.UTF_8));
            }
            out.write("last".getBytes(StandardCharsets.UTF_8));
        }));
    }

    @Test
    void aLongAnswerComesLineByLineWhileItIsMade() throws IOException {
        List<String> got = new ArrayList<>();
        Client.Lines lines = (buffer, from, to) ->
                got.add(to - from > 5 ? "" + (to - from) : new String(buffer, from, to - from, StandardCharsets.UTF_8));
        String lengths = "7 " + "9 ".repeat(20_000) + "65535 65536 65537 300000 8";
        try (Client client = client(KEY, "c")) {
            Client.Response r =
                    client.post("/muster/v1/Lines", lengths.getBytes(StandardCharsets.UTF_8), 5000, Optional.of(lines));
            assertThat(r.body()).isEmpty();
            assertThat(got).containsExactly(("first " + lengths + " last").split(" "));
            // a client that takes no lines gets them in one piece, and the connection serves on
            assertThat(text(client.post("/muster/v1/Lines", "6 7".getBytes(StandardCharsets.UTF_8), 5000)))
                    .isEqualTo("200 first\nxxxxxx\nxxxxxxx\nlast");
            assertThat(text(client.post(
                            "/muster/v1/Ping", "x".getBytes(StandardCharsets.UTF_8), 5000, Optional.of(lines))))
                    .isEqualTo("200 1234 Ping x");
        }
    }

    @Test
    void anAnswerThatBreaksOffIsAnErrorAndNotAskedForAnew() throws IOException {
        List<String> got = new ArrayList<>();
        Client.Lines lines = (buffer, from, to) -> got.add("line");
        try (Client client = client(KEY, "c")) {
            client.post("/muster/v1/Ping", new byte[0], 5000);
            byte[] fails = "100000 100000 fails".getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> client.post("/muster/v1/Lines", fails, 5000, Optional.of(lines)))
                    .isInstanceOf(IOException.class);
            assertThat(got).hasSizeBetween(1, 3);
            assertThat(asked).hasValue(1);
            assertThatThrownBy(() -> client.post(
                            "/muster/v1/Lines",
                            "6 100000".getBytes(StandardCharsets.UTF_8),
                            5000,
                            Optional.of((b, from, to) -> {
                                throw new IllegalArgumentException("no line for us");
                            })))
                    .isInstanceOf(IllegalArgumentException.class);
            // the rest of that answer goes to no caller
            assertThat(text(client.post("/muster/v1/Ping", "y".getBytes(StandardCharsets.UTF_8), 5000)))
                    .isEqualTo("200 1234 Ping y");
        }
    }

    @Test
    void foreignKeysAndClustersAreRefused() throws IOException {
        try (Client client = client("another key of some length......".getBytes(StandardCharsets.UTF_8), "c");
                Client other = client(KEY, "d")) {
            assertThat(text(client.post("/muster/v1/Ping", new byte[0], 5000)))
                    .startsWith("401 ")
                    .contains("1007");
            assertThat(text(other.post("/muster/v1/Ping", new byte[0], 5000))).startsWith("401 ");
        }
    }

    @Test
    void streamsCarryFramesBothWays() throws IOException {
        try (Client client = client(KEY, "c");
                Frames frames = client.stream(Server.streamPath("echo"), "muster-echo")) {
            byte[] frame = new byte[1 << 20];
            frame[77] = 7;
            for (int i = 0; i < 3; i++) {
                frames.send(frame);
                assertThat(frames.receive()).isEqualTo(frame);
            }
            frames.send(new byte[0]);
            assertThat(frames.receive()).isEmpty();
        }
    }

    @Test
    @SuppressWarnings("JUnitMethodInvoked") // a server that had garbage serves as before
    void serverServesOnAfterGarbageRequests() throws IOException {
        for (String garbage : new String[] {
            "\u0000\u0001\u0002\u00ff".repeat(100),
            "GET /\r\n\r\n",
            "POST /muster/v1/Ping HTTP/1.1\r\nContent-Length: -5\r\n\r\n"
        }) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                socket.setSoTimeout(5000);
                socket.getOutputStream().write(garbage.getBytes(StandardCharsets.ISO_8859_1));
                socket.shutdownOutput();
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
                assertThat(answer).doesNotStartWith("HTTP/1.1 200");
            }
        }
        messagesCarryTheirCaller();
    }

    @Test
    void aReplayedHeaderIsRefused() {
        Verifier verifier = new Verifier(KEY, "c", Optional.empty(), () -> 1_000_000);
        Session session = Session.issue(KEY, "c", new Caller(7, 7), 1_000_000, new byte[16]);
        String header = session.sign("POST", "/p", new byte[0], 1_000_000, "n");
        assertThat(verifier.verify(header, "POST", "/p", new byte[] {1})).isInstanceOf(Verifier.Denied.class);
        assertThat(verifier.verify(header, "POST", "/q", new byte[0])).isInstanceOf(Verifier.Denied.class);
        assertThat(verifier.verify(header, "POST", "/p", new byte[0]))
                .isEqualTo(new Verifier.Verified(new Caller(7, 7)));
        assertThat(verifier.verify(header, "POST", "/p", new byte[0]))
                .isEqualTo(new Verifier.Denied("replayed credential"));
        for (String bad : new String[] {
            "", "Muster ", "Muster a;b;c;d", "Muster key.x.y;1000000;n;00", "Muster key.x.y;1000000;n;0", "Bearer x"
        }) {
            assertThat(verifier.verify(bad, "POST", "/p", new byte[0])).as(bad).isInstanceOf(Verifier.Denied.class);
        }
    }

    @Test
    void hmacIsTheStandardOne() {
        // RFC 4231, test case 2
        assertThat(Hash.hex(Hash.hmac(
                        "Jefe".getBytes(StandardCharsets.US_ASCII),
                        "what do ya want for nothing?".getBytes(StandardCharsets.US_ASCII))))
                .isEqualTo("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    /** A port whose queue is full accepts no connection. shows: TCPTimeout */
    @Test
    void aConnectionIsWaitedForNoLongerThanSaid() throws Exception {
        java.util.List<java.net.Socket> queued = new java.util.ArrayList<>();
        try (java.net.ServerSocket full = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 8; i++) {
                java.net.Socket s = new java.net.Socket();
                queued.add(s);
                try {
                    s.connect(full.getLocalSocketAddress(), 100);
                } catch (IOException e) {
                    break;
                }
            }
            Session session = Session.issue(KEY, "c", new Caller(1, 1), System.currentTimeMillis(), new byte[16]);
            Client client = new Client("127.0.0.1", full.getLocalPort(), () -> session, () -> "n").connectWithin(700);
            long began = System.nanoTime();
            assertThatThrownBy(() -> client.post("/x", new byte[0], 10_000))
                    .isInstanceOf(Client.ConnectException.class);
            long tookMs = (System.nanoTime() - began) / 1_000_000;
            assertThat(tookMs).isBetween(600L, 3_000L);
        } finally {
            for (java.net.Socket s : queued) {
                s.close();
            }
        }
    }
}
