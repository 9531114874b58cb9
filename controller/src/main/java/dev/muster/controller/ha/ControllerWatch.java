package dev.muster.controller.ha;

import dev.muster.core.state.Trigger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/**
 * Pings the other controllers while this one leads, and tells triggers when one of them fails or is back. The first
 * SlurmctldHost is the primary, each other one a backup.
 */
public final class ControllerWatch {
    private static final int PERIOD_MS = 2000;
    /** Pings without an answer after which a controller has failed. */
    private static final int MISSES_MAX = 2;

    private final int self;
    private final IntPredicate answers;
    private final Consumer<String> events;
    private final int[] misses;

    /**
     * @param self index of this controller
     * @param controllers number of SlurmctldHost
     * @param answers pings a controller by its index
     * @param events receives names of {@link Trigger}
     */
    public ControllerWatch(int self, int controllers, IntPredicate answers, Consumer<String> events) {
        this.self = self;
        this.answers = answers;
        this.events = events;
        misses = new int[controllers];
    }

    /** Pings until the controller stops. */
    public void start(BooleanSupplier stopping) {
        Thread.ofVirtual().name("controllers").start(() -> {
            while (!stopping.getAsBoolean()) {
                try {
                    Thread.sleep(PERIOD_MS);
                } catch (InterruptedException e) {
                    return;
                }
                pingAll();
            }
        });
    }

    void pingAll() {
        for (int i = 0; i < misses.length; i++) {
            if (i != self) {
                ping(i);
            }
        }
    }

    private void ping(int index) {
        if (!answers.test(index)) {
            misses[index] = Math.min(misses[index] + 1, MISSES_MAX + 1);
            if (misses[index] == MISSES_MAX) {
                events.accept(index == 0 ? Trigger.PRIMARY_FAILED : Trigger.BACKUP_FAILED);
            }
            return;
        }
        if (misses[index] >= MISSES_MAX) {
            events.accept(index == 0 ? Trigger.OPERATION_RESUMED : Trigger.BACKUP_RESUMED);
        }
        misses[index] = 0;
    }
}
