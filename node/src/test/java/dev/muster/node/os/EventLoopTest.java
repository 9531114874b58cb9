package dev.muster.node.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class EventLoopTest {
    @Test
    void closeAwaitsThePieceUnderWayAndStartsNoOther() throws Exception {
        EventLoop loop = new EventLoop(new DaemonLog("slurmd", "", false, 0, ""));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        loop.post(() -> {
            begun.countDown();
            await(goOn);
            done.incrementAndGet();
        });
        loop.post(done::incrementAndGet);
        await(begun);
        Thread closing = Thread.ofPlatform().start(loop::close);
        closing.join(200);
        assertThat(closing.isAlive()).as("the first piece is under way").isTrue();

        goOn.countDown();
        closing.join();

        assertThat(done).hasValue(1);
    }

    @Test
    void aPieceMayCloseItsOwnLoop() throws Exception {
        EventLoop loop = new EventLoop(new DaemonLog("slurmd", "", false, 0, ""));
        CountDownLatch closed = new CountDownLatch(1);
        loop.post(() -> {
            loop.close();
            closed.countDown();
        });
        assertThat(closed.await(5, TimeUnit.SECONDS)).isTrue();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
