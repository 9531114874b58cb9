package dev.muster.cli;

/** What the launcher gives to the Java machine that it carries; absent when java was started by hand. */
final class Native {
    private static final boolean THERE = probe();

    private Native() {}

    static native byte[][] argv();

    static native byte[][] environ();

    static native int umask();

    /** One request and its whole answer over a Unix socket; null without an answer in 5 s. */
    static native byte[] exchangeUnix(String path, byte[] request);

    static native void exitBySignal(int signal);

    static native int kill(int pid, int signal);

    static native boolean isTerminal(int fd);

    static native int uid();

    static native int gid();

    static native String requestId();

    /** Checkpoint, progress and input of a step that the command service left; null if there is none. */
    static native byte[][] unfinished();

    static boolean isThere() {
        return THERE;
    }

    private static boolean probe() {
        if (System.getProperty("muster.prefix") == null) {
            return false;
        }
        try {
            uid();
            return true;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }
}
