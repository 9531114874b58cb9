package dev.muster.lua;

import org.jspecify.annotations.Nullable;

/** A mistake in a script, or of a script's call of a function of the host: {@code FILE:LINE: what}, as Lua puts it. */
public class ScriptError extends RuntimeException {
    private static final long serialVersionUID = 1L;
    /** The text of an error with a value that is no text. */
    public static final String NO_TEXT = "Lua function execution failed due to runtime error";

    public ScriptError(@Nullable String message) {
        super(message, null, false, false);
    }

    /** The script ran into the bound of its daemon; its own pcall does not catch it. */
    public static final class TimeOver extends ScriptError {
        private static final long serialVersionUID = 1L;

        TimeOver() {
            super("time limit");
        }
    }
}
