package dev.muster.cli.shape;

import dev.muster.model.Json;
import java.util.ArrayList;
import java.util.List;

/** {@code sdiag --json}: the names of Slurm's statistics object. */
public final class DiagJson {
    private DiagJson() {}

    public static Json.Obj of(Json.Obj reply) {
        Json.Obj v = reply.obj("values");
        Json.Obj s = new Json.Obj();
        s.put("req_time", Tree.number(v.number("req_time")));
        s.put("req_time_start", Tree.number(v.number("req_time_start")));
        s.put("job_states_ts", Tree.number(v.number("job_states_ts")));
        s.put("server_thread_count", v.number("server_thread_count"));
        for (String name : List.of("jobs_submitted", "jobs_started", "jobs_completed", "jobs_canceled", "jobs_failed", "jobs_pending",
                "jobs_running", "schedule_cycle_last", "schedule_cycle_max", "schedule_cycle_total", "schedule_cycle_sum",
                "schedule_cycle_mean", "schedule_cycle_mean_depth", "schedule_cycle_depth", "schedule_cycle_per_minute",
                "schedule_queue_length", "agent_queue_size",
                "agent_count", "agent_thread_count", "dbd_agent_queue_size", "gettimeofday_latency", "bf_backfilled_jobs",
                "bf_last_backfilled_jobs", "bf_table_size")) {
            s.put(name, v.number(name));
        }
        // one pass does what Slurm's two schedulers do, and goes over the whole queue
        String[][] same = {{"bf_cycle_counter", "schedule_cycle_total"}, {"bf_cycle_last", "schedule_cycle_last"},
            {"bf_cycle_max", "schedule_cycle_max"}, {"bf_cycle_mean", "schedule_cycle_mean"}, {"bf_last_depth", "schedule_queue_length"},
            {"bf_last_depth_try", "schedule_queue_length"}, {"bf_queue_len", "schedule_queue_length"},
            {"bf_depth_mean", "schedule_cycle_mean_depth"}, {"bf_depth_mean_try", "schedule_cycle_mean_depth"},
            {"bf_cycle_sum", "schedule_cycle_sum"}, {"bf_depth_sum", "schedule_cycle_depth"}, {"bf_depth_try_sum", "schedule_cycle_depth"},
            {"bf_queue_len_sum", "schedule_cycle_depth"}, {"bf_queue_len_mean", "schedule_cycle_mean_depth"}};
        for (String[] pair : same) {
            s.put(pair[0], v.number(pair[1]));
        }
        s.put("bf_when_last_cycle", Tree.number(v.number("bf_when_last_cycle")));
        List<Object> messages = new ArrayList<>();
        for (Json.Obj r : reply.objects("rpcs")) {
            messages.add(count(r, new Json.Obj().put("message_type", r.text("name")).put("type_id", r.number("number"))));
        }
        List<Object> users = new ArrayList<>();
        for (Json.Obj r : reply.objects("users")) {
            users.add(count(r, new Json.Obj().put("user", r.text("name")).put("user_id", r.number("number"))));
        }
        s.put("rpcs_by_message_type", messages);
        s.put("rpcs_by_user", users);
        return new Json.Obj().put("statistics", s);
    }

    private static Json.Obj count(Json.Obj r, Json.Obj head) {
        return head.put("count", r.number("count")).put("total_time", r.number("totalUs"))
                .put("average_time", Tree.number(r.number("count") == 0 ? 0 : r.number("totalUs") / r.number("count")));
    }
}
