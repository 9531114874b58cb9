package dev.muster.lua;

/** A function of the host that scripts call. */
@FunctionalInterface
public interface LuaFunction {
    /**
     * One call.
     *
     * @return null, or what {@link LuaState} can make a value of Lua
     * @throws ScriptError becomes an error at the line of the script that called
     */
    Object call(Arguments arguments);
}
