package dev.muster.controller;

/** What the launcher offers; absent when the class is run by a plain JVM. */
final class Native {
    private Native() {}

    static native void daemonReady(int rc);

    static native boolean isForeground();

    static native int uid();

    /** 0, or the error number. */
    static native int chdir(byte[] path);
}
