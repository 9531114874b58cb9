package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobIdsTest {
    /** What sacct and sstat say of words that are no ids; nothing of those that are. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"5_; Bad job array element specified: 5", "5_[; Bad job array element specified: 5",
            "5_[]; Bad job array element specified: 5", "5_-1; Bad job array element specified: 5", "5+; Bad hetjob offset specified: 5",
            "5+x; Bad hetjob offset specified: 5", "5.; Bad step specified: 5", "5.batch.x; Bad step specified: 5", "5.-1; Bad step specified: 5",
            "_1; Bad job/step specified: _1", "abc; Bad job/step specified: abc", "-5; Bad job/step specified: -5", "5; ''", "5_1; ''", "5_[1-3]; ''",
            "5+1; ''", "5.batch; ''", "5_1.0; ''", "5.extern; ''"})
    void wordsThatAreNoIds(String word, String expected) {
        assertThat(JobIds.isJobOrStep(word) ? "" : JobIds.objection(word)).isEqualTo(expected);
    }
}
