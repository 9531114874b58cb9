package dev.muster.node.os;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class LaunchThreadsTest {
    @Test
    void launchesAreInFlightFromTheOrderToTheirEnd() {
        CountDownLatch gate = new CountDownLatch(1);
        try (LaunchThreads starters = new LaunchThreads(1)) {
            for (int i = 0; i < 3; i++) {
                starters.execute(() -> await(gate));
            }
            assertThat(starters.awaitNone(0))
                    .as("one that runs, two that wait for its thread")
                    .isEqualTo(3);
            assertThat(starters.awaitNone(50)).isEqualTo(3);
            gate.countDown();
            assertThat(starters.awaitNone(60_000)).isZero();
        }
    }

    @Test
    void launchThatFailsIsNotInFlight() {
        try (LaunchThreads starters = new LaunchThreads(1)) {
            starters.execute(() -> {
                throw new IllegalStateException("planted");
            });
            assertThat(starters.awaitNone(60_000)).isZero();
        }
    }

    private static void await(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
