package dev.muster.controller.site;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.muster.config.SlurmConf;
import dev.muster.controller.outbox.Outbox;
import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** jobcomp/elasticsearch: what has no server waits for it. */
class ElasticsearchOutboxTest {
    @TempDir
    private Path dir;

    private final List<String> taken = new CopyOnWriteArrayList<>();
    private volatile int answer = 201;

    private HttpServer server(int port) throws IOException {
        HttpServer s = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        s.createContext("/jobs/_doc", e -> {
            String body = new String(e.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            if (answer == 201) {
                taken.add(body);
            }
            e.sendResponseHeaders(body.contains("bad") ? 400 : answer, -1);
            e.close();
        });
        s.start();
        return s;
    }

    private Outbox outbox(int port) throws IOException {
        Path file = dir.resolve("slurm.conf");
        Files.writeString(
                file,
                String.join(
                        "\n",
                        "ClusterName=c",
                        "SlurmctldHost=h",
                        "NodeName=n1",
                        "PartitionName=p Nodes=n1",
                        "StateSaveLocation=" + dir,
                        "JobCompType=jobcomp/elasticsearch",
                        "JobCompLoc=127.0.0.1:" + port + "/jobs/_doc",
                        "JobCompParams=connect_timeout=2,timeout=5",
                        ""));
        if (!(SlurmConf.read(file.toFile()) instanceof SlurmConf.Parsed.Ok(SlurmConf conf))) {
            throw new AssertionError("unreadable");
        }
        return ElasticsearchOutbox.open(() -> conf, new DaemonLog("slurmctld", dir + "/log", false, 5, ""));
    }

    private String log() {
        try {
            return Files.exists(dir.resolve("log")) ? Files.readString(dir.resolve("log")) : "";
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void await(BooleanSupplier done) throws InterruptedException {
        for (int i = 0; i < 1500 && !done.getAsBoolean(); i++) {
            Thread.sleep(10);
        }
        assertThat(done.getAsBoolean()).as("taken " + taken + ", told " + log()).isTrue();
    }

    @Test
    void documentsWaitForAServerThatIsAwayAndOutliveARestart() throws Exception {
        HttpServer first = server(0);
        int port = first.getAddress().getPort();
        try (Outbox o = outbox(port)) {
            o.add("", "one", "JobId=1");
            await(() -> taken.contains("one"));
            first.stop(0);
            o.add("", "two", "JobId=2");
            o.add("", "three", "JobId=3");
            await(() -> log().matches("(?s).*jobcomp/elasticsearch: [123] records wait.*"));
        }
        assertThat(dir.resolve("elasticsearch_state")).exists();
        HttpServer second = server(port);
        try (Outbox o = outbox(port)) {
            await(() -> taken.contains("three"));
            // the end of the first server may have come between what it took and its answer
            assertThat(taken.stream().distinct()).containsExactly("one", "two", "three");
            assertThat(dir.resolve("elasticsearch_state")).doesNotExist();
            o.add("", "four", "JobId=4");
            await(() -> taken.contains("four"));
        } finally {
            second.stop(0);
        }
        assertThat(log()).doesNotContain("dropped");
    }

    @Test
    void aServerThatIsBusyIsAskedAgainAndADocumentThatItCannotReadIsDropped() throws Exception {
        HttpServer server = server(0);
        answer = 503;
        try (Outbox o = outbox(server.getAddress().getPort())) {
            o.add("", "one", "JobId=1");
            await(() -> log().contains("the server answers 503"));
            answer = 201;
            o.add("", "bad", "JobId=2");
            o.add("", "three", "JobId=3");
            await(() -> taken.contains("three"));
            assertThat(taken.getFirst()).isEqualTo("one");
            assertThat(log())
                    .contains("the record of JobId=2 is dropped: the server answers 400")
                    .doesNotContain("JobId=1 is dropped");
        } finally {
            server.stop(0);
        }
    }
}
