package dev.muster.daemon;

/** What the launcher offers to every daemon. */
final class Native {
    private Native() {}

    /** Tells the process that was started that the daemon serves, or why not. */
    static native void daemonReady(int rc);

    /** 0, or the error number. */
    static native int chdir(byte[] path);
}
