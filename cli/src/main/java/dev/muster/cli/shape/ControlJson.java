package dev.muster.cli.shape;

import dev.muster.model.HostList;
import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.List;

/** What scontrol shows besides jobs and nodes, as data_parser/v0.0.45 shapes it. */
public final class ControlJson {
    private ControlJson() {}

    private static List<Object> list(List<Json.Obj> all, java.util.function.Function<Json.Obj, Json.Obj> shape) {
        List<Object> out = new ArrayList<>();
        all.forEach(one -> out.add(shape.apply(one)));
        return out;
    }

    /** @param latencyUs how long the answer took */
    public static Json.Obj ping(String host, boolean up, long latencyUs) {
        Json.Obj one = new Json.Obj().put("hostname", host).put("responding", up).put("latency", latencyUs).put("primary", Boolean.TRUE)
                .put("pinged", up ? "UP" : "DOWN").put("mode", "primary").put("status", up ? "UP" : "DOWN");
        List<Object> pings = new ArrayList<>();
        pings.add(one);
        return new Json.Obj().put("pings", pings);
    }

    /** @param latencyUs how long the answer took */
    public static Json.Obj slurmdbdPing(String host, boolean up, long latencyUs) {
        return new Json.Obj().put("pings", new ArrayList<Object>(List.of(new Json.Obj().put("hostname", host).put("responding", up)
                .put("latency", latencyUs).put("primary", Boolean.TRUE).put("status", up ? "UP" : "DOWN"))));
    }

    public static Json.Obj reservations(List<Json.Obj> all, long now) {
        return new Json.Obj().put("reservations", list(all, ControlJson::reservation)).put("last_update", Tree.number(now));
    }

    /** What a reservation has by the names of TRES. */
    public static String reservedTres(Json.Obj r) {
        String cpus = r.integer("cpuCount") == 0 ? "" : "cpu=" + r.integer("cpuCount");
        return cpus.isEmpty() || r.text("gres").isEmpty() ? cpus + r.text("gres") : cpus + "," + r.text("gres");
    }

    private static Json.Obj reservation(Json.Obj r) {
        List<Object> cores = list(r.objects("cores"), c -> new Json.Obj().put("node", c.text("node")).put("core", c.text("ids")));
        int purge = r.integer("purgeAfterSeconds");
        return new Json.Obj().put("accounts", r.text("accounts")).put("burst_buffer", "").put("core_count", r.number("coreCount"))
                .put("core_specializations", cores).put("end_time", Tree.number(r.number("endTime"))).put("features", r.text("features"))
                .put("flags", new ArrayList<Object>(r.texts("flags"))).put("groups", r.text("groups")).put("licenses", r.text("licenses"))
                .put("max_start_delay", r.number("maxStartDelaySeconds")).put("name", r.text("name"))
                .put("node_count", r.number("nodeCount")).put("node_list", r.text("nodes")).put("partition", r.text("partition"))
                .put("purge_completed", new Json.Obj().put("time", Tree.orUnset(purge))).put("start_time", Tree.number(r.number("startTime")))
                .put("tres", reservedTres(r)).put("users", r.text("users"));
    }

    public static Json.Obj steps(List<Json.Obj> all, long now) {
        return new Json.Obj().put("steps", list(all, s -> step(s, now))).put("last_update", Tree.number(now));
    }

    private static Json.Obj step(Json.Obj s, long now) {
        long start = s.number("startTime");
        List<Object> names = new ArrayList<>();
        if (HostList.parse(s.text("nodes")) instanceof HostList.Parsed.Ok ok) {
            names.addAll(ok.list().names());
        }
        return new Json.Obj()
                .put("time", new Json.Obj().put("elapsed", start == 0 ? 0 : Math.max(0, now - start)).put("end", Tree.unset())
                        .put("start", Tree.orUnset(start)).put("limit", Tree.limit(s.number("timeLimitMin"))))
                .put("nodes", new Json.Obj().put("count", s.number("nodeCount")).put("range", s.text("nodes")).put("list", names))
                .put("tasks", new Json.Obj().put("count", s.number("tasks")))
                .put("state", Tree.texts(s.text("state")))
                .put("step", new Json.Obj().put("id", s.integer("jobId") + "." + s.text("stepId")).put("name", s.text("name"))
                        .put("stderr", "").put("stdin", "").put("stdout", ""))
                .put("task", new Json.Obj().put("distribution", s.text("distribution")))
                .put("tres", new Json.Obj().put("allocated", s.text("tresAlloc")))
                .put("user", s.text("userName")).put("partition", s.text("partition")).put("submit_line", s.text("submitLine"));
    }

    public static Json.Obj licenses(List<Json.Obj> all) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj l : all) {
            out.add(new Json.Obj().put("LicenseName", l.text("name")).put("Total", l.number("total")).put("Used", l.number("used"))
                    .put("Free", l.number("free")).put("Remote", l.flag("remote")).put("Reserved", l.number("reserved"))
                    .put("LastConsumed", l.number("consumed")).put("LastDeficit", l.number("deficit")).put("LastUpdate", l.number("updated"))
                    .put("Nodes", l.text("nodes")));
        }
        return new Json.Obj().put("licenses", out);
    }
}
