package dev.muster.controller.engine;

import dev.muster.core.state.DecisionTime;

/** Wall time, and cluster time: it goes on from where the journal ended and never jumps. */
public final class Clock {
    private final long baseTickMs;
    private final long startNs = System.nanoTime();

    /** @param baseTickMs last tick in the journal */
    public Clock(long baseTickMs) {
        this.baseTickMs = baseTickMs;
    }

    public DecisionTime now() {
        return new DecisionTime(baseTickMs + (System.nanoTime() - startNs) / 1_000_000, System.currentTimeMillis());
    }
}
