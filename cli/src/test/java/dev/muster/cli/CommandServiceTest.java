package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The short path, seen from the launcher's side of the socket. */
@Timeout(20)
class CommandServiceTest {
    @TempDir
    Path dir;

    private CommandService service;
    private Path socket;

    @BeforeEach
    void start() throws IOException {
        socket = dir.resolve("s");
        service = CommandService.open(socket, dir.resolve("slurm.conf").toString());
        Files.writeString(dir.resolve("slurm.conf"), "ClusterName=c\nSlurmctldHost=h(127.0.0.1)\nSlurmctldPort=1\n");
        Thread.ofPlatform().daemon().start(service::serve);
    }

    @AfterEach
    void stop() throws IOException {
        service.close();
    }

    private record Answer(String out, String err, int rc, String asked) {}

    private static void entry(ByteArrayOutputStream to, String name, String value) {
        byte[] b = value.getBytes(StandardCharsets.UTF_8);
        to.writeBytes((name + " " + b.length + "\n").getBytes(StandardCharsets.UTF_8));
        to.writeBytes(b);
        to.write('\n');
    }

    private static void send(SocketChannel c, char type, byte[] bytes) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(5 + bytes.length)
                .putInt(bytes.length + 1)
                .put((byte) type)
                .put(bytes)
                .flip();
        while (b.hasRemaining()) {
            c.write(b);
        }
    }

    private static byte[] receive(SocketChannel c, int length) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(length);
        while (b.hasRemaining() && c.read(b) >= 0) {
            // until all is there
        }
        return b.array();
    }

    private Answer ask(String file, String... argv) throws IOException {
        ByteArrayOutputStream q = new ByteArrayOutputStream();
        entry(q, "name", argv[0]);
        entry(q, "request_id", "abc");
        entry(q, "cwd", "/work");
        entry(q, "uid", "1000");
        for (String a : argv) {
            entry(q, "argv", a);
        }
        entry(q, "env", "A=b");
        StringBuilder out = new StringBuilder();
        StringBuilder err = new StringBuilder();
        StringBuilder asked = new StringBuilder();
        try (SocketChannel c = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            send(c, 'Q', q.toByteArray());
            while (true) {
                ByteBuffer head = ByteBuffer.wrap(receive(c, 5));
                byte[] body = receive(c, head.getInt(0) - 1);
                char type = (char) head.get(4);
                String text = new String(body, StandardCharsets.UTF_8);
                switch (type) {
                    case 'O' -> out.append(text);
                    case 'E' -> err.append(text);
                    case 'S' -> {
                        asked.append("session;");
                        send(c, 'T', new byte[0]);
                    }
                    case 'P' -> {
                        asked.append(text.substring(4)).append(';');
                        byte[] content = file.getBytes(StandardCharsets.UTF_8);
                        send(
                                c,
                                'A',
                                ByteBuffer.allocate(4 + content.length)
                                        .putInt(file.isEmpty() ? 2 : 0)
                                        .put(content)
                                        .array());
                    }
                    case 'R' -> {
                        asked.append("stdin;");
                        send(c, 'I', new byte[4]);
                    }
                    case 'X' -> {
                        return new Answer(
                                out.toString(),
                                err.toString(),
                                ByteBuffer.wrap(body).getInt(),
                                asked.toString());
                    }
                    case 'C' -> {
                        return new Answer("", "", -1, asked.toString());
                    }
                    default -> {}
                }
            }
        }
    }

    @Test
    void commandServiceRunsACommandOfTheCaller() throws IOException {
        assertThat(ask("", "scontrol", "show", "hostnames", "n[1-2]")).isEqualTo(new Answer("n1\nn2\n", "", 0, ""));
        assertThat(ask("", "squeue", "-j", "x")).isEqualTo(new Answer("", "squeue: error: Invalid job id: x\n", 1, ""));
    }

    @Test
    void commandServiceOpensFilesAsTheCaller() throws IOException {
        assertThat(ask("", "sbatch", "job.sh"))
                .isEqualTo(
                        new Answer("", "sbatch: error: Unable to open file job.sh\n", 1, "/work/job.sh;/work/job.sh;"));
        assertThat(ask("echo\n", "sbatch", "/x").err()).startsWith("sbatch: error: This does not look like a batch");
        assertThat(ask("", "sbatch").err()).isEqualTo("sbatch: error: Batch script is empty!\n");
    }

    @Test
    void commandWithoutASessionIsNotServed() throws IOException {
        assertThat(ask("", "squeue")).isEqualTo(new Answer("", "", -1, "session;"));
    }

    /** An installation that is replaced under the service is not served on with the old programs. */
    @Test
    void commandServiceNoticesThatItIsReplaced() throws IOException {
        java.io.File program = Files.writeString(dir.resolve("cli.jar"), "1").toFile();
        long then = program.lastModified();
        assertThat(CommandService.isReplaced(program, then, then + 60_000)).isFalse();
        assertThat(program.setLastModified(then + 10_000)).isTrue();
        assertThat(CommandService.isReplaced(program, then, then + 11_000))
                .as("not while it is being written")
                .isFalse();
        assertThat(CommandService.isReplaced(program, then, then + 20_000)).isTrue();
        Files.delete(program.toPath());
        assertThat(CommandService.isReplaced(program, then, then + 20_000))
                .as("nor while it is gone")
                .isFalse();
    }
}
