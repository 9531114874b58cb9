package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Words that are taken and change nothing are said in the log. */
class SchedulerWordsTest {
    @Test
    void ofSelectTypeParameters() {
        assertThat(SchedulerWords.without(List.of("CR_Core_Memory", "MULTIPLE_SHARING_GRES_PJ", "ENFORCE_BINDING_GRES"))).isEmpty();
        assertThat(SchedulerWords.without(List.of("CR_Socket", "ONE_TASK_PER_SHARING_GRES"))).containsExactly(
                "SelectTypeParameters=ONE_TASK_PER_SHARING_GRES has no effect in this version");
    }

    @Test
    void ofPreemptParameters() {
        assertThat(SchedulerWords.withoutOfPreemption(List.of("reclaim_licenses", "min_exempt_priority=5", "suspend_grace_time=1"))).isEmpty();
        assertThat(SchedulerWords.withoutOfPreemption(List.of("strict_order", "colour=red"))).containsExactly(
                "PreemptParameters=strict_order has no effect: the fewest and lowest jobs that make room give way, always",
                "PreemptParameters=colour has no effect: it is not known to this version");
    }
}
