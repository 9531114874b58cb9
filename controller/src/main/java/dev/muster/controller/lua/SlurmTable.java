package dev.muster.controller.lua;

import dev.muster.lua.SlurmWords;
import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.OneArgFunction;
import org.luaj.vm2.lib.TwoArgFunction;
import org.luaj.vm2.lib.VarArgFunction;

/** The table {@code slurm} of a script: numbers by name, words for the log and for the user, and what there is in the cluster. */
final class SlurmTable {
    /** So much is told to a user. */
    private static final int SAID_MAX = 1000;

    private final LuaTable table = new LuaTable();
    private final List<String> said = new ArrayList<>();
    private final LuaValue format;
    private SubmitScript.Cluster cluster;
    private LuaValue jobs = LuaValue.NIL;
    private LuaValue reservations = LuaValue.NIL;

    SlurmTable(Globals globals, Consumer<String> info, Consumer<String> error) {
        format = globals.get("string").get("format");
        SlurmWords.into(table, globals, (level, text) -> (level == SlurmWords.Level.ERROR ? error : info).accept(text));
        table.set("log_user", says(this::say));
        table.set("user_msg", says(this::say));
        table.set("get_qos_priority", new OneArgFunction() {
            @Override
            public LuaValue call(LuaValue name) {
                long priority = cluster == null ? -1 : cluster.qosPriority(name.checkjstring());
                return priority < 0 ? LuaValue.NIL : LuaValue.valueOf((double) priority);
            }
        });
        LuaTable meta = new LuaTable();
        meta.set(LuaValue.INDEX, new TwoArgFunction() {
            @Override
            public LuaValue call(LuaValue self, LuaValue name) {
                return live(name.tojstring());
            }
        });
        table.setmetatable(meta);
    }

    /** Only what a script looks at is made. */
    private LuaValue live(String name) {
        if (cluster == null) {
            return LuaValue.NIL;
        }
        switch (name) {
            case "jobs" -> {
                jobs = jobs.isnil() ? byName(cluster.jobs(), "job_id") : jobs;
                return jobs;
            }
            case "reservations" -> {
                reservations = reservations.isnil() ? byName(cluster.reservations(), "name") : reservations;
                return reservations;
            }
            case "CLUSTER_NAME" -> {
                return LuaValue.valueOf(cluster.name());
            }
            default -> {
                return LuaValue.NIL;
            }
        }
    }

    /** Keys are strings, as names are; a number finds its job as well. */
    private static LuaValue byName(List<Json.Obj> rows, String key) {
        LuaTable out = new LuaTable();
        for (Json.Obj row : rows) {
            out.set(LuaValue.valueOf(row.raw(key).toString()), table(row));
        }
        LuaTable meta = new LuaTable();
        meta.set(LuaValue.INDEX, new TwoArgFunction() {
            @Override
            public LuaValue call(LuaValue self, LuaValue number) {
                return number.type() == LuaValue.TNUMBER ? self.rawget(LuaValue.valueOf(number.tojstring())) : LuaValue.NIL;
            }
        });
        out.setmetatable(meta);
        return out;
    }

    /** Texts that are "" are nil. */
    static LuaTable table(Json.Obj row) {
        LuaTable out = new LuaTable();
        row.fields().forEach((name, value) -> {
            if (value instanceof Number n) {
                out.set(name, LuaValue.valueOf(n.doubleValue()));
            } else if (value instanceof Boolean b) {
                out.set(name, LuaValue.valueOf(b));
            } else if (value instanceof String s && !s.isEmpty()) {
                out.set(name, LuaValue.valueOf(s));
            }
        });
        return out;
    }

    LuaTable table() {
        return table;
    }

    /** A new question about a cluster as it is now. */
    void begin(SubmitScript.Cluster now) {
        cluster = now;
        jobs = LuaValue.NIL;
        reservations = LuaValue.NIL;
        said.clear();
    }

    List<String> said() {
        return List.copyOf(said);
    }

    private void say(String text) {
        for (String line : text.split("\n")) {
            if (!line.isEmpty() && said.size() < SAID_MAX) {
                said.add(line);
            }
        }
    }

    private VarArgFunction says(Consumer<String> to) {
        return new VarArgFunction() {
            @Override
            public Varargs invoke(Varargs args) {
                to.accept(formatted(args));
                return LuaValue.NONE;
            }
        };
    }

    private String formatted(Varargs args) {
        return format.invoke(args).arg1().tojstring();
    }
}
