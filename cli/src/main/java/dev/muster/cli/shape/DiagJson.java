package dev.muster.cli.shape;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.List;

/** Shapes {@code sdiag --json} with the names of Slurm's statistics object. */
public final class DiagJson {
    private DiagJson() {}

    public static Json.Obj of(Json.Obj reply) {
        Json.Obj v = reply.obj("values");
        Json.Obj s = new Json.Obj();
        s.put("req_time", Tree.number(v.number("req_time")));
        s.put("req_time_start", Tree.number(v.number("req_time_start")));
        s.put("job_states_ts", Tree.number(v.number("job_states_ts")));
        s.put("server_thread_count", v.number("server_thread_count"));
        for (String name : counters()) {
            s.put(name, v.number(name));
        }
        s.put("bf_active", v.number("bf_active") > 0);
        s.put(
                "schedule_exit",
                exits(
                        v,
                        "schedule_exit_",
                        List.of(
                                "end_job_queue",
                                "default_queue_depth",
                                "max_job_start",
                                "max_rpc_cnt",
                                "max_sched_time",
                                "licenses")));
        s.put(
                "bf_exit",
                exits(
                        v,
                        "bf_exit_",
                        List.of(
                                "end_job_queue",
                                "bf_max_job_start",
                                "bf_max_job_test",
                                "bf_max_time",
                                "bf_node_space_size",
                                "state_changed")));
        s.put("bf_when_last_cycle", Tree.number(v.number("bf_when_last_cycle")));
        List<Object> messages = new ArrayList<>();
        for (Json.Obj r : reply.objects("rpcs")) {
            messages.add(count(
                    r,
                    new Json.Obj()
                            .put("message_type", r.text("name"))
                            .put("type_id", r.number("number"))
                            .put("queued", 0L)
                            .put("dropped", 0L)
                            .put("cycle_last", 0L)
                            .put("cycle_max", 0L)));
        }
        List<Object> users = new ArrayList<>();
        for (Json.Obj r : reply.objects("users")) {
            users.add(count(r, new Json.Obj().put("user", r.text("name")).put("user_id", r.number("number"))));
        }
        s.put("rpcs_by_message_type", messages);
        s.put("rpcs_by_user", users);
        // slurmctld answers requests at once: it never queues, limits or holds them for a node
        s.put("pending_rpcs", new ArrayList<Object>()).put("pending_rpcs_by_hostlist", new ArrayList<Object>());
        return new Json.Obj().put("statistics", s);
    }

    /** Statistics that keep their names. */
    private static List<String> counters() {
        return List.of(
                "jobs_submitted",
                "jobs_started",
                "jobs_completed",
                "jobs_canceled",
                "jobs_failed",
                "jobs_pending",
                "jobs_running",
                "schedule_cycle_last",
                "schedule_cycle_max",
                "schedule_cycle_total",
                "schedule_cycle_sum",
                "schedule_cycle_mean",
                "schedule_cycle_mean_depth",
                "schedule_cycle_depth",
                "schedule_cycle_per_minute",
                "schedule_queue_length",
                "agent_queue_size",
                "agent_count",
                "agent_thread_count",
                "dbd_agent_queue_size",
                "gettimeofday_latency",
                "bf_backfilled_jobs",
                "bf_last_backfilled_jobs",
                "bf_backfilled_het_jobs",
                "bf_cycle_counter",
                "bf_cycle_last",
                "bf_cycle_max",
                "bf_cycle_sum",
                "bf_cycle_mean",
                "bf_last_depth",
                "bf_last_depth_try",
                "bf_depth_sum",
                "bf_depth_mean",
                "bf_depth_try_sum",
                "bf_depth_mean_try",
                "bf_queue_len",
                "bf_queue_len_sum",
                "bf_queue_len_mean",
                "bf_table_size",
                "bf_table_size_sum",
                "bf_table_size_mean");
    }

    /**
     * Why cycles ended; 0 for reasons that there are not here: no pass or plan is cut short by time or by a number of
     * jobs to look at.
     */
    private static Json.Obj exits(Json.Obj values, String prefix, List<String> reasons) {
        Json.Obj out = new Json.Obj();
        reasons.forEach(r -> out.put(r, values.number(prefix + r)));
        return out;
    }

    private static Json.Obj count(Json.Obj r, Json.Obj head) {
        return head.put("count", r.number("count"))
                .put("total_time", r.number("totalUs"))
                .put("average_time", Tree.number(r.number("count") == 0 ? 0 : r.number("totalUs") / r.number("count")));
    }
}
