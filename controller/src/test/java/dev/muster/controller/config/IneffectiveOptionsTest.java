package dev.muster.controller.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Words that are taken and change nothing are said in the log. */
class IneffectiveOptionsTest {
    /**
     * Every word of SchedulerParameters that the manuals of 22.05 and since have, and the beginning of the sentence on
     * it.
     */
    private static final String WORDS = """
            allow_zero_lic assoc_limit_stop bb_array_stage_cnt=1 bf_busy_nodes bf_hetjob_immediate bf_hetjob_prio=avg
            bf_job_part_count_reserve=1 bf_max_job_array_resv=1 bf_min_age_reserve=1 bf_min_prio_reserve=1
            bf_one_resv_per_job delay_boot=1 disable_hetjob_steps disable_job_shrink enable_hetjob_steps enable_user_top
            extra_constraints ignore_constraint_validation ignore_prefer_validation max_array_tasks=1 max_script_size=1
            max_submit_line_size=1 max_switch_wait=1 no_env_cache nohold_on_prolog_fail pack_serial_at_end
            preempt_youngest_first reduce_completing_frag requeue_delay=1 requeue_on_resume_failure
            requeue_setup_env_fail spec_cores_first time_min_as_soft_limit whole_hetjob whole_pack
            """;

    private static final String NEEDLESS = """
            batch_sched_delay=1 bf_allow_magnetic_slot bf_continue bf_interval=1 bf_licenses bf_max_job_assoc=1
            bf_max_job_part=1 bf_max_job_start=1 bf_max_job_test=1 bf_max_job_user=1 bf_max_job_user_part=1
            bf_max_time=1 bf_node_space_size=1 bf_resolution=1 bf_running_job_reserve bf_topopt_enable
            bf_topopt_iterations=1 bf_window=1 bf_window_linear=1 bf_yield_interval=1 bf_yield_rpc_cnt=1
            bf_yield_sleep=1 build_queue_timeout=1 correspond_after_task_cnt=1 default_queue_depth=1 defer defer_batch
            ignore_numa max_rpc_cnt=1 max_sched_time=1 no_backup_scheduling partition_job_depth=1
            preempt_reorder_count=1 preempt_strict_order salloc_wait_nodes sbatch_wait_nodes sched_interval=1
            sched_max_job_start=1 sched_min_interval=1 step_retry_count=1 step_retry_time=1
            """;

    private static Map<String, String> parameters(String words) {
        Map<String, String> out = new TreeMap<>();
        for (String word : words.strip().split("\\s+")) {
            out.put(word.split("=")[0], word.contains("=") ? word.split("=")[1] : "");
        }
        return out;
    }

    @Test
    void invalidSchedulerParametersAreReported() {
        assertThat(IneffectiveOptions.without(parameters(WORDS))).isEmpty();
        assertThat(IneffectiveOptions.without(parameters(NEEDLESS)))
                .hasSize(parameters(NEEDLESS).size())
                .allMatch(s -> s.contains(" has no effect: "))
                .noneMatch(s -> s.contains("not known"));
        assertThat(IneffectiveOptions.without(
                        parameters("requeue_delay=x bf_min_prio_reserve=-1 max_array_tasks bf_min_age_reserve=5")))
                .containsExactly(
                        "Invalid SchedulerParameters bf_min_prio_reserve: -1",
                        "Invalid SchedulerParameters max_array_tasks: ",
                        "Invalid SchedulerParameters requeue_delay: x");
        assertThat(IneffectiveOptions.without(parameters("bf_hetjob_prio=most invented")))
                .containsExactly(
                        "SchedulerParameters=invented has no effect: it is not known to this version",
                        "SchedulerParameters=bf_hetjob_prio=most has no effect: it is min, avg or max");
    }

    @Test
    void unknownPriorityFlagIsReported() {
        assertThat(IneffectiveOptions.withoutFlags(
                        List.of("accrue_always", "MAX_TRES_GRES", "NO_NORMAL_TRES", "FAIR_TREE", "TICKET_BASED")))
                .containsExactly("PriorityFlags=TICKET_BASED has no effect: it is not known to this version");
    }

    @Test
    void invalidPreemptAndSelectParametersAreReported() {
        assertThat(IneffectiveOptions.without(
                        List.of(
                                "min_exempt_priority=5",
                                "send_user_signal",
                                "youngest_first",
                                "reclaim_licenses",
                                "suspend_grace_time=5"),
                        List.of(
                                "CR_Core_Memory",
                                "MULTIPLE_SHARING_GRES_PJ",
                                "ENFORCE_BINDING_GRES",
                                "ONE_TASK_PER_SHARING_GRES")))
                .isEmpty();
        assertThat(IneffectiveOptions.without(List.of("min_exempt_priority", "Suspend_Grace_Time=x"), List.of()))
                .containsExactly(
                        "Invalid PreemptParameters min_exempt_priority",
                        "Invalid PreemptParameters Suspend_Grace_Time=x");
        assertThat(IneffectiveOptions.without(
                        List.of("reorder_count=3", "strict_order", "invented"),
                        List.of("CR_Socket", "ONE_TASK_PER_SHARING_GRES")))
                .containsExactly(
                        "PreemptParameters=reorder_count has no effect: the fewest and lowest jobs that make "
                                + "room give way, always",
                        "PreemptParameters=strict_order has no effect: the fewest and lowest jobs that make "
                                + "room give way, always",
                        "PreemptParameters=invented has no effect: it is not known to this version",
                        "SelectTypeParameters=ONE_TASK_PER_SHARING_GRES has no effect: it needs "
                                + "MULTIPLE_SHARING_GRES_PJ");
    }
}
