package dev.muster.node;

/** Functions of the launcher; absent when the class is run by a plain JVM, as in tests. */
public final class Native {
    private static final boolean LINKED = probe();

    private Native() {}

    /** One byte exit code, then what the program printed. */
    public static native byte[] run(byte[][] argv);

    /** 0 or errno. */
    public static native int kill(int pid, int signal);

    /** Keeps the process out of swap; 0 or errno. */
    static native int lockMemory();

    public static native int uid();

    public static native int gid();

    /** 0 or errno. */
    public static native int lchown(byte[] path, int uid, int gid);

    public static boolean isLinked() {
        return LINKED;
    }

    private static boolean probe() {
        try {
            return uid() >= 0;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }
}
