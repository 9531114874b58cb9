package dev.muster.controller.engine;

import dev.muster.core.state.Now;

/** Wall time, and cluster time: it goes on from where the journal ended and never jumps. */
public final class Clock {
    private final long baseTickMs;
    private final long startNs = System.nanoTime();

    /** @param baseTickMs last tick in the journal */
    public Clock(long baseTickMs) {
        this.baseTickMs = baseTickMs;
    }

    public Now now() {
        return new Now(baseTickMs + (System.nanoTime() - startNs) / 1_000_000, System.currentTimeMillis());
    }
}
