package dev.muster.simulator;

import dev.muster.core.state.DecisionTime;

/**
 * The clock of a {@link SimController}: cluster time, which goes on from the journal's end, and wall time, which jumps.
 */
final class SimClock {
    private static final long WALL_START_MS = 1_700_000_000_000L;

    private final World world;
    private long startedMs;
    private long tickBaseMs;
    private long wallOffsetMs = WALL_START_MS;

    SimClock(World world) {
        this.world = world;
    }

    /** The process has started with a state as of this tick. */
    void start(long tickMs) {
        startedMs = world.nowMs();
        tickBaseMs = tickMs + 1;
    }

    /** Returns the virtual time of the last start, in milliseconds. */
    long startedMs() {
        return startedMs;
    }

    void jump(long ms) {
        wallOffsetMs += ms;
    }

    DecisionTime now() {
        return new DecisionTime(tickBaseMs + world.nowMs() - startedMs, wallOffsetMs + world.nowMs());
    }
}
