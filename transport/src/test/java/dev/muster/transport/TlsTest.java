package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.transport.tls.Tls;
import dev.muster.transport.tls.TlsIdentity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TlsTest {
    private static final byte[] KEY = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path directory;

    private Certificates made;
    private final AtomicLong counter = new AtomicLong();

    @BeforeEach
    void make() throws Exception {
        made = new Certificates(directory);
    }

    private static Server serve(TlsIdentity identity) {
        return Server.start(
                "127.0.0.1",
                0,
                Optional.of(identity),
                new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis),
                (caller, message, body) -> new Server.Reply(200, body),
                Map.of("echo", (caller, frames) -> {
                    try {
                        while (true) {
                            frames.send(frames.receive());
                        }
                    } catch (IOException e) {
                        // the client hung up
                    }
                }),
                path -> Optional.empty());
    }

    private Client client(Server server, Tls tls) {
        Session session = Session.issue(KEY, "c", new Caller(1, 2), System.currentTimeMillis(), new byte[16]);
        return new Client("127.0.0.1", server.port(), () -> session, () -> "n" + counter.incrementAndGet()).over(tls);
    }

    private Tls trust() {
        return Tls.trusting(made.file("ca_cert.pem"), false);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "openssl ecparam -out NAME_key.pem -name prime256v1 -genkey",
                "openssl ecparam -out NAME_key.pem -name secp384r1 -genkey",
                "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out NAME_key.pem",
                "openssl genrsa -traditional -out NAME_key.pem 2048",
                "openssl genpkey -algorithm RSA -out NAME_key.pem",
                "openssl genpkey -algorithm ED25519 -out NAME_key.pem",
            })
    void keysOfAllKindsServe(String how) throws Exception {
        try (Server server = serve(made.pair("d", "ca", how));
                Client client = client(server, trust())) {
            byte[] large = new byte[3 << 20];
            large[large.length - 1] = 7;
            assertThat(client.post("/muster/v1/Ping", large, 5000).body()).isEqualTo(large);
            assertThat(client.post("/muster/v1/Ping", new byte[] {1}, 5000).body())
                    .containsExactly(1);
        }
    }

    /** A command's way in: with keys of the kind that it prepares for, and of others. */
    @ParameterizedTest
    @CsvSource({"EC -pkeyopt ec_paramgen_curve:P-256", "EC -pkeyopt ec_paramgen_curve:P-384", "RSA"})
    void briefClientConnectsWithEveryKeyAlgorithm(String algorithm) throws Exception {
        try (Server server =
                        serve(made.pair("d", "ca", "openssl genpkey -algorithm " + algorithm + " -out NAME_key.pem"));
                Client client = client(server, trust().brief())) {
            assertThat(client.post("/muster/v1/Ping", new byte[] {1}, 5000).body())
                    .containsExactly(1);
        }
        made.authority("other");
        try (Server server = serve(
                        made.pair("e", "other", "openssl genpkey -algorithm " + algorithm + " -out NAME_key.pem"));
                Client client = client(server, trust().brief())) {
            assertThatThrownBy(() -> client.post("/muster/v1/Ping", new byte[0], 5000))
                    .isInstanceOf(Client.ConnectException.class);
        }
        assertThat(Tls.NONE.brief()).isSameAs(Tls.NONE);
    }

    @Test
    void streamsAreEncryptedToo() throws Exception {
        try (Server server = serve(made.pair("d"));
                Client client = client(server, trust());
                Frames frames = client.stream(Server.streamPath("echo"), "muster-echo")) {
            frames.send("hello".getBytes(StandardCharsets.UTF_8));
            assertThat(frames.receive()).asString().isEqualTo("hello");
        }
    }

    @Test
    void aCertificateOfAnotherAuthorityIsNotTrusted() throws Exception {
        made.authority("other");
        try (Server server =
                        serve(made.pair("d", "other", "openssl ecparam -out NAME_key.pem -name prime256v1 -genkey"));
                Client client = client(server, trust())) {
            assertThatThrownBy(() -> client.post("/muster/v1/Ping", new byte[0], 5000))
                    .isInstanceOf(Client.ConnectException.class)
                    .hasMessageContaining("PKIX");
        }
    }

    @Test
    void plaintextClientIsNotServed() throws Exception {
        try (Server server = serve(made.pair("d"));
                Client client = client(server, Tls.NONE)) {
            assertThatThrownBy(() -> client.post("/muster/v1/Ping", new byte[0], 5000))
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void aServerThatSpeaksPlainlyIsNotAsked() throws Exception {
        try (Server server = Server.start(
                        "127.0.0.1",
                        0,
                        new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis),
                        (caller, message, body) -> new Server.Reply(200, body),
                        Map.of(),
                        path -> Optional.empty());
                Client client = client(server, trust())) {
            assertThatThrownBy(() -> client.post("/muster/v1/Ping", new byte[0], 5000))
                    .isInstanceOf(Client.ConnectException.class);
        }
    }

    @Test
    void aPeerThatNeverAnswersTheHandshakeIsGivenUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            Session session = Session.issue(KEY, "c", new Caller(1, 2), System.currentTimeMillis(), new byte[16]);
            Client client = new Client("127.0.0.1", silent.getLocalPort(), () -> session, () -> "n")
                    .over(trust())
                    .connectWithin(300);
            assertThatThrownBy(() -> client.post("/muster/v1/Ping", new byte[0], 5000))
                    .isInstanceOf(Client.ConnectException.class);
        }
    }

    /** What waits for a peer that does not read can be closed by another thread. */
    @Test
    void aStuckWriterCanBeClosed() throws Exception {
        TlsIdentity identity = made.pair("d");
        Server server = Server.start(
                "127.0.0.1",
                0,
                Optional.of(identity),
                new Verifier(KEY, "c", Optional.empty(), System::currentTimeMillis),
                (caller, message, body) -> new Server.Reply(200, body),
                Map.of("deaf", (caller, frames) -> {
                    try {
                        Thread.sleep(60_000);
                    } catch (InterruptedException e) {
                        // the test is over
                    }
                }),
                path -> Optional.empty());
        try (server;
                Client client = client(server, trust())) {
            Frames frames = client.stream(Server.streamPath("deaf"), "muster-deaf");
            Thread writer = Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        frames.send(new byte[1 << 20]);
                    }
                } catch (IOException e) {
                    // closed
                }
            });
            Thread.sleep(300);
            assertThat(writer.isAlive()).isTrue();
            frames.close();
            writer.join(5000);
            assertThat(writer.isAlive()).isFalse();
        }
    }

    /** DebugFlags: each side tells of a connection with the serving side's certificate. */
    @Test
    void bothSidesReportATlsConnection() throws Exception {
        java.util.List<String> told = new java.util.concurrent.CopyOnWriteArrayList<>();
        TlsIdentity own = made.pair("d");
        own.tell((opened, peer, suite, certificate) -> told.add("server " + peer.replaceAll(":.*", "") + " " + suite
                + " " + certificate.getSubjectX500Principal().getName()));
        Tls trust = trust();
        trust.tell((opened, peer, suite, certificate) ->
                told.add((opened ? "client " : "? ") + peer.replaceAll(":.*", "") + " " + suite + " "
                        + certificate.getSubjectX500Principal().getName()));
        try (Server server = serve(own);
                Client client = client(server, trust)) {
            client.post("/muster/v1/Ping", new byte[0], 5000);
            client.post("/muster/v1/Ping", new byte[0], 5000);
        }
        assertThat(told)
                .hasSize(2)
                .allMatch(line -> line.matches("(client|server) (127.0.0.1|localhost) TLSv1\\.3 TLS_\\w+ .*CN=d"));
        assertThat(told.getFirst().charAt(0)).isNotEqualTo(told.getLast().charAt(0));
    }

    @Test
    void aRenewedCertificateNeedsNoRestart() throws Exception {
        try (Server server = serve(made.pair("d"));
                Client before = client(server, trust())) {
            before.post("/muster/v1/Ping", new byte[0], 5000);
            made.authority("next");
            made.pair("fresh", "next", "openssl genpkey -algorithm RSA -out NAME_key.pem");
            Files.move(made.file("fresh_cert.pem"), made.file("d_cert.pem"), StandardCopyOption.REPLACE_EXISTING);
            Files.move(made.file("fresh_key.pem"), made.file("d_key.pem"), StandardCopyOption.REPLACE_EXISTING);
            Thread.sleep(1100);
            try (Client after = client(server, Tls.trusting(made.file("next_cert.pem"), false))) {
                assertThat(after.post("/muster/v1/Ping", new byte[0], 5000).status())
                        .isEqualTo(200);
            }
            assertThat(before.post("/muster/v1/Ping", new byte[0], 5000).status())
                    .isEqualTo(200);
        }
    }

    @Test
    void filesThatBreakLeaveTheCertificateFromBefore() throws Exception {
        try (Server server = serve(made.pair("d"))) {
            Files.writeString(made.file("d_cert.pem"), "nothing");
            Thread.sleep(1100);
            try (Client client = client(server, trust())) {
                assertThat(client.post("/muster/v1/Ping", new byte[0], 5000).status())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void certificateWithAForeignKeyIsNamed() throws Exception {
        made.pair("a");
        made.pair("b");
        assertThatThrownBy(() -> new TlsIdentity(made.file("a_cert.pem"), made.file("b_key.pem"), s -> {}))
                .hasMessage(made.file("b_key.pem") + " is not the key of " + made.file("a_cert.pem"));
        assertThatThrownBy(() -> new TlsIdentity(made.file("none.pem"), made.file("b_key.pem"), s -> {}))
                .hasMessage(made.file("none.pem") + ": No such file or directory");
        assertThatThrownBy(() -> new TlsIdentity(made.file("a_key.pem"), made.file("a_key.pem"), s -> {}))
                .hasMessageStartingWith(made.file("a_key.pem") + ": ");
        made.mode("a_key.pem", "rw-r--r--");
        assertThatThrownBy(() -> made.identity("a")).hasMessageContaining("its mode should be 600");
        made.run("openssl pkcs8 -topk8 -in b_key.pem -passout pass:x -out e_key.pem; chmod 600 e_key.pem");
        assertThatThrownBy(() -> new TlsIdentity(made.file("b_cert.pem"), made.file("e_key.pem"), s -> {}))
                .hasMessageContaining("its key has a password");
    }

    @Test
    void brokenHandshakeLeavesTheServerUsable() throws Exception {
        try (Server server = serve(made.pair("d"))) {
            try (Socket s = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                s.getOutputStream().write(new byte[] {0x16, 3, 1, (byte) 0xff, (byte) 0xff, 1, 2, 3});
                s.getOutputStream().flush();
                s.shutdownOutput();
            }
            try (Client client = client(server, trust())) {
                assertThat(client.post("/muster/v1/Ping", new byte[0], 5000).status())
                        .isEqualTo(200);
            }
        }
    }
}
