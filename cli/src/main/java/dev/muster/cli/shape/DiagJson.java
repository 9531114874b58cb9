package dev.muster.cli.shape;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.List;

/** Shapes {@code sdiag --json} with the names of Slurm's statistics object. */
public final class DiagJson {
    private DiagJson() {}

    public static Json.Obj of(Json.Obj reply) {
        Json.Obj values = reply.obj("values");
        Json.Obj statistics = new Json.Obj();
        statistics.put("req_time", Tree.number(values.number("req_time")));
        statistics.put("req_time_start", Tree.number(values.number("req_time_start")));
        statistics.put("job_states_ts", Tree.number(values.number("job_states_ts")));
        statistics.put("server_thread_count", values.number("server_thread_count"));
        for (String name : counters()) {
            statistics.put(name, values.number(name));
        }
        statistics.put("bf_active", values.number("bf_active") > 0);
        statistics.put(
                "schedule_exit",
                exits(
                        values,
                        "schedule_exit_",
                        List.of(
                                "end_job_queue",
                                "default_queue_depth",
                                "max_job_start",
                                "max_rpc_cnt",
                                "max_sched_time",
                                "licenses")));
        statistics.put(
                "bf_exit",
                exits(
                        values,
                        "bf_exit_",
                        List.of(
                                "end_job_queue",
                                "bf_max_job_start",
                                "bf_max_job_test",
                                "bf_max_time",
                                "bf_node_space_size",
                                "state_changed")));
        statistics.put("bf_when_last_cycle", Tree.number(values.number("bf_when_last_cycle")));
        List<Object> messages = new ArrayList<>();
        for (Json.Obj row : reply.objects("rpcs")) {
            messages.add(count(
                    row,
                    new Json.Obj()
                            .put("message_type", row.text("name"))
                            .put("type_id", row.number("number"))
                            .put("queued", 0L)
                            .put("dropped", 0L)
                            .put("cycle_last", 0L)
                            .put("cycle_max", 0L)));
        }
        List<Object> users = new ArrayList<>();
        for (Json.Obj row : reply.objects("users")) {
            users.add(count(row, new Json.Obj().put("user", row.text("name")).put("user_id", row.number("number"))));
        }
        statistics.put("rpcs_by_message_type", messages);
        statistics.put("rpcs_by_user", users);
        // slurmctld answers requests at once: it never queues, limits or holds them for a node
        statistics
                .put("pending_rpcs", new ArrayList<Object>())
                .put("pending_rpcs_by_hostlist", new ArrayList<Object>());
        return new Json.Obj().put("statistics", statistics);
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
     * Reasons why cycles ended. Reasons that do not exist here are 0: no limit of time or of jobs cuts a pass or plan
     * short.
     */
    private static Json.Obj exits(Json.Obj values, String prefix, List<String> reasons) {
        Json.Obj out = new Json.Obj();
        reasons.forEach(r -> out.put(r, values.number(prefix + r)));
        return out;
    }

    private static Json.Obj count(Json.Obj row, Json.Obj head) {
        return head.put("count", row.number("count"))
                .put("total_time", row.number("totalUs"))
                .put(
                        "average_time",
                        Tree.number(row.number("count") == 0 ? 0 : row.number("totalUs") / row.number("count")));
    }
}
