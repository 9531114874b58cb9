package dev.muster.accounting;

/** What the launcher offers; absent when the class is run by a plain JVM. */
final class Native {
    private Native() {}

    static native void daemonReady(int rc);

    /** Returns 0 or an errno. */
    static native int chdir(byte[] path);
}
