package dev.muster.simulator;

import dev.muster.core.Core;
import dev.muster.core.state.Change;
import dev.muster.core.state.State;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.List;

/** Compares what a {@link SimController} keeps with what a rebuild gives, each {@value #PERIOD} decisions. */
final class StateChecks {
    /** Decisions, and releases of durable entries, from one check to the next. */
    private static final int PERIOD = 16;

    private final DurableHistory history;
    private int decisions;
    private int releases;

    StateChecks(DurableHistory history) {
        this.history = history;
    }

    void decided(Core core, Scheduler scheduler) {
        if (++decisions % PERIOD == 0) {
            checkIndexes(core, scheduler);
        }
    }

    /** @param durable the newest durable state, as of the last entry of the history */
    void released(State durable) {
        if (++releases % PERIOD == 0 && !durable.equals(history.state())) {
            throw new Violation("I37 state equals its journal", StateDifferences.of(history.state(), durable));
        }
    }

    /** I29, I14: what is kept beside the state equals what a rebuild would give. */
    static void checkIndexes(Core core, Scheduler scheduler) {
        Scheduler fresh = new Scheduler();
        Core rebuilt = new Core(fresh);
        rebuilt.reset(core.state());
        if (!rebuilt.due().equals(core.due())) {
            throw new Violation(
                    "I29 timers equal a rebuild", "after " + core.state().tickMs());
        }
        if (!fresh.fingerprint().equals(scheduler.fingerprint())) {
            throw new Violation(
                    "I14 the planner's index equals a rebuild",
                    "kept:\n" + scheduler.fingerprint() + "\nrebuilt:\n" + fresh.fingerprint());
        }
        List<Change> changes = new ArrayList<>();
        core.state().snapshot(changes::add);
        State restored = State.restored(changes);
        if (!restored.equals(core.state())) {
            throw new Violation("I38 a snapshot is the state", StateDifferences.of(core.state(), restored));
        }
    }
}
