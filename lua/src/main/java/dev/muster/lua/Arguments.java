package dev.muster.lua;

import dev.muster.json.Bytes;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import party.iroiro.luajava.Lua;

/** The arguments of one call of a {@link LuaFunction}, counted from 1. Valid during the call. */
public final class Arguments {
    private final Lua lua;
    private final int count;

    Arguments(Lua lua) {
        this.lua = lua;
        this.count = lua.getTop();
    }

    public int count() {
        return count;
    }

    /** Lua's name of the type. */
    public String type(int at) {
        return at > count ? "no value" : LuaState.type(lua, at).name().toLowerCase(java.util.Locale.ROOT);
    }

    public boolean isNil(int at) {
        return at > count || lua.isNil(at);
    }

    /** A number, or a text that is one. */
    public boolean isNumber(int at) {
        return at <= count && lua.isNumber(at);
    }

    /** A text or a number. */
    public boolean isText(int at) {
        return at <= count && (lua.type(at) == Lua.LuaType.STRING || lua.type(at) == Lua.LuaType.NUMBER);
    }

    /** Whether a value counts as true. */
    public boolean flag(int at) {
        return at <= count && lua.toBoolean(at);
    }

    /** A value as it comes out of Lua. */
    public @Nullable Object value(int at) {
        return at > count ? null : LuaState.value(lua, at);
    }

    public double real(int at) {
        return lua.toNumber(at);
    }

    /** A number without its fraction. */
    public long whole(int at) {
        return lua.isInteger(at) ? lua.toInteger(at) : (long) lua.toNumber(at);
    }

    /** A number as {@code whole}; refused as Lua refuses what is none. */
    public long checkWhole(int at) {
        if (!isNumber(at)) {
            throw new ScriptError("bad argument #" + at + " (number expected, got " + type(at) + ")");
        }
        return whole(at);
    }

    public Bytes bytes(int at) {
        return LuaState.bytes(lua, at);
    }

    public String text(int at) {
        return isText(at) ? bytes(at).text() : "";
    }

    /** A text or number; refused as Lua refuses what is neither. */
    public String checkText(int at) {
        if (!isText(at)) {
            throw new ScriptError("bad argument #" + at + " (string expected, got " + type(at) + ")");
        }
        return text(at);
    }

    /** A value as a tree of JSON: tables whose keys are 1, 2, 3 … are lists. */
    public @Nullable Object tree(int at) {
        return tree(at, Json.DEPTH_MAX);
    }

    private @Nullable Object tree(int at, int depth) {
        if (depth == 0) {
            throw new ScriptError("a table is deeper than " + Json.DEPTH_MAX);
        }
        return switch (LuaState.type(lua, at)) {
            case NIL, NONE -> null;
            case BOOLEAN -> (Object) lua.toBoolean(at);
            case NUMBER -> lua.isInteger(at) ? (Object) lua.toInteger(at) : Double.valueOf(lua.toNumber(at));
            case STRING -> bytes(at).text();
            case TABLE -> table(at, depth);
            default -> throw new ScriptError("Unsupported conversion type: " + type(at));
        };
    }

    private Object table(int at, int depth) {
        int table = at < 0 ? lua.getTop() + 1 + at : at;
        lua.checkStack(4);
        Json.Obj fields = new Json.Obj();
        List<Object> list = new ArrayList<>();
        boolean isList = true;
        int size = lua.rawLength(table);
        lua.pushNil();
        while (lua.next(table) != 0) {
            Object value = tree(-1, depth - 1);
            lua.pop(1);
            lua.pushValue(-1);
            String key = LuaState.bytes(lua, -1).text();
            lua.pop(1);
            isList &= lua.isInteger(-1) && lua.toInteger(-1) >= 1 && lua.toInteger(-1) <= size;
            fields.put(key, value);
        }
        for (int i = 1; isList && i <= size; i++) {
            list.add(fields.raw(Integer.toString(i)));
        }
        return isList && size > 0 ? list : fields;
    }
}
