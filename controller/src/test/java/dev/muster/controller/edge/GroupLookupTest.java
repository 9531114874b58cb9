package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Decision;
import dev.muster.core.state.State;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests when the groups of users are looked up again. */
class GroupLookupTest {
    private static final long SOON_MS = 200;
    private final Semaphore looks = new Semaphore(0);
    private final AtomicLong changedMs = new AtomicLong(5);
    private final Semaphore failures = new Semaphore(0);
    private volatile boolean broken;

    private GroupLookup started() {
        GroupLookup look = new GroupLookup(
                () -> {
                    if (broken) {
                        throw new IllegalStateException("nobody answers");
                    }
                    looks.release();
                    return State.EMPTY;
                },
                uid -> Optional.empty(),
                c -> Decision.of(java.util.List.of(), 0),
                changedMs::get,
                e -> failures.release());
        Thread.ofVirtual().start(look::run);
        return look;
    }

    private boolean looks() throws InterruptedException {
        return looks.tryAcquire(10, TimeUnit.SECONDS);
    }

    private boolean looksSoon() throws InterruptedException {
        return looks.tryAcquire(SOON_MS, TimeUnit.MILLISECONDS);
    }

    @Test
    void groupsAreReadOnReconfigureAndWhenAListIsSet() throws Exception {
        GroupLookup look = started();
        assertThat(looksSoon()).isFalse();
        look.update(0, true);
        assertThat(looks()).isTrue();
        assertThat(looksSoon()).as("GroupUpdateTime=0").isFalse();
        look.soon();
        assertThat(looks()).isTrue();
    }

    /** GroupUpdateTime. */
    @Test
    @SuppressWarnings("IdentityBinaryExpression") // each call waits for another look
    void groupsAreReadEveryGroupUpdateTime() throws Exception {
        started().update(1, true);
        assertThat(looks() && looks() && looks()).isTrue();
    }

    @Test
    void failedGroupLookupIsTriedAgain() throws Exception {
        broken = true;
        GroupLookup look = started();
        look.update(0, true);
        assertThat(failures.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
        broken = false;
        look.soon();
        assertThat(looks()).isTrue();
    }

    /** GroupUpdateForce=0. */
    @Test
    void groupsWithoutForceAreReadAfterAFileChange() throws Exception {
        started().update(1, false);
        assertThat(looks()).isTrue();
        assertThat(looks.tryAcquire(1500, TimeUnit.MILLISECONDS)).isFalse();
        changedMs.set(6);
        assertThat(looks()).isTrue();
    }
}
