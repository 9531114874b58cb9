package dev.muster.cli.connection;

/** Calls into the native launcher that carries this process. */
public interface Launcher {
    /** Sends one request over a Unix socket and returns the whole answer; null without an answer in 5 s. */
    byte[] exchange(String path, byte[] request);

    boolean isTty(int fd);

    /** Returns the request id that the launcher made for this command. */
    String firstRequestId();

    /** Returns checkpoint, progress and input of a step that the command service left; null if there is none. */
    byte[][] resumable();
}
