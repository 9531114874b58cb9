package dev.muster.daemon;

import sun.misc.Signal;

/** Unix signals of a daemon; names without SIG. Actions run on a thread of their own. */
public final class Signals {
    private Signals() {}

    public static void on(String name, Runnable action) {
        Signal.handle(
                new Signal(name),
                s -> Thread.ofPlatform().name("signal-" + name).start(action));
    }

    public static void ignore(String name) {
        Signal.handle(new Signal(name), s -> {});
    }
}
