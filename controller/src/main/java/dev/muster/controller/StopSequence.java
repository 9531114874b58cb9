package dev.muster.controller;

import java.util.EnumMap;
import java.util.Map;

/**
 * Stops the parts of slurmctld that have been started, in the order of {@link Part}, whatever order they were started
 * in. A start that fails half way has registered the parts that it had begun.
 */
final class StopSequence {
    /** The parts that need a stop, the first to be stopped first. */
    enum Part {
        LOCAL_SOCKET,
        SERVER,
        PRIMARY_PROGRAMS,
        CORE_THREAD,
        PROGRAMS,
        EXTERNAL_DBDS,
        ACCOUNTING,
        JOURNAL
    }

    private final Map<Part, Runnable> stops = new EnumMap<>(Part.class);
    private volatile boolean stopping;

    /** Called when the part is made, before it can fail. */
    void add(Part part, Runnable stop) {
        stops.put(part, stop);
    }

    boolean isStopping() {
        return stopping;
    }

    void run() {
        stopping = true;
        stops.values().forEach(Runnable::run);
    }
}
