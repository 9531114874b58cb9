package dev.muster.lua;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Durations;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The content of every script's table {@code slurm}: numbers by name, words for the log, times read, trees as JSON.
 * Whole numbers are integers of Lua and print without a point, as they did in the versions of Lua that most scripts
 * were written for.
 */
public final class SlurmWords {
    public static final long NO_VAL = 4_294_967_294L;
    public static final long INFINITE = 4_294_967_295L;
    public static final double NO_VAL64 = 1.8446744073709552E19;
    public static final long NO_VAL16 = 65_534;
    public static final long NICE_OFFSET = 2_147_483_648L;
    public static final double MEM_PER_CPU = 0x1p63;
    private static final String YAML_HEAD = "%YAML 1.1\n---\n";

    /** How loud a line is, the loudest first. */
    public enum Level {
        ERROR,
        INFO,
        VERBOSE,
        DEBUG,
        DEBUG2,
        DEBUG3,
        DEBUG4
    }

    private static final List<Level> BY_NUMBER =
            List.of(Level.INFO, Level.VERBOSE, Level.DEBUG, Level.DEBUG2, Level.DEBUG3);

    /** Takes a line of the script. */
    public interface Log {
        void line(Level level, String text);
    }

    private SlurmWords() {}

    /** A new table with all of it, for {@link #install}; the caller adds what its kind of script has besides. */
    public static Map<String, Object> words(Log log) {
        Map<String, Object> table = new TreeMap<>();
        for (Level level : Level.values()) {
            table.put("log_" + level.name().toLowerCase(Locale.ROOT), says(level, log));
        }
        table.put("error", says(Level.ERROR, log));
        table.put("log", (LuaFunction) a -> {
            int number = a.isNumber(1) ? Math.clamp(a.whole(1), 0, BY_NUMBER.size() - 1) : 0;
            log.line(BY_NUMBER.get(number), "lua: " + a.text(a.count()));
            return null;
        });
        table.put("time_str2mins", (LuaFunction) a -> minutes(a.text(1)));
        table.put("to_json", (LuaFunction) a -> new String(Json.print(a.tree(1)), StandardCharsets.UTF_8));
        table.put("from_json", (LuaFunction) a -> parsed(a.checkText(1), "application/json"));
        // JSON is YAML as well
        table.put("to_yaml", (LuaFunction) a -> YAML_HEAD + new String(Json.print(a.tree(1)), StandardCharsets.UTF_8));
        table.put("from_yaml", (LuaFunction)
                a -> parsed(a.checkText(1).replaceFirst("^" + YAML_HEAD, ""), "application/x-yaml"));
        numbers(table);
        return table;
    }

    /** Makes the table a script's {@code slurm}, whose words take a format and values. */
    public static void install(LuaState state, Map<String, Object> table) {
        state.set("slurm", table);
        state.load(FORMATS.getBytes(StandardCharsets.UTF_8), "slurm");
    }

    /** Formats are the script's own library's. An error in a format is reported with its line. */
    private static final String FORMATS = """
        local format, pcall, error, tostring, select = string.format, pcall, error, tostring, select
        for name, say in pairs(slurm) do
          if type(say) == "function" and (name:find("^log_") or name == "error" or name == "user_msg") then
            slurm[name] = function(...)
              local ok, text = pcall(format, ...)
              if not ok then error(text, 2) end
              say(text)
            end
          end
        end
        local log = slurm.log
        slurm.log = function(level, text, ...)
          if select("#", ...) > 0 then text = format(text, ...) end
          if text == nil then level, text = 0, level end
          log(level, tostring(text))
        end
        """;

    private static LuaFunction says(Level level, Log log) {
        return a -> {
            log.line(level, "lua: " + a.text(1));
            return null;
        };
    }

    private static @Nullable Object parsed(String text, String type) {
        try {
            return Json.parse(text.getBytes(StandardCharsets.UTF_8));
        } catch (Json.MalformedException e) {
            throw new ScriptError("Conversion from " + type + " failed: Failure during parsing");
        }
    }

    private static Object minutes(String text) {
        long minutes = Durations.parseMinutes(text).stream()
                .map(m -> m < 0 ? INFINITE : m)
                .findFirst()
                .orElse(NO_VAL);
        return minutes == NO_VAL ? -2L : minutes;
    }

    private static void numbers(Map<String, Object> table) {
        try (InputStream in = SlurmWords.class.getResourceAsStream("numbers.properties")) {
            Properties numbers = new Properties();
            numbers.load(in);
            numbers.forEach((name, value) -> table.put(name.toString(), number(value.toString())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String[] mail = {
            "JOB_BEGIN",
            "JOB_END",
            "JOB_FAIL",
            "JOB_REQUEUE",
            "JOB_TIME100",
            "JOB_TIME90",
            "JOB_TIME80",
            "JOB_TIME50",
            "JOB_STAGE_OUT",
            "ARRAY_TASKS",
            "INVALID_DEPEND"
        };
        for (int i = 0; i < mail.length; i++) {
            table.put("MAIL_" + mail[i], 1L << i);
        }
        table.put("MAIL_JOB_TIME890", 32L);
        for (SlurmErrno e : SlurmErrno.values()) {
            if (e.number() > 0) {
                table.putIfAbsent("ESLURM_" + e.name(), (long) e.number());
            }
        }
    }

    /** Numbers that have no integer in Lua are floats. */
    private static Number number(String text) {
        BigInteger whole = new BigInteger(text);
        if (whole.bitLength() < Long.SIZE) {
            return whole.longValue();
        }
        return whole.doubleValue();
    }
}
