package dev.muster.daemon;

import java.util.Set;

/**
 * Handles threads that end by an exception: it logs the exception with its place. Where the daemon cannot do its work
 * without the thread, or the virtual machine itself has failed, the process ends, so that what started it starts it
 * again; nothing acknowledged is lost by that.
 */
public final class UncaughtFaults {
    private static final int EXIT_STATUS = 70;
    private static final int FRAMES_MAX = 6;

    private UncaughtFaults() {}

    /** @param essential names of threads without which the daemon would only seem to work */
    public static void install(DaemonLog log, Set<String> essential) {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            boolean ends = isEnd(thread.getName(), e, essential);
            String text = "thread " + thread.getName() + ": " + described(e);
            if (ends) {
                log.fatal(text);
                Runtime.getRuntime().halt(EXIT_STATUS);
            }
            log.error(text);
        });
    }

    static boolean isEnd(String thread, Throwable e, Set<String> essential) {
        return essential.contains(thread) || e instanceof VirtualMachineError && !(e instanceof StackOverflowError);
    }

    /** The exception and the first places of its stack, in one line. */
    static String described(Throwable e) {
        StringBuilder out = new StringBuilder(e.toString());
        StackTraceElement[] stack = e.getStackTrace();
        for (int i = 0; i < Math.min(FRAMES_MAX, stack.length); i++) {
            out.append(" at ").append(stack[i]);
        }
        return out.toString();
    }
}
