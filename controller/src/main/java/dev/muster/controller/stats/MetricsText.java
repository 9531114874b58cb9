package dev.muster.controller.stats;

import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The words of the metrics and how they are written: samples of one name stand together, whatever order they come in.
 */
final class MetricsText {
    /** States of a job behind a metric's prefix; "" is the number of all. */
    static final List<String> JOBS = List.of(
            "",
            "bootfail",
            "cancelled",
            "completed",
            "completing",
            "configuring",
            "cpus_alloc",
            "deadline",
            "failed",
            "fed_requeued",
            "finished",
            "gpus_alloc",
            "hold",
            "memory_alloc",
            "node_failed",
            "nodes_alloc",
            "outofmemory",
            "pending",
            "powerup_node",
            "preempted",
            "requeued",
            "resizing",
            "revoked",
            "running",
            "signaling",
            "stageout",
            "started",
            "suspended",
            "timeout");
    /** Metrics of node states. */
    static final List<String> NODES = List.of(
            "",
            "alloc",
            "completing",
            "cloud",
            "down",
            "drain",
            "drained",
            "draining",
            "dyn_future",
            "dyn_normal",
            "fail",
            "future",
            "idle",
            "invalid_reg",
            "maint",
            "mixed",
            "noresp",
            "planned",
            "power_down",
            "power_up",
            "powered_down",
            "powering_down",
            "powering_up",
            "reboot_issued",
            "reboot_req",
            "resv",
            "unknown");
    /** Metrics of the jobs that wait for a partition. */
    static final List<String> WAITING = List.of(
            "max_job_nodes", "max_job_nodes_nohold", "min_job_nodes", "min_job_nodes_nohold", "wait_part_node_limit");

    /** Metrics of the scheduler, with the name of each in sdiag's reply. */
    static final Map<String, String> SCHEDULER = scheduler("""
            agent_cnt agent_count  agent_queue_size agent_queue_size  agent_thread_cnt agent_thread_count
            bf_depth_mean bf_depth_mean  bf_mean_cycle bf_cycle_mean  backfilled_jobs bf_backfilled_jobs
            bf_cycle_cnt bf_cycle_counter  bf_cycle_last bf_cycle_last  bf_cycle_max bf_cycle_max
            bf_cycle_tot bf_cycle_sum  bf_last_depth bf_last_depth  bf_queue_len bf_queue_len
            bf_table_size bf_table_size  bf_when_last_cycle bf_when_last_cycle  sdiag_jobs_canceled jobs_canceled
            sdiag_jobs_completed jobs_completed  sdiag_jobs_failed jobs_failed  sdiag_jobs_pending jobs_pending
            sdiag_jobs_running jobs_running  sdiag_jobs_started jobs_started  sdiag_jobs_submitted jobs_submitted
            sdiag_job_states_ts job_states_ts  last_backfilled_jobs bf_last_backfilled_jobs
            sdiag_latency gettimeofday_latency  schedule_cycle_cnt schedule_cycle_total
            schedule_cycle_last schedule_cycle_last  schedule_cycle_max schedule_cycle_max
            schedule_cycle_tot schedule_cycle_sum  schedule_queue_len schedule_queue_length
            sched_cycle_cnt schedule_cycle_total  sched_cycle_last schedule_cycle_last  bf_active bf_active
            sched_mean_cycle schedule_cycle_mean  sched_mean_depth_cycle schedule_cycle_mean_depth
            server_thread_cnt server_thread_count  slurmdbd_queue_size dbd_agent_queue_size
            sched_stats_timestamp req_time""");

    private final Map<String, StringBuilder> families = new LinkedHashMap<>();

    private static Map<String, String> scheduler(String table) {
        Map<String, String> out = new LinkedHashMap<>();
        String[] words = table.strip().split("\\s+");
        for (int i = 0; i < words.length; i += 2) {
            out.put("slurm_" + words[i], words[i + 1]);
        }
        return out;
    }

    /** {@code {node="n1"}} with what the format wants escaped. */
    static String label(String name, String value) {
        return "{" + name + "=\""
                + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"}";
    }

    void put(String name, String label, long value) {
        families.computeIfAbsent(
                        name,
                        n -> new StringBuilder("# HELP ")
                                .append(n)
                                .append(' ')
                                .append(n.substring(6).replace('_', ' '))
                                .append("\n# TYPE ")
                                .append(n)
                                .append(" gauge\n"))
                .append(name)
                .append(label)
                .append(' ')
                .append(value)
                .append('\n');
    }

    String text() {
        StringBuilder out = new StringBuilder();
        families.values().forEach(out::append);
        return out.append("# EOF\n").toString();
    }

    static String word(JobState state) {
        return switch (state) {
            case PENDING, RUNNING, SUSPENDED, COMPLETED, CANCELLED, FAILED, TIMEOUT, PREEMPTED, DEADLINE ->
                state.name().toLowerCase(Locale.ROOT);
            case NODE_FAIL -> "node_failed";
            case BOOT_FAIL -> "bootfail";
            case OUT_OF_MEMORY -> "outofmemory";
        };
    }

    /** "" for one that is not counted. */
    static String word(JobFlag flag) {
        return switch (flag) {
            case COMPLETING, CONFIGURING, RESIZING, REVOKED, SIGNALING, REQUEUED ->
                flag.name().toLowerCase(Locale.ROOT);
            case REQUEUE_FED -> "fed_requeued";
            case STAGE_OUT -> "stageout";
            case REQUEUE_HOLD, RESV_DEL_HOLD, SPECIAL_EXIT, STOPPED, UPDATE_DB, EXPEDITING -> "";
        };
    }

    static String baseState(String state) {
        return state.equals("ALLOCATED") ? "alloc" : state.toLowerCase(Locale.ROOT);
    }

    /** "" for one that is not counted. */
    static String nodeFlag(String flag) {
        return switch (flag) {
            case "NOT_RESPONDING" -> "noresp";
            case "RESERVED" -> "resv";
            case "DYNAMIC_NORM" -> "dyn_normal";
            case "DYNAMIC_FUTURE" -> "dyn_future";
            case "REBOOT_REQUESTED" -> "reboot_req";
            default -> NODES.contains(flag.toLowerCase(Locale.ROOT)) ? flag.toLowerCase(Locale.ROOT) : "";
        };
    }

    /** Returns a state as it stands behind {@code slurm_partition_nodes}, where some are spelled otherwise. */
    static String ofPartition(String state) {
        return state.isEmpty()
                ? ""
                : "_"
                        + switch (state) {
                            case "completing" -> "cg";
                            case "noresp" -> "no_resp";
                            case "reboot_req" -> "reboot_requested";
                            default -> state;
                        };
    }
}
