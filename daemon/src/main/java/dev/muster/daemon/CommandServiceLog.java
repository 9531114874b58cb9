package dev.muster.daemon;

import java.nio.charset.StandardCharsets;

/**
 * Messages of the keeper of the command services, as lines of the daemon's log. The launcher starts the keeper with the
 * daemon ({@code native/keeper.c}); it starts the services once the daemon serves, again when one ends, and ends with
 * the daemon.
 */
public final class CommandServiceLog {
    private CommandServiceLog() {}

    /**
     * Follows the command service's log on a thread of its own until the keeper ends. It does nothing where a plain JVM
     * runs the daemon, which has no keeper.
     */
    public static void follow(DaemonLog log) {
        Thread.ofPlatform().daemon().name("command-service").start(() -> read(log));
    }

    private static void read(DaemonLog log) {
        StringBuilder line = new StringBuilder();
        try {
            for (byte[] more = Native.keeperReport(); more != null; more = Native.keeperReport()) {
                line.append(new String(more, StandardCharsets.UTF_8));
                for (int end = line.indexOf("\n"); end >= 0; end = line.indexOf("\n")) {
                    write(line.substring(0, end), log);
                    line.delete(0, end + 1);
                }
            }
        } catch (UnsatisfiedLinkError e) {
            log.debug("no command service: not started by the launcher");
        }
    }

    /** @param line its first letter is the level: {@code v} for verbose, {@code i} for info */
    static void write(String line, DaemonLog log) {
        if (line.startsWith("v")) {
            log.verbose(line.substring(1));
        } else if (line.startsWith("i")) {
            log.info(line.substring(1));
        }
    }
}
