package dev.muster.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ConfServersTest {
    @TempDir
    Path directory;

    /** A name server with two records for {@code _slurmctld._tcp.site.example}, and no others. */
    private static DatagramSocket nameServer() throws IOException {
        DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    DatagramPacket asked = new DatagramPacket(new byte[512], 512);
                    socket.receive(asked);
                    byte[] answer = answer(Arrays.copyOf(asked.getData(), asked.getLength()));
                    socket.send(new DatagramPacket(answer, answer.length, asked.getSocketAddress()));
                }
            } catch (IOException e) {
                // closed: the test is over
            }
        });
        return socket;
    }

    private static byte[] answer(byte[] query) throws IOException {
        int end = 12;
        StringBuilder name = new StringBuilder();
        while (query[end] != 0) {
            name.append(new String(query, end + 1, query[end], StandardCharsets.US_ASCII))
                    .append('.');
            end += query[end] + 1;
        }
        boolean known = name.toString().equals("_slurmctld._tcp.site.example.")
                && ByteBuffer.wrap(query).getShort(end + 1) == 33;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.write(query, 0, 2);
        out.writeShort(known ? 0x8580 : 0x8583); // an answer of authority; no such name
        out.writeShort(1);
        out.writeShort(known ? 2 : 0);
        out.writeInt(0);
        out.write(query, 12, end + 5 - 12);
        if (known) {
            record(out, 10, 6817, "backup");
            record(out, 0, 7000, "primary");
        }
        return bytes.toByteArray();
    }

    private static void record(DataOutputStream out, int priority, int port, String host) throws IOException {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        for (String label : new String[] {host, "site", "example"}) {
            target.write(label.length());
            target.write(label.getBytes(StandardCharsets.US_ASCII));
        }
        target.write(0);
        out.writeShort(0xc00c);
        out.writeShort(33);
        out.writeShort(1);
        out.writeInt(60);
        out.writeShort(6 + target.size());
        out.writeShort(priority);
        out.writeShort(0);
        out.writeShort(port);
        target.writeTo(out);
    }

    private ConfServers servers(String resolver, DatagramSocket dns, Map<String, String> environment)
            throws IOException {
        return new ConfServers(
                environment,
                Files.writeString(directory.resolve("resolv.conf"), resolver),
                "dns://127.0.0.1:" + dns.getLocalPort());
    }

    @Test
    void srvRecordsAreUsedInOrderOfPriority() throws IOException {
        try (DatagramSocket dns = nameServer()) {
            String domains = "nameserver 127.0.0.1\nsearch other.example site.example\n";
            assertThat(servers(domains, dns, Map.of()).find())
                    .contains("primary.site.example:7000,backup.site.example:6817");
            assertThat(servers(domains, dns, Map.of("SLURM_CONF_SERVER", "head:1,spare"))
                            .find())
                    .contains("head:1,spare");
            assertThat(servers("search other.example\n", dns, Map.of()).find()).isEmpty();
            assertThat(servers("nameserver 127.0.0.1\n", dns, Map.of()).find()).isEmpty();
        }
    }

    @Test
    void localFileOrNamedServerGoesBeforeDns() throws IOException {
        Path file = Files.writeString(directory.resolve("slurm.conf"), "");
        assertThat(ConfServers.of("", false, file.toFile())).isEmpty();
        assertThat(ConfServers.of("head", false, file.toFile())).isEqualTo(Optional.of("head"));
        assertThat(ConfServers.of("", true, directory.resolve("none").toFile())).isEmpty();
    }
}
