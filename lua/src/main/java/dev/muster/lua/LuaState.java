package dev.muster.lua;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import party.iroiro.luajava.JFunction;
import party.iroiro.luajava.JuaAPI;
import party.iroiro.luajava.Lua;
import party.iroiro.luajava.LuaException;
import party.iroiro.luajava.lua54.Lua54;

/**
 * One state of PUC-Rio's Lua 5.4 with its whole library, without a way into Java. Values that go in: null, Boolean,
 * Integer, Long, Double, String, {@link Bytes}, List, Map, {@link Json.Obj} (without its empty texts),
 * {@link LuaFunction} and {@link LiveTable}. Values that come out: null, Boolean, Long, Double, Bytes, and
 * {@link Opaque} for all others. One thread at a time.
 *
 * <p>{@link #ofDaemon} has an end for what does not end by itself: a hook looks at the clock every
 * {@value #INSTRUCTIONS_BETWEEN_LOOKS} instructions. What a script spends in one call of a C function (a program that
 * it waits for, a pattern over a long text) is not cut short by it.
 */
public final class LuaState implements AutoCloseable {
    private static final int INSTRUCTIONS_BETWEEN_LOOKS = 10_000;
    private static final int STACK_FREE = 20;

    /** Several results of a {@link LuaFunction}. */
    record Values(List<Object> values) {}

    /** A value without a counterpart in Java. */
    public record Opaque(String type) {}

    private final Lua54 lua = LuaLibrary.newState();
    private final LongSupplier stopNs;
    private boolean expired;
    private final int wrap;
    private final int run;
    private final int threads;
    private final int unhook;

    private LuaState(@Nullable LongSupplier stopNs) {
        this.stopNs = stopNs == null ? () -> Long.MAX_VALUE : stopNs;
        lua.openLibraries();
        try (InputStream in = LuaState.class.getResourceAsStream("prelude.lua")) {
            lua.load(direct(in.readAllBytes()), "=prelude");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        boolean daemon = stopNs != null;
        lua.createTable(0, 8);
        field("daemon", daemon);
        field("architecture", LuaLibrary.architecture());
        field("count", INSTRUCTIONS_BETWEEN_LOOKS);
        raw("expired", l -> {
            expired |= System.nanoTime() >= this.stopNs.getAsLong();
            return expired;
        });
        raw("popen", CLibrary::popen);
        raw("pclose", a -> CLibrary.pclose(a.whole(1)));
        raw("execute", a -> CLibrary.system(a.bytes(1)));
        raw("date", a -> CLibrary.date(a.bytes(1), a.checkWhole(2), a.flag(3)));
        raw("tmpname", a -> CLibrary.temporaryName());
        lua.pCall(1, 4);
        unhook = lua.ref();
        threads = lua.ref();
        run = lua.ref();
        wrap = lua.ref();
    }

    /**
     * Makes the state for a script of a daemon.
     *
     * @param stopNs the moment, of {@link System#nanoTime}, at which whatever runs ends with
     *     {@link ScriptError.TimeOver}
     */
    public static LuaState ofDaemon(LongSupplier stopNs) {
        return new LuaState(stopNs);
    }

    /** Makes the state for a script in its caller's own process, which may end it. */
    public static LuaState ofCommand() {
        return new LuaState(null);
    }

    @Override
    public void close() {
        lua.close();
    }

    private void field(String name, Object value) {
        push(lua, value);
        lua.setField(-2, name);
    }

    private void raw(String name, LuaFunction function) {
        lua.push(plain(function));
        lua.setField(-2, name);
    }

    /** Sets a global. */
    public void set(String name, Object value) {
        push(lua, value);
        lua.setGlobal(name);
    }

    /** Sets a field of a global table that Lua's library has. */
    public void set(String table, String name, Object value) {
        lua.getGlobal(table);
        push(lua, name);
        push(lua, value);
        lua.rawSet(-3);
        lua.pop(1);
    }

    public boolean hasFunction(String name) {
        lua.getGlobal(name);
        boolean out = lua.isFunction(-1);
        lua.pop(1);
        return out;
    }

    /**
     * Runs a chunk.
     *
     * @param name of its file, for messages
     * @return its first result
     * @throws ScriptError it does not compile, or fails
     */
    public Object load(byte[] text, String name, Object... arguments) {
        lua.refGet(run);
        try {
            lua.load(direct(text), "@" + name);
        } catch (LuaException e) {
            lua.setTop(0);
            throw new ScriptError(ErrorSentence.of(e));
        }
        return invoke(arguments).get(0);
    }

    /**
     * Calls a global function.
     *
     * @return its first two results
     * @throws ScriptError the function failed, or is none
     */
    public List<Object> call(String function, @Nullable Object... arguments) {
        lua.refGet(run);
        lua.getGlobal(function);
        return invoke(arguments);
    }

    /** Calls the function; the runner and the function are on the stack. */
    private List<Object> invoke(@Nullable Object... arguments) {
        expired = false;
        try {
            for (Object argument : arguments) {
                push(lua, argument);
            }
            lua.pCall(arguments.length + 1, 3);
            Object first = value(lua, -2);
            Object second = value(lua, -1);
            if (lua.toBoolean(-3)) {
                List<Object> out = new ArrayList<>(2);
                out.add(first);
                out.add(second);
                return out;
            }
            if (expired) {
                throw new ScriptError.TimeOver();
            }
            throw new ScriptError(first == null ? ScriptError.NO_TEXT : first.toString());
        } catch (LuaException e) {
            throw expired ? new ScriptError.TimeOver() : new ScriptError(ErrorSentence.of(e));
        } finally {
            lua.setTop(0);
            lua.refGet(unhook);
            lua.pCall(0, 0);
            dropThreads();
        }
    }

    /** Coroutines that called the host are kept by the binding until they are given back. */
    private void dropThreads() {
        lua.refGet(threads);
        lua.pCall(0, 1);
        if (lua.isTable(-1)) {
            int size = lua.rawLength(-1);
            for (int i = 1; i <= size; i++) {
                lua.rawGetI(-1, i);
                JuaAPI.freeThreadId((int) lua.toInteger(-1));
                lua.pop(1);
            }
        }
        lua.setTop(0);
    }

    // ---- values

    private static ByteBuffer direct(byte[] content) {
        return ByteBuffer.allocateDirect(content.length).put(content).flip();
    }

    static Bytes bytes(Lua lua, int at) {
        if (lua.type(at) == Lua.LuaType.NUMBER) {
            return Bytes.of(number(lua, at));
        }
        ByteBuffer content = lua.toBuffer(at);
        if (content == null) {
            return Bytes.EMPTY;
        }
        byte[] out = new byte[content.remaining()];
        content.get(out);
        return Bytes.of(out);
    }

    /** Lua turns a number on the stack into a text when it is asked for one, so a copy is asked. */
    private static String number(Lua lua, int at) {
        lua.pushValue(at);
        String out = requireNonNull(lua.toString(-1), "every number has a text");
        lua.pop(1);
        return out;
    }

    static Lua.LuaType type(Lua lua, int at) {
        return requireNonNull(lua.type(at), "every value has a type");
    }

    static @Nullable Object value(Lua lua, int at) {
        return switch (type(lua, at)) {
            case NIL, NONE -> null;
            case BOOLEAN -> (Object) lua.toBoolean(at);
            case NUMBER -> lua.isInteger(at) ? (Object) lua.toInteger(at) : Double.valueOf(lua.toNumber(at));
            case STRING -> bytes(lua, at);
            default -> new Opaque(type(lua, at).name().toLowerCase(java.util.Locale.ROOT));
        };
    }

    private void push(Lua lua, @Nullable Object value) {
        lua.checkStack(STACK_FREE);
        switch (value) {
            case null -> lua.pushNil();
            case Boolean b -> lua.push(b.booleanValue());
            case Integer i -> lua.push(i.longValue());
            case Long n -> lua.push(n.longValue());
            case Double d -> lua.push(d);
            case String s -> lua.push(direct(s.getBytes(StandardCharsets.UTF_8)));
            case Bytes b -> lua.push(direct(b.toArray()));
            case LuaFunction f -> {
                lua.refGet(wrap);
                lua.push(plain(f));
                lua.pCall(1, 1);
            }
            case LiveTable table -> {
                lua.newTable();
                lua.newTable();
                put(lua, "__index", table.index());
                if (table.newIndex() != null) {
                    put(lua, "__newindex", table.newIndex());
                }
                lua.setMetatable(-2);
            }
            case Values several -> {
                for (Object each : several.values()) {
                    push(lua, each);
                }
            }
            case Json.Obj o -> {
                lua.newTable();
                o.fields().forEach((k, v) -> {
                    if (v != null && !v.equals("")) {
                        put(lua, k, v);
                    }
                });
            }
            case Map<?, ?> m -> {
                lua.newTable();
                m.forEach((k, v) -> put(lua, k, v));
            }
            case List<?> list -> {
                lua.newTable();
                for (int i = 0; i < list.size(); i++) {
                    put(lua, (long) i + 1, list.get(i));
                }
            }
            default -> throw new IllegalArgumentException(value.getClass().getName());
        }
    }

    private void put(Lua lua, Object key, Object value) {
        push(lua, key);
        push(lua, value);
        lua.rawSet(-3);
    }

    /** Answers true and the result, or false and what is wrong: an exception must not pass through Lua's frames. */
    private JFunction plain(LuaFunction function) {
        return l -> {
            try {
                Object result = function.call(new Arguments(l));
                int before = l.getTop();
                l.push(true);
                push(l, result);
                return l.getTop() - before;
            } catch (RuntimeException | StackOverflowError e) {
                l.setTop(0);
                l.push(false);
                push(l, e instanceof ScriptError ? String.valueOf(e.getMessage()) : e.toString());
                return 2;
            }
        };
    }
}
