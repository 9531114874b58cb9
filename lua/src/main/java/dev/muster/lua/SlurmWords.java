package dev.muster.lua;

import dev.muster.model.Durations;
import dev.muster.model.SlurmErrno;
import java.util.List;
import java.util.Map;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.OneArgFunction;
import org.luaj.vm2.lib.VarArgFunction;

/** What every script finds in its table {@code slurm}: numbers by name, words for the log, times read. */
public final class SlurmWords {
    public static final double NO_VAL = 4_294_967_294.0;
    public static final double INFINITE = 4_294_967_295.0;
    public static final double NO_VAL64 = 1.8446744073709552E19;
    public static final int NO_VAL16 = 65_534;
    public static final double NICE_OFFSET = 2_147_483_648.0;
    public static final double MEM_PER_CPU = 9.223372036854775808E18;

    /** How loud a line is, the loudest first. */
    public enum Level { ERROR, INFO, VERBOSE, DEBUG, DEBUG2, DEBUG3, DEBUG4 }

    private static final List<Level> BY_NUMBER = List.of(Level.INFO, Level.VERBOSE, Level.DEBUG, Level.DEBUG2, Level.DEBUG3);

    /** Takes a line of the script. */
    public interface Log {
        void line(Level level, String text);
    }

    private SlurmWords() {}

    /** Puts all of it into a table. */
    public static void into(LuaTable table, Globals globals, Log log) {
        LuaValue format = globals.get("string").get("format");
        for (Level level : Level.values()) {
            table.set("log_" + level.name().toLowerCase(java.util.Locale.ROOT), says(format, level, log));
        }
        table.set("error", says(format, Level.ERROR, log));
        table.set("log", new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs args) {
                int number = Math.clamp(args.arg1().toint(), 0, BY_NUMBER.size() - 1);
                log.line(BY_NUMBER.get(number), "lua: " + format.invoke(args.subargs(2)).arg1().tojstring());
                return LuaValue.NONE;
            }
        });
        table.set("time_str2mins", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue text) {
                return minutes(text.checkjstring());
            }
        });
        numbers(table);
    }

    private static VarArgFunction says(LuaValue format, Level level, Log log) {
        return new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs args) {
                log.line(level, "lua: " + format.invoke(args).arg1().tojstring());
                return LuaValue.NONE;
            }
        };
    }

    private static LuaValue minutes(String text) {
        return Durations.parseMinutes(text).stream().mapToObj(m -> LuaValue.valueOf(m < 0 ? INFINITE : m)).findFirst()
                .map(v -> (LuaValue) v).orElse(LuaValue.valueOf(NO_VAL));
    }

    private static void numbers(LuaTable table) {
        Map<String, Double> numbers = Map.ofEntries(Map.entry("SUCCESS", 0.0), Map.entry("ERROR", -1.0), Map.entry("FAILURE", -1.0),
                Map.entry("NO_VAL", NO_VAL), Map.entry("NO_VAL8", 254.0), Map.entry("NO_VAL16", (double) NO_VAL16),
                Map.entry("NO_VAL64", NO_VAL64), Map.entry("INFINITE", INFINITE), Map.entry("INFINITE64", NO_VAL64),
                Map.entry("MEM_PER_CPU", MEM_PER_CPU), Map.entry("NICE_OFFSET", NICE_OFFSET),
                Map.entry("ALLOC_SID_ADMIN_HOLD", 1.0), Map.entry("ALLOC_SID_USER_HOLD", 2.0), Map.entry("KILL_INV_DEP", 1.0),
                Map.entry("NO_KILL_INV_DEP", 2.0), Map.entry("SPREAD_JOB", 256.0), Map.entry("USE_MIN_NODES", 512.0),
                Map.entry("GRES_ENFORCE_BIND", 16.0), Map.entry("GRES_DISABLE_BIND", 524_288.0), Map.entry("JOB_SHARED_NONE", 0.0),
                Map.entry("JOB_SHARED_OK", 1.0), Map.entry("JOB_SHARED_USER", 2.0), Map.entry("JOB_SHARED_MCS", 3.0),
                Map.entry("JOB_SHARED_TOPO", 4.0), Map.entry("SHARED_FORCE", 32_768.0));
        numbers.forEach((name, value) -> table.set(name, LuaValue.valueOf(value)));
        String[] mail = {"JOB_BEGIN", "JOB_END", "JOB_FAIL", "JOB_REQUEUE", "JOB_TIME100", "JOB_TIME90", "JOB_TIME80", "JOB_TIME50", "JOB_STAGE_OUT",
            "ARRAY_TASKS", "INVALID_DEPEND"};
        for (int i = 0; i < mail.length; i++) {
            table.set("MAIL_" + mail[i], LuaValue.valueOf(1 << i));
        }
        table.set("MAIL_JOB_TIME890", LuaValue.valueOf(32));
        for (SlurmErrno e : SlurmErrno.values()) {
            if (e.number() > 0) {
                table.set("ESLURM_" + e.name(), LuaValue.valueOf(e.number()));
            }
        }
    }
}
