package dev.muster.cli.shape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

class DiagJsonTest {
    /** Passes are the main scheduler's cycles, plans the backfill's; each has why its cycles ended. */
    @Test
    void passesAndPlansAreToldApart() {
        Json.Obj values = new Json.Obj()
                .put("schedule_cycle_total", 9L)
                .put("bf_cycle_counter", 3L)
                .put("bf_cycle_sum", 900L)
                .put("bf_table_size_mean", 40L)
                .put("bf_active", 1L)
                .put("bf_backfilled_het_jobs", 2L)
                .put("schedule_exit_max_job_start", 4L)
                .put("schedule_exit_end_job_queue", 5L)
                .put("bf_exit_state_changed", 1L);
        Json.Obj s = DiagJson.of(new Json.Obj().put("values", values)).obj("statistics");
        assertThat(s.number("schedule_cycle_total")).isEqualTo(9);
        assertThat(s.number("bf_cycle_counter")).isEqualTo(3);
        assertThat(s.number("bf_cycle_sum")).isEqualTo(900);
        assertThat(s.number("bf_table_size_mean")).isEqualTo(40);
        assertThat(s.number("bf_backfilled_het_jobs")).isEqualTo(2);
        assertThat(s.flag("bf_active")).isTrue();
        assertThat(List.of(
                        s.obj("schedule_exit").number("max_job_start"),
                        s.obj("schedule_exit").number("end_job_queue"),
                        s.obj("bf_exit").number("state_changed"),
                        s.obj("bf_exit").number("bf_max_time")))
                .containsExactly(4L, 5L, 1L, 0L);
    }
}
