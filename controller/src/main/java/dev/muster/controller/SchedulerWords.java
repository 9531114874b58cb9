package dev.muster.controller;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Words of SchedulerParameters, PriorityFlags and SelectTypeParameters that change nothing here; docs/scheduler-parameters.md has the list. */
final class SchedulerWords {
    private static final Set<String> WORK = new TreeSet<>(List.of("assoc_limit_stop", "kill_invalid_depend", "max_array_tasks", "max_script_size",
            "nohold_on_prolog_fail", "pack_serial_at_end", "preempt_youngest_first", "max_node_count", "correspond_after_task_cnt",
            "jobs_per_user_per_hour", "enable_user_top", "max_switch_wait", "bb_array_stage_cnt", "ignore_prefer_validation", "muster_backfill",
            "bf_busy_nodes", "bf_job_part_count_reserve", "bf_max_job_array_resv", "bf_min_age_reserve", "bf_min_prio_reserve", "bf_one_resv_per_job",
            "delay_boot", "disable_job_shrink", "extra_constraints", "requeue_delay", "spec_cores_first", "whole_hetjob", "whole_pack"));
    private static final List<String> PREEMPTION = List.of("min_exempt_priority", "reclaim_licenses", "send_user_signal", "suspend_grace_time",
            "youngest_first");
    private static final String WHOLE_QUEUE = "every pass looks at the whole queue, within milliseconds and event by event";
    private static final String NO_LOCKS = "queries take no lock and wait for no pass";
    private static final String PLAN = "the plan covers seven days on a grid of its own";

    private SchedulerWords() {}

    /** A sentence for each that is set and has no effect. */
    static List<String> without(Map<String, String> parameters) {
        List<String> out = new ArrayList<>();
        for (String name : parameters.keySet()) {
            if (!WORK.contains(name) && !name.isEmpty()) {
                out.add("SchedulerParameters=" + name + " has no effect: " + reason(name));
            }
        }
        return out;
    }

    /** The same of other lists of words. */
    static List<String> without(List<String> selectTypeParameters) {
        List<String> out = new ArrayList<>();
        for (String word : selectTypeParameters) {
            if (word.equalsIgnoreCase("ONE_TASK_PER_SHARING_GRES")) {
                out.add("SelectTypeParameters=" + word + " has no effect in this version");
            }
        }
        return out;
    }

    /** Likewise of PreemptParameters. */
    static List<String> withoutOfPreemption(List<String> words) {
        List<String> out = new ArrayList<>();
        for (String word : words) {
            String name = word.split("=")[0];
            if (List.of("strict_order", "reorder_count").contains(name)) {
                out.add("PreemptParameters=" + name + " has no effect: " + reason("preempt_" + name));
            } else if (!PREEMPTION.contains(name)) {
                out.add("PreemptParameters=" + name + " has no effect: " + reason(name));
            }
        }
        return out;
    }

    private static String reason(String name) {
        return switch (name) {
            case "batch_sched_delay", "bf_continue", "bf_interval", "bf_max_time", "build_queue_timeout", "default_queue_depth", "defer",
                    "defer_batch",
                    "max_sched_time", "partition_job_depth", "sched_interval", "sched_max_job_start", "sched_min_interval", "bf_max_job_test",
                    "bf_max_job_start", "bf_max_job_part", "bf_max_job_user", "bf_max_job_user_part", "bf_max_job_assoc",
                    "bf_topopt_enable" -> WHOLE_QUEUE;
            case "bf_yield_interval", "bf_yield_sleep", "bf_yield_rpc_cnt", "max_rpc_cnt" -> NO_LOCKS;
            case "bf_window", "bf_window_linear", "bf_resolution", "bf_node_space_size", "reduce_completing_frag" -> PLAN;
            case "bf_running_job_reserve" -> "what runs is always part of the plan";
            case "bf_hetjob_immediate" -> "all components are tried together in every pass";
            case "preempt_strict_order", "preempt_reorder_count" -> "the fewest and lowest jobs that make room give way, always";
            case "salloc_wait_nodes", "sbatch_wait_nodes" -> "a job begins when all its nodes are there";
            case "bf_licenses" -> "licences are always part of the plan";
            case "step_retry_count", "step_retry_time" -> "a step that waits is started as soon as there is room";
            default -> "it is not known to this version";
        };
    }
}
