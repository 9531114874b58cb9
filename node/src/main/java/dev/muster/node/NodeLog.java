package dev.muster.node;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/** The daemon's log in Slurm's format, to its file and, in the foreground, to stderr. Thread-safe. */
public final class NodeLog {
    /** Slurm's levels: what is printed at {@code SlurmdDebug=} of that name or above. */
    public enum Level { QUIET, FATAL, ERROR, INFO, VERBOSE, DEBUG, DEBUG2, DEBUG3, DEBUG4, DEBUG5 }

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS").withZone(ZoneId.systemDefault());

    private final String program;
    private final Optional<Path> file;
    private final PrintStream screen;
    private volatile boolean onScreen;
    private volatile Level level;
    private OutputStream out = OutputStream.nullOutputStream();

    public NodeLog(String program, Optional<Path> file, Level level, boolean onScreen, PrintStream screen) {
        this.program = program;
        this.file = file;
        this.level = level;
        this.onScreen = onScreen;
        this.screen = screen;
        reopen();
    }

    /** A log that only a person at the terminal reads. */
    public static NodeLog toScreen(String program) {
        return new NodeLog(program, Optional.empty(), Level.INFO, true, System.err);
    }

    /** Opens the file anew: after SIGUSR2, when somebody moved it away. */
    public synchronized void reopen() {
        if (file.isEmpty()) {
            return;
        }
        try {
            OutputStream next = Files.newOutputStream(file.get(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            out.close();
            out = next;
        } catch (IOException e) {
            screen.println(program + ": error: Unable to open logfile `" + file.get() + "': " + Reasons.of(e));
        }
    }

    /** The daemon serves: from now on only its file hears of it. */
    public void leaveScreen() {
        onScreen = false;
    }

    public void level(Level wanted) {
        level = wanted;
    }

    public void fatal(String message) {
        write(Level.FATAL, "fatal: ", message);
    }

    public void error(String message) {
        write(Level.ERROR, "error: ", message);
    }

    public void info(String message) {
        write(Level.INFO, "", message);
    }

    public void verbose(String message) {
        write(Level.VERBOSE, "", message);
    }

    public void debug(String message) {
        write(Level.DEBUG, "debug:  ", message);
    }

    private void write(Level at, String prefix, String message) {
        if (at.compareTo(level) > 0) {
            return;
        }
        String line = prefix + message.replace('\n', ' ');
        if (onScreen) {
            screen.println(program + ": " + line);
        }
        byte[] bytes = ("[" + TIME.format(Instant.now()) + "] " + line + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (this) {
            try {
                out.write(bytes);
            } catch (IOException e) {
                // a full disk must not stop the daemon; the next line may fit again
            }
        }
    }
}
