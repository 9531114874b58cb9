package dev.muster.rest.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.rest.Rig;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListenersTest {
    @TempDir
    private Path dir;

    private static String asked(Path socket) {
        try (SocketChannel c = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            c.connect(UnixDomainSocketAddress.of(socket));
            c.write(ByteBuffer.wrap("GET /openapi HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer answer = ByteBuffer.allocate(12);
            while (answer.hasRemaining() && c.read(answer) >= 0) {}
            return new String(answer.array(), StandardCharsets.US_ASCII);
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    /**
     * A listening socket without connections takes no slot: with one connection at a time each of three sockets is
     * served.
     */
    @Test
    void oneConnectionAtATimeServesEverySocket() throws Exception {
        try (Listeners all = new Listeners(1, Optional.empty(), new DaemonLog("slurmrestd", "", false, 0, ""))) {
            for (String name : new String[] {"a", "b", "c"}) {
                all.open("unix:" + dir.resolve(name));
            }
            all.serve(new Rig().router);
            for (String name : new String[] {"c", "a", "b", "b", "c"}) {
                assertThat(CompletableFuture.supplyAsync(() -> asked(dir.resolve(name)))
                                .get(10, TimeUnit.SECONDS))
                        .as(name)
                        .isEqualTo("HTTP/1.1 200");
            }
        }
    }
}
