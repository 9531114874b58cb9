package dev.muster.daemon;

import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Syslog;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A daemon's log in Slurm's format: {@code [2026-11-21T09:40:00.123] error: text}. Levels are Slurm's: 0 quiet, 1
 * fatal, 2 error, 3 info, 4 verbose, 5 debug, 6 debug2, 7 debug3. Control characters are escaped: no text can forge a
 * line.
 */
public final class DaemonLog {
    public static final int FATAL = 1;
    public static final int ERROR = 2;
    public static final int INFO = 3;
    public static final int VERBOSE = 4;
    public static final int DEBUG = 5;
    public static final int DEBUG2 = 6;

    private final String program;
    private String path;
    private final boolean alsoStderr;
    private volatile LogTimeFormat format;
    private volatile int level;
    private final int syslogLevel;
    private final Optional<Syslog> syslog;
    private @Nullable OutputStream out;
    private Optional<DaemonLog> companion = Optional.empty();

    /**
     * @param path "" for standard error
     * @param alsoStderr lines go to standard error as well (a daemon in the foreground)
     * @param timeFormat LogTimeFormat of slurm.conf, "" for its default
     * @param syslogLevel the SyslogDebug key's level, negative where it is not set: then fatal errors only, everything
     *     of {@code level} where a daemon in the background has no file, and nothing in the foreground
     * @throws IOException if the file cannot be opened
     */
    public DaemonLog(String program, String path, boolean alsoStderr, int level, String timeFormat, int syslogLevel)
            throws IOException {
        this.program = program;
        this.path = path;
        this.alsoStderr = alsoStderr || path.isEmpty();
        this.level = level;
        if (syslogLevel >= 0) {
            this.syslogLevel = syslogLevel;
        } else if (alsoStderr) {
            this.syslogLevel = 0;
        } else if (path.isEmpty()) {
            this.syslogLevel = Math.max(FATAL, level);
        } else {
            this.syslogLevel = FATAL;
        }

        syslog = this.syslogLevel > 0 ? Syslog.open(program, Syslog.DAEMON) : Optional.empty();
        format = LogTimeFormat.parse(timeFormat);
        reopen();
    }

    /** Opens a log that tells the system's log nothing but fatal errors of the background. */
    public DaemonLog(String program, String path, boolean alsoStderr, int level, String timeFormat) throws IOException {
        this(program, path, alsoStderr, level, timeFormat, -1);
    }

    /** Libraries log through java.util.logging: their warnings become lines of this log, the rest is not wanted. */
    public void adoptLibraries() {
        java.util.logging.Logger root = java.util.logging.Logger.getLogger("");
        for (java.util.logging.Handler handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        root.setLevel(java.util.logging.Level.WARNING);
        root.addHandler(new java.util.logging.Handler() {
            @Override
            public void publish(java.util.logging.LogRecord record) {
                if (record.getThrown() != null) {
                    debug(record.getMessage() + ": " + record.getThrown());
                } else {
                    debug(String.valueOf(record.getMessage()));
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
    }

    /** A log that is opened again together with this one. */
    public synchronized void beside(Optional<DaemonLog> other) {
        companion = other;
    }

    /** Opens the file again by its name, as log rotation requests with SIGUSR2. */
    public synchronized void reopen() throws IOException {
        if (companion.isPresent()) {
            companion.get().reopen();
        }
        if (path.isEmpty()) {
            return;
        }
        OutputStream old = out;
        out = Files.newOutputStream(privateFile(Path.of(path)), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (old != null) {
            old.close();
        }
    }

    /** A log names jobs and users: a new one is its owner's alone. An existing file keeps its mode. */
    private static Path privateFile(Path file) throws IOException {
        if (!Files.exists(file)) {
            try {
                Files.createFile(
                        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } catch (FileAlreadyExistsException e) {
                return file;
            }
        }
        return file;
    }

    /**
     * Goes on in another file and with another format of times, as a configuration that was read anew wants it.
     *
     * @throws IOException if the file cannot be opened: nothing changes then
     */
    public synchronized void redirect(String newPath, String timeFormat) throws IOException {
        if (newPath.isEmpty()) {
            throw new IOException("a log that goes to a file cannot leave it before the daemon is started anew");
        }
        String old = path;
        path = newPath;
        try {
            reopen();
        } catch (IOException e) {
            path = old;
            throw e;
        }
        format = LogTimeFormat.parse(timeFormat);
    }

    public void level(int newLevel) {
        level = newLevel;
    }

    public int level() {
        return level;
    }

    public void error(@Nullable String text) {
        line(ERROR, "error: ", text);
    }

    public void info(String text) {
        line(INFO, "", text);
    }

    public void verbose(String text) {
        line(VERBOSE, "", text);
    }

    public void debug(@Nullable String text) {
        line(DEBUG, "debug:  ", text);
    }

    public void debug2(String text) {
        line(DEBUG2, "debug2: ", text);
    }

    /** An unexpected exception: its text, and its stack at debug level. */
    public void error(String text, Throwable cause) {
        error(text + ": " + cause);
        for (StackTraceElement frame : cause.getStackTrace()) {
            debug("    at " + frame);
        }
        if (cause.getCause() != null) {
            error("caused by", cause.getCause());
        }
    }

    public void fatal(@Nullable String text) {
        line(FATAL, "fatal: ", text);
    }

    private void line(int index, String prefix, @Nullable String message) {
        if (index > level && index > syslogLevel) {
            return;
        }
        String text = message == null ? "unknown error" : message;
        StringBuilder out = new StringBuilder(text.length() + 48);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' && c != '\t' || c == 127) {
                out.append("\\").append(c == '\n' ? "n" : Integer.toOctalString(c));
            } else {
                out.append(c);
            }
        }
        if (index <= syslogLevel && syslog.isPresent()) {
            syslog.get().write(index, prefix + out);
        }
        if (index > level) {
            return;
        }
        LogTimeFormat times = format;
        byte[] fileLine = ("[" + times.at(Instant.now()) + "] " + prefix + out + "\n").getBytes(StandardCharsets.UTF_8);
        write(
                fileLine,
                times.alsoStderr()
                        ? fileLine
                        : (program + ": " + prefix + out + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private synchronized void write(byte[] fileLine, byte[] stderrLine) {
        try {
            if (out != null) {
                out.write(fileLine);
            }
            if (alsoStderr) {
                System.err.write(stderrLine);
                System.err.flush();
            }
        } catch (IOException e) {
            // a full disk must not stop the daemon; the next line may get through again
            System.err.println(program + ": error: cannot write the log: " + ErrorSentence.of(e));
        }
    }
}
