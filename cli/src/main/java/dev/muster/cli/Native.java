package dev.muster.cli;

import dev.muster.cli.connection.Launcher;
import java.util.Optional;

/** Calls into the launcher that carries the Java machine. Without a launcher (java started by hand) no call works. */
public final class Native implements Launcher {
    private static final boolean THERE = probe();

    private Native() {}

    static native byte[][] argv();

    static native byte[][] environ();

    static native int umask();

    static native byte[] exchangeUnix(String path, byte[] request);

    static native void exitBySignal(int signal);

    static native int kill(int pid, int signal);

    static native boolean isTerminal(int fd);

    static native int uid();

    static native int gid();

    static native String requestId();

    static native byte[][] unfinished();

    static boolean isThere() {
        return THERE;
    }

    /** Returns the launcher that carries this process, empty if none does. */
    static Optional<Launcher> launcher() {
        return THERE ? Optional.of(new Native()) : Optional.empty();
    }

    @Override
    public byte[] exchange(String path, byte[] request) {
        return exchangeUnix(path, request);
    }

    @Override
    public boolean isTty(int fd) {
        return isTerminal(fd);
    }

    @Override
    public String firstRequestId() {
        return requestId();
    }

    @Override
    public byte[][] resumable() {
        return unfinished();
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
