package dev.muster.controller.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class JobWatchTest {
    private static final int LONG_MS = 60_000;

    private final JobWatch watch = new JobWatch();
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicBoolean gone = new AtomicBoolean();

    private CompletableFuture<String> waits(long ms, int asksUntilAnswer) {
        return CompletableFuture.supplyAsync(() -> String.valueOf((Object)
                watch.await(1, ms, () -> asked.incrementAndGet() >= asksUntilAnswer ? "answer" : null, gone::get)));
    }

    private void asked(int times) {
        while (asked.get() < times) {
            Thread.onSpinWait();
        }
    }

    @Test
    void watchAsksAgainAfterEachChange() {
        CompletableFuture<String> answer = waits(LONG_MS, 2);
        asked(1);
        watch.happened(1);
        assertThat(answer.join()).isEqualTo("answer");
        assertThat(asked).hasValue(2);
    }

    /** A question may make a step: srun, which asked for it, was killed. */
    @Test
    void watchDoesNotAskForACallerThatIsGone() {
        CompletableFuture<String> answer = waits(LONG_MS, 2);
        asked(1);
        gone.set(true);
        watch.happened(1);
        assertThat(answer.join()).isEqualTo("null");
        assertThat(asked).hasValue(1);
    }

    @Test
    void watchDoesNotAskAfterItsTimeout() {
        CompletableFuture<String> answer = waits(50, 2);
        asked(1);
        gone.set(true);
        assertThat(answer.join()).isEqualTo("null");
        assertThat(asked).hasValue(1);
    }
}
