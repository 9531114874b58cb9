package dev.muster.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.sister.KafkaConf;
import dev.muster.controller.kafka.KafkaOutbox;
import dev.muster.controller.outbox.Outbox;
import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KafkaOutboxTest {
    @TempDir
    private Path dir;

    private static final int PATIENT_MS = 90_000;

    /** Where records may wait long, so may each request: a slow machine is no broker that is away. */
    private static KafkaConf conf(int port, int messageMs, boolean gzip, String password, Map<String, String> params) {
        String requestMs = messageMs < PATIENT_MS ? "1000" : "20000";
        Map<String, String> client = new java.util.TreeMap<>(Map.of(
                "bootstrap.servers",
                "127.0.0.1:" + port,
                "client.id",
                "test",
                "acks",
                "all",
                "request.timeout.ms",
                requestMs,
                "delivery.timeout.ms",
                requestMs,
                "max.block.ms",
                requestMs,
                "linger.ms",
                "0",
                "enable.idempotence",
                "false",
                "max.in.flight.requests.per.connection",
                "1",
                "compression.type",
                gzip ? "gzip" : "none"));
        client.putAll(Map.of("reconnect.backoff.ms", "20", "reconnect.backoff.max.ms", "50", "retries", "0"));
        if (!password.isEmpty()) {
            client.putAll(Map.of(
                    "security.protocol",
                    "SASL_PLAINTEXT",
                    "sasl.mechanism",
                    "PLAIN",
                    "sasl.jaas.config",
                    "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"ann\" password=\""
                            + password + "\";"));
        }
        return new KafkaConf(client, 2, messageMs, 20, List.of(), params);
    }

    private Outbox producer(KafkaConf conf) throws IOException {
        return KafkaOutbox.open(conf, () -> conf, dir, new DaemonLog("slurmctld", dir + "/log", false, 5, ""));
    }

    private String log() throws IOException {
        return Files.exists(dir.resolve("log")) ? Files.readString(dir.resolve("log")) : "";
    }

    private static void await(BooleanSupplier done) throws InterruptedException {
        for (int i = 0; i < 3000 && !done.getAsBoolean(); i++) {
            Thread.sleep(10);
        }
        assertThat(done.getAsBoolean()).isTrue();
    }

    /** Each arrives once, in order, on the partition that has a leader. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void messagesArriveInOrder(boolean gzip) throws Exception {
        try (FakeBroker broker = new FakeBroker(0);
                Outbox p = producer(conf(broker.port(), PATIENT_MS, gzip, "", Map.of()))) {
            String large = "x".repeat(70_000) + " \u00e4";
            p.add("jobs", large, "JobId=1");
            for (int i = 2; i <= 1200; i++) {
                p.add(i % 100 == 0 ? "other" : "jobs", "m" + i, "JobId=" + i);
            }
            await(() -> broker.messages.size() == 1200);
            assertThat(broker.messages.getFirst()).isEqualTo("jobs/1 " + large);
            assertThat(broker.messages.subList(1, 1200))
                    .isEqualTo(java.util.stream.IntStream.rangeClosed(2, 1200)
                            .mapToObj(i -> (i % 100 == 0 ? "other" : "jobs") + "/1 m" + i)
                            .toList());
            assertThat(broker.requests).contains("3 v5 test", "0 v5 test");
        }
    }

    /** What passes is tried again; what does not is dropped, and what stands beside it arrives. */
    @Test
    void recordWaitsOrIsDroppedByTheBrokersError() throws Exception {
        try (FakeBroker broker = new FakeBroker(0);
                Outbox p = producer(conf(broker.port(), PATIENT_MS, false, "", Map.of()))) {
            broker.error = 6;
            broker.errors.set(3);
            p.add("jobs", "moved", "JobId=1");
            await(() -> broker.messages.contains("jobs/1 moved"));
            assertThat(log()).contains("1 records wait: For requests intended only for the leader");
            broker.error = 10;
            broker.errors.set(1);
            p.add("jobs", "large", "JobId=2");
            await(() -> broker.errors.get() == 0);
            p.add("jobs", "next", "JobId=3");
            await(() -> broker.messages.contains("jobs/1 next"));
            assertThat(broker.messages).doesNotContain("jobs/1 large");
            assertThat(log()).contains("the record of JobId=2 is dropped: The request included a message larger than");
        }
    }

    /** Drops a message without a broker after message.timeout.ms, or tries it anew with requeue_on_msg_timeout. */
    @Test
    void messageTimesOutOrIsRequeuedWithoutABroker() throws Exception {
        int port;
        try (FakeBroker gone = new FakeBroker(0)) {
            port = gone.port();
        }
        try (Outbox p = producer(conf(port, 200, false, "", Map.of()))) {
            p.add("jobs", "lost", "JobId=1");
            for (int i = 0; i < 300 && !log().contains("JobId=1 is dropped"); i++) {
                Thread.sleep(20);
            }
            assertThat(log())
                    .contains("1 records wait: ")
                    .contains("the record of JobId=1 is dropped: ")
                    .contains("not present in metadata");
        }
        try (Outbox p = producer(conf(port, 100, false, "", Map.of("requeue_on_msg_timeout", "")))) {
            p.add("jobs", "kept", "JobId=2");
            Thread.sleep(400);
            try (FakeBroker back = new FakeBroker(port)) {
                await(() -> back.messages.equals(List.of("jobs/1 kept")));
            }
        }
    }

    /** A name that the DNS does not know yet is nothing that a record is dropped for. */
    @Test
    void unresolvedBrokerNameDropsNoRecord() throws Exception {
        KafkaConf nobody = conf(1, 60_000, false, "", Map.of("flush_timeout", "0"));
        Map<String, String> client = new java.util.TreeMap<>(nobody.client());
        client.put("bootstrap.servers", "no-such-host.invalid:9092");
        try (Outbox p = producer(new KafkaConf(client, 2, 60_000, 20, List.of(), nobody.params()))) {
            p.add("jobs", "waits", "JobId=1");
            for (int i = 0; i < 300 && !log().contains("records wait"); i++) {
                Thread.sleep(20);
            }
            assertThat(log()).contains("1 records wait: ").doesNotContain("dropped");
        }
        assertThat(Files.exists(dir.resolve("jobcomp_kafka"))).isTrue();
    }

    /** What waits at an orderly end is sent by the next producer. */
    @Test
    void waitingRecordsSurviveARestart() throws Exception {
        int port;
        try (FakeBroker gone = new FakeBroker(0)) {
            port = gone.port();
        }
        try (Outbox p = producer(conf(port, 60_000, false, "", Map.of("flush_timeout", "50")))) {
            p.add("jobs", "one", "JobId=1");
            p.add("starts", "two", "JobId=2");
        }
        assertThat(Files.exists(dir.resolve("jobcomp_kafka"))).isTrue();
        try (FakeBroker broker = new FakeBroker(port);
                Outbox _ = producer(conf(port, 60_000, false, "", Map.of()))) {
            await(() -> broker.messages.equals(List.of("jobs/1 one", "starts/1 two")));
            assertThat(Files.exists(dir.resolve("jobcomp_kafka"))).isFalse();
        }
    }

    @Test
    void outboxAuthenticatesWithItsPassword() throws Exception {
        try (FakeBroker broker = new FakeBroker(0)) {
            broker.password = "secret";
            try (Outbox p = producer(conf(broker.port(), PATIENT_MS, false, "secret", Map.of()))) {
                p.add("jobs", "mine", "JobId=1");
                await(() -> broker.messages.equals(List.of("jobs/1 mine")));
            }
            try (Outbox p = producer(conf(broker.port(), 60_000, false, "wrong", Map.of("flush_timeout", "0")))) {
                p.add("jobs", "foreign", "JobId=2");
                for (int i = 0; i < 300 && !log().contains("Authentication failed"); i++) {
                    Thread.sleep(20);
                }
                assertThat(log()).contains("Authentication failed");
            }
        }
    }
}
