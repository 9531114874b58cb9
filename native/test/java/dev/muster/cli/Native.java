package dev.muster.cli;

/** A subset of what the launcher offers. */
final class Native {
    /** Already linked when the class is initialised. */
    static final int UMASK = umask();

    private Native() {}

    static native byte[][] argv();

    static native byte[][] environ();

    static native int umask();

    static native byte[] exchangeUnix(String path, byte[] request);

    static native void exitBySignal(int signal);

    static native String requestId();

    static native int thisOneDoesNotExist();
}
