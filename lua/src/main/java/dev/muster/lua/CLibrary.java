package dev.muster.lua;

import dev.muster.json.Bytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Functions of the C library that Lua's own library rests on where it is compiled for POSIX; the binding's is compiled
 * for ANSI C.
 */
@SuppressWarnings("restricted")
public final class CLibrary {
    private static final int F_SETFD = 2;
    private static final int FD_CLOEXEC = 1;
    private static final int FIRST_FD = 3;
    private static final int TM_BYTES = 128;
    private static final int DATE_BYTES = 4096;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle FCNTL = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("fcntl"),
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle STRERROR = function("strerror", ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
    private static final MethodHandle POPEN =
            function("popen", ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
    private static final MethodHandle FILENO = function("fileno", ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    private static final MethodHandle PCLOSE = function("pclose", ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    private static final MethodHandle SYSTEM = function("system", ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    private static final MethodHandle LOCALTIME =
            function("localtime_r", ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
    private static final MethodHandle GMTIME =
            function("gmtime_r", ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
    private static final MethodHandle STRFTIME = function(
            "strftime",
            ValueLayout.JAVA_LONG,
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_LONG,
            ValueLayout.ADDRESS,
            ValueLayout.ADDRESS);

    private CLibrary() {}

    private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
    }

    private interface Call<T> {
        T in(Arena arena) throws Throwable;
    }

    private static <T> T call(Call<T> call) {
        try (Arena arena = Arena.ofConfined()) {
            return call.in(arena);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static MemorySegment text(Arena arena, Bytes text) {
        byte[] content = text.toArray();
        MemorySegment out = arena.allocate(content.length + 1L);
        MemorySegment.copy(content, 0, out, ValueLayout.JAVA_BYTE, 0, content.length);
        return out;
    }

    /** A program of the shell: its stream, for {@link #pclose}, and the number of the pipe's end. */
    static Object popen(Arguments a) {
        closeOnExec();
        return call(arena -> {
            MemorySegment stream =
                    (MemorySegment) POPEN.invokeExact(text(arena, a.bytes(1)), text(arena, Bytes.of(a.text(2) + "e")));
            if (stream.address() == 0) {
                throw new ScriptError("cannot start a program");
            }
            return new LuaState.Values(List.of(stream.address(), (long) (int) FILENO.invokeExact(stream)));
        });
    }

    /** Waits for the program; its wait status. */
    static long pclose(long stream) {
        return call(arena -> (long) (int) PCLOSE.invokeExact(MemorySegment.ofAddress(stream)));
    }

    /** Runs a program of the shell; its wait status. */
    static long system(Bytes command) {
        closeOnExec();
        return call(arena -> (long) (int) SYSTEM.invokeExact(text(arena, command)));
    }

    /** A time as the format has it, by all that the C library knows. */
    static Object date(Bytes format, long seconds, boolean utc) {
        return call(arena -> {
            MemorySegment time = arena.allocateFrom(ValueLayout.JAVA_LONG, seconds);
            MemorySegment parts = arena.allocate(TM_BYTES, Long.BYTES);
            MemorySegment filled = utc
                    ? (MemorySegment) GMTIME.invokeExact(time, parts)
                    : (MemorySegment) LOCALTIME.invokeExact(time, parts);
            if (filled.address() == 0) {
                throw new ScriptError("date result cannot be represented in this installation");
            }
            MemorySegment out = arena.allocate(DATE_BYTES);
            long length = (long) STRFTIME.invokeExact(out, (long) DATE_BYTES, text(arena, format), parts);
            return Bytes.of(out.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
        });
    }

    /** The name of a new empty file of this user's. */
    static String temporaryName() {
        try {
            return Files.createTempFile(Path.of("/tmp"), "lua_", "").toString();
        } catch (IOException e) {
            throw new ScriptError("unable to generate a unique filename");
        }
    }

    /** The C library's sentence for an errno. */
    public static String sentence(int errno) {
        return call(arena -> ((MemorySegment) STRERROR.invokeExact(errno))
                .reinterpret(Short.MAX_VALUE)
                .getString(0));
    }

    /**
     * Marks all open descriptors as to be closed by exec: a program that a script leaves behind must not keep the
     * daemon's sockets. Pipes are left alone, because another thread may be about to hand one to a program of its own.
     */
    private static void closeOnExec() {
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path entry : open) {
                int fd = Integer.parseInt(entry.getFileName().toString());
                if (fd >= FIRST_FD && !target(entry).startsWith("pipe:")) {
                    call(arena -> (int) FCNTL.invokeExact(fd, F_SETFD, FD_CLOEXEC));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path entry) {
        try {
            return Files.readSymbolicLink(entry).toString();
        } catch (IOException e) {
            // closed meanwhile
            return "pipe:";
        }
    }
}
