package dev.muster.controller.engine;

import dev.muster.core.command.Command;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells the core of events that triggers wait for. Events before the start is complete are kept until then. */
public final class TriggerEventRelay {
    private final List<String> early = new ArrayList<>();
    private @Nullable CoreThread thread;

    /** @param event a name of {@code core.state.Trigger} */
    public synchronized void happened(String event) {
        if (thread == null) {
            early.add(event);
        } else {
            thread.post(new Command.Happened(event));
        }
    }

    public synchronized void begin(CoreThread core) {
        thread = core;
        early.forEach(this::happened);
        early.clear();
    }
}
