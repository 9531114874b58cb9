package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerIdsTest {
    @Test
    void peerOfASocketIsKnownByItsUid(@TempDir Path directory) throws Exception {
        Path place = directory.resolve("socket");
        try (ServerSocketChannel server =
                        ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(place));
                SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(place));
                SocketChannel taken = server.accept()) {
            Object own = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            assertThat((Object) PeerIds.of(taken).uid()).isEqualTo(own);
            assertThat((Object) PeerIds.of(client).uid()).isEqualTo(own);
        }
    }

    /** The class library's numbers are those of the files, also where a user has no name, or has digits as one. */
    @Test
    void principalsCarryNumbers(@TempDir Path directory) throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        assertThat(PeerIds.hasNumbers(file)).isTrue();
        assumeTrue(Files.getAttribute(file, "unix:uid").equals(0));
        for (int id : new int[] {1, 23_055, 65_534, 2_000_000_000}) {
            Files.setAttribute(file, "unix:uid", id);
            Files.setAttribute(file, "unix:gid", id);
            assertThat(PeerIds.hasNumbers(file)).as("uid %d", id).isTrue();
        }
    }
}
