package dev.muster.daemon;

import org.jspecify.annotations.Nullable;

/** Functions that the launcher offers to every daemon. */
final class Native {
    private Native() {}

    /** Tells the process that was started that the daemon serves, or why not. */
    static native void daemonReady(int rc);

    /** 0, or the error number. */
    static native int chdir(byte[] path);

    /**
     * 0, or the error number.
     *
     * @param user null for no supplementary groups
     */
    static native int setGroups(byte @Nullable [] user, int gid);

    /** 0, or the error number. */
    static native int setGid(int gid);

    /** 0, or the error number. */
    static native int setUid(int uid);

    /** Lets the user of a process that has changed its user dump and inspect it. 0, or the error number. */
    static native int openProcess();

    /**
     * Gives root's files to another user: {@code name} in the directory with all below it, or for {@code .} the
     * directory alone.
     *
     * @return error number or 0, number of files given, number of files that stay root's
     */
    static native int[] handOver(byte[] directory, byte[] name, int uid, int gid);

    /** Waits for lines of the keeper of the command services; null at their end. */
    static native byte[] keeperReport();
}
