package dev.muster.controller.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pace of an outbox does not depend on how fast messages come. */
class OutboxTest {
    private static final int MESSAGES = 40;
    private static final int APART_MS = 10;

    @TempDir
    private Path dir;
    private final List<List<String>> tries = new CopyOnWriteArrayList<>();
    private volatile boolean away;

    private final Outbox.Sender server = new Outbox.Sender() {
        @Override
        public void send(String topic, List<byte[]> values) throws IOException {
            tries.add(values.stream().map(v -> new String(v, StandardCharsets.UTF_8)).toList());
            if (away) {
                throw new IOException("nothing listens");
            }
        }

        @Override
        public void close() {}
    };

    private Outbox outbox(Outbox.Pace pace) throws IOException {
        return new Outbox("jobcomp/test", pace, new Outbox.Terms() {
            @Override
            public boolean again() {
                return false;
            }

            @Override
            public long flushMs() {
                return 0;
            }
        }, server, dir.resolve("saved"), new DaemonLog("slurmctld", dir + "/log", false, 5, ""));
    }

    private static void addAll(Outbox o) throws InterruptedException {
        for (int i = 0; i < MESSAGES; i++) {
            o.add("topic", "m" + i, "JobId=" + i);
            Thread.sleep(APART_MS);
        }
    }

    private static void await(BooleanSupplier done) throws InterruptedException {
        for (int i = 0; i < 1000 && !done.getAsBoolean(); i++) {
            Thread.sleep(10);
        }
        assertThat(done.getAsBoolean()).isTrue();
    }

    @Test
    void newMessagesDoNotShortenThePauseBetweenTwoTries() throws Exception {
        away = true;
        try (Outbox o = outbox(new Outbox.Pace(0, 0, 60_000, 1))) {
            addAll(o);
            await(() -> !tries.isEmpty());
            assertThat(tries).hasSize(1);
        }
    }

    @Test
    void messagesAreCollectedForTheWholeLinger() throws Exception {
        try (Outbox o = outbox(new Outbox.Pace(3_000, 0, 1_000, 1_000))) {
            addAll(o);
            await(() -> !tries.isEmpty());
            assertThat(tries).hasSize(1);
            assertThat(tries.getFirst()).hasSize(MESSAGES);
        }
    }

    @Test
    void aFullBatchEndsTheLinger() throws Exception {
        try (Outbox o = outbox(new Outbox.Pace(60_000, 0, 1_000, MESSAGES))) {
            addAll(o);
            await(() -> !tries.isEmpty());
            assertThat(tries.getFirst()).hasSize(MESSAGES);
        }
    }
}
