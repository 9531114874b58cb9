package dev.muster.daemon;

/** What the launcher offers to daemons that are no more than this room. */
final class Native {
    private Native() {}

    /** Tells the process that was started that the daemon serves, or why not. */
    static native void daemonReady(int rc);
}
