package dev.muster.cli.shape;

import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Shapes {@code sshare --json}: associations with their shares. */
public final class SharesJson {
    /** Shares of the root account, which has none: the largest 32-bit number but one. */
    private static final double ROOT_SHARE = 1.0 / 0xffff_fffeL;
    /** Resources that every cluster counts, in the order of their ids. */
    private static final List<String> STANDARD =
            List.of("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages");

    private SharesJson() {}

    /** Returns the standard names, then the row's other names. */
    private static Set<String> names(Set<String> row) {
        Set<String> out = new LinkedHashSet<>(STANDARD);
        out.addAll(row);
        return out;
    }

    /** @param rows those that were asked for */
    public static Json.Obj of(List<Json.Obj> rows, String cluster) {
        List<Object> list = new ArrayList<>();
        long total = 0;
        String[] above = new String[64];
        for (Json.Obj row : rows) {
            int depth = Math.min(row.integer("depth"), above.length - 1);
            boolean user = !row.text("user").isEmpty();
            above[depth] = row.text("account");
            String parent;
            if (user) {
                parent = row.text("account");
            } else if (depth == 0 || above[depth - 1] == null) {
                parent = "";
            } else {
                parent = above[depth - 1];
            }

            boolean root = depth == 0 && !user;
            total += root ? 0 : shares(row.text("rawShares")).number("number");
            list.add(new Json.Obj()
                    .put("id", row.number("id"))
                    .put("cluster", cluster)
                    .put("name", user ? row.text("user") : row.text("account"))
                    .put("parent", parent)
                    .put("partition", row.text("partition"))
                    .put("shares_normalized", real(root ? ROOT_SHARE : row.real("normShares")))
                    .put("shares", root ? Tree.unset() : shares(row.text("rawShares")))
                    .put(
                            "tres",
                            new Json.Obj()
                                    .put("run_seconds", seconds(row.obj("tresRunMins")))
                                    .put("group_minutes", minutes(row.text("grpTresMins")))
                                    .put("usage", usage(row.obj("tresSeconds"))))
                    .put("effective_usage", real(row.real("effectiveUsage")))
                    .put("usage_normalized", real(row.real("normUsage")))
                    .put("usage", row.number("rawUsage"))
                    .put(
                            "fairshare",
                            new Json.Obj()
                                    .put("factor", real(user ? row.real("fairShare") : 0))
                                    .put("level", root ? Tree.decimal(false, 0) : level(row.real("level"))))
                    .put("type", Tree.texts(user ? "USER" : "ASSOCIATION")));
        }
        return new Json.Obj().put("shares", new Json.Obj().put("shares", list).put("total_shares", total));
    }

    /** "parent" is the infinite number. */
    private static Json.Obj shares(String raw) {
        return raw.matches("[0-9]{1,9}") ? Tree.number(Long.parseLong(raw)) : Tree.infinite();
    }

    private static Json.Obj level(double level) {
        return level < 0 ? Tree.infinite().put("number", 0.0) : real(level);
    }

    private static Json.Obj real(double value) {
        return new Json.Obj()
                .put("set", Boolean.TRUE)
                .put("infinite", Boolean.FALSE)
                .put("number", value);
    }

    private static List<Object> seconds(Json.Obj runMinutes) {
        List<Object> out = new ArrayList<>();
        for (String name : names(runMinutes.fields().keySet())) {
            out.add(new Json.Obj().put("name", name).put("value", Tree.number(60 * runMinutes.number(name))));
        }
        return out;
    }

    private static List<Object> usage(Json.Obj seconds) {
        List<Object> out = new ArrayList<>();
        for (String name : names(seconds.fields().keySet())) {
            out.add(new Json.Obj().put("name", name).put("value", (double) seconds.number(name)));
        }
        return out;
    }

    private static List<Object> minutes(String limits) {
        Map<String, Long> limited = new LinkedHashMap<>();
        for (String item : Texts.split(limits, ',')) {
            int equals = item.indexOf('=');
            if (equals > 0 && item.substring(equals + 1).matches("[0-9]{1,18}")) {
                limited.put(item.substring(0, equals), Long.parseLong(item.substring(equals + 1)));
            }
        }
        List<Object> out = new ArrayList<>();
        for (String name : names(limited.keySet())) {
            out.add(new Json.Obj()
                    .put("name", name)
                    .put("value", limited.containsKey(name) ? Tree.number(limited.get(name)) : Tree.infinite()));
        }
        return out;
    }
}
