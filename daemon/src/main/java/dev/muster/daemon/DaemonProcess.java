package dev.muster.daemon;

import dev.muster.model.format.ErrorSentence;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Settings of the own process of a daemon. */
public final class DaemonProcess {
    private DaemonProcess() {}

    /**
     * Tells the process that started the daemon that it serves (0), or that it will not; once. A plain JVM has no such
     * process.
     */
    public static void ready(int rc) {
        try {
            Native.daemonReady(rc);
        } catch (UnsatisfiedLinkError e) {
            // not begun by the launcher
        }
    }

    private static final String TASKS = "/proc/self/task";
    /** Which field behind the name. */
    private static final int NICE = 16;

    private static final int RENICE_ROUNDS = 20;

    /** A nice value as it is given to {@code -n}: -20 … 19. */
    public static Optional<Integer> niceness(String text) {
        return text.matches("[-+]?\\d{1,2}")
                ? Optional.of(Integer.parseInt(text)).filter(n -> n >= -20 && n <= 19)
                : Optional.empty();
    }

    /**
     * Sets the nice value of all threads: in Linux each thread has its own. A thread that another one starts meanwhile
     * has the old value, so this repeats until all have the new one. Failures are logged.
     */
    public static void renice(int nice, DaemonLog log) {
        for (int round = 0; round < RENICE_ROUNDS; round++) {
            List<String> others = new ArrayList<>();
            for (String task : Optional.ofNullable(new File(TASKS).list()).orElse(new String[0])) {
                if (nice(task) != nice) {
                    others.add(task);
                }
            }
            if (others.isEmpty() || !renice(nice, others, log)) {
                return;
            }
        }
    }

    private static boolean renice(int nice, List<String> tasks, DaemonLog log) {
        List<String> command = new ArrayList<>(List.of("renice", "-n", Integer.toString(nice), "-p"));
        command.addAll(tasks);
        try {
            Process renice =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(renice.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            // a thread that is gone is none that failed
            if (renice.waitFor() != 0 && tasks.stream().anyMatch(t -> new File(TASKS, t).exists() && nice(t) != nice)) {
                log.error("Unable to reset nice value to " + nice + ": " + output);
                return false;
            }
            return true;
        } catch (IOException e) {
            log.error("Unable to reset nice value to " + nice + ": " + ErrorSentence.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** Nice value of a thread of this process; for an ended thread, a value that no thread has. */
    private static int nice(String task) {
        try {
            String stat = Files.readString(Path.of(TASKS, task, "stat"));
            return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[NICE]);
        } catch (IOException e) {
            return Integer.MIN_VALUE;
        }
    }

    /** Sets the working directory, where core files go. A failure is logged. */
    public static void workIn(Path directory, DaemonLog log) {
        try {
            if (Native.chdir(directory.toString().getBytes(StandardCharsets.UTF_8)) != 0) {
                log.error("Unable to change to directory " + directory);
            }
        } catch (UnsatisfiedLinkError e) {
            log.debug("the working directory is left as it is: not started by the launcher");
        }
    }

    /** Opens the log anew at signal USR2: it has been moved away. */
    public static void reopenOnUsr2(DaemonLog log) {
        Signals.on("USR2", () -> {
            try {
                log.info("Logrotate signal (SIGUSR2) received");
                log.reopen();
            } catch (IOException e) {
                log.error("cannot reopen the log", e);
            }
        });
    }
}
