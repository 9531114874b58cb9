package dev.muster.lua;

import org.jspecify.annotations.Nullable;

/** A function of the host that scripts call. */
@FunctionalInterface
public interface LuaFunction {
    /**
     * One call.
     *
     * @return null, or what {@link LuaState} can make a value of Lua
     * @throws ScriptError becomes an error at the line of the script that called
     */
    @Nullable
    Object call(Arguments arguments);
}
