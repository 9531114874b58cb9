package dev.muster.controller.lua;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Json;
import dev.muster.lua.LiveTable;
import dev.muster.lua.LuaFunction;
import dev.muster.lua.LuaState;
import dev.muster.lua.SlurmWords;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The table {@code slurm} of a script: numbers by name, words for the log and for the user, and what there is in the
 * cluster.
 */
final class SlurmTable {
    /** Most lines that a script can send to the user. */
    private static final int SAID_MAX = 1000;
    /**
     * Lua code of the table {@code slurm}: only what a script looks at is made; a new question about the cluster drops
     * it.
     */
    private static final String LIVE = """
            local live, made = ..., {}
            setmetatable(slurm, { __metatable = false, __index = function(_, name)
              if name ~= "jobs" and name ~= "reservations" and name ~= "CLUSTER_NAME" then return nil end
              if made[name] == nil then
                made[name] = live(name)
                if name == "jobs" and made.jobs then
                  setmetatable(made.jobs, { __index = function(t, id)
                    if type(id) == "number" then return rawget(t, string.format("%.0f", id)) end
                  end })
                end
              end
              return made[name]
            end })
            function slurm_begin_question() made = {} end
            """;

    private final LuaState state;
    private final List<String> messages = new ArrayList<>();
    private SubmitScript.@Nullable Cluster cluster;

    SlurmTable(LuaState state, Consumer<String> info, Consumer<String> error) {
        this.state = state;
        Map<String, Object> words =
                SlurmWords.words((level, text) -> (level == SlurmWords.Level.ERROR ? error : info).accept(text));
        words.put("log_user", (LuaFunction) a -> say(a.text(1)));
        words.put("user_msg", (LuaFunction) a -> say(a.text(1)));
        words.put("get_qos_priority", (LuaFunction) a -> {
            long priority = cluster == null ? -1 : cluster.qosPriority(a.text(1));
            return Math.max(0, priority);
        });
        SlurmWords.install(state, words);
        state.load(LIVE.getBytes(StandardCharsets.UTF_8), "slurm", (LuaFunction) a -> live(a.text(1)));
    }

    private @Nullable Object live(String name) {
        if (cluster == null) {
            return null;
        }
        return switch (name) {
            case "jobs" -> byName(cluster.jobs(), "job_id");
            case "reservations" -> byName(cluster.reservations(), "name");
            default -> cluster.name();
        };
    }

    /** Keys are strings, as names are. */
    private static Map<String, Object> byName(List<Json.Obj> rows, String key) {
        Map<String, Object> out = new TreeMap<>();
        for (Json.Obj row : rows) {
            out.put(requireNonNull(row.raw(key), "each row has its key").toString(), live(row));
        }
        return out;
    }

    /** Returns a table for a record of many fields, of which a script reads few. */
    static LiveTable live(Json.Obj row) {
        return new LiveTable(
                a -> {
                    Object value = row.raw(a.text(2));
                    return "".equals(value) ? null : value;
                },
                null);
    }

    /** Begins a new question about a cluster as it is now. */
    void begin(SubmitScript.Cluster now) {
        cluster = now;
        state.call("slurm_begin_question");
        messages.clear();
    }

    List<String> said() {
        return List.copyOf(messages);
    }

    /** Tells the user of an error in the script. */
    void sayMistake(String message) {
        say(message);
    }

    private @Nullable Object say(String text) {
        for (String line : text.split("\n")) {
            if (!line.isEmpty() && messages.size() < SAID_MAX) {
                messages.add(line);
            }
        }
        return null;
    }
}
