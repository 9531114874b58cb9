package dev.muster.controller.site;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.controller.outbox.Outbox;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * jobcomp/elasticsearch: one request for each document, to where JobCompLoc points at that time. Documents wait without
 * end while the server is away or refuses all; one that it cannot read is dropped.
 */
final class ElasticsearchOutbox implements Outbox.Sender, Outbox.Terms {
    private static final String FILE = "elasticsearch_state";
    private static final int RETRY_MS = 1_000;
    private static final int FLUSH_MS = 500;
    private static final int CONNECT_S = 10;
    private static final int TIMEOUT_S = 30;
    /** HTTP statuses that blame the document itself. */
    private static final List<Integer> UNREADABLE = List.of(400, 413, 422);

    private final Supplier<SlurmConf> conf;
    private final HttpClient http;

    private ElasticsearchOutbox(Supplier<SlurmConf> conf) {
        this.conf = conf;
        this.http = HttpClient.newBuilder()
                .connectTimeout(seconds("connect_timeout", CONNECT_S))
                .build();
    }

    static Outbox open(Supplier<SlurmConf> conf, DaemonLog log) {
        ElasticsearchOutbox way = new ElasticsearchOutbox(conf);
        return new Outbox(
                "jobcomp/elasticsearch",
                new Outbox.Pace(0, 0, RETRY_MS, 1),
                way,
                way,
                Path.of(conf.get().stateSaveLocation()).resolve(FILE),
                log);
    }

    private Duration seconds(String name, int fallback) {
        Map<String, String> parameters = conf.get().parameters(Key.JOB_COMP_PARAMS);
        String value = parameters.getOrDefault(name, "");
        return Duration.ofSeconds(value.matches("[1-9][0-9]{0,4}") ? Integer.parseInt(value) : fallback);
    }

    @Override
    public void send(String topic, List<byte[]> values) throws IOException, InterruptedException {
        String place = conf.get().text(Key.JOB_COMP_LOC);
        for (byte[] value : values) {
            HttpRequest request;
            try {
                request = HttpRequest.newBuilder(URI.create(place.contains("://") ? place : "http://" + place))
                        .timeout(seconds("timeout", TIMEOUT_S))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(value))
                        .build();
            } catch (IllegalArgumentException e) {
                // of the configuration, which may be mended
                throw new IOException("JobCompLoc=" + place + ": " + ErrorSentence.of(e), e);
            }
            HttpResponse<Void> answer = http.send(request, HttpResponse.BodyHandlers.discarding());
            if (UNREADABLE.contains(answer.statusCode())) {
                throw new Outbox.RefusedException("the server answers " + answer.statusCode(), null);
            }
            if (answer.statusCode() / 100 != 2) {
                throw new IOException("the server answers " + answer.statusCode());
            }
        }
    }

    @Override
    public boolean again() {
        return true;
    }

    @Override
    public long flushMs() {
        return FLUSH_MS;
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
