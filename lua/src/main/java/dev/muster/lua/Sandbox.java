package dev.muster.lua;

import java.util.function.LongSupplier;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.DebugLib;
import org.luaj.vm2.lib.OneArgFunction;
import org.luaj.vm2.lib.ZeroArgFunction;
import org.luaj.vm2.lib.jse.JsePlatform;

/** Lua's own library without the way into Java, and with an end to what does not end by itself. */
public final class Sandbox {
    private static final int INSTRUCTIONS_BETWEEN_LOOKS = 1000;

    /** No mistake of the script's: its own pcall does not catch it. */
    public static final class TimeOver extends Error {
        private static final long serialVersionUID = 1L;

        private TimeOver() {
            super("time limit", null, false, false);
        }
    }

    private Sandbox() {}

    /**
     * For a script of a daemon.
     *
     * @param stopNs the moment, of {@link System#nanoTime}, at which whatever runs ends with {@link TimeOver}
     */
    public static Globals ofDaemon(LongSupplier stopNs) {
        Globals out = plain();
        out.load(new DebugLib() {
            private int until = INSTRUCTIONS_BETWEEN_LOOKS;

            @Override
            public void onInstruction(int pc, Varargs v, int top) {
                if (--until <= 0) {
                    until = INSTRUCTIONS_BETWEEN_LOOKS;
                    if (System.nanoTime() >= stopNs.getAsLong()) {
                        throw new TimeOver();
                    }
                }
            }
        });
        out.set("debug", LuaValue.NIL);
        out.get("os").set("exit", new ZeroArgFunction() {
            @Override
            public LuaValue call() {
                throw new LuaError("os.exit is not for scripts of a daemon");
            }
        });
        return out;
    }

    /** For a script in its caller's own process, who may end it. */
    public static Globals ofCommand() {
        return plain();
    }

    private static Globals plain() {
        Globals out = JsePlatform.standardGlobals();
        out.load(new Files());
        out.set("luajava", LuaValue.NIL);
        out.get("package").get("loaded").set("luajava", LuaValue.NIL);
        out.get("string").set("format", new NumberFormat(out.get("string").get("format")));
        LuaValue tostring = out.get("tostring");
        out.set("tostring", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue value) {
                return value.type() == LuaValue.TNUMBER ? LuaValue.valueOf(NumberFormat.text(value.todouble())) : tostring.call(value);
            }
        });
        // names of older versions that scripts still use
        out.set("unpack", out.get("table").get("unpack"));
        out.set("loadstring", out.get("load"));
        return out;
    }

    /** What a mistake in a script says: {@code FILE:LINE: what}, as Lua itself would put it. */
    public static String message(LuaError e) {
        String text = String.valueOf(e.getMessage());
        int trace = text.indexOf("\nstack traceback");
        return (trace < 0 ? text : text.substring(0, trace)).replaceFirst("^@?(\\S+?:\\d+):? ", "$1: ");
    }
}
