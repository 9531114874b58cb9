package dev.muster.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** The system's log through the C library's syslog(3): Java has no datagrams on Unix sockets. With the pid. */
public final class Syslog {
    private static final int LOG_PID = 1;
    /** A facility: what users' commands say. */
    public static final int USER = 1 << 3;
    /** A facility: what daemons say. */
    public static final int DAEMON = 3 << 3;

    private static final int NOTICE = 5;

    private final MethodHandle syslog;
    private final MemorySegment format;

    private Syslog(MethodHandle syslog, MemorySegment format) {
        this.syslog = syslog;
        this.format = format;
    }

    /** Returns empty where the C library cannot be called. */
    @SuppressWarnings("restricted")
    public static Optional<Syslog> open(String program, int facility) {
        try {
            Linker linker = Linker.nativeLinker();
            Arena forEver = Arena.global();
            MethodHandle openlog = linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("openlog"),
                    FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
            openlog.invokeExact(forEver.allocateFrom(program), LOG_PID, facility);
            MethodHandle syslog = linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("syslog"),
                    FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                    Linker.Option.firstVariadicArg(2));
            return Optional.of(new Syslog(syslog, forEver.allocateFrom("%s")));
        } catch (Throwable e) {
            return Optional.empty();
        }
    }

    /** @param level Slurm's: 1 fatal … 5 and above debug */
    public void write(int level, String text) {
        int priority = switch (level) {
            case 1 -> 2;
            case 2 -> 3;
            case 3, 4 -> 6;
            default -> 7;
        };
        say(priority, text);
    }

    public void notice(String text) {
        say(NOTICE, text);
    }

    private void say(int priority, String text) {
        try (Arena once = Arena.ofConfined()) {
            syslog.invokeExact(priority, format, once.allocateFrom(text));
        } catch (Throwable e) {
            throw new IllegalStateException("syslog", e);
        }
    }
}
