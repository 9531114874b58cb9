package dev.muster.controller.stats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatisticsTest {
    /**
     * The word under which sdiag counts an ended job: failed is a job that failed because of nodes, not one whose
     * script was not content.
     */
    @ParameterizedTest
    @CsvSource({
        "COMPLETED, completed",
        "FAILED, completed",
        "OUT_OF_MEMORY, completed",
        "PREEMPTED, completed",
        "CANCELLED, canceled",
        "NODE_FAIL, failed",
        "BOOT_FAIL, failed",
        "TIMEOUT, ''",
        "DEADLINE, ''"
    })
    void endedJobCountsByItsState(JobState state, String counted) {
        Statistics statistics = new Statistics();
        statistics.follow(new Entry(
                1, 1, 0, "End", List.of(new Change.JobEnded(1, state, JobReason.NONE, "", ExitStatus.NONE, 1))));
        Map<String, Long> out = new TreeMap<>();
        statistics.put(out, State.EMPTY);
        for (String word : List.of("completed", "canceled", "failed")) {
            assertThat(out.get("jobs_" + word)).as(word).isEqualTo(word.equals(counted) ? 1 : 0);
        }
    }
}
