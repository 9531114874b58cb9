package dev.muster.controller.engine;

import static java.util.Objects.requireNonNull;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.State;
import org.jspecify.annotations.Nullable;

/**
 * The core for parts that are made before its thread: accounting, which follows the recovery, and the effects of
 * decisions, which the thread is made with. {@link #begin} gives it the thread; until then only the state is known.
 */
public final class CoreHandle {
    private final Core core;
    private volatile @Nullable CoreThread thread;

    public CoreHandle(Core core) {
        this.core = core;
    }

    /** Called once, before the thread is started. */
    public void begin(CoreThread made) {
        thread = made;
    }

    /** Returns the newest durable state; the recovered state before {@link #begin}. */
    public State durable() {
        CoreThread running = thread;
        return running == null ? core.state() : running.durable();
    }

    /** @param command of the controller itself, whose decision it does not wait for */
    public void post(Command command) {
        thread().post(command);
    }

    /** Returns the decision about a command of the controller itself, once it is durable. */
    public Decision execute(Command command) {
        return thread().execute(command, -1);
    }

    /** Asks for a pass. */
    public void wake() {
        thread().wake();
    }

    /** Tests whether requests are answered and passes run. */
    public boolean areDoorsOpen() {
        return thread().areDoorsOpen();
    }

    private CoreThread thread() {
        return requireNonNull(thread, "the core takes commands after begin(thread)");
    }
}
