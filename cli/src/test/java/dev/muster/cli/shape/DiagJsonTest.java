package dev.muster.cli.shape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.Json;
import org.junit.jupiter.api.Test;

class DiagJsonTest {
    /** There is one pass for both: what it did is told under the names of both. */
    @Test
    void backfillIsThePass() {
        Json.Obj s = DiagJson.of(new Json.Obj().put("values", new Json.Obj().put("schedule_cycle_sum", 900L).put("schedule_cycle_total", 3L)
                .put("schedule_cycle_depth", 60L).put("schedule_cycle_mean_depth", 20L))).obj("statistics");
        assertThat(s.number("schedule_cycle_depth")).isEqualTo(60);
        assertThat(s.number("bf_cycle_sum")).isEqualTo(900);
        assertThat(s.number("bf_depth_sum")).isEqualTo(60);
        assertThat(s.number("bf_depth_try_sum")).isEqualTo(60);
        assertThat(s.number("bf_depth_mean_try")).isEqualTo(20);
        assertThat(s.number("bf_queue_len_sum")).isEqualTo(60);
        assertThat(s.number("bf_queue_len_mean")).isEqualTo(20);
    }
}
