package dev.muster.cli;

/** What the launcher gives to the Java machine that it carries; absent when java was started by hand. */
public final class Native {
    private static final boolean THERE = probe();

    private Native() {}

    static native byte[][] argv();

    static native byte[][] environ();

    static native int umask();

    /** One request and its whole answer over a Unix socket; null without an answer in 5 s. */
    public static native byte[] exchangeUnix(String path, byte[] request);

    static native void exitBySignal(int signal);

    static native int kill(int pid, int signal);

    public static native boolean isTerminal(int fd);

    static native int uid();

    static native int gid();

    public static native String requestId();

    /** Checkpoint, progress and input of a step that the command service left; null if there is none. */
    public static native byte[][] unfinished();

    public static boolean isThere() {
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
