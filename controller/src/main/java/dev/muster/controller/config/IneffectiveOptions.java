package dev.muster.controller.config;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.core.options.PriorityOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Words of SchedulerParameters, PriorityFlags and SelectTypeParameters that change nothing here;
 * docs/scheduler-parameters.md has the list.
 */
public final class IneffectiveOptions {
    private static final Set<String> WORK = new TreeSet<>(List.of(
            "assoc_limit_stop",
            "kill_invalid_depend",
            "max_array_tasks",
            "max_script_size",
            "nohold_on_prolog_fail",
            "pack_serial_at_end",
            "preempt_youngest_first",
            "max_node_count",
            "jobs_per_user_per_hour",
            "enable_user_top",
            "max_switch_wait",
            "bb_array_stage_cnt",
            "ignore_prefer_validation",
            "muster_backfill",
            "muster_no_wake_ahead",
            "bf_busy_nodes",
            "bf_job_part_count_reserve",
            "bf_max_job_array_resv",
            "bf_min_age_reserve",
            "bf_min_prio_reserve",
            "bf_one_resv_per_job",
            "delay_boot",
            "disable_job_shrink",
            "extra_constraints",
            "requeue_delay",
            "spec_cores_first",
            "whole_hetjob",
            "whole_pack",
            "allow_zero_lic",
            "bf_hetjob_immediate",
            "bf_hetjob_prio",
            "disable_hetjob_steps",
            "enable_hetjob_steps",
            "ignore_constraint_validation",
            "max_submit_line_size",
            "no_env_cache",
            "reduce_completing_frag",
            "requeue_on_resume_failure",
            "requeue_setup_env_fail",
            "time_min_as_soft_limit"));
    /** Words with a number; with another value they have no effect. */
    private static final Set<String> NUMBERS = Set.of(
            "bb_array_stage_cnt",
            "bf_job_part_count_reserve",
            "bf_max_job_array_resv",
            "bf_min_age_reserve",
            "bf_min_prio_reserve",
            "delay_boot",
            "max_array_tasks",
            "max_script_size",
            "max_submit_line_size",
            "max_switch_wait",
            "requeue_delay");

    private static final Set<String> AMONG = Set.of("min", "avg", "max");
    private static final String WHOLE_QUEUE =
            "every pass looks at the whole queue, within milliseconds and event by event";
    private static final String NO_LOCKS = "queries take no lock and wait for no pass";
    private static final String UNKNOWN = "it is not known to this version";
    private static final String PLAN = "the plan covers seven days on a grid of its own";

    private IneffectiveOptions() {}

    /** Returns the words without an effect, each behind its place. */
    public static List<String> without(SlurmConf conf) {
        List<String> out = new ArrayList<>();
        without(conf.schedulerParameters()).forEach(s -> out.add(conf.place(Key.SCHEDULER_PARAMETERS) + ": " + s));
        without(conf.list(Key.PREEMPT_PARAMETERS), conf.list(Key.SELECT_TYPE_PARAMETERS))
                .forEach(s -> out.add(
                        conf.place(s.startsWith("Preempt") ? Key.PREEMPT_PARAMETERS : Key.SELECT_TYPE_PARAMETERS) + ": "
                                + s));
        withoutFlags(conf.list(Key.PRIORITY_FLAGS)).forEach(s -> out.add(conf.place(Key.PRIORITY_FLAGS) + ": " + s));
        return out;
    }

    /** Unknown words of PriorityFlags. FAIR_TREE is an older word for what is the default now. */
    static List<String> withoutFlags(List<String> flags) {
        return flags.stream()
                .filter(f -> !f.equalsIgnoreCase("FAIR_TREE")
                        && Stream.of(PriorityOptions.Flag.values())
                                .noneMatch(known -> known.name().equalsIgnoreCase(f)))
                .map(f -> "PriorityFlags=" + f + " has no effect: " + UNKNOWN)
                .toList();
    }

    /** Returns a sentence for each word of SchedulerParameters that is set and has no effect. */
    public static List<String> without(Map<String, String> parameters) {
        List<String> out = new ArrayList<>();
        for (String name : parameters.keySet()) {
            if (!WORK.contains(name) && !name.isEmpty()) {
                out.add("SchedulerParameters=" + name + " has no effect: " + reason(name));
            } else if (NUMBERS.contains(name) && !parameters.get(name).matches("[0-9]{1,18}")) {
                out.add("Invalid SchedulerParameters " + name + ": " + parameters.get(name));
            }
        }
        String among = parameters.getOrDefault("bf_hetjob_prio", "min");
        if (!AMONG.contains(among)) {
            out.add("SchedulerParameters=bf_hetjob_prio=" + among + " has no effect: it is min, avg or max");
        }
        return out;
    }

    /**
     * Returns a sentence for each word of PreemptParameters without effect, and of SelectTypeParameters that need
     * another one.
     */
    public static List<String> without(List<String> preemptParameters, List<String> selectTypeParameters) {
        List<String> out = new ArrayList<>();
        for (String word : preemptParameters) {
            String name = word.replaceFirst("=.*", "");
            String why = switch (name.toLowerCase(Locale.ROOT)) {
                case "reorder_count", "strict_order" -> reason("preempt_" + name.toLowerCase(Locale.ROOT));
                case "min_exempt_priority",
                        "reclaim_licenses",
                        "send_user_signal",
                        "suspend_grace_time",
                        "youngest_first" -> "";
                default -> UNKNOWN;
            };
            boolean counts =
                    name.equalsIgnoreCase("min_exempt_priority") || name.equalsIgnoreCase("suspend_grace_time");
            if (!why.isEmpty()) {
                out.add("PreemptParameters=" + name + " has no effect: " + why);
            } else if (counts && !word.matches("[^=]*=[0-9]{1,10}")) {
                out.add("Invalid PreemptParameters " + word);
            }
        }
        if (has(selectTypeParameters, "ONE_TASK_PER_SHARING_GRES")
                && !has(selectTypeParameters, "MULTIPLE_SHARING_GRES_PJ")) {
            out.add("SelectTypeParameters=ONE_TASK_PER_SHARING_GRES has no effect: it needs MULTIPLE_SHARING_GRES_PJ");
        }
        return out;
    }

    private static boolean has(List<String> words, String word) {
        return words.stream().anyMatch(word::equalsIgnoreCase);
    }

    private static String reason(String name) {
        return switch (name) {
            case "batch_sched_delay",
                    "bf_continue",
                    "bf_interval",
                    "bf_max_time",
                    "build_queue_timeout",
                    "default_queue_depth",
                    "defer",
                    "defer_batch",
                    "max_sched_time",
                    "partition_job_depth",
                    "sched_interval",
                    "sched_max_job_start",
                    "sched_min_interval",
                    "bf_max_job_test",
                    "bf_max_job_start",
                    "bf_max_job_part",
                    "bf_max_job_user",
                    "bf_max_job_user_part",
                    "bf_max_job_assoc" -> WHOLE_QUEUE;
            case "bf_yield_interval", "bf_yield_sleep", "bf_yield_rpc_cnt", "max_rpc_cnt" -> NO_LOCKS;
            case "bf_window", "bf_window_linear", "bf_resolution", "bf_node_space_size" -> PLAN;
            case "bf_running_job_reserve" -> "what runs is always part of the plan";
            case "bf_allow_magnetic_slot" -> "jobs that magnetic reservations draw are part of the plan";
            case "bf_topopt_enable", "bf_topopt_iterations" -> "it is a hook for experiments in the original's code";
            case "correspond_after_task_cnt" -> "tasks that others depend on are known until those have ended";
            case "ignore_numa" -> "sockets are those that the kernel names";
            case "no_backup_scheduling" -> "who leads schedules";
            case "preempt_strict_order", "preempt_reorder_count" ->
                "the fewest and lowest jobs that make room give way, always";
            case "salloc_wait_nodes", "sbatch_wait_nodes" -> "a job begins when all its nodes are there";
            case "enable_job_state_cache" -> NO_LOCKS;
            case "bf_licenses" -> "licenses are always part of the plan";
            case "step_retry_count", "step_retry_time" -> "a step that waits is started as soon as there is room";
            default -> UNKNOWN;
        };
    }
}
