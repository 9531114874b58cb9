package dev.muster.controller.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pace of an outbox does not depend on how fast messages come. */
class OutboxTest {
    private static final int MESSAGES = 40;
    private static final int LIMIT_S = 20;
    private static final String SENDER = "outbox-test";

    @TempDir
    private Path dir;

    private final List<List<String>> tries = new CopyOnWriteArrayList<>();
    private volatile boolean away;

    private final Outbox.Sender server = new Outbox.Sender() {
        @Override
        public void send(String topic, List<byte[]> values) throws IOException {
            tries.add(values.stream()
                    .map(v -> new String(v, StandardCharsets.UTF_8))
                    .toList());
            if (away) {
                throw new IOException("nothing listens");
            }
        }

        @Override
        public void close() {}
    };

    private Outbox outbox(Outbox.Pace pace) throws IOException {
        return new Outbox(
                "jobcomp/" + SENDER,
                pace,
                new Outbox.Terms() {
                    @Override
                    public boolean again() {
                        return false;
                    }

                    @Override
                    public long flushMs() {
                        return 0;
                    }
                },
                server,
                dir.resolve("saved"),
                new DaemonLog("slurmctld", dir + "/log", false, 5, ""));
    }

    private static void addAll(Outbox o) {
        for (int i = 0; i < MESSAGES; i++) {
            o.add("topic", "m" + i, "JobId=" + i);
            await(OutboxTest::isSenderWaiting);
        }
    }

    /** Tests whether the message has woken the sender, and the sender has gone to wait again. */
    private static boolean isSenderWaiting() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().equals(SENDER))
                .anyMatch(t -> t.getState() == Thread.State.WAITING || t.getState() == Thread.State.TIMED_WAITING);
    }

    private static void await(BooleanSupplier done) {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
        while (!done.getAsBoolean() && System.nanoTime() < endNs) {
            Thread.onSpinWait();
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
