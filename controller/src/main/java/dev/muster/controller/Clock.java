package dev.muster.controller;

import dev.muster.core.Now;

/** Wall time, and cluster time: it goes on from where the journal ended and never jumps. */
final class Clock {
    private final long baseTickMs;
    private final long startNs = System.nanoTime();

    /** @param baseTickMs last tick in the journal */
    Clock(long baseTickMs) {
        this.baseTickMs = baseTickMs;
    }

    Now now() {
        return new Now(baseTickMs + (System.nanoTime() - startNs) / 1_000_000, System.currentTimeMillis());
    }
}
