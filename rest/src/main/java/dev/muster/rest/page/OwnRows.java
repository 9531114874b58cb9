package dev.muster.rest.page;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Jobs and nodes in the short form of /muster/v1: names of Slurm's API where it has one, plain values for what it
 * wraps. Times are seconds since 1970, 0 for none; limits minutes, -1 for none; memory mebibytes.
 */
final class OwnRows {
    /** A column by its name here: the component that slurmctld is asked for, and the value. */
    private record Column(String from, Function<Json.Obj, Object> value) {}

    static final OwnRows JOBS = new OwnRows(jobs());
    static final OwnRows NODES = new OwnRows(nodes());

    private final Map<String, Column> columns;

    private OwnRows(Map<String, Column> columns) {
        this.columns = columns;
    }

    private static Column text(String from) {
        return new Column(from, r -> r.text(from));
    }

    private static Column number(String from) {
        return new Column(from, r -> r.number(from));
    }

    private static Column texts(String from) {
        return new Column(from, r -> new ArrayList<Object>(r.texts(from)));
    }

    private static Map<String, Column> jobs() {
        Map<String, Column> m = new LinkedHashMap<>();
        m.put("job_id", number("jobId"));
        m.put("array_job_id", number("arrayJobId"));
        m.put("array_task_id", number("arrayTaskId"));
        m.put("array_task_string", text("arrayTasks"));
        m.put("name", text("name"));
        m.put("user_name", text("userName"));
        m.put("account", text("account"));
        m.put("partition", text("partition"));
        m.put("qos", text("qos"));
        m.put("state", text("state"));
        m.put("flags", texts("flags"));
        m.put("state_reason", text("reason"));
        m.put("priority", number("priority"));
        m.put("submit_time", number("submitTime"));
        m.put("start_time", number("startTime"));
        m.put("end_time", number("endTime"));
        m.put("time_limit", number("timeLimitMin"));
        m.put("nodes", text("nodes"));
        m.put("node_count", number("nodeCount"));
        m.put("cpus", number("cpus"));
        m.put("tres", new Column("tresRequested", r -> r.text("tresRequested")));
        m.put("scheduled_nodes", text("schedNodes"));
        m.put("dependency", text("dependency"));
        m.put("exit", new Column("exit", r -> exit(r.raw("exit"))));
        m.put("held", new Column("held", r -> r.flag("held")));
        m.put("allocation", new Column("details", OwnRows::allocation));
        return m;
    }

    private static Object exit(@Nullable Object exit) {
        if (exit instanceof Json.Obj e) {
            return e.number("code") + ":" + e.number("signal");
        }
        if (exit == null) {
            return "0:0";
        }
        return exit.toString();
    }

    /** Returns the CPUs and devices that the job has on each node. */
    private static Object allocation(Json.Obj job) {
        List<Object> out = new ArrayList<>();
        for (Json.Obj d : job.objects("details")) {
            out.add(new ArrayList<Object>(
                    List.of(d.text("nodes"), d.text("cpuIds"), d.number("memoryMb"), d.text("gres"))));
        }
        return out;
    }

    private static Map<String, Column> nodes() {
        Map<String, Column> m = new LinkedHashMap<>();
        m.put("name", text("name"));
        m.put("state", text("state"));
        m.put("flags", texts("flags"));
        m.put("cpus", number("cpus"));
        m.put("alloc_cpus", number("cpusAllocated"));
        m.put("cpu_load", number("cpuLoad"));
        m.put("real_memory", number("memoryMb"));
        m.put("alloc_memory", number("memoryAllocatedMb"));
        m.put("free_mem", number("memoryFreeMb"));
        m.put("gres", text("gres"));
        m.put("gres_used", text("gresUsed"));
        m.put("partitions", texts("partitions"));
        m.put("features", text("features"));
        m.put("reason", text("reason"));
        m.put("reason_user", text("reasonUser"));
        m.put("reason_time", number("reasonTime"));
        m.put("topology", text("topology"));
        return m;
    }

    /** Fields that slurmctld is asked for. */
    List<Object> wanted() {
        return new ArrayList<>(
                columns.values().stream().map(Column::from).distinct().toList());
    }

    List<Object> names() {
        return new ArrayList<>(columns.keySet());
    }

    /** A row with names of fields, for events. */
    Json.Obj row(Json.Obj from) {
        Json.Obj out = new Json.Obj();
        columns.forEach((name, c) -> out.put(name, c.value.apply(from)));
        return out;
    }

    /** Values alone, in the order of the names: for lists. */
    void write(Json.Writer out, Json.Obj from) {
        char separator = '[';
        for (Column column : columns.values()) {
            out.raw(separator).value(column.value.apply(from));
            separator = ',';
        }
        out.raw(']');
    }
}
