package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a port spends on callers that it does not know. */
class EdgeLimitsTest {
    private static final byte[] KEY = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);
    private static final String CONTENT_TYPE = "Content-Type: application/json\r\n";
    private final AtomicLong counter = new AtomicLong();
    private final List<Socket> sockets = new ArrayList<>();
    private final List<String> complaints = java.util.Collections.synchronizedList(new ArrayList<>());
    private final Server server = Server.start(
            "127.0.0.1",
            0,
            Optional.empty(),
            new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis).as("slurmctld"),
            (caller, message, body) -> new Server.Reply(200, (body.length + "").getBytes(StandardCharsets.UTF_8)),
            Map.of(),
            path -> path.equals("/livez") ? Optional.of(Server.Page.text(200, "ok")) : Optional.empty(),
            complaints::add,
            new ConnectionTable.Limits(40, 20, 20, 10));

    @AfterEach
    void stop() throws IOException {
        server.close();
        for (Socket s : sockets) {
            s.close();
        }
    }

    private Session session(int uid) {
        return Session.issue(KEY, "c", new Caller(uid, 5), System.currentTimeMillis(), new byte[16]);
    }

    private Client client(int uid) {
        Session session = session(uid);
        return new Client("127.0.0.1", server.port(), () -> session, () -> "n" + counter.incrementAndGet())
                .to("slurmctld");
    }

    private Socket open() throws IOException {
        Socket s = new Socket(InetAddress.getLoopbackAddress(), server.port());
        s.setSoTimeout(30_000);
        sockets.add(s);
        return s;
    }

    private Socket sent(String head) throws IOException {
        Socket s = open();
        s.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
        return s;
    }

    private static String answer(Socket s) throws IOException {
        return new String(s.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Test
    void aBodyWithoutCredentialIsNotRead() throws IOException {
        Socket s = sent("POST /muster/v1/Ping HTTP/1.1\r\nContent-Length: 66060288\r\n\r\n");
        assertThat(answer(s)).startsWith("HTTP/1.1 401 ");
        assertThat(server.budget().usedBytes()).isZero();
    }

    /** The daemon logs a caller with a foreign key once for many requests. */
    @Test
    void aStrangersRequestsAreToldOf() throws IOException {
        answer(sent("POST /muster/v1/Ping HTTP/1.1\r\n\r\n"));
        answer(sent("POST /muster/v1/Ping HTTP/1.1\r\n\r\n"));
        assertThat(complaints)
                .singleElement()
                .asString()
                .startsWith("request from 127.0.0.1")
                .contains(" has authentication error: /muster/v1/Ping");
    }

    @Test
    void aSenderOfALongBodyWithoutCredentialIsCutOff() throws IOException {
        Socket s = sent("POST /muster/v1/Ping HTTP/1.1\r\nContent-Length: 66060288\r\n\r\n");
        byte[] piece = new byte[1 << 20];
        int sent = 0;
        try {
            for (OutputStream out = s.getOutputStream(); sent < 62; sent++) {
                out.write(piece);
            }
        } catch (SocketException e) {
            assertThat(sent).isLessThan(62);
            return;
        }
        assertThat(sent).as("MiB taken of a caller that is not known").isLessThan(62);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "400|Content-Length: -1",
                "400|Content-Length: 99999999999999999999",
                "400|Content-Length: 5\\r\\nContent-Length: 6",
                "400|Authorization: a\\r\\nAuthorization: b",
                "400|Content-Length: 0x10",
                "400|Bad Name: x",
                "400|: x",
                "411|Transfer-Encoding: chunked",
                "401|Content-Length: 99999999999",
                "401|Authorization: Muster a;b;c;d;e",
                "401|Authorization: Muster key.%%%.x;TIME;n;HASH;00",
                "401|Authorization: Muster key.djE.x;TIME;n;HASH;00"
            })
    void headsThatAreNotRightAreRefused(String status, String lines) throws IOException {
        String head = "POST /muster/v1/Ping HTTP/1.1\r\n"
                + lines.replace("\\r\\n", "\r\n")
                        .replace("TIME", "" + System.currentTimeMillis())
                        .replace("HASH", "0".repeat(64))
                + "\r\n\r\n";
        assertThat(answer(sent(head + "FFFFFFFFFFFFFFF\r\nx"))).startsWith("HTTP/1.1 " + status + " ");
    }

    @Test
    void headsAreBounded() throws IOException {
        assertThat(answer(sent("GET / HTTP/1.1\r\nX: " + "a".repeat(70_000)))).startsWith("HTTP/1.1 431 ");
        assertThat(answer(sent("GET / HTTP/1.1\r\n" + "X: y\r\n".repeat(200) + "\r\n")))
                .startsWith("HTTP/1.1 431 ");
        assertThat(server.budget().usedBytes()).isZero();
    }

    @Test
    void idleStrangersMakeRoomForCallers() throws Exception {
        for (int i = 0; i < 100; i++) {
            open();
        }
        try (Client c = client(7)) {
            assertThat(c.post("/muster/v1/Ping", new byte[3], 20_000).status()).isEqualTo(200);
        }
        assertThat(server.table().strangers()).isLessThanOrEqualTo(20);
    }

    @Test
    void acceptGoesOnAfterALackOfDescriptors() throws Exception {
        AtomicLong failures = new AtomicLong(5);
        ServerSocket socket = new ServerSocket() {
            @Override
            public Socket accept() throws IOException {
                if (failures.getAndDecrement() > 0) {
                    throw new SocketException("Too many open files");
                }
                return super.accept();
            }
        };
        try (Server lacking = new Server(
                socket,
                Optional.empty(),
                new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis),
                (caller, message, body) -> new Server.Reply(200, body),
                Map.of(),
                path -> Optional.empty(),
                complaints::add,
                ConnectionTable.Limits.of(1024, 1 << 30))) {
            lacking.serve("127.0.0.1", 0);
            Session session = session(7);
            try (Client c =
                    new Client("127.0.0.1", lacking.port(), () -> session, () -> "n" + counter.incrementAndGet())) {
                assertThat(c.post("/muster/v1/Ping", new byte[0], 20_000).status())
                        .isEqualTo(200);
            }
        }
        assertThat(complaints)
                .as("said once, not for each")
                .containsExactly("cannot accept a connection: Too many open files");
    }

    @Test
    void userHasALimitedShareOfConnections() throws Exception {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Client c = client(7);
            clients.add(c);
            assertThat(c.post("/muster/v1/Ping", new byte[0], 20_000).status()).isEqualTo(200);
        }
        assertThat(server.table().size()).isLessThanOrEqualTo(11);
        try (Client other = client(8)) {
            assertThat(other.post("/muster/v1/Ping", new byte[0], 20_000).status())
                    .isEqualTo(200);
        }
        clients.forEach(Client::close);
    }

    @Test
    void aBodyOtherThanTheOneSignedIsRefused() throws IOException {
        byte[] signed = {1, 2, 3};
        String authorization =
                session(7).sign("slurmctld", "POST", "/muster/v1/Ping", signed, System.currentTimeMillis(), "n");
        Socket s = sent("POST /muster/v1/Ping HTTP/1.1\r\nAuthorization: " + authorization + "\r\n" + CONTENT_TYPE
                + "Content-Length: 3\r\n\r\nabc");
        assertThat(answer(s)).startsWith("HTTP/1.1 401 ");
    }

    @Test
    void aRequestForAnotherDaemonIsRefused() throws IOException {
        for (String audience : List.of("", "slurmdbd", "slurmd")) {
            String authorization = session(7)
                    .sign(
                            audience,
                            "POST",
                            "/muster/v1/Shutdown",
                            new byte[0],
                            System.currentTimeMillis(),
                            "n" + audience);
            Socket s = sent("POST /muster/v1/Shutdown HTTP/1.1\r\nAuthorization: " + authorization
                    + "\r\nContent-Length: 0\r\n\r\n");
            assertThat(answer(s)).as(audience).startsWith("HTTP/1.1 401 ");
        }
    }

    @Test
    void controlCharactersInTextsAreRefusedButNotInRowsOfDaemons() throws IOException {
        byte[] escaped = "{\"name\":\"a\\u0000b\"}".getBytes(StandardCharsets.UTF_8);
        try (Client c = client(7)) {
            assertThat(c.post("/muster/v1/Submit", escaped, 5000).status()).isEqualTo(400);
            assertThat(c.post("/muster/v1/Append", escaped, 5000).status()).isEqualTo(200);
            assertThat(c.post("/muster/v1/Submit", "{\"name\":\"a\\nb\"}".getBytes(StandardCharsets.UTF_8), 5000)
                            .status())
                    .isEqualTo(200);
        }
    }

    @Test
    void longBodyIsAcceptedOnlyForMessagesThatNeedIt() throws IOException {
        try (Client c = client(7)) {
            assertThat(c.post("/muster/v1/QueryAccounting", new byte[5 << 20], 5000)
                            .status())
                    .isEqualTo(413);
            assertThat(c.post("/muster/v1/Submit", new byte[5 << 20], 5000).status())
                    .isEqualTo(200);
        }
    }

    @Test
    void pagesNeedNoCallerAndHaveNoBody() throws IOException {
        assertThat(answer(sent("GET /livez?x=y HTTP/1.1\r\nConnection: close\r\n\r\n")))
                .startsWith("HTTP/1.1 200 ")
                .endsWith("ok");
        assertThat(answer(sent("HEAD /livez HTTP/1.1\r\nConnection: close\r\n\r\n")))
                .startsWith("HTTP/1.1 200 ")
                .endsWith("\r\n\r\n");
        assertThat(answer(sent("GET /livez HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde")))
                .startsWith("HTTP/1.1 400 ");
    }

    @Test
    void bodyBudgetIsSharedAndReleased() {
        BodyBudget budget = new BodyBudget(1 << 20, 900);
        assertThat(budget.reserve(7, 500_000)).isTrue();
        assertThat(budget.reserve(7, 100_000)).as("half is a user's").isFalse();
        assertThat(budget.reserve(8, 500_000)).isTrue();
        assertThat(budget.reserve(9, 100_000)).as("nothing is left").isFalse();
        assertThat(budget.reserve(9, 4_000)).as("small ones always go").isTrue();
        budget.release(7, 500_000);
        assertThat(budget.reserve(BodyBudget.STRANGER, 200_000))
                .as("an eighth is for strangers")
                .isFalse();
        assertThat(budget.reserve(BodyBudget.STRANGER, 100_000)).isTrue();
        budget.release(BodyBudget.STRANGER, 100_000);
        budget.release(8, 500_000);
        assertThat(budget.usedBytes()).isZero();
        assertThat(budget.reserve(900, 1 << 20))
                .as("the daemon's own user has all")
                .isTrue();
        budget.release(900, 1 << 20);
        assertThat(budget.reserve(0, 1 << 20)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "1024,8192,768,384",
        "20000,8192,15000,7500",
        "131072,8192,65536,8192",
        "64,8192,16,8",
        "131072,512,65536,2048"
    })
    void limitsStayBelowTheDescriptorsAndTheMemory(int descriptors, long heapMb, int total, int strangers) {
        ConnectionTable.Limits limits = ConnectionTable.Limits.of(descriptors, heapMb << 20);
        assertThat(limits.total()).isEqualTo(total);
        assertThat(limits.strangers()).isEqualTo(strangers);
    }
}
