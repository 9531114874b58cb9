package dev.muster.controller;

final class Native {
    private Native() {}

    static native void daemonReady(int rc);

    static native boolean isForeground();
}
